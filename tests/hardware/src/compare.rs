//! What a recording has that the cases do not say, or that an engine does not do.

use std::collections::BTreeMap;

use harness::case::state::Setting;

use crate::kit::{Kit, KitRun, Places, after, prepared};
use crate::layout::word;
use crate::recording::{Recorded, Recording, Result};

/// Why a recording cannot be compared.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CompareError {
    /// Of another target.
    #[error("the recording is of {recorded}, the kit is of {kit}")]
    Target {
        /// The recording's.
        recorded: String,
        /// The kit's.
        kit: &'static str,
    },
    /// Of another kit.
    #[error(
        "the recording was made with kit {recorded}, and these cases make kit {kit}: \
         compare it in the revision of the project that it was made with"
    )]
    Digest {
        /// The recording's.
        recorded: String,
        /// The kit's.
        kit: String,
    },
    /// A run or a word that the kit does not have.
    #[error("the recording has run {0}, whose place or words the kit does not have")]
    Run(u32),
}

/// What kind of difference it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// The case says otherwise.
    Case,
    /// The run failed.
    Failed,
    /// The case leaves it open, and the engine gives something else.
    Engine,
}

/// Something recorded that is not as expected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// Number of the run.
    pub run: u32,
    /// File and line.
    pub name: String,
    /// The instruction's text.
    pub text: String,
    /// EXEC.
    pub mask: &'static str,
    /// What kind.
    pub kind: Kind,
    /// What it is.
    pub what: String,
}

impl Difference {
    fn new(n: u32, run: &KitRun, kind: Kind, what: String) -> Difference {
        Difference {
            run: n,
            name: run.name.clone(),
            text: run.text.clone(),
            mask: run.mask,
            kind,
            what,
        }
    }
}

/// Most differences of a run.
const SHOWN: usize = 4;

/// Is a recording of this kit?
fn check(kit: &Kit, recording: &Recording) -> std::result::Result<(), CompareError> {
    let target = recording.get("target");
    if target != kit.gfx.name() {
        return Err(CompareError::Target {
            recorded: target.to_owned(),
            kit: kit.gfx.name(),
        });
    }
    let (recorded, digest) = (recording.get("kit"), kit.digest());
    if recorded != digest {
        return Err(CompareError::Digest {
            recorded: recorded.to_owned(),
            kit: digest,
        });
    }
    Ok(())
}

/// Run `n` of a kit with its image before and after.
fn images<'a>(
    kit: &'a Kit,
    recording: &Recording,
    n: u32,
    words: &[(u32, u32)],
    place: usize,
) -> Option<(&'a KitRun, Places, Vec<u32>, Vec<u32>)> {
    let run = kit.runs.get((n as usize).checked_sub(1)?)?;
    let places = *recording.places.get(place)?;
    let before = kit.image(run, &places);
    let mut after = before.clone();
    for &(at, word) in words {
        *after.get_mut(at as usize)? = word;
    }
    Some((run, places, before, after))
}

/// What a recording has that the cases do not say.
pub fn with_cases(
    kit: &Kit,
    recording: &Recording,
) -> std::result::Result<Vec<Difference>, CompareError> {
    check(kit, recording)?;
    let mut settings: BTreeMap<usize, Setting> = BTreeMap::new();
    let mut differences = Vec::new();
    for (&n, Recorded { place, result }) in &recording.runs {
        let words = match result {
            Result::Changed(words) => words,
            Result::Failed(what) => {
                let run = kit.runs.get(n as usize - 1).ok_or(CompareError::Run(n))?;
                differences.push(Difference::new(n, run, Kind::Failed, what.clone()));
                continue;
            }
        };
        let (run, places, _, words) =
            images(kit, recording, n, words, *place).ok_or(CompareError::Run(n))?;
        let setting = settings
            .entry(*place)
            .or_insert_with(|| Setting::new(places.addresses));
        let mut add = |what| differences.push(Difference::new(n, run, Kind::Case, what));
        if words[word::DONE] != 1 {
            add("the kernel did not come to its end".to_owned());
            continue;
        }
        if words[word::LANDING] != run.landing {
            let (got, right) = (words[word::LANDING], run.landing);
            add(format!("arrived at place {got}, right is {right}"));
        }
        let prepared = prepared(kit, setting, run, places.code);
        let after = after(kit, &prepared.before, &words);
        let wrong = kit.with_run(run, |lines| prepared.compare(&after, lines));
        let rest = wrong.len().saturating_sub(SHOWN);
        wrong
            .into_iter()
            .take(SHOWN)
            .for_each(|wrong| add(wrong.what));
        if rest > 0 {
            add(format!("and {rest} more"));
        }
    }
    Ok(differences)
}

/// Where two recordings differ, apart from addresses; runs that failed in either are left out.
pub fn with_engine(
    kit: &Kit,
    recording: &Recording,
    engine: &Recording,
) -> std::result::Result<Vec<Difference>, CompareError> {
    check(kit, recording)?;
    check(kit, engine)?;
    let mut differences = Vec::new();
    for (&n, recorded) in &recording.runs {
        let Some(other) = engine.runs.get(&n) else {
            continue;
        };
        let (Result::Changed(a), Result::Changed(b)) = (&recorded.result, &other.result) else {
            continue;
        };
        let (run, here, _, a) =
            images(kit, recording, n, a, recorded.place).ok_or(CompareError::Run(n))?;
        let (_, there, _, b) =
            images(kit, engine, n, b, other.place).ok_or(CompareError::Run(n))?;
        let distances = distances(&here, &there);
        let words = a.iter().zip(&b).enumerate();
        let different = words.filter(|(_, (a, b))| !distances.contains(&a.wrapping_sub(**b)));
        for (at, (a, b)) in different.take(SHOWN) {
            let name = kit.layout.name(at);
            let what = format!("{name}: got {a:08x}, the engine gives {b:08x}");
            differences.push(Difference::new(n, run, Kind::Engine, what));
        }
    }
    Ok(differences)
}

/// By how much dwords of the same address may differ: each half, with a carry or without.
fn distances(here: &Places, there: &Places) -> Vec<u32> {
    let mut distances = vec![0];
    let pairs = [
        (here.addresses.windows, there.addresses.windows),
        (here.addresses.windows / 256, there.addresses.windows / 256),
        (here.addresses.shared, there.addresses.shared),
        (here.addresses.private, there.addresses.private),
        (here.code, there.code),
    ];
    for (a, b) in pairs {
        let low = (a as u32).wrapping_sub(b as u32);
        let high = ((a >> 32) as u32).wrapping_sub((b >> 32) as u32);
        distances.extend([low, high]);
        if low != 0 {
            distances.extend([high.wrapping_sub(1), high.wrapping_add(1)]);
        }
    }
    distances.sort_unstable();
    distances.dedup();
    distances
}
