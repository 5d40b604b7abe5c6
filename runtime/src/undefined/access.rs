//! Undefined bits in memory: loads and stores copy them byte by byte.

use frontend::inst::{M0, Operand};
use frontend::op::{Atomic, Data};
use frontend::registers::{self, Reg, Span, VGPR};
use frontend::{Encoding, LANES, Op};

use super::Step;
use super::findings::{Origin, Rule, Source, Tag};
use super::registers::{Cell, vector_number};
use crate::fault::{Access, WaveFault};
use crate::interp::data::{self, unformatted};
use crate::interp::{self, Accessed, Accesses, Flow};

/// Undefined bits of consecutive bytes, and where they come from.
#[derive(Clone, Default)]
struct Run {
    bits: Vec<u8>,
    tag: Tag,
}

impl Run {
    fn is_defined(&self) -> bool {
        self.bits.iter().all(|&bits| bits == 0)
    }
}

/// What an instruction has done in a lane so far.
#[derive(Clone, Default)]
struct Lane {
    /// Bytes that were read.
    read: Run,
    /// Number of bytes that were stored.
    stored: usize,
}

impl Step<'_, '_> {
    /// Executes an instruction that accesses memory, or exports.
    pub(super) fn access(&mut self) -> Result<Flow, WaveFault> {
        let (pc, exec) = (self.wave.pc, self.wave.exec());
        self.check_address(pc, exec);
        if self.inst.op() == Op::Export {
            self.check_export(pc, exec);
            return interp::step(self.wave, self.group, self.inst);
        }
        let uses = &self.site.uses;
        let clean = self.state.memory.is_defined() && self.lds_is_defined();
        if clean && !self.registers.any_of(&uses.reads, exec) && uses.keeps.is_empty() {
            let flow = interp::step(self.wave, self.group, self.inst)?;
            self.define_results(exec);
            return Ok(flow);
        }
        let notes = Accesses::default();
        let flow = interp::step_observed(self.wave, self.group, self.inst, &notes);
        let mut lanes = vec![Lane::default(); LANES];
        for accessed in notes.take() {
            let lane = accessed.lane.unwrap_or(0);
            self.note(pc, &accessed, &mut lanes[lane]);
        }
        let results = self.results(exec, &lanes);
        self.define_results(exec);
        for (reg, lane, cell) in results {
            self.registers.set(reg, lane, cell);
        }
        flow
    }

    fn lds_is_defined(&self) -> bool {
        let group = self.state.groups.get(&self.group.workgroup);
        group.is_none_or(|group| group.lds.is_defined())
    }

    fn define_results(&mut self, exec: u64) {
        for reg in self.site.uses.writes.iter().flat_map(|span| span.each()) {
            self.registers.define(reg, exec);
        }
    }

    fn source_span(&self, n: usize) -> Option<Span> {
        let count = registers::source_count(self.inst, self.group.gfx, n);
        registers::span(self.inst.src[n], count)
    }

    /// The first lane in which one of the registers is undefined.
    fn first_undefined(&self, span: Span, exec: u64) -> Option<(Option<usize>, Cell)> {
        span.each().find_map(|reg| {
            if vector_number(reg).is_none() {
                let cell = self.registers.get(reg, 0);
                return (cell.bits != 0).then_some((None, cell));
            }
            let lanes = (0..LANES).filter(|lane| exec >> lane & 1 != 0);
            let mut cells = lanes.map(|lane| (Some(lane), self.registers.get(reg, lane)));
            cells.find(|(_, cell)| cell.bits != 0)
        })
    }

    /// Reports an undefined address.
    fn check_address(&mut self, pc: u64, exec: u64) {
        let scalar = self.inst.desc.encoding == Encoding::Smem;
        if exec == 0 && !scalar || self.inst.op() == Op::CacheCtl {
            return;
        }
        let sources: &[usize] = match self.inst.desc.encoding {
            Encoding::Smem => &[0, 1],
            Encoding::Ds => &[0],
            Encoding::Flat | Encoding::Global | Encoding::Scratch => &[0, 2],
            Encoding::Mubuf | Encoding::Mtbuf | Encoding::Mimg => &[0, 1, 2],
            _ => &[],
        };
        let m0 = self.site.uses.reads(M0.into()).then_some(Span {
            first: M0.into(),
            count: 1,
        });
        let mut spans = sources
            .iter()
            .filter_map(|&n| self.source_span(n))
            .chain(m0);
        let found = spans.find_map(|span| self.first_undefined(span, exec));
        if let Some((lane, cell)) = found {
            self.report(Rule::Address, pc, lane, cell);
        }
    }

