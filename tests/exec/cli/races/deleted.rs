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
use wavelift::{
    Buffer, Device, DeviceOptions, EngineKind, EngineOptions, Error, Module, Profiling, Settings,
    object,
};

use super::{launches, levels, manifests};
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
    /// Those of notes, such as races of stores of one value.
    noted: BTreeSet<&'static str>,
    /// By launch.
    named: Vec<Named>,
    /// The addresses of what was executed, by code object, if that is counted.
    executed: BTreeMap<PathBuf, BTreeSet<u64>>,
}

/// A barrier of a code object.
struct Place {
    kernel: Option<String>,
    address: u64,
    name: String,
    /// Its place in the file.
    at: usize,
}

/// How a manifest is run.
#[derive(Clone, Copy)]
struct Way {
    engine: EngineKind,
    sanitize: bool,
    /// Count what is executed.
    counts: bool,
}

const PLAIN: Way = Way {
    engine: EngineKind::Interp,
    sanitize: false,
    counts: false,
};

const COUNTED: Way = Way {
    counts: true,
    ..PLAIN
};

const CHECKED: Way = Way {
    engine: EngineKind::Jit,
    sanitize: true,
    counts: false,
};

const CHECKED_INTERP: Way = Way {
    engine: EngineKind::Interp,
    sanitize: true,
    counts: false,
};

/// A manifest and the files of its code objects.
struct Case {
    manifest: Manifest,
    objects: BTreeMap<PathBuf, Vec<u8>>,
}

impl Way {
    fn device(self, manifest: &Manifest) -> Device {
        let stacks = manifest.dispatches.iter();
        let place = manifest.memory.as_ref();
        let device = Device::with_options(DeviceOptions {
            engine: self.engine,
            sanitize: self.sanitize,
            engine_options: EngineOptions {
                profile: self.counts.then_some(Profiling::Coverage),
                ..EngineOptions::default()
            },
            address: place.map(|place| place.address),
            reserve: place.map_or(1 << 28, |place| place.bytes),
            timeout: Some(LIMIT),
            threads: 1,
            stack_bytes: stacks.filter_map(|dispatch| dispatch.stack).max(),
            ..DeviceOptions::default()
        });
        let device = device.expect("the host has room");
        if let Some(sanitizer) = device.memory().sanitizer() {
            sanitizer.examine_barriers(true);
        }
        device
    }
}

impl Case {
    fn new(manifest: Manifest) -> Case {
        let files = manifest.dispatches.iter();
        let files = files.map(|dispatch| dispatch.code_object.clone());
        let read = |file: PathBuf| {
            let bytes = std::fs::read(&file).expect("it can be read");
            (file, bytes)
        };
        Case {
            objects: files.map(read).collect(),
            manifest,
        }
    }

    /// Loads the code object of each dispatch, once. `changed` replaces one.
    fn modules(&self, device: &Device, changed: Option<(&Path, &[u8])>) -> Vec<Module> {
        let mut modules: BTreeMap<&Path, Module> = BTreeMap::new();
        let dispatches = self.manifest.dispatches.iter();
        let of_dispatch = dispatches.map(|dispatch| {
            let file = &*dispatch.code_object;
            let module = modules.entry(file).or_insert_with(|| {
                let bytes = match changed {
                    Some((changed, bytes)) if changed == file => bytes,
                    _ => &self.objects[file],
                };
                let module = match dispatch.code_address {
                    Some(address) => object::open_kernel(bytes, None, &dispatch.kernel)
                        .map_err(Error::from)
                        .and_then(|object| Module::from_object_at(device, object, address)),
                    None => load(device, bytes),
                };
                module.expect("it can be loaded")
            });
            module.clone()
        });
        of_dispatch.collect()
    }

