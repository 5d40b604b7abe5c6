//! Deleted barriers are found: each `s_barrier` of kernels becomes `s_nop 0`, one at a time. Where the buffers then depend on the
//! order of waves, the dynamic checks must have a finding.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use runtime::lockstep::Snapshot;
use wavelift::check::{Severity, routines};
use wavelift::frontend::Op;
use wavelift::manifest::Manifest;
use wavelift::sanitizer::{Described, redundant_behind_flags};
use wavelift::{Buffer, Device, DeviceOptions, EngineKind, Error, Module, Settings, object};

use super::{launches, manifests};
use crate::cli::{folder, root};
use crate::kernels::examples::{self, launch_of, load};

/// The rule of barriers on which nothing depends.
const REDUNDANT: &str = "redundant-barrier";

const NOP: [u8; 4] = [0, 0, 0x80, 0xbf];

/// Orders of workgroups and waves: the ascending one, and those of seeds.
const ORDERS: [Option<u64>; 4] = [None, Some(1), Some(2), Some(3)];

/// Seeds of the orders in which a deletion is looked for that the ascending order does not show: an order that another access makes in one
/// run, such as an atomic on the same word, is none in another.
const SEEDS: std::ops::RangeInclusive<u64> = 1..=8;

/// Rules that a missing barrier breaks.
const RULES: [&str; 3] = ["race-lds", "race-global", "barrier-divergence"];

/// Longest time of a dispatch. Without a barrier a kernel may not end.
const LIMIT: Duration = Duration::from_secs(20);

/// Contents of all buffers, or the kind of a fault.
type Left = Result<Vec<Vec<u8>>, &'static str>;

/// The barriers that a launch names redundant: code object, kernel, addresses.
type Named = (PathBuf, String, BTreeSet<u64>);

/// What a run leaves.
struct Ran {
    left: Left,
    /// The rules of the findings.
    rules: BTreeSet<&'static str>,
    /// By launch.
    named: Vec<Named>,
}

/// A barrier of a code object.
struct Place {
    kernel: Option<String>,
    address: u64,
    name: String,
    /// Its place in the file.
    at: usize,
}

/// A device with a manifest's buffers.
struct Side {
    device: Device,
    buffers: Vec<Buffer>,
}

/// A manifest on the interpreter, and on a device with dynamic checks.
struct Case {
    manifest: Manifest,
    objects: BTreeMap<PathBuf, Vec<u8>>,
    plain: Side,
    checked: Side,
    /// The interpreter, also with checks.
    checked_interp: Side,
}

impl Side {
    fn new(manifest: &Manifest, engine: EngineKind, sanitize: bool) -> Side {
        let stacks = manifest.dispatches.iter();
        let device = Device::with_options(DeviceOptions {
            engine,
            sanitize,
            reserve: 1 << 28,
            timeout: Some(LIMIT),
            threads: 1,
            stack_bytes: stacks.filter_map(|dispatch| dispatch.stack).max(),
            ..DeviceOptions::default()
        });
        let device = device.expect("the host has room");
        if let Some(sanitizer) = device.memory().sanitizer() {
            sanitizer.examine_barriers(true);
        }
        let buffers = manifest.buffers.iter();
        let buffers = buffers.map(|buffer| device.buffer(&buffer.array.bytes));
        let buffers = buffers.map(|buffer| buffer.expect("there is room"));
        Side {
            buffers: buffers.collect(),
            device,
        }
    }
}

impl Case {
    fn new(path: &Path) -> Case {
        let manifest = Manifest::load(path).expect("it is a manifest");
        let files = manifest.dispatches.iter();
        let files = files.map(|dispatch| dispatch.code_object.clone());
        let read = |file: PathBuf| {
            let bytes = std::fs::read(&file).expect("it can be read");
            (file, bytes)
        };
        Case {
            objects: files.map(read).collect(),
            plain: Side::new(&manifest, EngineKind::Interp, false),
            checked: Side::new(&manifest, EngineKind::Jit, true),
            checked_interp: Side::new(&manifest, EngineKind::Interp, true),
            manifest,
        }
    }

