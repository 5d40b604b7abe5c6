//! Parts of a body, one after the other, within the limits on length and time.

use frontend::Gfx;
use harness::random::Random;
use harness::words::{self, prepared};

use super::{BUDGET, Parts, scalar, vector};
use crate::assembler::{Assembler, EXEC, M0, MINUS_ONE};
use crate::program::{Item, Rows};

/// Where control is: in the kernel or in a function of a level.
#[derive(Clone, Copy)]
pub(super) struct Level {
    /// Functions of the levels from this one on may be called.
    pub(super) calls: usize,
    /// The first SGPR for masks and counters, and the first VGPR for counters.
    pub(super) scalar: u32,
    pub(super) vector: u32,
    /// Blocks in one another at most.
    pub(super) depth: u32,
}

impl Level {
    pub(super) const MAIN: Level = Level {
        calls: 0,
        scalar: prepared::CONTROL_S,
        vector: words::VGPRS,
        depth: 4,
    };

    fn function(level: usize) -> Level {
        Level {
            calls: level + 1,
            scalar: scalar::CONTROL[level],
            vector: vector::COUNTERS + 2 * level as u32,
            depth: 2,
        }
    }
}

/// A function.
#[derive(Clone, Copy)]
pub(super) struct Function {
    pub(super) level: usize,
    pub(super) at: usize,
    /// Instructions that a call executes at most, about.
    pub(super) cost: u64,
}

pub(super) struct Writer<'a> {
    pub(super) parts: &'a Parts,
    pub(super) gfx: Gfx,
    pub(super) code: Vec<u8>,
    pub(super) functions: Vec<Function>,
    pub(super) level: Level,
    /// Instructions that may be added.
    pub(super) left: u32,
    /// How often the code that is added next is executed.
    pub(super) times: u64,
    /// Instructions that a wave executes up to here.
    pub(super) spent: u64,
}

impl Assembler for Writer<'_> {
    fn rows(&self) -> &Rows {
        &self.parts.rows
    }

    fn code(&mut self) -> &mut Vec<u8> {
        &mut self.code
    }

    fn add(&mut self, bytes: &[u8]) {
        self.code.extend(bytes);
        self.left = self.left.saturating_sub(1);
        self.spent += self.times;
    }
}

impl Writer<'_> {
    pub(super) fn whole(&mut self, r: &mut Random, waves: u32) {
        // Functions come first, so that their costs are known; those of the lower level before their callers.
        self.word(0);
        for level in [1, 0] {
            for _ in 0..r.below(3) {
                self.function(r, level);
            }
        }
        let over = self.code.len() as i32 - 4;
        let branch = self.rows().branch("s_branch", over);
        self.code[..4].copy_from_slice(&branch);
        self.level = Level::MAIN;
        self.prologue(r, waves);
        self.body(r, 0, true, u32::MAX);
        self.epilogue(waves);
    }

    pub(super) fn function(&mut self, r: &mut Random, level: usize) {
        self.level = Level::function(level);
        let at = self.code.len();
        let before = (self.spent, self.left);
        // A part of what is left for the kernel.
        (self.spent, self.left) = (BUDGET - BUDGET / 8, before.1 / 4);
        let start = self.spent;
        let count = 1 + r.below(6);
        self.body(r, 0, false, count);
        self.sop1("s_setpc_b64", 0, scalar::LINKS[level]);
        let used = before.1 / 4 - self.left;
        self.functions.push(Function {
            level,
            at,
            cost: self.spent - start,
        });
        (self.spent, self.left) = (before.0, before.1 - used);
    }

    // ---- the body

    /// Adds parts until there are `count`, or the input, the room or the time ends. `uniform`: all waves of the workgroup
    /// come here equally often.
    pub(super) fn body(&mut self, r: &mut Random, depth: u32, uniform: bool, count: u32) {
        for _ in 0..count {
            if r.is_exhausted() || self.left == 0 || self.spent >= BUDGET {
                break;
            }
            self.part(r, depth, uniform);
        }
    }

    pub(super) fn part(&mut self, r: &mut Random, depth: u32, uniform: bool) {
        let deeper = depth < self.level.depth;
        match r.below(32) {
            0..=6 => self.own_access(r),
            7 | 8 if uniform => self.exchange(r),
            9 => self.count_in_lds(r),
            10 => self.count_in_memory(r),
            11 | 12 if deeper => self.conditional(r, depth),
            13 if deeper => self.counted_loop(r, depth, uniform),
            14 if deeper => self.divergent_loop(r, depth),
            15 | 16 => self.call(r),
            17 if deeper => self.graph(r, depth),
            18 => self.long_line(r),
            19 => {
                let bytes = self.rows().set_mode(r);
                self.add(&bytes);
            }
            20 => self.scalar_relative(r),
            21 => {
                let mut items = Vec::new();
                self.rows().indexed_moves(r, &mut items);
                self.items(&items);
            }
            22 => {
                let (to, from) = (r.below(12), r.below(12));
                let bytes = self.rows().first_lane(2 * to, from);
                self.add(&bytes);
            }
            23 if uniform => self.barrier(),
            24 => self.all_lanes(),
            _ => self.instruction(r),
        }
    }

    pub(super) fn instruction(&mut self, r: &mut Random) {
        let bytes = self.rows().instruction(r);
        self.add(&bytes);
    }

    pub(super) fn items(&mut self, items: &[Item]) {
        for item in items {
            if let Item::Inst(bytes) = item {
                self.add(bytes);
            }
        }
    }

    pub(super) fn all_lanes(&mut self) {
        self.sop1("s_mov_b64", EXEC, MINUS_ONE);
    }

    pub(super) fn barrier(&mut self) {
        self.sopp("s_barrier", 0);
    }

    /// A few instructions, repeated in random sequence.
    pub(super) fn long_line(&mut self, r: &mut Random) {
        let mut palette = Vec::new();
        for _ in 0..1 + r.below(8) {
            palette.push(self.rows().instruction(r));
        }
        let count = match r.below(8) {
            0 => r.below(2000),
            1 => r.below(400),
            _ => r.below(40),
        };
        let mut order = Random::new(u64::from(r.below(1 << 16)));
        for _ in 0..count {
            if self.left == 0 || self.spent >= 2 * BUDGET {
                break;
            }
            let bytes = order.pick(&palette).clone();
            self.add(&bytes);
        }
    }

    /// Scalar moves by M0 among the first registers.
    pub(super) fn scalar_relative(&mut self, r: &mut Random) {
        self.sopk("s_movk_i32", M0, r.below(8));
        for _ in 0..1 + r.below(2) {
            let name = *r.pick(&[
                "s_movrels_b32",
                "s_movrels_b64",
                "s_movreld_b32",
                "s_movreld_b64",
            ]);
            self.sop1(name, 2 * r.below(8), 2 * r.below(8));
        }
        self.sopk("s_movk_i32", M0, 0xffff);
    }

    /// Room for a branch, if there is one.
    pub(super) fn hole(&mut self, present: bool) -> Option<usize> {
        let at = self.code.len();
        if present {
            self.add(&[0; 4]);
        }
        present.then_some(at)
    }

    /// The branch from a hole to here.
    pub(super) fn fill(&mut self, from: Option<usize>, name: &str) {
        let Some(at) = from else { return };
        let branch = self.rows().branch(name, (self.code.len() - at) as i32 - 4);
        self.code[at..at + 4].copy_from_slice(&branch);
    }

    /// A branch backward.
    pub(super) fn back(&mut self, name: &str, to: usize) {
        let from = self.code.len() as i32 + 4;
        self.sopp(name, to as i32 - from);
    }
}
