//! The operations that instructions issue, and the registers and LDS that they access until they complete.

use crate::op::{DsOp, ImageOp};
use crate::{Encoding, Gfx, Inst, Op, Operand};

use super::counters::WaitField;
use crate::registers::{self, Span, Uses, is_gws, is_lds, is_store, is_vmem};

/// A class of operations that share a counter. Those of an ordered class are counted down in the order of issue;
/// the order between different classes in one counter is unspecified.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Class {
    /// MUBUF, MTBUF, MIMG, GLOBAL, SCRATCH: loads and stores mixed (Vega ISA 4.4; LLVM
    /// SIInsertWaitcnts).
    Vmem,
    /// FLAT counts in two counters, and is unordered in both (AMDGPUUsage; LLVM). Before gfx9, which has no other
    /// instructions for global memory, compilers take an access that they know to be global for one of
    /// [`Class::Vmem`] alone, so that nothing can be said of its other counter.
    FlatVm,
    /// FLAT on gfx9, its other counter.
    FlatLgkm,
    /// FLAT before gfx9, its other counter.
    FlatLgkmOld,
    /// DS on LDS, and exchanges of lanes.
    Lds,
    /// Scalar memory returns in any order (Vega ISA 4.4).
    Smem,
    /// GDS and GWS.
    Gds,
    /// The data registers of GDS and GWS.
    GdsData,
    /// Exports are ordered by type only (Vega ISA 4.4).
    ExportColor,
    /// To a position.
    ExportPosition,
    /// To a parameter.
    ExportParameter,
    /// gfx6: the data registers of a store (LLVM's `vmemWriteNeedsExpWaitcnt`).
    StoreData,
    /// What the caller of a function has not waited for (LLVM's ABI).
    CallerVm,
    /// The same, of the other counter.
    CallerLgkm,
}

impl Class {
    /// Its counter.
    pub fn field(self) -> WaitField {
        match self {
            Class::Vmem | Class::FlatVm | Class::CallerVm => WaitField::Vm,
            Class::FlatLgkm
            | Class::FlatLgkmOld
            | Class::Lds
            | Class::Smem
            | Class::Gds
            | Class::CallerLgkm => WaitField::Lgkm,
            Class::GdsData
            | Class::ExportColor
            | Class::ExportPosition
            | Class::ExportParameter
            | Class::StoreData => WaitField::Exp,
        }
    }

    /// Has an operation no effect without active lanes?
    pub fn needs_lanes(self) -> bool {
        matches!(
            self,
            Class::Vmem
                | Class::FlatVm
                | Class::FlatLgkm
                | Class::FlatLgkmOld
                | Class::Lds
                | Class::StoreData
        )
    }

    /// Is it counted down in the order of issue?
    pub fn is_ordered(self) -> bool {
        match self {
            Class::Vmem
            | Class::Lds
            | Class::Gds
            | Class::GdsData
            | Class::ExportColor
            | Class::ExportPosition
            | Class::ExportParameter
            | Class::StoreData => true,
            Class::FlatVm
            | Class::FlatLgkm
            | Class::FlatLgkmOld
            | Class::Smem
            | Class::CallerVm
            | Class::CallerLgkm => false,
        }
    }
}

/// What an outstanding operation accesses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// These registers are written.
    Writes(Span),
    /// These are read.
    Reads(Span),
    /// EXEC is read.
    ReadsExec,
    /// LDS is written.
    Lds,
    /// LDS is read.
    LdsRead,
    /// LDS is written by a load from memory.
    LdsLoad,
    /// The global wave sync is accessed.
    Gws,
}

/// An operation that an instruction issues.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// Its class.
    pub class: Class,
    /// By how much it raises the counter.
    pub tokens: u8,
    /// What it accesses until it completes.
    pub what: Vec<What>,
}

