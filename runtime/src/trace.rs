//! Traces of a wave: each instruction that it executes on the interpreter, with the registers that it
//! changed and its accesses to memory.
//!
//! A [`Tracing`] is an engine that interprets. The instructions of one wave it runs with an observer,
//! and sends an [`Event`] for each; all other waves run as on the interpreter.

use std::sync::Mutex;
use std::sync::mpsc::SyncSender;

use frontend::inst::Operand;
use frontend::ty::Ty;
use frontend::{Gfx, Inst, LANES, WaveState};

use crate::engine::{Engine, Exit, Group};
use crate::fault::{Access, FaultKind, WaveFault};
use crate::interp::{Accessed, Accesses, Flow, Interpreter, count, fetch, step_observed};
use crate::lockstep::sgpr_name;
use crate::memory::Allocation;

/// The wave to trace.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Selection {
    /// Its workgroup.
    pub workgroup: [u32; 3],
    /// Its number in the workgroup.
    pub wave: u32,
    /// The number of instructions to trace; the wave's others run all the same. `None`: all.
    pub limit: Option<u64>,
}

/// An executed instruction.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// How many instructions the wave has executed before.
    pub number: u64,
    /// Address of the instruction in the code object's numbering, as in a disassembly; the guest
    /// address if it is outside the code object.
    pub pc: u64,
    /// Function and offset of the PC, if symbols are available.
    pub symbol: Option<(String, u64)>,
    /// The instruction as LLVM prints it.
    pub instruction: String,
    /// EXEC before it.
    pub exec: u64,
    /// Registers that have another value than before it, in the order scalar, status, vector.
    pub registers: Vec<RegisterChange>,
    /// Its accesses to memory, in the order in which they were made.
    pub accesses: Vec<MemoryAccess>,
    /// What the wave does next.
    pub next: Next,
}

/// What a wave does after an instruction.
#[derive(Clone, Debug, PartialEq)]
pub enum Next {
    /// It continues with the following instruction.
    Continue,
    /// It continues at another address, in the code object's numbering.
    Jump(u64),
    /// It waits for the other waves of its workgroup.
    Barrier,
    /// It waits for waves of other workgroups, and executes the instruction again.
    Wait,
    /// It ends.
    End,
    /// It faults. Lanes below the faulting one may have acted.
    Fault {
        /// The cause.
        kind: FaultKind,
        /// The lane; `None` for the scalar unit.
        lane: Option<u32>,
    },
}

impl Next {
    /// Lower-case name.
    pub const fn name(&self) -> &'static str {
        match self {
            Next::Continue => "continue",
            Next::Jump(_) => "jump",
            Next::Barrier => "barrier",
            Next::Wait => "wait",
            Next::End => "end",
            Next::Fault { .. } => "fault",
        }
    }
}

/// A register, or a pair, that has changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RegisterChange {
    /// Its name, such as `s7`, `vcc`, `scc` or `v3`; `v[4:5]` for a pair.
    pub register: String,
    /// How its bits are to be read, by the instruction.
    pub format: Format,
    /// Its new value.
    pub value: RegisterValue,
}

/// How bits are to be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// As 32 bits.
    Bits32,
    /// As 64 bits.
    Bits64,
    /// As an f16 in the low half.
    F16,
    /// As an f32.
    F32,
    /// As an f64.
    F64,
}

/// The value of a register.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RegisterValue {
    /// One value for the wave.
    Wave(u64),
    /// A value for each lane where it has changed: lane and value, in ascending order.
    Lanes(Vec<(u32, u64)>),
}

/// A kind of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Space {
    /// Guest memory.
    Global,
    /// The workgroup's LDS.
    Lds,
    /// The lane's scratch.
    Scratch,
}

impl Space {
    /// Lower-case name.
    pub const fn name(self) -> &'static str {
        match self {
            Space::Global => "global",
            Space::Lds => "lds",
            Space::Scratch => "scratch",
        }
    }
}

/// An access of a lane or of the scalar unit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemoryAccess {
    /// Read, write or atomic.
    pub access: Access,
    /// Kind of memory.
    pub space: Space,
    /// The lane; `None` for the scalar unit.
    pub lane: Option<u32>,
    /// Guest address; the offset in LDS or in the lane's scratch.
    pub address: u64,
    /// The allocation of guest memory that the address lies in.
    pub allocation: Option<Allocation>,
    /// The bytes that were read or written; of an atomic those before it.
    pub value: Vec<u8>,
    /// The bytes that an atomic has left.
    pub new: Option<Vec<u8>>,
}

/// The interpreter, with a trace of one wave.
#[derive(Default)]
pub struct Tracing {
    trace: Mutex<Option<Trace>>,
}

/// A trace in work.
struct Trace {
    selection: Selection,
    /// Instructions that the wave has executed.
    number: u64,
    /// `None` when nobody wants more events.
    events: Option<SyncSender<Event>>,
}

