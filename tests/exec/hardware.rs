//! The kit for hardware: its kernel on both engines gives what the cases say, on every target; files of
//! recordings that are damaged or of another kit.

use frontend::Gfx;
use hardware::compare::{CompareError, Difference, with_cases, with_engine};
use hardware::kit::{Choice, read_cases};
use hardware::recording::RecordingError;
use hardware::{Kit, Recorder, Recording};
use harness::random::Random;
use runtime::Engine;
use runtime::interp::Interpreter;
use runtime::jit::{JitEngine, JitOptions};

use super::conformance::directory;

/// Masks of kits that tests run.
const MASKS: [&str; 2] = ["full", "odd"];
/// Differences that a failure shows.
const SHOWN: usize = 20;

/// One of so many heads, under some masks.
pub(crate) fn kit(gfx: Gfx, every: usize) -> Kit {
    let choice = Choice {
        masks: MASKS.map(str::to_owned).to_vec(),
        every,
    };
    let files = read_cases(&directory()).unwrap_or_else(|error| panic!("{error}"));
    Kit::new(files, gfx, &choice).unwrap_or_else(|error| panic!("{error}"))
}

fn record(kit: &Kit, engine: &dyn Engine) -> Recording {
    let recorder = Recorder::new(kit, engine).unwrap_or_else(|error| panic!("{error}"));
    recorder.record().unwrap_or_else(|error| panic!("{error}"))
}

#[track_caller]
pub(crate) fn assert_none(what: &str, differences: &[Difference]) {
    let mut text = String::new();
    for difference in differences.iter().take(SHOWN) {
        let Difference {
            name,
            mask,
            text: inst,
            what,
            ..
        } = difference;
        text.push_str(&format!("{name}: {inst} [exec {mask}]\n    {what}\n"));
    }
    let count = differences.len();
    assert!(count == 0, "{what}: {count} differences:\n{text}");
}

/// The kernel of a target on both engines.
fn check(gfx: Gfx) {
    // Targets behind gfx906 have cases only for what is new.
    let every = if gfx > Gfx::Gfx906 { 3 } else { 24 };
    let kit = kit(gfx, every);
    let interpreted = record(&kit, &Interpreter);
    let jit = JitEngine::new(JitOptions::exact()).expect("the translator runs on this host");
    let translated = record(&kit, &jit);
    for (name, recording) in [("interpreter", &interpreted), ("translator", &translated)] {
        assert_eq!(recording.runs.len(), kit.runs.len());
        let differences = with_cases(&kit, recording).expect("it is of the kit");
        assert_none(&format!("{gfx}, {name}"), &differences);
    }
    let differences = with_engine(&kit, &translated, &interpreted).expect("both are of the kit");
    assert_none(&format!("{gfx}, both engines"), &differences);
}

macro_rules! targets {
    ($($name:ident $gfx:ident)*) => {
        $(#[test] fn $name() { check(Gfx::$gfx); })*
        #[test]
        fn every_target_has_a_test() {
            assert_eq!([$(Gfx::$gfx),*], Gfx::ALL);
        }
    };
}

targets! {
    gfx600 Gfx600 gfx700 Gfx700 gfx803 Gfx803 gfx900 Gfx900 gfx906 Gfx906 gfx908 Gfx908
    gfx90a Gfx90a gfx942 Gfx942
}

#[test]
fn damaged_recordings_are_errors() {
    let kit = kit(Gfx::Gfx906, 400);
    let recording = record(&kit, &Interpreter);
    let text = recording.text();
    assert_eq!(Recording::parse(text.as_bytes()), Ok(recording));
    let bytes = text.as_bytes();
    let mut random = Random::new(1);
    for _ in 0..300 {
        let at = random.below(bytes.len() as u32) as usize;
        let cut = Recording::parse(&bytes[..at]);
        // Without the last line's end nothing is lost.
        assert!(cut.is_err() || at + 1 == bytes.len(), "cut at {at}");
        let mut flipped = bytes.to_vec();
        flipped[at] ^= 1 << random.below(8);
        // What is not in the header has a checksum; a header that is read is compared.
        if let Ok(read) = Recording::parse(&flipped) {
            let _ = with_cases(&kit, &read);
        }
    }
    let body = text.find("\n\n").expect("the header ends") + 2;
    for _ in 0..300 {
        let at = body + random.below((bytes.len() - body - 1) as u32) as usize;
        let mut flipped = bytes.to_vec();
        flipped[at] ^= 1 << random.below(8);
        assert!(Recording::parse(&flipped).is_err(), "flipped at {at}");
    }
}

#[test]
fn recordings_of_other_kits_and_versions_are_errors() {
    let kit = kit(Gfx::Gfx906, 400);
    let mut recording = record(&kit, &Interpreter);
    let text = recording.text();
    assert_eq!(
        Recording::parse(text.replacen("recording 1", "recording 2", 1).as_bytes()),
        Err(RecordingError::Version("2".to_owned()))
    );
    assert_eq!(Recording::parse(b"PK"), Err(RecordingError::NoRecording));
    recording.header.insert("kit".to_owned(), "0".repeat(32));
    let error = with_cases(&kit, &recording).unwrap_err();
    assert!(matches!(error, CompareError::Digest { .. }), "{error}");
    recording
        .header
        .insert("target".to_owned(), "gfx900".to_owned());
    let error = with_cases(&kit, &recording).unwrap_err().to_string();
    assert_eq!(error, "the recording is of gfx900, the kit is of gfx906");
}

#[test]
fn a_difference_names_case_state_and_values() {
    let kit = kit(Gfx::Gfx906, 400);
    let mut recording = record(&kit, &Interpreter);
    let (&n, run) = recording
        .runs
        .iter_mut()
        .find(|(n, _)| kit.runs[**n as usize - 1].text.starts_with("v_"))
        .expect("there is a vector instruction");
    let hardware::recording::Result::Changed(words) = &mut run.result else {
        panic!("it has run");
    };
    let (at, word) = words.last_mut().expect("it has a result");
    *word ^= 1;
    let (at, wrong) = (*at, *word);
    let differences = with_cases(&kit, &recording).expect("it is of the kit");
    let [difference] = &differences[..] else {
        panic!("one word is wrong: {differences:?}");
    };
    assert_eq!(difference.run, n);
    let what = &difference.what;
    let lane = kit.layout.name(at as usize);
    let expected = format!("{lane}: got {wrong:08x}, right is {:08x} (was ", wrong ^ 1);
    assert!(what.starts_with(&expected), "{what}, not {expected}");
    assert!(what.contains("; from ") && what.contains("mode="), "{what}");
}
