//! Output of a difference.

use std::collections::BTreeSet;

use frontend::state::{FIRST_AGPR, VECTOR_REGISTERS};
use frontend::{Gfx, Inst, LANES, WaveState};
use wavelift::diff::{
    Difference, Divergence, Exit, Exports, MemoryDifference, Mode, Outcome, RegisterDifference,
    Side, sgpr_name,
};
use wavelift::{Kernel, LoadedCode};

use crate::cli::output::Output;
use crate::cli::session::Session;

/// Changes and registers that are listed; the rest is counted.
const SHOWN: usize = 8;

/// Output of differences between these two engines.
pub(super) struct Show<'a> {
    pub(super) session: &'a Session,
    pub(super) names: [&'static str; 2],
}

impl Show<'_> {
    /// How the results of a launch differ.
    pub(super) fn results(
        &self,
        difference: &Difference<'_>,
        out: &mut Output,
    ) -> anyhow::Result<()> {
        let (reference, other) = (&difference.reference, &difference.other);
        for (name, run) in self.names.iter().zip([reference, other]) {
            if let Outcome::Faulted(fault) = &run.outcome {
                writeln!(out, "{name} faults: {fault}")?;
            } else if reference.outcome != other.outcome {
                writeln!(out, "{name} ends without a fault")?;
            }
        }
        if reference.outcome == other.outcome {
            self.memory(&difference.memory(), out)?;
            self.exports(&reference.exports, &other.exports, out)?;
        }
        Ok(())
    }

    /// Lists elements of memory that the engines left different.
    fn memory(&self, differences: &[MemoryDifference], out: &mut Output) -> anyhow::Result<()> {
        let mut elements = BTreeSet::new();
        for difference in differences {
            for i in 0..difference.reference.len() as u64 {
                let address = difference.address + i;
                let (_, dtype, base) = self.session.element_at(address);
                elements.insert(address - (address - base) % dtype.size() as u64);
            }
        }
        writeln!(
            out,
            "different: {} of memory",
            count(elements.len(), "element")
        )?;
        for &address in elements.iter().take(SHOWN) {
            let (name, dtype, _) = self.session.element_at(address);
            // The bytes that are the same.
            let mut now = vec![0; dtype.size()];
            self.session.device.memory().read_bytes(address, &mut now)?;
            let value = |of: fn(&MemoryDifference) -> &[u8]| {
                let bytes = now.iter().zip(address..).map(|(&byte, address)| {
                    let after = differences.partition_point(|run| run.address <= address);
                    let run = after.checked_sub(1).map(|last| &differences[last]);
                    let found = run.and_then(|run| of(run).get((address - run.address) as usize));
                    found.copied().unwrap_or(byte)
                });
                let bytes: Vec<u8> = bytes.collect();
                let digits: String = bytes
                    .iter()
                    .rev()
                    .map(|byte| format!("{byte:02x}"))
                    .collect();
                format!("{} (0x{digits})", dtype.decode(&bytes))
            };
            let (a, b) = (value(|run| &run.reference), value(|run| &run.other));
            writeln!(
                out,
                "  {name}: {} {a}, {} {b}",
                self.names[0], self.names[1]
            )?;
        }
        if elements.len() > SHOWN {
            writeln!(out, "  and {} more", elements.len() - SHOWN)?;
        }
        Ok(())
    }

    /// The point where the engines diverge, with the registers of both.
    pub(super) fn divergence(
        &self,
        kernel: &Kernel,
        divergence: &Divergence,
        full: bool,
        out: &mut Output,
    ) -> anyhow::Result<()> {
        let code = kernel.module().code();
        let gfx = kernel.module().gfx();
        let parting = &divergence.parting;
        let at = |pc: u64| place(code, pc);
        let wave = parting.wave;
        let before = parting.before;
        if parting.mode == Mode::Instructions {
            writeln!(
                out,
                "first different instruction: wave {wave}, after {before} instructions"
            )?;
        } else {
            writeln!(
                out,
                "first different stretch: wave {wave}, after {before} stretches, beginning"
            )?;
        }
        writeln!(out, "  at {}", at(parting.pc))?;
        let exec = parting.start.exec();
        writeln!(out, "  exec 0x{exec:016x} ({} lanes)", exec.count_ones())?;
        let sides = [&parting.reference, &parting.other];
        for (name, side) in self.names.iter().zip(sides) {
            writeln!(out, "{name}: {}", fate(side, code))?;
        }
        if parting.reference.memory != parting.other.memory {
            self.memory(&divergence.memory, out)?;
        }
        if let (Some(a), Some(b)) = (&parting.reference.lds, &parting.other.lds) {
            self.lds(a, b, out)?;
        }
        self.exports(&parting.reference.exports, &parting.other.exports, out)?;
        for premature in &divergence.premature {
            writeln!(out, "{premature}")?;
        }
        let list = &divergence.registers;
        writeln!(
            out,
            "different: {}{}",
            count(list.len(), "register"),
            colon(list)
        )?;
        self.registers(list, out)?;
        if let Some((pc, list)) = &parting.first_registers {
            writeln!(
                out,
                "registers of this wave differ since the stretch at {}",
                at(*pc)
            )?;
            self.registers(list, out)?;
        }
        let inst = match parting.mode {
            Mode::Instructions => code.decode(parting.pc).ok(),
            _ => None,
        };
        let chosen = match full {
            true => Chosen::all(&parting.start),
            false => Chosen::new(list, inst.as_ref()),
        };
        writeln!(out, "registers before")?;
        state(&parting.start, gfx, &chosen, out)?;
        for (name, side) in self.names.iter().zip(sides) {
            writeln!(out, "registers after, {name}")?;
            state(&side.state, gfx, &chosen, out)?;
        }
        Ok(())
    }

    fn lds(&self, a: &[u8], b: &[u8], out: &mut Output) -> anyhow::Result<()> {
        let words = a.chunks(4).zip(b.chunks(4)).enumerate();
        let different: Vec<_> = words.filter(|(_, (a, b))| a != b).collect();
        if different.is_empty() {
            return Ok(());
        }
        writeln!(out, "different: {} of LDS", count(different.len(), "dword"))?;
        let word = |bytes: &[u8]| {
            bytes
                .iter()
                .rev()
                .fold(0u32, |word, &byte| word << 8 | u32::from(byte))
        };
        for (index, (a, b)) in different.iter().take(SHOWN) {
            let (a, b) = (word(a), word(b));
            writeln!(
                out,
                "  0x{:04x}: {} 0x{a:08x}, {} 0x{b:08x}",
                4 * index,
                self.names[0],
                self.names[1]
            )?;
        }
        Ok(())
    }

    /// How exports differ.
    fn exports(&self, a: &Exports, b: &Exports, out: &mut Output) -> anyhow::Result<()> {
        if a != b {
            let (one, two) = (a.total(), b.total());
            writeln!(
                out,
                "different: exports ({} {one}, {} {two} in all)",
                self.names[0], self.names[1]
            )?;
        }
        Ok(())
    }

    fn registers(&self, list: &[RegisterDifference], out: &mut Output) -> anyhow::Result<()> {
        for difference in list.iter().take(SHOWN) {
            let RegisterDifference {
                reference, other, ..
            } = difference;
            writeln!(
                out,
                "  {}: {} 0x{reference:08x}, {} 0x{other:08x}",
                difference.name(),
                self.names[0],
                self.names[1]
            )?;
        }
        if list.len() > SHOWN {
            writeln!(out, "  and {} more", list.len() - SHOWN)?;
        }
        Ok(())
    }
}

