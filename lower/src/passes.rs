//! Passes: lane IR to lane IR, in one list. Each can be left out, printed after (`wavelift ir FILE --after PASS`), and tested by
//! text (`tests/passes/`).

use std::borrow::Cow;

use crate::analysis::liveness::{self, Lives};
use crate::ir::Func;
use crate::options::{Forms, Options};

mod dead_lanes;
mod observe;
mod rebuild;
pub mod sink;

/// A region with what is live in it.
pub struct Analysed<'f> {
    /// The region.
    pub func: Cow<'f, Func>,
    /// Registers that are live at the beginning and the end of its blocks.
    pub lives: Lives,
}

/// One pass.
#[derive(Debug)]
pub struct Pass {
    /// What it is called.
    pub name: &'static str,
    /// What it does, in one sentence.
    pub about: &'static str,
    /// The form of code that it makes, without which it is left out.
    form: Forms,
    /// It is left out in the baseline tier.
    optimizing: bool,
    /// It is left out without a sanitizer.
    sanitize: bool,
    run: fn(&mut Analysed<'_>),
}

/// All passes, in the order in which they run.
pub const PASSES: &[Pass] = &[
    Pass {
        name: "observe",
        about: "announces accesses to a sanitizer, if there is one",
        form: Forms::empty(),
        optimizing: false,
        sanitize: true,
        run: observe::run,
    },
    Pass {
        name: "sink",
        about: "moves writes of registers to the block that reads them",
        form: Forms::SUNK,
        optimizing: false,
        sanitize: false,
        run: sink::run,
    },
    Pass {
        name: "dead-lanes",
        about: "frees writes under EXEC from the old value where nobody reads inactive lanes",
        form: Forms::DEAD_LANES,
        optimizing: true,
        sanitize: false,
        run: dead_lanes::run,
    },
];

impl<'f> Analysed<'f> {
    /// A region as the guest has it.
    pub fn new(f: &'f Func) -> Analysed<'f> {
        Analysed {
            func: Cow::Borrowed(f),
            lives: liveness::lives(f),
        }
    }
}

/// Runs the passes that the options do not leave out.
pub fn run(region: &mut Analysed<'_>, options: &Options) {
    let applies = |pass: &&Pass| {
        let left_out = pass.optimizing && options.baseline || pass.sanitize && !options.sanitize;
        options.has(pass.form) && !left_out
    };
    for pass in PASSES.iter().filter(applies) {
        (pass.run)(region);
    }
}

/// The region after the pass of this name and those before it that run without a sanitizer; nothing if there is no such pass.
pub fn after(f: &Func, name: &str) -> Option<Func> {
    let last = PASSES.iter().position(|pass| pass.name == name)?;
    let mut region = Analysed::new(f);
    let before = PASSES[..last].iter().filter(|pass| !pass.sanitize);
    for pass in before.chain([&PASSES[last]]) {
        (pass.run)(&mut region);
    }
    Some(region.func.into_owned())
}

/// The region after the pass of this name alone; nothing if there is no such pass.
pub fn alone(f: &Func, name: &str) -> Option<Func> {
    let pass = PASSES.iter().find(|pass| pass.name == name)?;
    let mut region = Analysed::new(f);
    (pass.run)(&mut region);
    Some(region.func.into_owned())
}
