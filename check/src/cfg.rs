//! A routine's instructions and control-flow graph.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use frontend::decode::misaligned;
use frontend::flow::{Addresses, branch_target};
use frontend::inst::Dpp;
use frontend::op::BranchIf;
use frontend::registers::{Reg, Uses, is_relative, is_valu};
use frontend::{Gfx, Inst, Op, Operand, decode};

/// What a kernel's descriptor says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kernel {
    /// SGPRs that the dispatcher initialises, from s0 on.
    pub initial_sgprs: u32,
    /// VGPRs that the dispatcher initialises.
    pub initial_vgprs: u32,
    /// SGPRs allocated to a wave, VCC and the like included.
    pub sgprs: u32,
    /// VGPRs allocated to a wave.
    pub vgprs: u32,
    /// Bytes of LDS that the code object states, if there is no more at run time.
    pub lds: Option<u32>,
    /// Bytes of scratch of a lane, if the code object knows them.
    pub scratch: Option<u32>,
    /// A workgroup is one wave.
    pub one_wave: bool,
}

/// Code to check: a kernel, or a function with LLVM's calling convention.
#[derive(Clone, Copy, Debug)]
pub struct Routine<'a> {
    /// The target.
    pub gfx: Gfx,
    /// Does the code run with XNACK, so that accesses may be repeated?
    pub xnack: bool,
    /// Address of the first instruction.
    pub address: u64,
    /// The bytes.
    pub code: &'a [u8],
    /// Of a kernel.
    pub kernel: Option<Kernel>,
}

/// An instruction.
#[derive(Clone, Debug)]
pub struct Item {
    /// Its address.
    pub address: u64,
    /// What it is.
    pub inst: Inst,
    /// The registers that it reads and writes.
    pub uses: Uses,
    /// It indexes vector registers at run time.
    pub relative: bool,
    /// The first group of SGPRs that is not aligned, as encoded.
    pub misaligned: Option<Reg>,
    /// An edit has removed it.
    pub removed: bool,
}

impl Item {
    /// The DPP fields, if it has that form.
    pub(crate) fn dpp(&self) -> Option<Dpp> {
        self.inst.mods.dpp
    }

    /// The target of a branch with an immediate distance; a call continues behind it.
    fn branch_target(&self) -> Option<u64> {
        match self.inst.op() {
            Op::Call => None,
            _ => branch_target(&self.inst, self.address),
        }
    }

    /// The immediate of `s_waitcnt`, `s_nop` and their like.
    pub(crate) fn imm(&self) -> u32 {
        match self.inst.src[0] {
            Operand::Imm(imm) => imm as u32 & 0xffff,
            _ => 0,
        }
    }
}

/// How control leaves a block, other than along its edges.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Leaves {
    /// It does not.
    No,
    /// The wave ends.
    Ends,
    /// To an address in registers: a return, or a jump that cannot be followed.
    Indirect,
    /// To an address outside of the routine, or into what is no instruction.
    Outside,
}

/// A basic block.
#[derive(Clone, Debug)]
pub(crate) struct Block {
    /// Its instructions.
    pub(crate) items: Range<usize>,
    /// The blocks after it. Of a conditional branch the first one is that of the branch taken.
    pub(crate) next: Vec<usize>,
    pub(crate) leaves: Leaves,
    /// Is it reachable from the beginning?
    pub(crate) reached: bool,
}

/// A change of code, for tests of the checks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Edit {
    /// The instruction is not there.
    Remove,
    /// It has another immediate. A wait with all bits set does not wait.
    Imm(u16),
}

/// A routine's instructions.
#[derive(Clone, Debug)]
pub struct Code {
    /// The target.
    pub gfx: Gfx,
    /// By address.
    pub items: Vec<Item>,
    pub(crate) blocks: Vec<Block>,
    /// Numbers of the reachable blocks in reverse postorder.
    pub(crate) order: Vec<usize>,
}

impl Code {
    /// Decodes a routine.
    pub fn new(routine: &Routine<'_>) -> Code {
        let gfx = routine.gfx;
        let mut items = Vec::new();
        // Indices of instructions that follow bytes which do not decode.
        let mut gaps = BTreeSet::new();
        let mut at = 0;
        while at < routine.code.len() {
            let address = routine.address.wrapping_add(at as u64);
            match decode(gfx, &routine.code[at..]) {
                Ok(inst) => {
                    items.push(Item {
                        address,
                        inst,
                        uses: Uses::of(&inst, gfx),
                        relative: false,
                        misaligned: misaligned(gfx, &inst, &routine.code[at..]).map(Reg::from),
                        removed: false,
                    });
                    at += usize::from(inst.len);
                }
                Err(_) => {
                    gaps.insert(items.len());
                    at += 4;
                }
            }
        }
        let mut code = Code {
            gfx,
            items,
            blocks: Vec::new(),
            order: Vec::new(),
        };
        code.find_blocks(&gaps);
        code.mark_relative();
        code.find_order();
        code
    }

    /// The same code with an edit.
    pub fn edit(&mut self, at: usize, edit: Edit) {
        let item = &mut self.items[at];
        match edit {
            Edit::Remove => item.removed = true,
            Edit::Imm(imm) => item.inst.src[0] = Operand::Imm(i32::from(imm as i16)),
        }
    }

    /// Is the instruction reachable from the beginning?
    pub fn is_reached(&self, at: usize) -> bool {
        let after = self.blocks.partition_point(|block| block.items.start <= at);
        let block = after.checked_sub(1).and_then(|n| self.blocks.get(n));
        block.is_some_and(|block| block.reached && block.items.contains(&at))
    }

