//! Host instructions before register allocation: SSA over virtual registers of three classes,
//! general, vector and, for AVX-512, mask. Implements the interface of register allocation.

use regalloc2::{Block, Inst, InstRange, Operand, OperandKind, PReg, PRegSet, RegClass, VReg};

use super::encode::{Len, Row};
use super::evex::{Evex, Rounding, Tuple};
use super::evex_forms::twin;
use crate::backend::object::Symbol;
use crate::host::Isa;
use crate::maps::HashMap;

mod blocks;

/// Condition codes in the host's encoding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the suffixes of the mnemonics")]
pub(super) enum Cc {
    B = 2,
    Ae = 3,
    E = 4,
    Ne = 5,
    Be = 6,
    A = 7,
    L = 12,
    Ge = 13,
    Le = 14,
    G = 15,
}

impl Cc {
    /// The opposite.
    pub(super) fn not(self) -> Cc {
        match self {
            Cc::B => Cc::Ae,
            Cc::Ae => Cc::B,
            Cc::E => Cc::Ne,
            Cc::Ne => Cc::E,
            Cc::Be => Cc::A,
            Cc::A => Cc::Be,
            Cc::L => Cc::Ge,
            Cc::Ge => Cc::L,
            Cc::Le => Cc::G,
            Cc::G => Cc::Le,
        }
    }
}

/// Base of an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AddrBase {
    /// A register.
    Reg(VReg),
    /// A constant of the region.
    Pool(u32),
    /// The function's own stack slots.
    Stack,
    /// A register that is not allocatable.
    Pin(Pin),
}

/// A value pinned to a register for the whole function: it is the base of most addresses, and the
/// allocator would reload it from the stack repeatedly.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pin {
    /// The context, the function's parameter.
    Context,
    /// The running wave.
    Wave,
}

impl Pin {
    /// The number of its general register, which calls preserve.
    pub(super) fn number(self) -> u8 {
        match self {
            Pin::Context => RBP,
            Pin::Wave => RBX,
        }
    }
}

/// An address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Addr {
    /// Its base.
    pub(super) base: AddrBase,
    /// An index register, shifted left by this number of bits, at most 3.
    pub(super) index: Option<(VReg, u8)>,
    /// Bytes to add.
    pub(super) disp: i32,
}

/// An operand that may be in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Src {
    /// A register.
    Reg(VReg),
    /// Memory.
    Mem(Addr),
}

/// The operands of an encoded instruction in their order; `rm` is always last, as a register or as
/// those of an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// reg (defined) from vvvv and rm.
    Rvm,
    /// As `Rvm` with registers only, with embedded rounding.
    Rounded(Rounding),
    /// As [`Form::Fma`], likewise.
    RoundedFma(Rounding),
    /// reg (defined) from vvvv and rm and a register in the constant.
    Rvmr,
    /// reg (defined) from rm.
    Rm,
    /// rm from reg: a store.
    Store,
    /// rm (defined, a register) from reg.
    Mr,
    /// vvvv (defined) from rm, with a digit.
    Digit(u8),
    /// reg (defined) from itself, vvvv and rm.
    Fma,
    /// reg (defined) under a mask from vvvv and rm.
    MaskedRvm,
    /// reg (defined) from rm, with zeros outside a mask.
    ZeroedRm,
    /// reg (defined) from vvvv and rm, with zeros outside a mask.
    ZeroedRvm,
    /// reg (defined) from itself outside a mask, and vvvv and rm.
    MergedRvm,
    /// reg (defined) from itself outside a mask, and rm.
    MergedRm,
    /// vvvv (defined) from itself outside a mask, and rm, with a digit.
    MergedDigit(u8),
    /// reg (defined) and a mask (defined) from both: gathers the lanes in the mask, keeps the
    /// others.
    Gather,
    /// rm (memory) from reg under a mask.
    StoreSome,
    /// A mask (defined) from itself; scatters the lanes of reg.
    Scatter,
    /// reg (defined) from itself and rm.
    Tied,
    /// rm (defined, a register) from itself, with a digit.
    TiedDigit(u8),
    /// An address in rm, with a digit.
    Address(u8),
}

/// A comparison before the instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Compare {
    /// The condition.
    pub(super) cc: Cc,
    /// 64 bits.
    pub(super) wide: bool,
    /// The second source if it is a constant; otherwise it is a register.
    pub(super) imm: Option<i32>,
}

/// An immediate of an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Imm {
    /// None.
    No,
    /// One byte.
    Byte(u8),
    /// Four bytes.
    Word(i32),
}

