//! What instructions issue.

use frontend::op::Data;
use frontend::registers::{Reg, Uses};
use frontend::waits::{Class, Event, What, events, may_be_outstanding};
use frontend::{Inst, LANES, Op, WaveState};

use super::kept::Kept;
use super::outstanding::{Effect, Late, Pending, Token};
use crate::engine::{Group, SHARED_BASE};
use crate::interp;

/// What an instruction issues: known before it is executed.
pub(super) struct Issue {
    uses: Uses,
    pub(super) events: Vec<Event>,
    exec: u64,
    pc: u64,
    /// It may access LDS through FLAT.
    lds: bool,
}

impl Issue {
    /// `None` if it leaves nothing outstanding.
    pub(super) fn of(wave: &mut WaveState, group: &mut Group<'_>, inst: &Inst) -> Option<Issue> {
        if !may_be_outstanding(inst.desc.encoding) || interp::is_skipped(wave, inst) {
            return None;
        }
        let uses = Uses::of(inst, group.gfx);
        let events = events(inst, &uses, group.gfx);
        let lds = events.iter().any(|event| event.class == Class::FlatLgkmOld)
            && accesses_lds(wave, group, inst);
        Some(Issue {
            uses,
            events,
            exec: wave.exec(),
            pc: wave.pc,
            lds,
        })
    }

    /// What has to be noted of registers before the instruction is executed, which may overwrite them.
    pub(super) fn late(&self, wave: &WaveState, inst: &Inst) -> Option<Pending> {
        let event = self.events.iter().find(|event| reads_late(event.class))?;
        let kept = |reg| Kept::of(wave, reg, self.exec, u32::MAX);
        let mut sources: Vec<Kept> = Vec::new();
        for what in &event.what {
            match what {
                What::Reads(span) => sources.extend(span.each().filter_map(kept)),
                What::ReadsExec => sources.extend(exec().filter_map(kept)),
                What::Writes(_) | What::Lds | What::LdsRead | What::LdsLoad | What::Gws => {}
            }
        }
        let is_data = |reg: &Reg| sources.iter().any(|source| source.register() == *reg);
        let named = self.uses.reads.iter().flat_map(|span| span.each());
        let at_issue = named.chain(exec()).filter(|reg| !is_data(reg));
        let late = Late {
            inst: *inst,
            at_issue: at_issue.filter_map(kept).collect(),
            sources,
        };
        let tokens = vec![Token::new(event.class)];
        Some(Pending::new(self.pc, tokens, Effect::Reads(Box::new(late))))
    }

    /// What arrives later, after the instruction was executed: its registers have the results.
    pub(super) fn results(&self, wave: &WaveState, inst: &Inst) -> Option<Pending> {
        let writes = |event: &&Event| {
            event
                .what
                .iter()
                .any(|what| matches!(what, What::Writes(_)))
        };
        let writing = self.events.iter().filter(writes);
        // Of FLAT that has not accessed LDS the other counter says nothing before gfx9.
        let counts = writing.filter(|event| event.class != Class::FlatLgkmOld || self.lds);
        let tokens: Vec<Token> = counts.map(|event| Token::new(event.class)).collect();
        let bits = written_bits(inst, &self.uses);
        let registers = self.uses.writes.iter().flat_map(|span| span.each());
        let registers = registers.filter_map(|reg| Kept::of(wave, reg, self.exec, bits));
        let registers: Vec<Kept> = registers.collect();
        let some = !tokens.is_empty() && !registers.is_empty();
        some.then(|| Pending::new(self.pc, tokens, Effect::Writes(registers)))
    }
}

fn exec() -> impl Iterator<Item = Reg> {
    use frontend::inst::{EXEC_HI, EXEC_LO};
    [EXEC_LO, EXEC_HI].into_iter().map(Reg::from)
}

/// Are these operations repeated if their sources change? (GDS is not emulated; what the global
/// wave sync reads is a count that must not be taken twice.)
fn reads_late(class: Class) -> bool {
    matches!(
        class,
        Class::ExportColor | Class::ExportPosition | Class::ExportParameter | Class::StoreData
    )
}

/// The bits of the result's registers that the instruction writes: one half if it keeps the other one.
fn written_bits(inst: &Inst, uses: &Uses) -> u32 {
    match inst.op() {
        _ if uses.keeps.is_empty() => u32::MAX,
        Op::Load(_, Data::D16U8 | Data::D16I8 | Data::D16) => 0xffff,
        Op::Load(_, Data::D16HiU8 | Data::D16HiI8 | Data::D16Hi | Data::FormatD16Hi) => 0xffff_0000,
        _ => u32::MAX,
    }
}

/// Is an active lane's address in LDS?
fn accesses_lds(wave: &mut WaveState, group: &mut Group<'_>, inst: &Inst) -> bool {
    let exec = wave.exec();
    let Some(addresses) = interp::addresses(wave, group, inst) else {
        return false;
    };
    (0..LANES).any(|lane| exec >> lane & 1 != 0 && addresses[lane] >> 32 == SHARED_BASE >> 32)
}