/// `1 register`, `2 registers`.
fn count(n: usize, what: &str) -> String {
    let s = if n == 1 { "" } else { "s" };
    format!("{n} {what}{s}")
}

fn colon<T>(list: &[T]) -> &'static str {
    if list.is_empty() { "" } else { ":" }
}

/// Address, instruction and function.
fn place(code: &LoadedCode, pc: u64) -> String {
    let symbol = match code.symbol_at(pc) {
        Some((symbol, offset)) => format!("  ({}+0x{offset:x})", symbol.name),
        None => String::new(),
    };
    format!("0x{:04x}  {}{symbol}", code.local(pc), code.text_at(pc))
}

fn fate(side: &Side, code: &LoadedCode) -> String {
    match &side.exit {
        Exit::End => "the wave ends".to_owned(),
        Exit::Barrier => format!("waits at a barrier before {}", place(code, side.state.pc)),
        Exit::Yield => format!("goes on at {}", place(code, side.state.pc)),
        Exit::Fault(fault) => {
            let lane = fault
                .lane
                .map_or_else(|| "the wave".to_owned(), |lane| format!("lane {lane}"));
            format!("{lane} {} at {}", fault.kind, place(code, fault.pc))
        }
    }
}

/// The number of a0 among the vector registers of a wave's state.
const ACCUMULATION: usize = FIRST_AGPR as usize;

