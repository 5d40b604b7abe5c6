//! Breakpoints of a run: the state of each wave that arrives at an address.
//!
//! The translator leaves an instruction at such an address to the interpreter, before which all registers
//! are in the wave; all other instructions are translated.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::mpsc::SyncSender;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

use frontend::{Gfx, LANES, WaveState};

use crate::engine::{Engine, EngineError, EngineKind, EngineOptions, Exit, Group};
use crate::interp::{run, step};
use crate::lockstep::sgpr_name;
use crate::trace::{Format, RegisterChange, RegisterValue};

/// A wave that arrives at a breakpoint.
#[derive(Clone)]
pub struct Hit {
    /// Its workgroup.
    pub workgroup: [u32; 3],
    /// Its number in the workgroup.
    pub wave: u32,
    /// Address of the instruction that it is about to execute, in the code object's numbering.
    pub pc: u64,
    /// Function and offset, if symbols are available.
    pub symbol: Option<(String, u64)>,
    /// The instruction as LLVM prints it.
    pub instruction: String,
    /// The target.
    pub gfx: Gfx,
    /// The registers.
    pub state: Box<WaveState>,
}

impl fmt::Debug for Hit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Hit {
            workgroup,
            wave,
            instruction,
            ..
        } = self;
        write!(f, "Hit({workgroup:?}, wave {wave}, {instruction})")
    }
}

impl Hit {
    /// The first `sgprs` scalar registers, the special ones, and the first `vgprs` vector registers and the
    /// accumulation registers in use, in the active lanes.
    pub fn registers(&self, sgprs: u32, vgprs: u32) -> Vec<RegisterChange> {
        let state = &self.state;
        let wave = |register: String, format, value| RegisterChange {
            register,
            format,
            value: RegisterValue::Wave(value),
        };
        let scalar = |code: usize| {
            let value = state.sgpr[code].into();
            wave(sgpr_name(code, self.gfx), Format::Bits32, value)
        };
        // Those above have names of their own.
        let numbered = (0..state.sgpr.len().min(sgprs as usize))
            .filter(|&code| sgpr_name(code, self.gfx) == format!("s{code}"));
        let mut out: Vec<_> = numbered.map(scalar).collect();
        for (name, value) in [("vcc", state.vcc()), ("exec", state.exec())] {
            out.push(wave(name.to_owned(), Format::Bits64, value));
        }
        out.push(scalar(usize::from(frontend::inst::M0)));
        for (name, value) in [("scc", state.scc), ("mode", state.mode)] {
            out.push(wave(name.to_owned(), Format::Bits32, value.into()));
        }
        let exec = state.exec();
        let active = |lane: &usize| exec >> lane & 1 != 0;
        let vgprs = &state.vgpr[..state.vgpr.len().min(vgprs as usize)];
        for (file, registers) in [("v", vgprs), ("a", state.touched_agprs())] {
            for (index, lanes) in registers.iter().enumerate() {
                let values = (0..LANES).filter(active);
                let values = values.map(|lane| (lane as u32, lanes[lane].into()));
                out.push(RegisterChange {
                    register: format!("{file}{index}"),
                    format: Format::Bits32,
                    value: RegisterValue::Lanes(values.collect()),
                });
            }
        }
        out
    }
}

/// The breakpoints of an engine, and who is told of waves that arrive there.
#[derive(Debug, Default)]
pub struct Breaks {
    addresses: RwLock<BTreeSet<u64>>,
    listener: Mutex<Option<SyncSender<Hit>>>,
}

impl Breaks {
    /// Adds a breakpoint at a guest address, before anything there has run.
    pub fn add(&self, address: u64) {
        let mut addresses = self.addresses.write();
        addresses
            .as_mut()
            .expect("no holder of the lock panics")
            .insert(address);
    }

    /// Is there one?
    pub(crate) fn contains(&self, address: u64) -> bool {
        let addresses = self.addresses.read();
        addresses
            .expect("no holder of the lock panics")
            .contains(&address)
    }

    /// From now on waves that arrive are sent, until the receiver is dropped or [`Breaks::end`].
    pub fn begin(&self, listener: SyncSender<Hit>) {
        *self.lock() = Some(listener);
    }

    /// Nothing is sent from now on.
    pub fn end(&self) {
        *self.lock() = None;
    }

    fn lock(&self) -> MutexGuard<'_, Option<SyncSender<Hit>>> {
        self.listener.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Tells of a wave that is about to execute the instruction at its PC, if that is a breakpoint.
    pub(crate) fn arrive(&self, wave: &WaveState, group: &Group<'_>) {
        if !self.contains(wave.pc) {
            return;
        }
        // Hits of several waves come one after the other.
        let mut listener = self.lock();
        let Some(sender) = &*listener else { return };
        let symbol = group.code.symbol_at(wave.pc);
        let hit = Hit {
            workgroup: group.workgroup,
            wave: group.wave,
            pc: group.code.local(wave.pc),
            symbol: symbol.map(|(symbol, offset)| (symbol.name.clone(), offset)),
            instruction: group.code.text_at(wave.pc),
            gfx: group.gfx,
            state: Box::new(wave.clone()),
        };
        if sender.send(hit).is_err() {
            *listener = None;
        }
    }
}

/// The interpreter, with breakpoints.
struct Interpreting(Arc<Breaks>);

impl Engine for Interpreting {
    fn run(&self, wave: &mut WaveState, group: &mut Group<'_>, fuel: &mut u64) -> Exit {
        run(wave, group, fuel, |wave, group, inst| {
            self.0.arrive(wave, group);
            step(wave, group, inst)
        })
    }
}

/// Creates an engine with breakpoints. It keeps no code on disk.
pub fn create(
    kind: EngineKind,
    options: &EngineOptions,
    breaks: Arc<Breaks>,
) -> Result<Box<dyn Engine + Send>, EngineError> {
    match kind {
        EngineKind::Interp => Ok(Box::new(Interpreting(breaks))),
        #[cfg(feature = "jit")]
        EngineKind::Jit => crate::jit::with_breaks(options, breaks),
        #[cfg(not(feature = "jit"))]
        EngineKind::Jit => {
            let _ = options;
            Err(EngineError::NoTranslator)
        }
    }
}