    /// Runs all dispatches; `changed` replaces a code object.
    fn run(&self, side: &Side, shuffle: Option<u64>, changed: Option<(&Path, &[u8])>) -> Ran {
        let Side { device, buffers } = side;
        for (buffer, spec) in buffers.iter().zip(&self.manifest.buffers) {
            buffer.write(&spec.array.bytes).expect("it has that size");
        }
        let settings = Settings {
            shuffle,
            ..device.settings()
        };
        let mut modules: BTreeMap<&Path, Module> = BTreeMap::new();
        let (mut rules, mut named) = (BTreeSet::new(), Vec::new());
        for dispatch in &self.manifest.dispatches {
            let file = &*dispatch.code_object;
            let module = modules.entry(file).or_insert_with(|| {
                let bytes = match changed {
                    Some((changed, bytes)) if changed == file => bytes,
                    _ => &self.objects[file],
                };
                load(device, bytes).expect("it can be loaded")
            });
            let kernel = module.kernel(&dispatch.kernel).expect("it has the kernel");
            let (launch, args) = launch_of(dispatch, buffers);
            for _ in 0..dispatch.repeat {
                let memory = device.memory();
                let before = memory.sanitizer().map(|_| Snapshot::take(&memory));
                let run = || device.launch_with(&kernel, &launch, &args, &settings);
                let ended = run();
                let mut redundant = BTreeSet::new();
                let mut found = device.findings();
                if let Some(before) = before.filter(|_| ended.is_ok()) {
                    let before = before.expect("memory can be read");
                    let more = redundant_behind_flags(device, &before, run);
                    found.extend(more.expect("memory can be restored"));
                }
                for found in found {
                    let described = Described::new(&found, &kernel, |_| String::new());
                    if described.severity == Severity::Finding {
                        rules.insert(described.rule.id);
                    }
                    if described.rule.id == REDUNDANT {
                        redundant.insert(described.at.address);
                    }
                }
                named.push((file.to_owned(), dispatch.kernel.clone(), redundant));
                match ended {
                    Ok(_) => {}
                    Err(Error::Fault(_)) => {
                        let left = Err("fault");
                        return Ran { left, rules, named };
                    }
                    Err(error) => panic!("{}: {error}", self.manifest.path.display()),
                }
            }
        }
        let left = buffers.iter().map(|buffer| buffer.read());
        let left = Ok(left.map(|left| left.expect("it can be read")).collect());
        Ran { left, rules, named }
    }

    /// What is left in each order.
    fn orders(&self, changed: Option<(&Path, &[u8])>) -> impl Iterator<Item = Left> {
        ORDERS
            .into_iter()
            .map(move |order| self.run(&self.plain, order, changed).left)
    }

    /// The places of barriers in a code object.
    fn barriers(&self, bytes: &[u8]) -> Vec<Place> {
        let open = object::open(bytes, None);
        let open = open.expect("the project's manifests name code objects");
        let dispatches = self.manifest.dispatches.iter();
        let used: BTreeSet<&str> = dispatches.map(|dispatch| &*dispatch.kernel).collect();
        let mut places = Vec::new();
        for named in routines(&open) {
            let routine = &named.routine;
            if routine.kernel.is_some() && !used.contains(named.name) {
                continue;
            }
            // Kernels may have the same code, segments do not.
            let mut segments = open.segments.iter();
            let within = |start: u64| routine.address.wrapping_sub(start);
            let segment = segments
                .find(|one| one.execute && within(one.address) < one.data.len() as u64)
                .expect("a segment has the code");
            let mut windows = bytes.windows(segment.data.len());
            let begin = windows.position(|window| window == &segment.data[..]);
            let begin = begin.expect("the file has the segment");
            let begin = begin + within(segment.address) as usize;
            let code = wavelift::check::Code::new(routine);
            for item in &code.items {
                if item.inst.op() == Op::Barrier {
                    places.push(Place {
                        kernel: routine.kernel.is_some().then(|| named.name.to_owned()),
                        address: item.address,
                        name: format!("{} {:#x}", named.name, item.address),
                        at: begin + (item.address - routine.address) as usize,
                    });
                }
            }
        }
        places
    }
}

/// What the dynamic checks say of a barrier.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Fate {
    /// There is a finding without it.
    Found,
    /// All launches name it redundant.
    Named,
    Neither,
}

impl Place {
    /// Do all launches that may execute the barrier name it?
    fn is_named(&self, of_file: &Path, named: &[Named]) -> bool {
        let mut launches = named.iter().filter(|(file, kernel, _)| {
            file == of_file && self.kernel.as_ref().is_none_or(|own| own == kernel)
        });
        launches.all(|(.., addresses)| addresses.contains(&self.address))
    }
}

/// Deleted barriers.
#[derive(Debug, Default)]
struct Counts {
    /// By whether buffers differ in some order.
    fates: BTreeMap<(bool, Fate), Vec<String>>,
    /// Deletions of barriers that are named redundant and yet found, or change a buffer.
    named_wrongly: Vec<String>,
    /// Manifests whose buffers depend on the order with all barriers, and that therefore show nothing.
    dependent: usize,
    /// Deletions that are found only in another order than the ascending one.
    in_another_order: usize,
}