    fn check_export(&mut self, pc: u64, exec: u64) {
        let mut spans = (0..4).filter_map(|n| self.source_span(n));
        let found = spans.find_map(|span| self.first_undefined(span, exec));
        if let Some((lane, cell)) = found {
            self.report(Rule::Output, pc, lane, cell);
        }
    }

    /// The registers of the data, in the order of memory.
    fn data_registers(&self) -> Vec<Reg> {
        let sources: &[usize] = match self.inst.desc.encoding {
            Encoding::Smem => &[2],
            Encoding::Ds => &[1, 2],
            Encoding::Flat | Encoding::Global | Encoding::Scratch => &[1],
            Encoding::Mubuf | Encoding::Mtbuf | Encoding::Mimg => &[3],
            _ => &[],
        };
        let spans = sources.iter().filter_map(|&n| self.source_span(n));
        spans.flat_map(|span| span.each()).collect()
    }

    /// The undefined bits that a store writes.
    fn stored(&self, lane: usize, from: usize, len: usize) -> Run {
        let regs = self.data_registers();
        let data = match self.inst.op() {
            Op::Store(_, data) => data,
            _ => Data::Dwords(4),
        };
        let cells = || regs.iter().map(|&reg| self.registers.get(reg, lane));
        let found = cells().find(|cell| cell.bits != 0);
        let mut run = Run {
            bits: vec![0; len],
            tag: found.unwrap_or_default().tag,
        };
        match data {
            _ if matches!(data, Data::Dwords(_)) => {
                for (i, bits) in run.bits.iter_mut().enumerate() {
                    let at = from + i;
                    let cell = cells().nth(at / 4).unwrap_or_default();
                    *bits = (cell.bits >> (8 * (at % 4))) as u8;
                    if *bits != 0 {
                        run.tag = cell.tag;
                    }
                }
            }
            unformatted!() => {
                let word = cells().next().unwrap_or_default().bits;
                let raw = data::stored(data, [word, 0, 0, 0]);
                run.bits.copy_from_slice(&raw[..len.min(raw.len())]);
            }
            Data::Format(_) | Data::FormatD16(_) | Data::FormatD16Hi => {
                run.bits.fill(if found.is_some() { u8::MAX } else { 0 });
            }
        }
        run
    }

    /// An access was made.
    fn note(&mut self, pc: u64, accessed: &Accessed, lane: &mut Lane) {
        let (address, len) = (accessed.address, accessed.value.len());
        let number = accessed.lane.unwrap_or(0);
        match accessed.access {
            Access::Read => {
                let read = self.load(pc, accessed.lds, address, len);
                lane.read.bits.extend(&read.bits);
                if !read.is_defined() {
                    lane.read.tag = read.tag;
                }
            }
            Access::Write => {
                let moves = self.inst.mem.lds || self.inst.op() == Op::StoreLds;
                let value = match moves {
                    true => lane.read.clone(),
                    false => self.stored(number, lane.stored, len),
                };
                lane.stored += len;
                self.output(pc, accessed, &value);
                self.store(accessed.lds, address, &value);
            }
            Access::Atomic => {
                let old = self.load(pc, accessed.lds, address, len);
                let regs = self.data_registers();
                let bytes = 4 * regs.len();
                let data = self.stored(number, 0, bytes);
                self.output(
                    pc,
                    accessed,
                    &Run {
                        tag: data.tag.computed(),
                        ..data.clone()
                    },
                );
                let new = self.updated(&old, &data, len);
                self.store(accessed.lds, address, &new);
                lane.read = old;
            }
            Access::Execute => {}
        }
    }

    /// What an atomic leaves.
    fn updated(&self, old: &Run, data: &Run, len: usize) -> Run {
        let swaps = matches!(
            self.inst.op(),
            Op::Atomic(_, Atomic::Swap) | Op::Wrxchg2 { .. }
        );
        let defined = data.is_defined() && (swaps || old.is_defined());
        let tag = if data.is_defined() { old.tag } else { data.tag };
        Run {
            bits: vec![if defined { 0 } else { u8::MAX }; len],
            tag: tag.computed(),
        }
    }

