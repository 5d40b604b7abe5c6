//! What a wave has outstanding.

use frontend::registers::Uses;
use frontend::waits::{Class, Event};
use frontend::{Gfx, Inst, Op, Operand, WaveState};

use super::issue::Issue;
use super::kept::Kept;
use super::premature::{Misuse, Premature};
use crate::engine::Group;
use crate::fault::WaveFault;
use crate::interp::{self, Flow};
use crate::mix::mix;

/// A counter that an operation has raised.
#[derive(Clone, Copy)]
pub(super) struct Token {
    pub(super) class: Class,
    /// By how much younger operations of the class have raised it.
    pub(super) age: u8,
}

impl Token {
    pub(super) fn new(class: Class) -> Token {
        Token { class, age: 0 }
    }

    /// The greatest number in `s_waitcnt` that waits for it.
    pub(super) fn enough(self) -> u8 {
        if self.class.is_ordered() { self.age } else { 0 }
    }

    /// Does a wait with this immediate complete it?
    fn completes(self, imm: u16, gfx: Gfx) -> bool {
        let n = self.class.field().get(imm, gfx);
        n.is_some_and(|n| n <= self.enough())
    }

    /// An operation is issued. Is this one complete, since the counter would be too small for both?
    fn issue(&mut self, event: &Event, gfx: Gfx) -> bool {
        let field = self.class.field();
        if field != event.class.field() || !self.class.is_ordered() {
            return false;
        }
        let after = self.age.saturating_add(event.tokens);
        if self.class == event.class {
            self.age = after;
        }
        after >= field.most(gfx)
    }
}

/// An operation that is outstanding.
#[derive(Clone)]
pub(super) struct Pending {
    /// Address of its instruction.
    pub(super) producer: u64,
    /// It is outstanding until none is left.
    pub(super) tokens: Vec<Token>,
    /// The class within which it is ordered, if it is.
    order: Option<Class>,
    pub(super) effect: Effect,
}

/// Its outstanding effect.
#[derive(Clone)]
pub(super) enum Effect {
    /// It will write these results.
    Writes(Vec<Kept>),
    /// It will read its data.
    Reads(Box<Late>),
}

/// A store or an export that reads its data late.
#[derive(Clone)]
pub(super) struct Late {
    pub(super) inst: Inst,
    /// The other registers.
    pub(super) at_issue: Vec<Kept>,
    /// The data, as it was read so far.
    pub(super) sources: Vec<Kept>,
}

impl Pending {
    pub(super) fn new(producer: u64, tokens: Vec<Token>, effect: Effect) -> Pending {
        let order = match tokens[..] {
            [Token { class, .. }] if class.is_ordered() => Some(class),
            _ => None,
        };
        Pending {
            producer,
            tokens,
            order,
            effect,
        }
    }

    fn arrive(&self, wave: &mut WaveState) {
        if let Effect::Writes(registers) = &self.effect {
            registers.iter().for_each(|register| register.put(wave));
        }
    }

    /// How the instruction uses it too early: the first register.
    fn misuse(&self, uses: &Uses, own: Option<&Issue>) -> Option<(&Kept, Misuse)> {
        let Effect::Writes(registers) = &self.effect else {
            return None;
        };
        if let Some(read) = registers.iter().find(|kept| uses.reads(kept.register())) {
            return Some((read, Misuse::Read));
        }
        // A younger result of the same class follows in order.
        let events = own.map(|issue| &issue.events[..]).unwrap_or_default();
        if matches!(events, [event] if Some(event.class) == self.order) {
            return None;
        }
        let mut written = registers.iter().filter(|kept| uses.writes(kept.register()));
        written.next().map(|kept| (kept, Misuse::Overwritten))
    }
}

/// The operations of a wave, in the order of issue.
#[derive(Clone, Default)]
pub(super) struct Outstanding(Vec<Pending>);

impl Outstanding {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Is there an operation that will read its data?
    pub(super) fn reads_late(&self) -> bool {
        let mut effects = self.0.iter().map(|pending| &pending.effect);
        effects.any(|effect| matches!(effect, Effect::Reads(_)))
    }

