//! Results that arrive late: they change nothing in the project's kernels, and a deleted wait shows.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::Instant;

use wavelift::check::{Code, Edit, Report, Routine, WaitField, check_code, routines};
use wavelift::diff::{Comparison, Outcome, Verdict};
use wavelift::frontend::{Op, Operand};
use wavelift::manifest::Manifest;
use wavelift::{Buffer, DeviceOptions, Module, object};

use super::LONG;
use super::examples::{launch_of, load, manifests, root};

/// `s_nop 0` and `s_trap 1`.
const NOP: [u8; 4] = [0, 0, 0x80, 0xbf];
const TRAP: [u8; 4] = [1, 0, 0x92, 0xbf];

/// Rules of the static checks whose findings late results cannot show: they are about the time of accesses
/// to LDS, about VCCZ, or about callers that the kernel does not have.
const NOT_DELAYED: [&str; 5] = [
    "wait-barrier",
    "wait-lds-load",
    "wait-vccz",
    "wait-entry",
    "wait-return",
];

/// A manifest on a device that compares late results with ordinary ones.
struct Case {
    manifest: Manifest,
    comparison: Comparison,
    buffers: Vec<Buffer>,
    /// The code objects by file.
    objects: BTreeMap<PathBuf, Vec<u8>>,
}

/// What came of a manifest's dispatches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Came {
    Same,
    Different,
    /// The ordinary run ends in a fault.
    Fault,
}

impl Case {
    fn new(path: &Path, seed: u64) -> Case {
        let manifest = Manifest::load(path).unwrap();
        let stacks = manifest.dispatches.iter();
        let options = DeviceOptions {
            reserve: 1 << 28,
            timeout: Some(LONG),
            threads: 1,
            stack_bytes: stacks.filter_map(|dispatch| dispatch.stack).max(),
            ..DeviceOptions::default()
        };
        let comparison = Comparison::delayed(options, seed).unwrap();
        let device = comparison.device();
        let buffers = manifest.buffers.iter();
        let buffers = buffers.map(|buffer| device.buffer(&buffer.array.bytes).unwrap());
        let files = manifest.dispatches.iter();
        let files = files.map(|dispatch| dispatch.code_object.clone());
        Case {
            buffers: buffers.collect(),
            objects: files
                .map(|file| (file.clone(), std::fs::read(file).unwrap()))
                .collect(),
            manifest,
            comparison,
        }
    }

    /// Runs all dispatches; `changed` replaces a code object.
    fn run(&self, changed: Option<(&Path, &[u8])>) -> Came {
        let device = self.comparison.device();
        for (buffer, spec) in self.buffers.iter().zip(&self.manifest.buffers) {
            buffer.write(&spec.array.bytes).unwrap();
        }
        let mut modules: BTreeMap<&Path, Module> = BTreeMap::new();
        for dispatch in &self.manifest.dispatches {
            let file = &*dispatch.code_object;
            let module = modules.entry(file).or_insert_with(|| {
                let bytes = match changed {
                    Some((changed, bytes)) if changed == file => bytes,
                    _ => &self.objects[file],
                };
                load(device, bytes).unwrap()
            });
            let kernel = module.kernel(&dispatch.kernel).unwrap();
            let (launch, args) = launch_of(dispatch, &self.buffers);
            for _ in 0..dispatch.repeat {
                let settings = device.settings();
                let verdict = self.comparison.launch(&kernel, &launch, &args, &settings);
                match verdict.unwrap() {
                    Verdict::Same(Outcome::Ended) => {}
                    Verdict::Different(difference) => {
                        return match difference.reference.outcome {
                            Outcome::Ended => Came::Different,
                            Outcome::Faulted(_) => Came::Fault,
                        };
                    }
                    Verdict::Same(Outcome::Faulted(_)) => return Came::Fault,
                }
            }
        }
        Came::Same
    }
}

/// The manifests with kernels of every target.
fn all() -> Vec<PathBuf> {
    let examples = std::fs::read_dir(root().join("examples")).unwrap();
    let mut folders: Vec<_> = examples.map(|entry| entry.unwrap().path()).collect();
    folders.push(root().join("benches/manifests/small"));
    folders.push(root().join("benches/open/small"));
    manifests(folders)
}

#[test]
fn late_results_change_nothing() {
    let manifests = all();
    assert!(manifests.len() >= 160, "only {}", manifests.len());
    for path in manifests {
        assert_eq!(
            Case::new(&path, 0).run(None),
            Came::Same,
            "{}",
            path.display()
        );
    }
}

/// What a deleted wait comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Fate {
    /// The late results differ.
    Shown,
    /// They do not; the static checks name the wait redundant.
    Redundant,
    /// The wait is not executed.
    NotExecuted,
    /// What it is for is not delayed.
    NotDelayed,
    /// The path that is executed has no need of it (it is for another one), or the data has no effect.
    Unseen,
}

/// A wait of a routine.
struct Wait<'a> {
    case: &'a Case,
    path: &'a Path,
    /// The code object, and where the wait lies in it.
    file: &'a Path,
    at: usize,
    routine: &'a Routine<'a>,
    code: &'a Code,
    report: &'a Report,
    index: usize,
}

