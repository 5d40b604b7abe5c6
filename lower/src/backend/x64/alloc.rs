//! Registers for a function.

use regalloc2::checker::Checker;
use regalloc2::{Algorithm, Edit, MachineEnv, Output, PRegSet, RegallocOptions};

use super::inst::{FREE, HostFunc, KEPT, general, mask, vector, vector_count};
use super::linear_scan;
use crate::host::Isa;

/// The allocatable registers: all but the stack pointer, those of pins, and the mask register that
/// means no mask.
fn environment(isa: Isa) -> MachineEnv {
    let set = |numbers: &[u8]| {
        let mut set = PRegSet::empty();
        for &n in numbers {
            set.add(general(n));
        }
        set
    };
    let mut vectors = PRegSet::empty();
    for n in 0..vector_count(isa) {
        vectors.add(vector(n));
    }
    let mut masks = PRegSet::empty();
    if isa == Isa::Avx512 {
        for n in 1..8 {
            masks.add(mask(n));
        }
    }
    MachineEnv {
        preferred_regs_by_class: [set(&FREE[..FREE.len() - KEPT.len()]), vectors, masks],
        non_preferred_regs_by_class: [set(&KEPT), PRegSet::empty(), PRegSet::empty()],
        scratch_by_class: [None, None, None],
        fixed_stack_slots: Vec::new(),
    }
}

/// Allocates registers by a linear scan. In debug builds the result is checked.
pub(super) fn allocate_linear(func: &HostFunc) -> Result<Output, String> {
    let output = linear_scan::allocate(func)?;
    check(func, &output);
    Ok(output)
}

/// Allocates registers by `regalloc2`, unless its result spends clearly more on moves in inner
/// loops than the linear scan. Large functions use the linear scan only, since `regalloc2`'s time
/// grows superlinearly.
pub(super) fn allocate(func: &HostFunc) -> Result<Output, String> {
    let scanned = allocate_linear(func);
    if scanned.is_ok() && func.insts.len() > LARGE {
        return scanned;
    }
    let options = RegallocOptions {
        verbose_log: false,
        validate_ssa: cfg!(debug_assertions),
        algorithm: Algorithm::Ion,
    };
    let output =
        regalloc2::run(func, &environment(func.isa), &options).map_err(|e| format!("{e:?}"));
    match (scanned, output) {
        (Ok(scanned), Err(_)) => Ok(scanned),
        (Ok(scanned), Ok(output)) if CLEARLY * cost(func, &scanned) < cost(func, &output) => {
            Ok(scanned)
        }
        (_, output) => {
            let output = output?;
            check(func, &output);
            Ok(output)
        }
    }
}

/// Number of instructions above which `regalloc2` is not used.
const LARGE: usize = 10_000;

/// Ratio of the cost of `regalloc2`'s result to that of the linear scan from which on the latter is
/// used: trip counts are unknown.
const CLEARLY: f64 = 1.5;

/// Loop depth of a block from which on its moves count: the outermost loop may be the one over the
/// waves.
const INNER: u8 = 2;

/// Estimated cost of an allocation's moves in inner loops, to compare two allocations of a
/// function.
fn cost(func: &HostFunc, output: &Output) -> f64 {
    let depths = func.depths();
    let mut cost = 0.0;
    let mut block = 0;
    for (at, Edit::Move { from, to }) in &output.edits {
        while func.range(block).end <= at.inst().index() {
            block += 1;
        }
        if depths[block] >= INNER && !func.blocks[block].cold {
            let often = 10f64.powi(i32::from(depths[block].min(6)));
            let memory = from.is_stack() || to.is_stack();
            cost += often * if memory { 2.0 } else { 1.0 };
        }
    }
    cost
}

/// Number of instructions above which a function is not checked: the checker's time grows
/// superlinearly.
const CHECKED: usize = 5000;

/// In debug builds: does everything have a location, and every operand the right value?
fn check(func: &HostFunc, output: &Output) {
    if cfg!(debug_assertions) && func.insts.len() <= CHECKED {
        let env = environment(func.isa);
        let mut checker = Checker::new(func, &env);
        checker.prepare(output);
        if let Err(errors) = checker.run() {
            panic!("bug: registers were given badly: {errors:?}");
        }
    }
}
