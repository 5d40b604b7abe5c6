//! Terminators of blocks.

use super::Emitter;
use crate::abi::ExitCode;
use crate::analysis::liveness::Live;
use crate::ir::functions::EffectFn;
use crate::ir::{Block, MatrixCall, Target, Term};
use crate::vir::{Value, types};

impl Emitter<'_> {
    /// Emits a block's end.
    pub(super) fn terminate(&mut self, block: &Block, value: Option<Value>, live: &Live) {
        match &block.term {
            Term::Jump(target) => self.jump(target),
            Term::Branch { then, other, .. } => {
                let cond = value.expect("a branch has a condition");
                let known_targets = [then, other].map(|target| match *target {
                    Target::Block {
                        block, back: false, ..
                    } if self.code.region.options().baseline => {
                        Some(self.blocks.target(self.current, block))
                    }
                    _ => None,
                });
                // A block that is a target twice would get its arguments twice.
                let known_targets = known_targets.map(|target_block| {
                    target_block.filter(|_| known_targets[0] != known_targets[1])
                });
                let [yes, no] = known_targets
                    .map(|target_block| target_block.unwrap_or_else(|| self.code.b.create_block()));
                self.code.b.brif(cond, yes, &[], no, &[]);
                for (block, target_block, target) in
                    [(yes, known_targets[0], then), (no, known_targets[1], other)]
                {
                    if target_block.is_none() {
                        self.code.enter(block);
                        self.jump(target);
                    }
                }
            }
            Term::Indirect(_) => {
                let pc = value.expect("an indirect jump has a target");
                self.boundary.burn(&mut self.code, pc, None);
                self.boundary
                    .leave(&mut self.code, pc, ExitCode::Continue, &Live::ALL);
            }
            Term::End => {
                // The registers of a wave that has ended are dead.
                match &self.wave_switch {
                    Some(wave_switch) => wave_switch.end_wave(&mut self.code, self.current),
                    None => self.code.return_with(ExitCode::End),
                }
            }
            Term::Barrier { next } => {
                let pc = self.code.address(next.pc());
                let entry = next.block().and_then(|b| self.boundary.entry_number(b));
                match (&self.wave_switch, entry) {
                    (Some(wave_switch), Some(entry)) => {
                        self.boundary.settle_at(&mut self.code, pc, live);
                        wave_switch.arrive_at_barrier(&mut self.code, self.current, entry);
                    }
                    _ => {
                        self.boundary.note_resume(&mut self.code, next.block());
                        self.boundary
                            .leave_with(&mut self.code, pc, ExitCode::Barrier, live);
                    }
                }
            }
            Term::Interpret { pc } => {
                let pc = self.code.address(*pc);
                self.boundary
                    .leave(&mut self.code, pc, ExitCode::Interpret, &Live::ALL);
            }
            Term::Fallback { site, next } => {
                self.boundary.store_written(&mut self.code);
                let args = self.code.b.iconst(types::I64, 0);
                let status = self
                    .code
                    .call_effect(EffectFn::Interpret, *site, args, args);
                // The interpreter has written the wave's registers and PC itself.
                let good = self.code.unless(status);
                self.code.b.return_(status);
                self.code.b.switch_to_block(good);
                self.boundary.load_slots(&mut self.code, &Live::ALL);
                self.jump(next);
            }
            Term::ScalarMove { site, next, .. } => {
                self.boundary.store_written(&mut self.code);
                let value = value.map(|v| match self.code.b.func.ty(v) {
                    types::I64 => v,
                    _ => self.code.b.uextend(types::I64, v),
                });
                let args = self.calls.store_args(&mut self.code, value.as_slice());
                let out = self.code.b.iconst(types::I64, 0);
                // It cannot fault.
                self.code
                    .call_effect(EffectFn::ScalarRelative, *site, args, out);
                self.boundary.load_slots(&mut self.code, live);
                self.jump(next);
            }
            Term::Matrix { site, calls, next } => {
                for n in calls.iter().flat_map(MatrixCall::writes) {
                    self.boundary.home_to_write(n);
                }
                let staged = block.staged();
                let args = self.calls.store_matrix_calls(&mut self.code, calls, staged);
                // It cannot fault.
                self.code.call_effect(EffectFn::Matrix, *site, args, args);
                self.jump(next);
            }
        }
    }

    pub(super) fn jump(&mut self, target: &Target) {
        match *target {
            Target::Exit { pc, back } => {
                let pc = self.code.address(pc);
                if back {
                    self.boundary.burn(&mut self.code, pc, None);
                }
                self.boundary
                    .leave(&mut self.code, pc, ExitCode::Continue, &Live::ALL);
            }
            Target::Block {
                block, back: false, ..
            } => {
                let to = self.blocks.target(self.current, block);
                self.code.b.jump(to, &[]);
            }
            Target::Block {
                block,
                back: true,
                pc,
            } => {
                if let Some((back, args)) = self.back_edge(block, pc) {
                    self.code.b.jump(back, &args);
                    return;
                }
                let at = self.code.address(pc);
                self.boundary.burn(&mut self.code, at, Some(block));
                let to = self.blocks.target(self.current, block);
                self.code.b.jump(to, &[]);
            }
        }
    }
}