/// The operation of an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum HostOp {
    /// VEX coded.
    Vex(Row, Len, Form, Imm),
    /// EVEX coded.
    Evex(Evex, Len, Form, Imm),
    /// Legacy coded; true: 64 bits.
    Legacy(Row, bool, Form, Imm),
    /// A constant in a general register.
    MovImm(u64),
    /// An address that is resolved at placement.
    MovSymbol(Symbol, i64),
    /// All zeros in a vector.
    Zero,
    /// All ones in a vector.
    Ones,
    /// 1 or 0 by a comparison: defined, sources.
    Set(Compare),
    /// defined, value if false (the same register), value if true, sources.
    Select(Compare),
    /// High half of a product: source in rax, source, defined in rdx; true: signed, 64 bits.
    MulHigh(bool, bool),
    /// A call of an address with arguments in their registers.
    Call,
    /// Nothing: an instruction that was moved elsewhere.
    Nothing,
    /// A value to its register.
    Pin(Pin),
    /// To the first target.
    Jump,
    /// To the first target when the comparison holds, else to the second.
    Branch(Compare),
    /// The end, with the result in rax.
    Return,
}

/// Base of an instruction's memory operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PlaceBase {
    /// A register among the operands.
    Operand,
    /// A constant.
    Pool(u32),
    /// A non-allocatable register, by its number.
    Fixed(u8),
}

/// Shape of an instruction's memory operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) base: PlaceBase,
    /// The shift of the index among the operands, if any.
    pub(super) indexed: Option<u8>,
    /// Bytes to add.
    pub(super) disp: i32,
}

/// An instruction.
#[derive(Clone, Copy, Debug)]
pub(super) struct HostInst {
    /// The operation.
    pub(super) op: HostOp,
    /// Its operand in memory.
    pub(super) mem: Option<Place>,
    /// Its source location in the region.
    pub(super) loc: u32,
    operands: (u32, u32),
}

/// A block.
#[derive(Debug)]
pub(super) struct HostBlock {
    first: u32,
    end: u32,
    params: Vec<VReg>,
    /// The number of successors, and these.
    succ_count: u8,
    succs: [Block; 2],
    /// Arguments for each of them.
    args: [Vec<VReg>; 2],
    /// Its part of [`HostFunc::preds`].
    preds: (u32, u32),
    /// Seldom executed.
    pub(super) cold: bool,
    /// Its position in memory: the number of the block when created, and how many split edges of
    /// that block precede it.
    pub(super) place: (usize, usize),
}

impl HostBlock {
    /// A block without instructions.
    pub(super) fn new(place: usize, cold: bool) -> HostBlock {
        HostBlock {
            first: 0,
            end: 0,
            params: Vec::new(),
            succ_count: 0,
            succs: [Block::invalid(); 2],
            args: [Vec::new(), Vec::new()],
            preds: (0, 0),
            cold,
            place: (place, 0),
        }
    }

    fn succs(&self) -> &[Block] {
        &self.succs[..usize::from(self.succ_count)]
    }
}

/// A function.
#[derive(Default)]
pub(super) struct HostFunc {
    /// Instructions in the order of the blocks.
    pub(super) insts: Vec<HostInst>,
    /// Blocks; 0 is the entry.
    pub(super) blocks: Vec<HostBlock>,
    /// Predecessors of the blocks, concatenated.
    preds: Vec<Block>,
    pub(super) operands: Vec<Operand>,
    vregs: usize,
    /// Constants.
    pub(super) pool: Vec<Vec<u8>>,
    pool_places: HashMap<Vec<u8>, u32>,
    /// What is written.
    pub(super) isa: Isa,
    /// Bytes of the function's own stack slots.
    pub(super) stack: u32,
    /// The current source location in the region.
    pub(super) loc: u32,
}

/// General registers by number.
pub(super) const RAX: u8 = 0;
/// Second argument of a call, and so on.
pub(super) const RCX: u8 = 1;
/// See [`RCX`].
pub(super) const RDX: u8 = 2;
/// See [`Pin`].
pub(super) const RBX: u8 = 3;
/// The stack's.
pub(super) const RSP: u8 = 4;
/// See [`Pin`].
pub(super) const RBP: u8 = 5;
/// See [`RCX`].
pub(super) const RSI: u8 = 6;
/// See [`RCX`].
pub(super) const RDI: u8 = 7;

/// General registers that calls preserve, except those of pins; the frame saves those that are
/// used.
pub(super) const KEPT: [u8; 4] = [12, 13, 14, 15];

/// All allocatable general registers, those that calls preserve last.
pub(super) const FREE: [u8; 13] = [0, 1, 2, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15];

/// A general register for the allocator.
pub(super) fn general(n: u8) -> PReg {
    PReg::new(usize::from(n), RegClass::Int)
}