impl Trace {
    /// Are more events wanted of the wave?
    fn is_open(&self) -> bool {
        let more = |limit| self.number < limit;
        self.events.is_some() && self.selection.limit.is_none_or(more)
    }
}

impl Tracing {
    /// From now on the instructions of this wave are sent, until the receiver is dropped.
    pub fn begin(&self, selection: Selection, events: SyncSender<Event>) {
        *self.lock() = Some(Trace {
            selection,
            number: 0,
            events: Some(events),
        });
    }

    /// Ends a trace: no event is sent from now on.
    pub fn end(&self) {
        *self.lock() = None;
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Option<Trace>> {
        self.trace.lock().expect("no holder of the lock panics")
    }

    /// The trace, taken out, if the running wave is the one to trace.
    fn take(&self, group: &Group<'_>) -> Option<Trace> {
        let selected = |trace: &mut Trace| {
            let Selection {
                workgroup, wave, ..
            } = trace.selection;
            (workgroup, wave) == (group.workgroup, group.wave) && trace.is_open()
        };
        self.lock().take_if(selected)
    }
}

impl Engine for Tracing {
    fn run(&self, wave: &mut WaveState, group: &mut Group<'_>, fuel: &mut u64) -> Exit {
        let Some(mut trace) = self.take(group) else {
            return Interpreter.run(wave, group, fuel);
        };
        let exit = trace.run(wave, group, fuel);
        *self.lock() = Some(trace);
        match exit {
            Some(exit) => exit,
            None => Interpreter.run(wave, group, fuel),
        }
    }
}

impl Trace {
    /// Runs the wave until it stops, or no more events are wanted: `None`.
    fn run(&mut self, wave: &mut WaveState, group: &mut Group<'_>, fuel: &mut u64) -> Option<Exit> {
        let mut before = WaveState::new_boxed();
        let accesses = Accesses::default();
        while self.is_open() {
            let pc = wave.pc;
            let code = group.code;
            let inst = match fetch(code, pc) {
                Ok(inst) => inst,
                Err(fault) => return Some(Exit::Fault(fault)),
            };
            (*before).clone_from(wave);
            count(wave, group, inst);
            let result = step_observed(wave, group, inst, &accesses);
            let next = match &result {
                Ok(Flow::Next) => Next::Continue,
                Ok(Flow::Jump | Flow::Back) => Next::Jump(code.local(wave.pc)),
                Ok(Flow::End) => Next::End,
                Ok(Flow::Barrier) => Next::Barrier,
                Ok(Flow::Wait) => Next::Wait,
                Err(WaveFault { kind, lane, .. }) => Next::Fault {
                    kind: kind.clone(),
                    lane: *lane,
                },
            };
            let symbol = code.symbol_at(pc);
            let taken = accesses.take().into_iter();
            self.send(Event {
                number: self.number,
                pc: code.local(pc),
                symbol: symbol.map(|(symbol, offset)| (symbol.name.clone(), offset)),
                instruction: inst.text(group.gfx),
                exec: before.exec(),
                registers: changes(&before, wave, inst, group.gfx),
                accesses: taken.map(|access| placed(access, group)).collect(),
                next,
            });
            match result.map(|flow| flow.exit(fuel)) {
                Ok(None) => {}
                Ok(Some(exit)) => return Some(exit),
                Err(fault) => return Some(Exit::Fault(fault)),
            }
        }
        None
    }