    /// Everything arrives.
    pub(super) fn arrive(&mut self, wave: &mut WaveState) {
        self.complete(wave, |_| true);
    }

    /// Tokens are complete; what has none left arrives.
    fn complete(&mut self, wave: &mut WaveState, mut done: impl FnMut(&mut Token) -> bool) {
        let mut arriving: Vec<Pending> = Vec::new();
        for mut pending in std::mem::take(&mut self.0) {
            pending.tokens.retain_mut(|token| !done(token));
            if !pending.tokens.is_empty() {
                self.0.push(pending);
                continue;
            }
            // Before all that need not come first.
            let mut first = arriving.iter();
            let first =
                first.rposition(|older| pending.order.is_some() && older.order == pending.order);
            arriving.insert(first.map_or(0, |at| at + 1), pending);
        }
        arriving.iter().for_each(|pending| pending.arrive(wave));
    }

    /// Executes an instruction at the wave's PC. `premature` gets what it uses too early.
    pub(super) fn step(
        &mut self,
        wave: &mut WaveState,
        group: &mut Group<'_>,
        inst: &Inst,
        seed: u64,
        mut premature: Option<&mut Vec<Premature>>,
    ) -> Result<Flow, WaveFault> {
        let gfx = group.gfx;
        if let (Op::Waitcnt, Operand::Imm(imm)) = (inst.op(), inst.src[0]) {
            self.complete(wave, |token| token.completes(imm as u16, gfx));
        }
        let issue = Issue::of(wave, group, inst);
        for event in issue.iter().flat_map(|issue| &issue.events) {
            self.complete(wave, |token| token.issue(event, gfx));
        }
        if self.is_empty() && issue.is_none() {
            return interp::step(wave, group, inst);
        }
        if let Some(premature) = &mut premature {
            self.find_premature(inst, issue.as_ref(), gfx, premature);
        }
        let late = issue.as_ref().and_then(|issue| issue.late(wave, inst));
        let pc = wave.pc;
        let flow = interp::step(wave, group, inst)?;
        if flow == Flow::Wait {
            return Ok(flow);
        }
        self.read_again(wave, group, premature)?;
        let results = issue.and_then(|issue| issue.results(wave, inst));
        if let Some(Effect::Writes(registers)) = results.as_ref().map(|pending| &pending.effect) {
            let seed = mix(seed ^ group.code.local(pc));
            registers.iter().for_each(|kept| kept.poison(wave, seed));
        }
        self.0.extend(late.into_iter().chain(results));
        Ok(flow)
    }

    fn find_premature(
        &self,
        inst: &Inst,
        own: Option<&Issue>,
        gfx: Gfx,
        premature: &mut Vec<Premature>,
    ) {
        if self.is_empty() {
            return;
        }
        let uses = Uses::of(inst, gfx);
        for pending in &self.0 {
            if let Some((kept, misuse)) = pending.misuse(&uses, own) {
                premature.push(Premature::new(pending, kept.register(), misuse, gfx));
            }
        }
    }

    /// Stores and exports whose data the last instruction has changed read it now.
    fn read_again(
        &mut self,
        wave: &WaveState,
        group: &mut Group<'_>,
        mut premature: Option<&mut Vec<Premature>>,
    ) -> Result<(), WaveFault> {
        for pending in &mut self.0 {
            let Effect::Reads(late) = &mut pending.effect else {
                continue;
            };
            let Some(changed) = late.sources.iter().find(|source| !source.holds(wave)) else {
                continue;
            };
            let register = changed.register();
            let mut then = WaveState::new_boxed();
            (*then).clone_from(wave);
            late.at_issue.iter().for_each(|kept| kept.put(&mut then));
            then.pc = pending.producer;
            let inst = late.inst;
            if let Some(premature) = &mut premature {
                premature.push(Premature::new(pending, register, Misuse::Source, group.gfx));
            }
            pending.effect = Effect::Writes(Vec::new());
            interp::step(&mut then, group, &inst)?;
        }
        Ok(())
    }
}
