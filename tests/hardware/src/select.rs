//! Which lines of cases run on hardware. What is left out is counted by its reason.

use std::fmt;

use frontend::op::Hint;
use frontend::registers::{AGPR, SCC, Span, Uses, VGPR};
use frontend::{Encoding, Gfx, Inst, Op, Operand};
use harness::case::assign::{Assign, Bits, Place, Space, Symbol, Value};
use harness::case::{Line, Outcome};

use crate::kernel::mode_mask;
use crate::layout::{OWN, SGPRS};

/// Why a line is not in the kit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reason {
    /// It faults.
    Faults,
    /// The wave ends.
    Ends,
    /// It stops the wave or reaches beyond it.
    Beyond,
    /// A hardware register.
    HardwareRegister,
    /// A register that the kernel cannot set, or needs itself.
    Register,
    /// Bits of MODE that the kernel does not set.
    Mode,
    /// LDS of another size.
    LdsSize,
    /// Scratch.
    Scratch,
    /// Apertures, of a target without registers for them.
    Aperture,
    /// An address in memory, or two in one value.
    Address,
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Reason::Faults => "faults",
            Reason::Ends => "ends the wave",
            Reason::Beyond => {
                "traps, halts, sleeps, messages, forks, exports, GDS, GWS, clocks and counters"
            }
            Reason::HardwareRegister => "hardware registers other than MODE",
            Reason::Register => "registers that the kernel cannot set, or needs itself",
            Reason::Mode => "bits of MODE that the kernel does not set",
            Reason::LdsSize => "LDS of another size",
            Reason::Scratch => "scratch",
            Reason::Aperture => "apertures of a target without registers for them",
            Reason::Address => "addresses in memory, or two in one value",
        })
    }
}

/// Why a line of these instructions is left out, if it is.
pub fn left_out(gfx: Gfx, insts: &[Inst], line: &Line) -> Option<Reason> {
    let of_insts = insts.iter().find_map(|inst| instruction(gfx, inst));
    of_insts.or_else(|| line_left_out(gfx, line))
}

fn instruction(gfx: Gfx, inst: &Inst) -> Option<Reason> {
    let beyond = matches!(
        inst.op(),
        Op::Trap
            | Op::Rfe
            | Op::RfeRestore
            | Op::Sendmsg
            | Op::MemTime
            | Op::MemRealtime
            | Op::CbranchGFork
            | Op::CbranchIFork
            | Op::CbranchJoin
            | Op::SetVskip
            | Op::Export
            | Op::Hint(
                Hint::Sleep
                    | Hint::SetHalt
                    | Hint::SetKill
                    | Hint::IncPerfLevel
                    | Hint::DecPerfLevel
                    | Hint::TtraceData
            )
    );
    let name = inst.desc.name;
    let named = [
        "ds_gws_",
        "ds_ordered_count",
        "s_atc_probe",
        "s_dcache_discard",
        "s_cbranch_cdbg",
    ];
    let named = named.iter().any(|prefix| name.starts_with(prefix));
    if beyond || named || inst.mem.gds || inst.desc.encoding == Encoding::Vintrp {
        return Some(Reason::Beyond);
    }
    if inst.op() == Op::Endpgm {
        return Some(Reason::Ends);
    }
    if matches!(inst.op(), Op::GetReg | Op::SetReg) {
        // The register's number is in the low bits.
        let is_mode = |s: &Operand| matches!(s, Operand::Imm(imm) if *imm & 63 == 1);
        if !inst.src.iter().any(is_mode) {
            return Some(Reason::HardwareRegister);
        }
    }
    if inst.desc.encoding == Encoding::Scratch {
        return Some(Reason::Scratch);
    }
    let uses = Uses::of(inst, gfx);
    let spans = uses.reads.iter().chain(&uses.writes);
    let mut registers = spans.copied().flat_map(Span::each);
    registers.any(|n| !is_free(n)).then_some(Reason::Register)
}

/// May a case use the register?
fn is_free(n: u16) -> bool {
    match n {
        106 | 107 | 124 | 126 | 127 | SCC => true,
        _ if n < SCC => usize::from(n) < SGPRS,
        _ if n < VGPR => false,
        _ if n < AGPR => !OWN.contains(&usize::from(n - VGPR)),
        _ => true,
    }
}

fn line_left_out(gfx: Gfx, line: &Line) -> Option<Reason> {
    match line.outcome {
        Outcome::Barrier(_) => {}
        Outcome::End => return Some(Reason::Ends),
        Outcome::Fault { .. } => return Some(Reason::Faults),
    }
    let all = line.input.iter().chain(&line.output);
    all.into_iter().find_map(|assign| place(gfx, assign))
}

fn place(gfx: Gfx, assign: &Assign) -> Option<Reason> {
    let free = |first: u16, count: u16| (first..first + count).all(is_free);
    match assign.place {
        Place::Trapsts | Place::Hwreg(_) => return Some(Reason::HardwareRegister),
        Place::LdsSize => return Some(Reason::LdsSize),
        Place::Bytes(Space::Scratch, _) => return Some(Reason::Scratch),
        // Accumulation registers follow the VGPRs.
        Place::Vgpr(first, count, _) if !free(first + VGPR, count) => {
            return Some(Reason::Register);
        }
        Place::Sgpr(first, count) if !free(first.into(), count.into()) => {
            return Some(Reason::Register);
        }
        Place::Mask(first) if !free(first.into(), 2) => return Some(Reason::Register),
        Place::Vgpr(..)
        | Place::Sgpr(..)
        | Place::Mask(_)
        | Place::Scc
        | Place::Mode
        | Place::Bytes(..) => {}
    }
    let (Value::Bits(bits) | Value::Near(bits)) = &assign.value else {
        return None;
    };
    if assign.place == Place::Mode && bits.hex.iter().any(|word| word & !mode_mask(gfx) != 0) {
        return Some(Reason::Mode);
    }
    let addresses: Vec<Symbol> = addresses(bits).collect();
    if addresses.contains(&Symbol::Scratch) || addresses.contains(&Symbol::Private) {
        return Some(Reason::Scratch);
    }
    if addresses.contains(&Symbol::Shared) && !gfx.has_aperture_registers() {
        return Some(Reason::Aperture);
    }
    let in_memory = matches!(assign.place, Place::Bytes(..)) && !addresses.is_empty();
    (in_memory || addresses.len() > 1).then_some(Reason::Address)
}

/// The symbols of a value that stand for addresses.
pub fn addresses(bits: &Bits) -> impl Iterator<Item = Symbol> {
    let number = |symbol: &Symbol| matches!(symbol, Symbol::Window | Symbol::Lane);
    bits.symbols.iter().copied().filter(move |s| !number(s))
}