impl Counts {
    fn count(&self, differs: bool, fate: Fate) -> usize {
        self.fates.get(&(differs, fate)).map_or(0, Vec::len)
    }

    /// Deletes each barrier of a manifest's code objects.
    fn delete(&mut self, path: &Path) {
        let case = Case::new(path);
        let all = case
            .objects
            .iter()
            .map(|(file, bytes)| (file, bytes, case.barriers(bytes)));
        let all: Vec<_> = all.filter(|(.., places)| !places.is_empty()).collect();
        if all.is_empty() {
            return;
        }
        let whole: BTreeSet<Left> = case.orders(None).collect();
        if whole.len() > 1 {
            self.dependent += 1;
            return;
        }
        let Ran {
            rules: before,
            named,
            ..
        } = case.run(&case.checked, None, None);
        assert!(before.is_empty(), "{}: {before:?}", path.display());
        let interpreted = case.run(&case.checked_interp, None, None);
        assert_eq!(named, interpreted.named, "{}", path.display());
        for (file, bytes, places) in all {
            for place in places {
                let at = place.at;
                let mut changed = bytes.clone();
                changed[at..at + 4].copy_from_slice(&NOP);
                let changed = Some((&**file, &*changed));
                let differs = case.orders(changed).any(|left| !whole.contains(&left));
                let in_order = |order| case.run(&case.checked, order, changed).rules;
                let is_found = |rules: &BTreeSet<_>| RULES.iter().any(|rule| rules.contains(rule));
                let rules = in_order(None);
                let mut found = is_found(&rules);
                if differs && !found {
                    found = SEEDS.map(Some).any(|order| is_found(&in_order(order)));
                    self.in_another_order += usize::from(found);
                }
                let is_named = place.is_named(file, &named);
                let fate = match (found, is_named) {
                    (true, _) => Fate::Found,
                    (false, true) => Fate::Named,
                    (false, false) => Fate::Neither,
                };
                let place = format!("{} {} {rules:?}", path.display(), place.name);
                if is_named && (found || differs) {
                    self.named_wrongly.push(place.clone());
                }
                self.fates.entry((differs, fate)).or_default().push(place);
            }
        }
    }
}

/// The kernels of `tests/kernels/races` without races: those of pairs, and the intended ones.
fn races(target: &str) -> Vec<PathBuf> {
    let home = folder(&format!("deleted-{target}"));
    let [_, repaired, intended] = launches();
    let both = [repaired, intended];
    let paths = both
        .iter()
        .flat_map(|kernels| manifests(&home, kernels, target));
    paths.map(PathBuf::from).collect()
}

/// Examples of the form that CI runs, by the beginning of their names.
const QUICK: [&str; 2] = ["reduction.gfx906", "histogram.gfx906"];

/// With `BARRIERS=all` the kernels of all targets, of `examples` and `benches/manifests/small`.
#[test]
fn a_deleted_barrier_is_found() {
    let every = std::env::var("BARRIERS").is_ok_and(|barriers| barriers == "all");
    let folders = std::fs::read_dir(root().join("examples")).expect("it can be listed");
    let mut folders: Vec<_> = folders
        .map(|entry| entry.expect("an entry").path())
        .collect();
    folders.push(root().join("benches/manifests/small"));
    let mut paths = examples::manifests(folders);
    paths.retain(|path| {
        let name = path.file_name().and_then(|name| name.to_str());
        let name = name.expect("its name is text");
        // The bundle has code that others have, too.
        match every {
            true => !name.contains(".bundle."),
            false => QUICK.iter().any(|begin| name.starts_with(begin)),
        }
    });
    paths.extend(races("gfx906"));
    if every {
        paths.extend(races("gfx803"));
    }
    let mut counts = Counts::default();
    for path in &paths {
        let begin = Instant::now();
        counts.delete(path);
        println!("{}: {:?}", path.display(), begin.elapsed());
    }
    for ((differs, fate), places) in &counts.fates {
        println!("buffers differ: {differs}, {fate:?}: {}", places.len());
        for place in places {
            println!("  {place}");
        }
    }
    println!("{} manifests depend on the order", counts.dependent);
    println!("{} found in another order only", counts.in_another_order);
    assert!(counts.named_wrongly.is_empty(), "{counts:#?}");
    for differs in [true, false] {
        assert_eq!(counts.fates.get(&(differs, Fate::Neither)), None);
    }
    // Enough of them show.
    let least = if every { 100 } else { 40 };
    assert!(counts.count(true, Fate::Found) >= least, "{counts:#?}");
}