    /// The undefined bits of memory.
    fn load(&mut self, pc: u64, lds: bool, address: u64, len: usize) -> Run {
        let bytes = match lds {
            true => self
                .state
                .groups
                .get(&self.group.workgroup)
                .map(|group| &group.lds),
            false => Some(&self.state.memory),
        };
        let mut run = Run::default();
        let mut first = None;
        for at in address..address.saturating_add(len as u64) {
            let (bits, tag) = bytes.map_or_else(Default::default, |bytes| bytes.get(at));
            run.bits.push(bits);
            if bits != 0 && first.is_none() {
                (first, run.tag) = (Some(at), tag);
            }
        }
        if let Some(at) = first
            && run.tag.is_unwritten()
        {
            run.tag = self.state.findings.tag(Origin {
                source: source(
                    lds,
                    at,
                    self.group.scratch.base,
                    self.group.scratch.wave_bytes(),
                ),
                read: Some(pc),
            });
        }
        run
    }

    fn store(&mut self, lds: bool, address: u64, value: &Run) {
        let bytes = match lds {
            true => {
                &mut self
                    .state
                    .groups
                    .entry(self.group.workgroup)
                    .or_default()
                    .lds
            }
            false => &mut self.state.memory,
        };
        for (at, &bits) in (address..).zip(&value.bits) {
            bytes.set(at, bits, value.tag);
        }
    }

    /// Reports an undefined value that is stored to global memory.
    fn output(&mut self, pc: u64, accessed: &Accessed, value: &Run) {
        let address = accessed.address;
        let scratch = super::scratch(self.group).contains(&address);
        if accessed.lds || scratch || value.is_defined() {
            return;
        }
        let certain = value.tag.is_computed() || value.bits.iter().all(|&bits| bits == u8::MAX);
        let lowest = value.bits.iter().position(|&bits| bits != 0).unwrap_or(0);
        let side = self.side(pc, accessed.lane);
        let address = address.saturating_add(lowest as u64);
        let findings = &mut self.state.findings;
        findings.add(Rule::Output, certain, side, value.tag, Some(address));
    }

    /// Undefined bits of the registers that were loaded.
    fn results(&self, exec: u64, lanes: &[Lane]) -> Vec<(Reg, usize, Cell)> {
        let scalar = self.inst.desc.encoding == Encoding::Smem;
        let count = registers::destination_count(self.inst, self.group.gfx, 0);
        let Some(span) = registers::span(self.inst.dst[0], count) else {
            return Vec::new();
        };
        let first = match self.inst.dst[0] {
            Operand::Vgpr(n) => VGPR + Reg::from(n),
            _ => span.first,
        };
        let mut cells = Vec::new();
        for (number, lane) in lanes.iter().enumerate() {
            let active = if scalar {
                number == 0
            } else {
                exec >> number & 1 != 0
            };
            if !active {
                continue;
            }
            let words = self.loaded(span, number, &lane.read);
            let old = self.registers.get(first, number);
            for (reg, bits) in span.each().zip(words) {
                let tag = if lane.read.is_defined() {
                    old.tag
                } else {
                    lane.read.tag
                };
                cells.push((reg, number, Cell { bits, tag }));
            }
        }
        cells
    }

    /// The same in a lane.
    fn loaded(&self, span: Span, lane: usize, read: &Run) -> Vec<u32> {
        let data = match self.inst.op() {
            Op::Load(_, data) => data,
            _ => Data::Dwords(0),
        };
        let registers = usize::from(span.count);
        let keeps = !self.site.uses.keeps.is_empty();
        let old = self.registers.get(span.first, lane).bits;
        match data {
            _ if matches!(data, Data::Dwords(_)) => {
                let (dwords, rest) = read.bits.as_chunks::<4>();
                let all = 4 * usize::from(self.inst.dst_ty(0).regs() as u16);
                if read.bits.len() != all || !rest.is_empty() {
                    let bits = if read.is_defined() { 0 } else { u32::MAX };
                    return vec![bits; registers];
                }
                dwords
                    .iter()
                    .map(|dword| u32::from_le_bytes(*dword))
                    .collect()
            }
            unformatted!() => {
                let mut raw = [0; 16];
                let len = read.bits.len().min(16);
                raw[..len].copy_from_slice(&read.bits[..len]);
                vec![data::loaded(data, &raw, old, keeps)]
            }
            Data::Format(_) | Data::FormatD16(_) | Data::FormatD16Hi => {
                let bits = if read.is_defined() { 0 } else { u32::MAX };
                vec![bits | if keeps { old } else { 0 }; registers]
            }
        }
    }
}

/// What was read first.
fn source(lds: bool, at: u64, scratch: u64, bytes: u64) -> Source {
    let offset = at.wrapping_sub(scratch);
    match lds {
        true => Source::Lds(at),
        // Dwords of the 64 lanes alternate.
        false if offset < bytes => Source::Scratch(offset / 256 * 4 + offset % 4),
        false => Source::Memory(at),
    }
}