/// Can instructions of this encoding leave an operation outstanding? If not, [`events`] has none.
pub fn may_be_outstanding(encoding: Encoding) -> bool {
    use Encoding::{Ds, Exp, Flat, Global, Mimg, Mtbuf, Mubuf, Scratch, Smem};
    matches!(
        encoding,
        Smem | Ds | Flat | Global | Scratch | Mubuf | Mtbuf | Mimg | Exp
    )
}

/// The operations of an instruction.
pub fn events(inst: &Inst, uses: &Uses, gfx: Gfx) -> Vec<Event> {
    let vector = |span: &&Span| span.first >= registers::VGPR;
    let writes = || uses.writes.iter().copied().map(What::Writes);
    let event = |class, what: Vec<What>| Event {
        class,
        tokens: 1,
        what,
    };
    match inst.desc.encoding {
        Encoding::Smem => match inst.op() {
            Op::CacheCtl => vec![],
            _ => {
                let wide = uses.writes.iter().any(|span| span.count > 1);
                vec![Event {
                    class: Class::Smem,
                    tokens: if wide { 2 } else { 1 },
                    what: writes().collect(),
                }]
            }
        },
        Encoding::Flat => {
            let results: Vec<What> = writes().collect();
            let classes = match gfx.is_gfx9() {
                true => [Class::FlatVm, Class::FlatLgkm],
                false => [Class::Vmem, Class::FlatLgkmOld],
            };
            classes.map(|class| event(class, results.clone())).into()
        }
        Encoding::Mubuf
        | Encoding::Mtbuf
        | Encoding::Mimg
        | Encoding::Global
        | Encoding::Scratch
            if is_vmem(inst) =>
        {
            let mut what: Vec<What> = writes().collect();
            if inst.mem.lds {
                what.push(What::LdsLoad);
            }
            let mut all = vec![event(Class::Vmem, what)];
            let stores = is_store(inst)
                || matches!(inst.op(), Op::Atomic(..) | Op::Image(ImageOp::Atomic(_)));
            if gfx == Gfx::Gfx600 && stores {
                let data = data(inst, uses);
                all.push(event(Class::StoreData, data.map(What::Reads).collect()));
            }
            all
        }
        Encoding::Ds => {
            if matches!(inst.op(), Op::Ds(DsOp::Nop)) {
                return vec![];
            }
            if inst.mem.gds || is_gws(inst) {
                let sources = uses.reads.iter().filter(vector).copied();
                let sync = is_gws(inst).then_some(What::Gws);
                return vec![
                    event(Class::Gds, writes().chain(sync).collect()),
                    event(
                        Class::GdsData,
                        sources.map(What::Reads).chain([What::ReadsExec]).collect(),
                    ),
                ];
            }
            let mut what: Vec<What> = writes().collect();
            if is_lds(inst) {
                what.push(match inst.op() {
                    Op::Load(..) => What::LdsRead,
                    _ => What::Lds,
                });
            }
            vec![event(Class::Lds, what)]
        }
        Encoding::Exp => {
            let class = match inst.mem.exp_target {
                12..=15 => Class::ExportPosition,
                32.. => Class::ExportParameter,
                _ => Class::ExportColor,
            };
            let sources = uses.reads.iter().copied().map(What::Reads);
            vec![event(class, sources.chain([What::ReadsExec]).collect())]
        }
        _ => vec![],
    }
}

/// The data registers of a store.
pub fn data<'a>(inst: &Inst, uses: &'a Uses) -> impl Iterator<Item = Span> + use<'a> {
    let position = match inst.desc.encoding {
        Encoding::Mubuf | Encoding::Mtbuf | Encoding::Mimg => 3,
        _ => 1,
    };
    let first = match inst.src[position] {
        Operand::Vgpr(n) => Some(registers::VGPR + u16::from(n)),
        Operand::Agpr(n) => Some(registers::AGPR + u16::from(n)),
        _ => None,
    };
    let spans = uses.reads.iter().copied();
    // The data may begin with the register of the address, but is the longer one then.
    let found = spans.filter(move |span| Some(span.first) == first);
    found.max_by_key(|span| span.count).into_iter()
}