/// The number of a vector register by its name.
fn vector_number(name: &str) -> Option<usize> {
    let number = |prefix| name.strip_prefix(prefix)?.parse::<usize>().ok();
    number('v').or_else(|| number('a').map(|n| ACCUMULATION + n))
}

/// Registers to print: the scalar file whole, of the vector registers these.
struct Chosen {
    sgprs: usize,
    vgprs: BTreeSet<usize>,
}

impl Chosen {
    fn all(state: &WaveState) -> Chosen {
        Chosen {
            sgprs: 128,
            vgprs: (0..(state.vgpr_count as usize).min(256))
                .chain((0..state.touched_agprs().len()).map(|n| ACCUMULATION + n))
                .collect(),
        }
    }

    /// Those that differ and those that the instruction names.
    fn new(list: &[RegisterDifference], inst: Option<&Inst>) -> Chosen {
        let differing = list.iter().filter(|difference| difference.lane.is_some());
        let mut vgprs: BTreeSet<usize> = differing
            .filter_map(|difference| vector_number(&difference.register))
            .take(SHOWN)
            .collect();
        if let Some(inst) = inst {
            let destinations = inst.dst.iter().zip(inst.desc.dst);
            for (operand, ty) in destinations.chain(inst.src.iter().zip(inst.desc.src)) {
                let first = operand.vector_register().into_iter().map(usize::from);
                let all = first.flat_map(|first| first..first + ty.regs() as usize);
                vgprs.extend(all.filter(|&n| n < VECTOR_REGISTERS));
            }
        }
        Chosen { sgprs: 128, vgprs }
    }
}

fn state(state: &WaveState, gfx: Gfx, chosen: &Chosen, out: &mut Output) -> anyhow::Result<()> {
    let WaveState { pc, scc, mode, .. } = state;
    writeln!(out, "  pc 0x{pc:x}  scc {scc}  mode 0x{mode:08x}")?;
    let (vcc, exec, m0) = (state.vcc(), state.exec(), state.m0());
    writeln!(out, "  vcc 0x{vcc:016x}  exec 0x{exec:016x}  m0 0x{m0:08x}")?;
    let used = (state.sgpr_count as usize).min(102).min(chosen.sgprs);
    for first in (0..used).step_by(8) {
        let row = &state.sgpr[first..(first + 8).min(used)];
        writeln!(out, "  {:<5}{}", sgpr_name(first, gfx), words(row))?;
    }
    for &register in &chosen.vgprs {
        for first in (0..LANES).step_by(8) {
            let row = &state.vector(register)[first..first + 8];
            let name = match register.checked_sub(ACCUMULATION) {
                None => format!("v{register}[{first}]"),
                Some(register) => format!("a{register}[{first}]"),
            };
            writeln!(out, "  {name:<9}{}", words(row))?;
        }
    }
    Ok(())
}

fn words(row: &[u32]) -> String {
    row.iter().map(|word| format!(" {word:08x}")).collect()
}