    fn send(&mut self, event: Event) {
        self.number += 1;
        if let Some(events) = &self.events
            && events.send(event).is_err()
        {
            self.events = None;
        }
    }
}

/// An access with its kind of memory.
pub(crate) fn placed(accessed: Accessed, group: &Group<'_>) -> MemoryAccess {
    let Accessed {
        access,
        lds,
        lane,
        address,
        value,
        new,
    } = accessed;
    let (space, address) = match lds {
        true => (Space::Lds, address),
        false => {
            let from = address.wrapping_sub(group.scratch.base);
            match from < group.scratch.wave_bytes() {
                // The dwords of the lanes alternate.
                true => {
                    let lane_dword = LANES as u64 * 4;
                    (Space::Scratch, from / lane_dword * 4 + from % 4)
                }
                false => (Space::Global, address),
            }
        }
    };
    let allocation = match space {
        Space::Global => group.memory.allocation_of(address),
        Space::Lds | Space::Scratch => None,
    };
    MemoryAccess {
        access,
        space,
        lane: lane.map(|lane| lane as u32),
        address,
        allocation,
        value,
        new,
    }
}

/// The format of a destination, and registers of one value.
fn format_of(ty: Ty) -> (Format, usize) {
    match ty {
        Ty::F16 => (Format::F16, 1),
        Ty::F32 | Ty::PkF32 | Ty::F32x4 | Ty::F32x16 | Ty::F32x32 => (Format::F32, 1),
        Ty::F64 => (Format::F64, 2),
        Ty::B64 | Ty::U64 | Ty::I64 | Ty::Mask => (Format::Bits64, 2),
        Ty::B16 | Ty::U16 | Ty::I16 | Ty::B32 | Ty::U32 | Ty::I32 => (Format::Bits32, 1),
        Ty::PkU16 | Ty::PkI16 | Ty::PkF16 | Ty::PkB32 => (Format::Bits32, 1),
        Ty::B96 | Ty::B128 | Ty::B160 | Ty::B256 | Ty::B512 | Ty::B1024 | Ty::Imm => {
            (Format::Bits32, 1)
        }
    }
}

/// Formats of the registers that an instruction names as destinations.
struct Destinations {
    scalar: [(Format, usize); 128],
    vector: [(Format, usize); 256],
    accumulation: [(Format, usize); 256],
}

impl Destinations {
    fn of(inst: &Inst) -> Destinations {
        let mut formats = Destinations {
            scalar: [(Format::Bits32, 1); 128],
            vector: [(Format::Bits32, 1); 256],
            accumulation: [(Format::Bits32, 1); 256],
        };
        for (operand, &ty) in inst.dst.iter().zip(inst.desc.dst) {
            let (slots, first): (&mut [_], _) = match *operand {
                Operand::Sgpr(first) => (&mut formats.scalar, first),
                Operand::Vgpr(first) => (&mut formats.vector, first),
                Operand::Agpr(first) => (&mut formats.accumulation, first),
                Operand::None
                | Operand::Inline { .. }
                | Operand::Literal { .. }
                | Operand::Special(_)
                | Operand::Imm(_) => continue,
            };
            let format = format_of(ty);
            let first = usize::from(first);
            let end = (first + ty.regs() as usize).min(slots.len());
            if first >= end {
                continue;
            }
            // A pair is noted at its first register.
            for slot in slots[first..end].iter_mut().step_by(format.1) {
                *slot = format;
            }
        }
        // These are pairs whatever writes them.
        for pair in [frontend::inst::VCC_LO, frontend::inst::EXEC_LO] {
            formats.scalar[usize::from(pair)] = (Format::Bits64, 2);
        }
        formats
    }
}

/// The registers that differ.
fn changes(before: &WaveState, after: &WaveState, inst: &Inst, gfx: Gfx) -> Vec<RegisterChange> {
    let formats = Destinations::of(inst);
    let mut out = Vec::new();
    let mut add = |register: String, format, value| {
        out.push(RegisterChange {
            register,
            format,
            value,
        });
    };
    let mut code = 0;
    while code < after.sgpr.len() {
        let (format, count) = formats.scalar[code];
        let end = (code + count).min(after.sgpr.len());
        let new = &after.sgpr[code..end];
        if before.sgpr[code..end] != *new {
            let high = new.get(1).copied().unwrap_or(0);
            let value = u64::from(new[0]) | u64::from(high) << 32;
            add(
                scalar_name(code, count, gfx),
                format,
                RegisterValue::Wave(value),
            );
        }
        code = end;
    }
    let statuses = [
        ("scc", before.scc, after.scc),
        ("mode", before.mode, after.mode),
        ("trapsts", before.trapsts, after.trapsts),
    ];
    for (name, before, after) in statuses {
        if before != after {
            add(
                name.to_owned(),
                Format::Bits32,
                RegisterValue::Wave(after.into()),
            );
        }
    }
    vector_changes("v", &before.vgpr, &after.vgpr, &formats.vector, &mut add);
    let agprs = after.touched_agprs();
    vector_changes("a", &before.agpr, agprs, &formats.accumulation, &mut add);
    out
}

/// The registers that differ of a file named `file`; `after` may be only its beginning.
fn vector_changes(
    file: &str,
    before: &[[u32; LANES]; 256],
    after: &[[u32; LANES]],
    formats: &[(Format, usize); 256],
    add: &mut impl FnMut(String, Format, RegisterValue),
) {
    let mut first = 0;
    while first < after.len() {
        let (format, count) = formats[first];
        let end = (first + count).min(after.len());
        let (old, new) = (&before[first..end], &after[first..end]);
        if old != new {
            let changed = |lane: &usize| old.iter().zip(new).any(|(a, b)| a[*lane] != b[*lane]);
            let value = |lane: usize| {
                let high = new.get(1).map_or(0, |high| high[lane]);
                (lane as u32, u64::from(new[0][lane]) | u64::from(high) << 32)
            };
            let name = match count {
                1 => format!("{file}{first}"),
                _ => format!("{file}[{first}:{}]", end - 1),
            };
            let lanes = (0..LANES).filter(changed).map(value);
            add(name, format, RegisterValue::Lanes(lanes.collect()));
        }
        first = end;
    }
}

/// The name of a scalar register or a pair.
fn scalar_name(code: usize, count: usize, gfx: Gfx) -> String {
    let name = sgpr_name(code, gfx);
    if count == 1 {
        return name;
    }
    match name.strip_suffix("_lo") {
        Some(pair) => pair.to_owned(),
        None => format!("s[{code}:{}]", code + 1),
    }
}