/// A vector register for the allocator.
pub(super) fn vector(n: u8) -> PReg {
    PReg::new(usize::from(n), RegClass::Float)
}

/// A mask register for the allocator.
pub(super) fn mask(n: u8) -> PReg {
    PReg::new(usize::from(n), MASK)
}

/// The class of mask registers.
pub(super) const MASK: RegClass = RegClass::Vector;

/// Number of 8-byte stack slots of a vector.
pub(super) fn vector_words(isa: Isa) -> usize {
    match isa {
        Isa::Avx2 => 4,
        Isa::Avx512 => 8,
    }
}

/// Number of vector registers.
pub(super) fn vector_count(isa: Isa) -> u8 {
    match isa {
        Isa::Avx2 => 16,
        Isa::Avx512 => 32,
    }
}

/// Is the last operand of an instruction a whole vector, which may be in memory?
fn reads_vectors(op: HostOp) -> bool {
    let (HostOp::Vex(_, _, form, _) | HostOp::Evex(_, _, form, _)) = op else {
        return false;
    };
    if !matches!(
        form,
        Form::Rvm | Form::Rm | Form::Fma | Form::MaskedRvm | Form::ZeroedRvm | Form::MergedRvm
    ) {
        return false;
    }
    let row = match op {
        HostOp::Vex(row, ..) => twin(row),
        HostOp::Evex(row, ..) => Some(row),
        _ => None,
    };
    row.is_some_and(|row| matches!(row.tuple, Tuple::Full(_)))
}

impl HostFunc {
    /// A virtual register.
    pub(super) fn vreg(&mut self, class: RegClass) -> VReg {
        self.vregs += 1;
        VReg::new(self.vregs - 1, class)
    }

    /// The number of a constant.
    pub(super) fn constant(&mut self, bytes: &[u8]) -> u32 {
        if let Some(&n) = self.pool_places.get(bytes) {
            return n;
        }
        let n = self.pool.len() as u32;
        self.pool.push(bytes.to_vec());
        self.pool_places.insert(bytes.to_vec(), n);
        n
    }

    /// Begins the next block, which must be `index`.
    pub(super) fn begin(&mut self, index: usize) {
        assert!(index < self.blocks.len(), "bug: no such block");
        self.blocks[index].first = self.insts.len() as u32;
        self.blocks[index].end = self.insts.len() as u32;
    }

    /// Ends block `index` with edges to `targets`.
    pub(super) fn end(
        &mut self,
        index: usize,
        targets: impl IntoIterator<Item = (usize, Vec<VReg>)>,
    ) {
        let end = self.insts.len() as u32;
        let block = &mut self.blocks[index];
        block.end = end;
        for (to, args) in targets {
            let n = usize::from(block.succ_count);
            (block.succs[n], block.args[n]) = (Block::new(to), args);
            block.succ_count += 1;
        }
    }

    /// Sets the parameters of a block.
    pub(super) fn set_params(&mut self, index: usize, params: Vec<VReg>) {
        self.blocks[index].params = params;
    }

    /// Appends an instruction whose last operand may be in memory.
    pub(super) fn push(&mut self, op: HostOp, operands: &[Operand], rm: Option<Src>) {
        let first = self.operands.len() as u32;
        self.operands.extend(operands);
        let mut mem = None;
        match rm {
            Some(Src::Reg(v)) => self.operands.push(Operand::reg_use(v)),
            Some(Src::Mem(addr)) => {
                let base = match addr.base {
                    AddrBase::Reg(v) => {
                        self.operands.push(Operand::reg_use(v));
                        PlaceBase::Operand
                    }
                    AddrBase::Pool(n) => PlaceBase::Pool(n),
                    AddrBase::Stack => PlaceBase::Fixed(RSP),
                    AddrBase::Pin(pin) => PlaceBase::Fixed(pin.number()),
                };
                let index = addr.index.map(|(index, _)| Operand::reg_use(index));
                self.operands.extend(index);
                mem = Some(Place {
                    base,
                    indexed: addr.index.map(|(_, shift)| shift),
                    disp: addr.disp,
                });
            }
            None => {}
        }
        self.append(op, first, mem);
    }

    /// Appends an instruction whose operands from `first` on are already pushed.
    fn append(&mut self, op: HostOp, first: u32, mem: Option<Place>) {
        if self.isa == Isa::Avx512
            && mem.is_none()
            && reads_vectors(op)
            && let Some(last) = self.operands[first as usize..].last_mut()
        {
            // The operand may stay on the stack. (With AVX2's 16 registers one benchmark is 2 %
            // slower this way, others are unchanged.)
            *last = Operand::any_use(last.vreg());
        }
        self.insts.push(HostInst {
            op,
            mem,
            loc: self.loc,
            operands: (first, self.operands.len() as u32),
        });
    }

