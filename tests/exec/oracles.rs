//! Whole operations that clang made for every target, run on every engine and compared bit by bit
//! with plain Rust. No reading of the instruction set is involved: the kernels of
//! `tests/kernels/oracles` say what is computed in OpenCL C, the tables here say it in Rust.

mod control;
mod convert;
mod floats;
mod half;
mod input;
mod integer;
mod vector;

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use harness::number::Format;
use wavelift::{Device, DeviceOptions, EngineKind, Gfx, Launch, Module, Settings};

use crate::kernels::TARGETS;

/// What runs the kernels.
const ENGINES: &[EngineKind] = &[EngineKind::Interp, EngineKind::Jit];

/// What a slot of the result must hold.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Want {
    /// Exactly this.
    Bits(u64),
    /// Some NaN.
    Nan(Format),
    /// A zero of either sign.
    Zero(Format),
    /// The operation has no defined result.
    Any,
}

impl Want {
    fn accepts(self, got: u64) -> bool {
        match self {
            Want::Bits(bits) => got == bits,
            Want::Nan(format) => format.is_nan(got),
            Want::Zero(format) => got == 0 || got == format.sign(),
            Want::Any => true,
        }
    }
}

/// What the work-items of a kernel read.
pub(crate) struct Slots {
    pub(crate) a: Vec<u64>,
    pub(crate) b: Vec<u64>,
    pub(crate) c: Vec<u64>,
}

impl Slots {
    /// The slots of each work-item.
    pub(crate) fn items(&self) -> impl Iterator<Item = [u64; 3]> {
        (0..self.a.len()).map(|i| [self.a[i], self.b[i], self.c[i]])
    }
}

/// Runs a kernel of `tests/kernels/oracles` for every target on every engine. `names` are the
/// results of a work-item in order; `want` gives them for all work-items, one after another.
pub(crate) fn check(
    file: &str,
    kernel: &str,
    slots: &Slots,
    names: &[&str],
    want: impl Fn(Gfx) -> Vec<Want>,
) {
    let mut wrong = Wrong::default();
    for target in TARGETS {
        let path = format!("tests/kernels/oracles/{file}.{target}.co");
        let bytes = std::fs::read(PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(&path))
            .unwrap_or_else(|e| panic!("{path}: {e}"));
        let want = want(target);
        assert_eq!(want.len(), slots.a.len() * names.len(), "{file} {kernel}");
        for &engine in ENGINES {
            let at = format!("{target} {engine:?}");
            let got = match run(engine, &bytes, kernel, slots, names.len()) {
                Ok(got) => got,
                Err(error) => {
                    wrong.add("launch", &at, || error.to_string());
                    continue;
                }
            };
            for (index, (&got, &want)) in got.iter().zip(&want).enumerate() {
                if want.accepts(got) {
                    continue;
                }
                let item = index / names.len();
                wrong.add(names[index % names.len()], &at, || {
                    let [a, b, c] = [slots.a[item], slots.b[item], slots.c[item]];
                    format!("item {item}: {got:#x}, right is {want:x?}; a={a:#x} b={b:#x} c={c:#x}")
                });
            }
        }
    }
    assert!(
        wrong.0.is_empty(),
        "{file} {kernel}: {} results are wrong:{wrong}",
        wrong.0.len()
    );
}

/// What is wrong: for each result, how often on which target and engine, with the first example.
#[derive(Default)]
struct Wrong(BTreeMap<String, (BTreeMap<String, usize>, String)>);

impl Wrong {
    fn add(&mut self, name: &str, at: &str, example: impl Fn() -> String) {
        let (counts, _) = self
            .0
            .entry(name.to_owned())
            .or_insert_with(|| (BTreeMap::new(), format!("{at} {}", example())));
        *counts.entry(at.to_owned()).or_default() += 1;
    }
}

impl fmt::Display for Wrong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (name, (counts, example)) in &self.0 {
            write!(f, "\n{name}: {counts:?}\n    {example}")?;
        }
        Ok(())
    }
}

/// Launches on each number of threads, which must not make a difference; the result has `per_item` slots
/// for each work-item.
fn run(
    engine: EngineKind,
    code: &[u8],
    kernel: &str,
    slots: &Slots,
    per_item: usize,
) -> Result<Vec<u64>, wavelift::Error> {
    let device = Device::with_options(DeviceOptions {
        engine,
        timeout: Some(Duration::from_secs(120)),
        reserve: 1 << 30,
        ..DeviceOptions::default()
    })?;
    let kernel = Module::load(&device, code)?.kernel(kernel)?;
    let items = slots.a.len();
    let out = device.alloc((items * per_item * 8) as u64)?;
    let [a, b, c] = [&slots.a, &slots.b, &slots.c].map(|s| device.buffer(s));
    let (a, b, c) = (a?, b?, c?);
    let args = [(&out).into(), (&a).into(), (&b).into(), (&c).into()];
    let mut first: Option<Vec<u64>> = None;
    for threads in [1, 2, 3, 8] {
        out.write(&vec![0u64; items * per_item])?;
        let settings = Settings {
            threads,
            ..device.settings()
        };
        device.launch_with(&kernel, &Launch::new(items as u32, 64), &args, &settings)?;
        let got = out.read::<u64>()?;
        let first = first.get_or_insert_with(|| got.clone());
        assert!(got == *first, "{} on {threads} threads", kernel.name());
    }
    Ok(first.expect("it ran"))
}
