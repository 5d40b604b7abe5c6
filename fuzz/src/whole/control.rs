//! Masks, loops, calls and graphs of blocks.

use harness::random::Random;

use super::writer::{Function, Writer};
use super::{BUDGET, scalar, vector};
use crate::assembler::{Assembler, EXEC, LITERAL, MINUS_ONE, VCC, constant};

impl Writer<'_> {
    /// The mask and the counter of a depth.
    pub(super) fn control(&self, depth: u32) -> (u32, u32) {
        let mask = self.level.scalar + 4 * depth;
        (mask, mask + 2)
    }

    pub(super) fn conditional(&mut self, r: &mut Random, depth: u32) {
        let (mask, _) = self.control(depth);
        let compare = self.rows().compare(r);
        let (skip, other) = (r.below(3), r.once_in(3));
        self.add(&compare);
        self.sop1("s_and_saveexec_b64", mask, VCC);
        let from = self.hole(skip != 0);
        let count = 1 + r.below(5);
        self.body(r, depth + 1, false, count);
        self.fill(from, "s_cbranch_execz");
        if other {
            self.sop2("s_andn2_b64", EXEC, mask, EXEC);
            let from = self.hole(skip == 1);
            self.body(r, depth + 1, false, count);
            self.fill(from, "s_cbranch_execz");
        }
        self.sop2("s_or_b64", EXEC, EXEC, mask);
    }

    pub(super) fn counted_loop(&mut self, r: &mut Random, depth: u32, uniform: bool) {
        let (mask, counter) = self.control(depth);
        let rounds = 1 + r.below(4);
        let leave = r.once_in(3);
        self.sop1("s_mov_b64", mask, EXEC);
        self.sopk("s_movk_i32", counter, rounds);
        let start = self.code.len();
        self.times *= u64::from(rounds);
        let count = 1 + r.below(5);
        self.body(r, depth + 1, uniform && !leave, count);
        let mut out = None;
        if leave {
            let compare = self.rows().compare(r);
            self.add(&compare);
            self.sop2("s_and_b64", EXEC, EXEC, VCC);
            out = self.hole(true);
        }
        self.sopk("s_addk_i32", counter, 0xffff);
        self.sopc("s_cmp_lg_u32", counter, constant(0));
        self.back("s_cbranch_scc1", start);
        self.times /= u64::from(rounds);
        self.fill(out, "s_cbranch_execz");
        self.sop1("s_mov_b64", EXEC, mask);
    }

    /// Lanes leave one after the other.
    pub(super) fn divergent_loop(&mut self, r: &mut Random, depth: u32) {
        // There are counters for two.
        if depth >= 2 {
            return;
        }
        let (mask, _) = self.control(depth);
        let counter = self.level.vector + depth;
        let rounds = 1 + r.below(6);
        self.sop1("s_mov_b64", mask, EXEC);
        self.vop2("v_and_b32", counter, constant(3), vector::LANE);
        let start = self.code.len();
        self.times *= u64::from(rounds + 3);
        let count = 1 + r.below(5);
        self.body(r, depth + 1, false, count);
        let add = self.rows().add_co();
        self.vop2(add, counter, constant(1), counter);
        self.vopc("v_cmp_gt_u32", constant(rounds + 3), counter);
        self.sop2("s_and_b64", EXEC, EXEC, VCC);
        self.back("s_cbranch_execnz", start);
        self.times /= u64::from(rounds + 3);
        self.sop1("s_mov_b64", EXEC, mask);
    }

    /// Calls a function, or one of two by SCC.
    pub(super) fn call(&mut self, r: &mut Random) {
        let Some(level) = (self.level.calls < 2)
            .then(|| self.level.calls as u32 + r.below(2 - self.level.calls as u32))
        else {
            return;
        };
        let level = level as usize;
        let functions = self.functions.iter().copied();
        let functions: Vec<_> = functions
            .filter(|function| function.level == level)
            .collect();
        if functions.is_empty() {
            return;
        }
        let [one, two] = [*r.pick(&functions), *r.pick(&functions)];
        let how = r.below(4);
        let cost = self.times * one.cost.max(two.cost);
        if self.spent + cost > BUDGET {
            return;
        }
        self.spent += cost;
        let link = scalar::LINKS[level];
        if how == 0 && self.gfx.is_gfx9() {
            let from = self.code.len() as i32 + 4;
            self.sopk("s_call_b64", link, ((one.at as i32 - from) / 4) as u32);
            return;
        }
        // Distances from behind `s_getpc_b64` are negative.
        let indirect = how == 1;
        let here = self.code.len() as u32 + if indirect { 24 } else { 4 };
        let distance = |function: Function| (function.at as u32).wrapping_sub(here);
        let low = if indirect {
            for (register, function) in [(0, one), (1, two)] {
                self.move_literal(scalar::TEMPORARY + register, distance(function));
            }
            let (low, high) = (scalar::TEMPORARY, scalar::TEMPORARY + 1);
            self.sop2("s_cselect_b32", low, low, high);
            low
        } else {
            LITERAL
        };
        let pc = scalar::ADDRESS;
        self.sop1("s_getpc_b64", pc, 0);
        assert_eq!(
            self.code.len() as u32,
            here,
            "bug: the distance begins elsewhere"
        );
        self.sop2("s_add_u32", pc, pc, low);
        if !indirect {
            self.word(distance(one));
        }
        self.sop2("s_addc_u32", pc + 1, pc + 1, MINUS_ONE);
        self.sop1("s_swappc_b64", link, pc);
    }

    /// Blocks with edges forward to one of the next, and a bounded number of edges backward.
    pub(super) fn graph(&mut self, r: &mut Random, depth: u32) {
        let (mask, counter) = self.control(depth);
        let blocks = match r.below(8) {
            0 => 1 + r.below(900),
            1 | 2 => 1 + r.below(150),
            _ => 2 + r.below(30),
        };
        let returns = r.below(6);
        let mut palette = Vec::new();
        for _ in 0..1 + r.below(6) {
            palette.push(self.rows().instruction(r));
        }
        // The edges come from a seed, so that a large graph takes few bytes.
        let mut edges = Random::new(u64::from(r.below(1 << 16)));
        let cost = u64::from(blocks * (1 + returns)) * 4;
        if self.left < 4 * blocks || self.spent + self.times * cost > 2 * BUDGET {
            return;
        }
        let e = &mut edges;
        self.sop1("s_mov_b64", mask, EXEC);
        self.sopk("s_movk_i32", counter, returns);
        let mut starts = Vec::new();
        let mut open: Vec<(usize, usize, &str)> = Vec::new();
        self.times *= 1 + u64::from(returns);
        for block in 0..blocks as usize {
            starts.push(self.code.len());
            for _ in 0..e.below(3) {
                let bytes = e.pick(&palette).clone();
                self.add(&bytes);
            }
            let to = block + 1 + e.below(8) as usize;
            let to = to.min(blocks as usize);
            const BRANCHES: [&str; 7] = [
                "s_cbranch_scc0",
                "s_cbranch_scc1",
                "s_cbranch_vccz",
                "s_cbranch_vccnz",
                "s_cbranch_execz",
                "s_cbranch_execnz",
                "s_branch",
            ];
            match e.below(12) {
                n @ 0..=8 => {
                    let name = BRANCHES[n as usize % BRANCHES.len()];
                    open.push((self.code.len(), to, name));
                    self.add(&[0; 4]);
                }
                9 => {
                    self.sopc("s_cmp_eq_u32", counter, constant(0));
                    let over = self.hole(true);
                    self.sopk("s_addk_i32", counter, 0xffff);
                    let back = block.saturating_sub(e.below(10) as usize);
                    self.back("s_branch", starts[back]);
                    self.fill(over, "s_cbranch_scc1");
                }
                _ => {}
            }
        }
        self.times /= 1 + u64::from(returns);
        starts.push(self.code.len());
        for (at, to, name) in open {
            let branch = self.rows().branch(name, (starts[to] - at) as i32 - 4);
            self.code[at..at + 4].copy_from_slice(&branch);
        }
        self.sop1("s_mov_b64", EXEC, mask);
    }
}