    /// Runs all dispatches; `changed` replaces a code object.
    fn run(&self, way: Way, shuffle: Option<u64>, changed: Option<(&Path, &[u8])>) -> Ran {
        let device = way.device(&self.manifest);
        let modules = self.modules(&device, changed);
        let buffers = self.manifest.buffers.iter().map(|spec| {
            let bytes = &spec.array.bytes;
            let mut images = modules.iter().map(|module| module.image());
            let buffer = match spec.address {
                None => device.alloc(bytes.len() as u64),
                // The memory of a loaded code object is there; the code that runs does not change with it.
                Some(address) => match images.find(|image| image.address() == address) {
                    Some(image) => Ok(image),
                    None => device.alloc_at(address, bytes.len() as u64),
                },
            };
            let buffer = buffer.expect("there is room");
            buffer.write(bytes).expect("it has that size");
            buffer
        });
        let buffers: Vec<Buffer> = buffers.collect();
        let executed = |device: &Device| {
            let mut executed: BTreeMap<PathBuf, BTreeSet<u64>> = BTreeMap::new();
            for (dispatch, module) in self.manifest.dispatches.iter().zip(&modules) {
                let counts = device.take_coverage(module).into_iter().flatten();
                let of_file = executed.entry(dispatch.code_object.clone()).or_default();
                of_file.extend(counts.map(|(address, _)| address));
            }
            executed
        };
        let (mut rules, mut noted) = (BTreeSet::new(), BTreeSet::new());
        let mut named = Vec::new();
        for (dispatch, module) in self.manifest.dispatches.iter().zip(&modules) {
            let kernel = module.kernel(&dispatch.kernel).expect("it has the kernel");
            let (launch, args) = launch_of(dispatch, &buffers);
            let settings = Settings {
                shuffle,
                gws: dispatch.gws.clone(),
                ..device.settings()
            };
            for _ in 0..dispatch.repeat {
                let memory = device.memory();
                let before = memory.sanitizer().map(|_| Snapshot::take(&memory));
                let run = || device.launch_with(&kernel, &launch, &args, &settings);
                let ended = run();
                let mut redundant = BTreeSet::new();
                let mut found = device.findings();
                if let Some(before) = before.filter(|_| ended.is_ok()) {
                    let before = before.expect("memory can be read");
                    let more = redundant_behind_flags(&device, &before, run);
                    found.extend(more.expect("memory can be restored"));
                }
                for found in found {
                    let described = Described::new(&found, &kernel, |_| String::new());
                    match described.severity {
                        Severity::Finding => rules.insert(described.rule.id),
                        Severity::Note => noted.insert(described.rule.id),
                    };
                    if described.rule.id == REDUNDANT {
                        redundant.insert(described.at.address);
                    }
                }
                let file = dispatch.code_object.clone();
                named.push((file, dispatch.kernel.clone(), redundant));
                match ended {
                    Ok(_) => {}
                    Err(Error::Fault(_)) => {
                        let left = Err("fault");
                        return Ran {
                            left,
                            rules,
                            noted,
                            named,
                            executed: executed(&device),
                        };
                    }
                    Err(error) => panic!("{}: {error}", self.manifest.path.display()),
                }
            }
        }
        let left = buffers.iter().map(|buffer| buffer.read());
        let left = Ok(left.map(|left| left.expect("it can be read")).collect());
        Ran {
            left,
            rules,
            noted,
            named,
            executed: executed(&device),
        }
    }