    /// Is EXEC zero on the edge of a block with this number, by the branch at the block's end?
    pub(crate) fn is_exec_zero(&self, block: usize, number: usize) -> bool {
        let last = self.blocks[block].items.clone().last();
        match last.map(|last| self.items[last].inst.op()) {
            Some(Op::Branch(BranchIf::Execz)) => number == 0,
            Some(Op::Branch(BranchIf::Execnz)) => number == 1,
            _ => false,
        }
    }

    /// Has a reachable block an indirect exit without a constant target?
    pub(crate) fn has_indirect(&self) -> bool {
        let mut reached = self.blocks.iter().filter(|block| block.reached);
        reached.any(|block| block.leaves == Leaves::Indirect)
    }

    fn index_of(&self, address: u64) -> Option<usize> {
        let found = self
            .items
            .binary_search_by_key(&address, |item| item.address);
        found.ok()
    }

    fn find_blocks(&mut self, gaps: &BTreeSet<usize>) {
        let mut begins: BTreeSet<usize> = gaps.clone();
        begins.insert(0);
        for (at, item) in self.items.iter().enumerate() {
            if let Some(target) = item.branch_target().and_then(|to| self.index_of(to)) {
                begins.insert(target);
            }
            if ends_block(item.inst.op()) {
                begins.insert(at + 1);
            }
        }
        // Targets of jumps in registers begin blocks, too. They are computed within a block, so a second pass
        // finds all.
        let jumps = self.jumps(&begins);
        begins.extend(jumps.values().filter_map(|&to| self.index_of(to)));
        let jumps = self.jumps(&begins);
        let starts: Vec<usize> = begins
            .into_iter()
            .filter(|&start| start < self.items.len())
            .collect();
        let number = |at: usize| starts.binary_search(&at).ok();
        for (n, &start) in starts.iter().enumerate() {
            let end = starts.get(n + 1).copied().unwrap_or(self.items.len());
            let last = &self.items[end - 1];
            let to = |address: Option<u64>| {
                let index = address.and_then(|address| self.index_of(address));
                index.and_then(number)
            };
            let behind = match end < self.items.len() && !gaps.contains(&end) {
                true => number(end),
                false => None,
            };
            let taken = to(last.branch_target());
            let jump = jumps.get(&(end - 1)).map(|&address| to(Some(address)));
            let (next, leaves) = match last.inst.op() {
                Op::Endpgm => (vec![], Leaves::Ends),
                Op::Branch(BranchIf::Always) => edges([taken]),
                Op::Branch(_) | Op::CbranchIFork => edges([taken, behind]),
                Op::SetPc => match jump {
                    Some(to) => edges([to]),
                    None => (vec![], Leaves::Indirect),
                },
                Op::CbranchGFork | Op::CbranchJoin | Op::Rfe | Op::RfeRestore => {
                    (vec![], Leaves::Indirect)
                }
                _ => edges([behind]),
            };
            self.blocks.push(Block {
                items: start..end,
                next,
                leaves,
                reached: false,
            });
        }
    }

    /// Constant targets of jumps to registers, by the jump.
    fn jumps(&self, begins: &BTreeSet<usize>) -> BTreeMap<usize, u64> {
        let mut known = Addresses::default();
        let mut jumps = BTreeMap::new();
        for (at, item) in self.items.iter().enumerate() {
            if begins.contains(&at) {
                known = Addresses::default();
            }
            match item.inst.op() {
                Op::SetPc => {
                    if let Some(to) = known.of(item.inst.src[0]) {
                        jumps.insert(at, to);
                    }
                }
                // The function may write any register.
                Op::Call | Op::SwapPc => known = Addresses::default(),
                _ => known.follow(&item.inst, item.address + u64::from(item.inst.len)),
            }
        }
        jumps
    }

    /// Vector instructions under GPR indexing, which compilers switch on and off in one block.
    fn mark_relative(&mut self) {
        let mut indexed = false;
        let mut starts = self.blocks.iter().map(|block| block.items.start).peekable();
        for (at, item) in self.items.iter_mut().enumerate() {
            if starts.next_if_eq(&at).is_some() {
                indexed = false;
            }
            match item.inst.op() {
                Op::SetGprIdxOn => indexed = true,
                Op::SetGprIdxOff => indexed = false,
                op => item.relative = is_relative(op) || indexed && is_valu(&item.inst),
            }
        }
    }

    /// Marks the reached blocks and puts them into order, without recursion.
    fn find_order(&mut self) {
        if self.blocks.is_empty() {
            return;
        }
        let mut stack = vec![(0usize, 0usize)];
        self.blocks[0].reached = true;
        while let Some((block, edge)) = stack.pop() {
            match self.blocks[block].next.get(edge) {
                Some(&next) => {
                    stack.push((block, edge + 1));
                    if !self.blocks[next].reached {
                        self.blocks[next].reached = true;
                        stack.push((next, 0));
                    }
                }
                None => self.order.push(block),
            }
        }
        self.order.reverse();
    }
}

fn edges<const N: usize>(to: [Option<usize>; N]) -> (Vec<usize>, Leaves) {
    let leaves = match to.iter().all(Option::is_some) {
        true => Leaves::No,
        false => Leaves::Outside,
    };
    (to.into_iter().flatten().collect(), leaves)
}

fn ends_block(op: Op) -> bool {
    matches!(
        op,
        Op::Branch(_)
            | Op::Endpgm
            | Op::SetPc
            | Op::CbranchIFork
            | Op::CbranchGFork
            | Op::CbranchJoin
            | Op::Rfe
            | Op::RfeRestore
    )
}