impl Wait<'_> {
    /// The dispatches with another instruction in its place.
    fn replaced(&self, case: &Case, word: [u8; 4]) -> Came {
        let mut changed = case.objects[self.file].clone();
        changed[self.at..self.at + 4].copy_from_slice(&word);
        case.run(Some((self.file, &changed)))
    }

    fn is_shown(&self, case: &Case) -> bool {
        let came = self.replaced(case, NOP);
        assert_ne!(came, Came::Fault, "the ordinary run ends");
        came == Came::Different
    }

    /// Do the static checks name all of its fields redundant?
    fn is_redundant(&self) -> bool {
        let Operand::Imm(imm) = self.code.items[self.index].inst.src[0] else {
            return false;
        };
        let fields = WaitField::ALL.into_iter();
        let mut fields = fields.filter(|field| field.get(imm as u16, self.code.gfx).is_some());
        fields.all(|field| self.report.redundant.contains(&(self.index, Some(field))))
    }

    /// The rules of the findings without it.
    fn rules(&self) -> BTreeSet<&'static str> {
        let mut changed = self.code.clone();
        changed.edit(self.index, Edit::Imm(0xffff));
        let before = &self.report.findings;
        let findings = check_code(self.routine, &changed).findings;
        let new = findings.iter().filter(|found| !before.contains(found));
        new.map(|found| found.rule.id).collect()
    }

    /// What its deletion comes to, and where it is.
    fn fate(&self, name: &str) -> (Fate, String) {
        let address = self.code.items[self.index].address;
        let place = format!("{} {name} {address:#x}", self.path.display());
        if self.is_shown(self.case) {
            let redundant = self.is_redundant();
            assert!(!redundant, "{place}: the static checks call it redundant");
            return (Fate::Shown, place);
        }
        if self.is_redundant() {
            return (Fate::Redundant, place);
        }
        if self.replaced(self.case, TRAP) == Came::Same {
            return (Fate::NotExecuted, place);
        }
        let rules = self.rules();
        assert!(!rules.is_empty(), "{place}: the static checks miss it");
        let place = format!("{place} {rules:?}");
        if rules.iter().all(|rule| NOT_DELAYED.contains(rule)) {
            return (Fate::NotDelayed, place);
        }
        // Other poison may show it.
        match self.is_shown(&Case::new(self.path, 1)) {
            true => (Fate::Shown, place),
            false => (Fate::Unseen, place),
        }
    }
}

/// Deletes each wait of a manifest's code objects.
fn delete_waits(path: &Path, fates: &mut BTreeMap<Fate, Vec<String>>) {
    let case = Case::new(path, 0);
    let dispatches = case.manifest.dispatches.iter();
    let used: BTreeSet<&str> = dispatches.map(|dispatch| &*dispatch.kernel).collect();
    for (file, bytes) in &case.objects {
        let object = object::open(bytes, None).unwrap();
        let mut all = routines(&object);
        all.retain(|named| named.routine.kernel.is_none() || used.contains(named.name));
        for named in &all {
            let routine = &named.routine;
            let mut windows = bytes.windows(routine.code.len());
            let begin = windows.position(|window| window == routine.code).unwrap();
            let code = Code::new(routine);
            let report = check_code(routine, &code);
            for (index, item) in code.items.iter().enumerate() {
                if item.inst.op() != Op::Waitcnt {
                    continue;
                }
                let wait = Wait {
                    case: &case,
                    path,
                    file,
                    at: begin + (item.address - routine.address) as usize,
                    routine,
                    code: &code,
                    report: &report,
                    index,
                };
                let (fate, place) = wait.fate(named.name);
                fates.entry(fate).or_default().push(place);
            }
        }
    }
}

/// The fates of all waits in these manifests' code objects.
fn deleted(manifests: &[PathBuf]) -> BTreeMap<Fate, Vec<String>> {
    let mut fates = BTreeMap::new();
    for path in manifests {
        let begin = Instant::now();
        delete_waits(path, &mut fates);
        println!("{}: {:?}", path.display(), begin.elapsed());
    }
    for (fate, places) in &fates {
        println!("{fate:?}: {}", places.len());
    }
    let unseen = [Fate::Unseen, Fate::NotDelayed];
    for (fate, place) in unseen.iter().flat_map(|fate| {
        let places = fates.get(fate).into_iter().flatten();
        places.map(move |place| (fate, place))
    }) {
        println!("{fate:?}: {place}");
    }
    fates
}

/// The manifests of [`a_deleted_wait_shows`], by the beginning of their names.
const QUICK: [&str; 4] = [
    "saxpy.gfx",
    "reduction.gfx600",
    "half2.gfx",
    "stencil.gfx803",
];

/// With `WAITS=all` those of all manifests, which takes minutes.
#[test]
fn a_deleted_wait_shows() {
    let every = std::env::var("WAITS").is_ok_and(|waits| waits == "all");
    let mut manifests = all();
    manifests.retain(|path| {
        let name = path.file_name().unwrap().to_str().unwrap();
        // The bundle has code that others have, too.
        match every {
            true => !name.contains(".bundle."),
            false => QUICK.iter().any(|begin| name.starts_with(begin)),
        }
    });
    let fates = deleted(&manifests);
    let shown = fates[&Fate::Shown].len();
    let unseen = fates.get(&Fate::Unseen).map_or(0, Vec::len);
    let least = if every { 1000 } else { 50 };
    assert!(shown > least && 10 * unseen <= shown, "{unseen} of {shown}");
}