    /// Appends an instruction with the memory operand of another.
    pub(super) fn push_at(&mut self, op: HostOp, operands: &[Operand], mem: Option<Place>) {
        let first = self.operands.len() as u32;
        self.operands.extend(operands);
        self.append(op, first, mem);
    }

    /// How many virtual registers there are.
    pub(super) fn vregs(&self) -> usize {
        self.vregs
    }

    /// Is a register defined by the last instruction?
    pub(super) fn last_gives(&self, reg: VReg) -> bool {
        self.insts.last().is_some_and(|host| {
            let operand = self.operands.get(host.operands.0 as usize);
            let first = operand.filter(|_| host.operands.0 < host.operands.1);
            first.is_some_and(|o| o.kind() == OperandKind::Def && o.vreg() == reg)
        })
    }

    /// The source registers of an instruction, after its definition.
    pub(super) fn sources(&self, inst: usize) -> Vec<VReg> {
        let (first, end) = self.insts[inst].operands;
        let sources = &self.operands[first as usize + 1..end as usize];
        sources.iter().map(|operand| operand.vreg()).collect()
    }

    /// Removes an instruction; returns its memory operand.
    pub(super) fn take(&mut self, inst: usize) -> Option<Place> {
        let host = &mut self.insts[inst];
        host.op = HostOp::Nothing;
        host.operands.1 = host.operands.0;
        host.mem.take()
    }

    /// The instructions of a block.
    pub(super) fn range(&self, block: usize) -> std::ops::Range<usize> {
        self.blocks[block].first as usize..self.blocks[block].end as usize
    }

    /// Does an instruction clobber registers that it does not name?
    #[inline]
    pub(super) fn clobbers(&self, inst: usize) -> bool {
        matches!(self.insts[inst].op, HostOp::Call | HostOp::MulHigh(..))
    }

    /// Successors of a block.
    pub(super) fn succs(&self, block: usize) -> &[Block] {
        self.blocks[block].succs()
    }
}

impl regalloc2::Function for HostFunc {
    #[inline]
    fn num_insts(&self) -> usize {
        self.insts.len()
    }

    fn num_blocks(&self) -> usize {
        self.blocks.len()
    }

    fn entry_block(&self) -> Block {
        Block::new(0)
    }

    fn block_insns(&self, block: Block) -> InstRange {
        let block = &self.blocks[block.index()];
        InstRange::new(
            Inst::new(block.first as usize),
            Inst::new(block.end as usize),
        )
    }

    #[inline]
    fn block_succs(&self, block: Block) -> &[Block] {
        self.blocks[block.index()].succs()
    }

    #[inline]
    fn block_preds(&self, block: Block) -> &[Block] {
        let (first, end) = self.blocks[block.index()].preds;
        &self.preds[first as usize..end as usize]
    }

    #[inline]
    fn block_params(&self, block: Block) -> &[VReg] {
        &self.blocks[block.index()].params
    }

    fn is_ret(&self, inst: Inst) -> bool {
        self.insts[inst.index()].op == HostOp::Return
    }

    fn is_branch(&self, inst: Inst) -> bool {
        matches!(
            self.insts[inst.index()].op,
            HostOp::Jump | HostOp::Branch(_)
        )
    }

    #[inline]
    fn branch_blockparams(&self, block: Block, _: Inst, succ: usize) -> &[VReg] {
        &self.blocks[block.index()].args[succ]
    }

    #[inline]
    fn inst_operands(&self, inst: Inst) -> &[Operand] {
        let (first, end) = self.insts[inst.index()].operands;
        &self.operands[first as usize..end as usize]
    }

    fn inst_clobbers(&self, inst: Inst) -> PRegSet {
        let mut set = PRegSet::empty();
        match self.insts[inst.index()].op {
            HostOp::Call => {
                // Caller-saved registers; rax is defined.
                for n in [RCX, RDX, RSI, RDI, 8, 9, 10, 11] {
                    set.add(general(n));
                }
                for n in 0..vector_count(self.isa) {
                    set.add(vector(n));
                }
                if self.isa == Isa::Avx512 {
                    for n in 1..8 {
                        set.add(mask(n));
                    }
                }
            }
            HostOp::MulHigh(..) => set.add(general(RAX)),
            _ => {}
        }
        set
    }

    #[inline]
    fn num_vregs(&self) -> usize {
        self.vregs
    }

    fn spillslot_size(&self, class: RegClass) -> usize {
        match class {
            RegClass::Int | MASK => 1,
            RegClass::Float => vector_words(self.isa),
        }
    }
}
