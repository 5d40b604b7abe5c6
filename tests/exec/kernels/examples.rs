//! The manifests of `examples/`, and of `benches/` and its open set in their small sizes, on both engines
//! and several numbers of threads: the expectations hold and every buffer is the same each time.

use std::path::{Path, PathBuf};

use wavelift::manifest::{self, Manifest};
use wavelift::{Arg, Buffer, Device, DeviceOptions, Error, Launch, Module, Size};

use super::{EngineKind, LONG, Rig, THREADS};

/// Examples in which the translator must translate every instruction, as in all benches.
const NATIVE: [&str; 4] = ["saxpy", "matmul", "mandelbrot", "sha256"];

/// Numbers of threads for the open set, whose kernels are many.
const FEW_THREADS: [usize; 2] = [1, 3];

pub(super) fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The manifests in these folders.
pub(crate) fn manifests(folders: Vec<PathBuf>) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for folder in folders.into_iter().filter(|folder| folder.is_dir()) {
        let files = std::fs::read_dir(folder).unwrap();
        let files = files.map(|file| file.unwrap().path());
        found.extend(files.filter(|file| file.extension().is_some_and(|e| e == "toml")));
    }
    found.sort();
    found
}

/// A manifest whose code objects are loaded.
struct Loaded<'a> {
    rig: &'a Rig,
    manifest: Manifest,
    modules: Vec<Module>,
    buffers: Vec<Buffer>,
}

impl Loaded<'_> {
    fn new<'a>(rig: &'a Rig, path: &Path) -> Loaded<'a> {
        let manifest = Manifest::load(path).unwrap();
        let modules = manifest.dispatches.iter().map(|dispatch| {
            let bytes = std::fs::read(&dispatch.code_object).unwrap();
            load(&rig.device, &bytes).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
        });
        let modules = modules.collect();
        let buffers = manifest.buffers.iter();
        let buffers = buffers.map(|buffer| rig.buffer(&buffer.array.bytes));
        let buffers = buffers.collect();
        Loaded {
            rig,
            manifest,
            modules,
            buffers,
        }
    }

    /// Runs everything from the beginning; what is in the buffers then.
    fn run(&self) -> Vec<Vec<u8>> {
        for (buffer, spec) in self.buffers.iter().zip(&self.manifest.buffers) {
            buffer.write(&spec.array.bytes).unwrap();
        }
        for (dispatch, module) in self.manifest.dispatches.iter().zip(&self.modules) {
            let (launch, args) = launch_of(dispatch, &self.buffers);
            for _ in 0..dispatch.repeat {
                self.rig.launch(module, &dispatch.kernel, launch, &args);
            }
        }
        let buffers = self.buffers.iter();
        buffers.map(|buffer| buffer.read().unwrap()).collect()
    }

    /// Checks the manifest's expectations.
    fn check(&self, contents: &[Vec<u8>], at: &str) {
        for expectation in &self.manifest.expectations {
            let spec = &self.manifest.buffers[expectation.buffer];
            let mut got = spec.array.clone();
            got.bytes = contents[expectation.buffer].clone();
            let result = expectation
                .tolerance
                .compare(&got, &expectation.array, spec.shaped);
            assert!(result.ok(), "{at}, buffer {}: {result:?}", spec.name);
        }
    }
}

/// The launch of a manifest's dispatch, and its arguments.
pub(crate) fn launch_of(dispatch: &manifest::Dispatch, buffers: &[Buffer]) -> (Launch, Vec<Arg>) {
    let args = dispatch.args.iter().map(|(_, arg)| match arg {
        manifest::Arg::Buffer { index, offset } => Arg::Pointer(buffers[*index].address() + offset),
        manifest::Arg::Scalar { bytes, .. } | manifest::Arg::Bytes(bytes) => {
            Arg::Bytes(bytes.clone())
        }
        manifest::Arg::Local(bytes) => Arg::Local(*bytes),
    });
    let size = |sizes: &[u32; 3]| Size::from_slice(&sizes[..dispatch.dimensions as usize]).unwrap();
    let launch = Launch::new(size(&dispatch.grid), size(&dispatch.workgroup))
        .global_offset(dispatch.global_offset)
        .dynamic_lds(dispatch.dynamic_lds);
    let args = match &dispatch.kernarg {
        Some(segment) => vec![Arg::Segment(segment.clone())],
        None => args.collect(),
    };
    (launch, args)
}

/// The code object of the target that the tests use: a bundle has more than one.
pub(crate) fn load(device: &Device, bytes: &[u8]) -> Result<Module, Error> {
    Module::load(device, bytes).or_else(|_| Module::load_for(device, bytes, "gfx906"))
}

/// A rig with the stack that a manifest's dispatches ask for.
fn rig(path: &Path) -> Rig {
    let manifest = Manifest::load(path).unwrap();
    let stacks = manifest.dispatches.iter();
    Rig::with(DeviceOptions {
        reserve: 1 << 30,
        timeout: Some(LONG),
        stack_bytes: stacks.filter_map(|dispatch| dispatch.stack).max(),
        ..DeviceOptions::default()
    })
}

/// Compares what each manifest's buffers hold on every engine and number of threads; how many runs
/// were compared.
fn compare(manifests: Vec<PathBuf>, threads: &[usize]) -> usize {
    let mut compared = 0;
    for path in manifests {
        let rig = rig(&path);
        let loaded = Loaded::new(&rig, &path);
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let mut first: Option<Vec<Vec<u8>>> = None;
        rig.each(threads, |rig| {
            let contents = loaded.run();
            let at = rig.at(&loaded.modules[0], &name);
            loaded.check(&contents, &at);
            match &first {
                None => first = Some(contents),
                Some(first) => {
                    for (i, spec) in loaded.manifest.buffers.iter().enumerate() {
                        assert!(
                            contents[i] == first[i],
                            "{at}: buffer {} is not as with {:?} on one thread",
                            spec.name,
                            EngineKind::Interp
                        );
                    }
                    compared += 1;
                }
            }
        });
        let example = name.split('.').next().unwrap();
        if NATIVE.contains(&example) || path.parent().unwrap().ends_with("small") {
            assert!(
                !rig.fell_back.load(std::sync::atomic::Ordering::Relaxed),
                "{name} fell back"
            );
        }
    }
    compared
}

#[test]
fn every_example_gives_the_same_on_every_engine_and_number_of_threads() {
    let examples = std::fs::read_dir(root().join("examples")).unwrap();
    let mut folders: Vec<_> = examples.map(|entry| entry.unwrap().path()).collect();
    folders.push(root().join("benches/manifests/small"));
    let manifests = manifests(folders);
    assert!(manifests.len() >= 100, "only {} manifests", manifests.len());
    let compared = compare(manifests, &THREADS);
    assert!(compared >= 100 * (2 * THREADS.len() - 1));
}

#[test]
fn every_kernel_of_the_open_set_gives_the_same_on_every_engine() {
    let manifests = manifests(vec![root().join("benches/open/small")]);
    assert!(manifests.len() >= 60, "only {} manifests", manifests.len());
    let compared = compare(manifests, &FEW_THREADS);
    assert!(compared >= 60 * (2 * FEW_THREADS.len() - 1));
}

/// Products by the matrix instructions of gfx908, gfx90a and gfx942, of small integers: NumPy's.
#[test]
fn matrix_instructions_make_products() {
    let manifests = manifests(vec![root().join("tests/kernels/matrix")]);
    assert_eq!(manifests.len(), 12);
    let compared = compare(manifests, &FEW_THREADS);
    assert_eq!(compared, 12 * (2 * FEW_THREADS.len() - 1));
}