    /// What is left in each order.
    fn orders(&self, changed: Option<(&Path, &[u8])>) -> impl Iterator<Item = Left> {
        ORDERS
            .into_iter()
            .map(move |order| self.run(PLAIN, order, changed).left)
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

/// Is there a rule that a missing barrier breaks?
fn is_found(rules: &BTreeSet<&str>) -> bool {
    RULES.iter().any(|rule| rules.contains(rule))
}

/// What the dynamic checks say of a barrier.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Fate {
    /// There is a finding without it.
    Found,
    /// All launches name it redundant.
    Named,
    /// There is a note without it: waves store the same value.
    Noted,
    Neither,
    /// No launch gets there.
    NotExecuted,
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
    /// Code objects with races though all barriers are there.
    racy: Vec<String>,
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
    fn delete(&mut self, manifest: Manifest) {
        let case = Case::new(manifest);
        let path = &case.manifest.path;
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
        } = case.run(CHECKED, None, None);
        if is_found(&before) {
            self.racy
                .push(format!("{}: {before:?}", all[0].0.display()));
            return;
        }
        let interpreted = case.run(CHECKED_INTERP, None, None);
        assert_eq!(named, interpreted.named, "{}", path.display());
        let executed = case.run(COUNTED, None, None).executed;
        for (file, bytes, places) in all {
            for place in places {
                if !executed
                    .get(file)
                    .is_some_and(|of_file| of_file.contains(&place.address))
                {
                    let place = format!("{} {}", file.display(), place.name);
                    let fate = (false, Fate::NotExecuted);
                    self.fates.entry(fate).or_default().push(place);
                    continue;
                }
                let at = place.at;
                let mut changed = bytes.clone();
                changed[at..at + 4].copy_from_slice(&NOP);
                let changed = Some((&**file, &*changed));
                let differs = case.orders(changed).any(|left| !whole.contains(&left));
                let in_order = |order| case.run(CHECKED, order, changed);
                let Ran { rules, noted, .. } = in_order(None);
                let mut found = is_found(&rules);
                if differs && !found {
                    found = SEEDS
                        .map(Some)
                        .any(|order| is_found(&in_order(order).rules));
                    self.in_another_order += usize::from(found);
                }
                let is_named = place.is_named(file, &named);
                let fate = match (found, is_named) {
                    (true, _) => Fate::Found,
                    (false, true) => Fate::Named,
                    (false, false) if !differs && is_found(&noted) => Fate::Noted,
                    (false, false) => Fate::Neither,
                };
                let place = format!("{} {} {rules:?}", file.display(), place.name);
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

/// The manifests of `examples` and `benches/manifests/small` that `is_wanted` chooses by name.
fn own(is_wanted: impl Fn(&str) -> bool) -> Vec<PathBuf> {
    let folders = std::fs::read_dir(root().join("examples")).expect("it can be listed");
    let mut folders: Vec<_> = folders
        .map(|entry| entry.expect("an entry").path())
        .collect();
    folders.push(root().join("benches/manifests/small"));
    let mut paths = examples::manifests(folders);
    paths.retain(|path| {
        let name = path.file_name().and_then(|name| name.to_str());
        is_wanted(name.expect("its name is text"))
    });
    paths
}

/// The manifests that `BARRIERS` asks for: without it those of CI; with `all` the kernels of `examples` and
/// `benches/manifests/small` and of `tests/kernels/races`, as they are there; with `levels` the same kernels compiled at four levels of
/// optimization for five targets, with `levels:gfx906` for one; else those in a folder, such as recorded launches.
fn wanted() -> Vec<Manifest> {
    let load = |path: &PathBuf| Manifest::load(path).expect("it is a manifest");
    let paths = match std::env::var("BARRIERS").as_deref() {
        Err(_) => [
            own(|name| QUICK.iter().any(|begin| name.starts_with(begin))),
            races("gfx906"),
        ]
        .concat(),
        // The bundle has code that others have, too.
        Ok("all") => [
            own(|name| !name.contains(".bundle.")),
            races("gfx906"),
            races("gfx803"),
        ]
        .concat(),
        Ok(levels) if levels.starts_with("levels") => {
            let paths = [own(|name| name.ends_with(".gfx906.toml")), races("gfx906")].concat();
            let manifests: Vec<Manifest> = paths.iter().map(load).collect();
            let target = levels.strip_prefix("levels:");
            return levels::compiled(&manifests, target);
        }
        Ok(folder) => examples::manifests(vec![PathBuf::from(folder)]),
    };
    paths.iter().map(load).collect()
}

#[test]
fn a_deleted_barrier_is_found() {
    let mut counts = Counts::default();
    let manifests = wanted();
    assert!(!manifests.is_empty());
    for manifest in manifests {
        let begin = Instant::now();
        let shown = manifest.dispatches[0].code_object.display().to_string();
        counts.delete(manifest);
        println!("{shown}: {:?}", begin.elapsed());
    }
    for ((differs, fate), places) in &counts.fates {
        println!("buffers differ: {differs}, {fate:?}: {}", places.len());
        for place in places {
            println!("  {place}");
        }
    }
    println!("races with all barriers: {:#?}", counts.racy);
    // Without optimization an atomic load is in a function, where nothing tells it from another load.
    assert!(counts.racy.iter().all(|file| file.contains("-O0/")));
    println!("{} manifests depend on the order", counts.dependent);
    println!("{} found in another order only", counts.in_another_order);
    assert!(counts.named_wrongly.is_empty(), "{counts:#?}");
    for differs in [true, false] {
        assert_eq!(counts.fates.get(&(differs, Fate::Neither)), None);
    }
    // Enough of them show.
    if std::env::var("BARRIERS").is_err() {
        assert!(counts.count(true, Fate::Found) >= 40, "{counts:#?}");
    }
}
