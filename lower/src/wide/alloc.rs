//! Registers for a function.

use regalloc2::checker::Checker;
use regalloc2::{Algorithm, MachineEnv, Output, PRegSet, RegallocOptions};

use super::Isa;
use super::inst::{HostFunc, general, mask, vector, vector_count};
use super::scan;

/// General registers that a call keeps, but for those of pins; the frame saves those that are used.
pub(super) const KEPT: [u8; 4] = [12, 13, 14, 15];

/// All general registers that can be given, those that a call keeps last.
pub(super) const FREE: [u8; 13] = [0, 1, 2, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15];

/// The registers to choose from: all but the stack's and those of pins, and the mask register that means none.
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

/// Gives every operand a register by a linear scan. In debug builds the result is checked.
pub(super) fn allocate_quickly(func: &HostFunc) -> Result<Output, String> {
    let output = scan::allocate(func)?;
    check(func, &output);
    Ok(output)
}

/// The same with care.
pub(super) fn allocate(func: &HostFunc) -> Result<Output, String> {
    let options = RegallocOptions {
        verbose_log: false,
        validate_ssa: cfg!(debug_assertions),
        algorithm: Algorithm::Ion,
    };
    let output =
        regalloc2::run(func, &environment(func.isa), &options).map_err(|e| format!("{e:?}"))?;
    check(func, &output);
    Ok(output)
}

/// Instructions of the largest function that is checked: the checker's time grows faster than the function.
const CHECKED: usize = 5000;

/// In debug builds: does everything have a place, and every operand the right value?
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
