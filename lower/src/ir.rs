//! The lane IR: what a region computes, without registers, widths, group counts or host types.
//!
//! Values are SSA within a block: a value is a word (or a truth value) that is the same for the
//! whole wave or differs by lane ([`Vary`]). Pure nodes are hash-consed as they are built, so
//! common subexpressions are free; effects are ordered by the order in which they were appended.
//! Registers cross block borders: a block reads them with [`Op::ReadS`]/[`Op::ReadV`] and lists
//! what it writes. Predication is only `Select(mask, new, old)` on a written value and a mask on
//! memory operations; legalization decides how EXEC is tested and how many lanes are computed at
//! once.

use std::fmt;

use frontend::op::{Atomic, Data, Space};
use serde::{Deserialize, Serialize};

use crate::profile::Outcome;

pub use frontend::state::{FIRST_AGPR, VECTOR_REGISTERS};
pub use functions::{EffectFn, LaneFn};
pub use matrix::MatrixCall;

pub mod build;
pub mod functions;
pub mod matrix;
pub(crate) mod memory;
pub mod text;
pub mod verify;

/// A value: an index into the block's nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Val(pub u32);

impl Val {
    /// Index into [`Block::nodes`].
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// Width of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Width {
    /// A truth value; by lane it is an abstract mask, never a bit pattern.
    W1,
    /// 32 bits; floats, 16-bit values (low half) and packed halves too.
    W32,
    /// 64 bits, as one value.
    W64,
}

impl Width {
    /// The amount by which a constant shifts a value of this width: amounts count modulo the width.
    pub fn shift_amount(self, n: u64) -> u32 {
        n as u32 & if self == Width::W64 { 63 } else { 31 }
    }
}

/// How a value varies over the wave.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Vary {
    /// The same for the whole wave.
    Wave,
    /// One value for each row of 16 lanes.
    Row,
    /// Repeats every 16 lanes.
    Period16,
    /// Arbitrary.
    Lane,
}

impl Vary {
    /// Variation of the result of an operation on both.
    pub fn join(self, other: Vary) -> Vary {
        match (self, other) {
            (Vary::Wave, v) | (v, Vary::Wave) => v,
            (a, b) if a == b => a,
            _ => Vary::Lane,
        }
    }
}

/// Type of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Type {
    /// Width.
    pub width: Width,
    /// Variation.
    pub vary: Vary,
}

/// Float formats.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[allow(missing_docs, reason = "the names say it")]
pub enum Float {
    F32,
    F64,
}

/// Integer comparisons (`U*` unsigned, `S*` signed).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[allow(missing_docs, reason = "the names say it")]
pub enum Icmp {
    Eq,
    Ne,
    Ult,
    Ule,
    Slt,
    Sle,
}

/// Float comparisons; `Ord`/`Uno` test for NaN, the others are false for NaN except `Une`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[allow(missing_docs, reason = "the names say it")]
pub enum Fcmp {
    Eq,
    Lt,
    Le,
    Ord,
    Uno,
    /// Not equal or unordered.
    Une,
}

/// Whether sources and results in the denormal range become zero (keeping the sign).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
pub struct Flush {
    /// Sources.
    pub src: bool,
    /// Results.
    pub dst: bool,
}

/// Operations on both 16-bit halves of a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Halves {
    /// a + b
    Add,
    /// a - b
    Sub,
    /// Low bits of a * b
    Mul,
    /// Unsigned minimum
    MinU,
    /// Unsigned maximum
    MaxU,
    /// Signed minimum
    MinS,
    /// Signed maximum
    MaxS,
    /// a + b, at most 0xffff
    AddSatU,
    /// a + b, the nearest i16
    AddSatS,
    /// a - b, at least 0
    SubSatU,
    /// a - b, the nearest i16
    SubSatS,
    /// a << n, n < 16
    Shl(u8),
    /// a >> n, logical, n < 16
    Lshr(u8),
    /// a >> n, arithmetic, n < 16
    Ashr(u8),
}

/// Required bits of a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WordBits {
    /// The bits that are required.
    pub mask: u32,
    /// Their values.
    pub bits: u32,
}

/// Words 1 and 3 of a buffer descriptor of scratch in which the dwords of the 64 lanes are
/// adjacent: no stride, swizzled, the lane added to the index, rows of 64 elements of 4 bytes, and
/// a data format.
pub const SCRATCH_DESCRIPTOR: [WordBits; 2] = [
    WordBits {
        mask: 0xffff_0000,
        bits: 0x8000_0000,
    },
    WordBits {
        mask: 0x00ff_8000,
        bits: 0x00ea_0000,
    },
];

/// A scalar register slot that crosses blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Slot {
    /// One SGPR (or M0, FLAT_SCRATCH half, …) by encoding code; 32 bits.
    Sgpr(u8),
    /// EXEC, 64 bits.
    Exec,
    /// VCC, 64 bits.
    Vcc,
    /// SCC, a truth value.
    Scc,
    /// MODE, 32 bits.
    Mode,
    /// 32 bits that one block passes to the next; not a guest register.
    Temp(u8),
}

impl Slot {
    /// Type of the slot's value.
    pub fn ty(self) -> Type {
        let width = match self {
            Slot::Exec | Slot::Vcc => Width::W64,
            Slot::Scc => Width::W1,
            Slot::Sgpr(_) | Slot::Mode | Slot::Temp(_) => Width::W32,
        };
        Type {
            width,
            vary: Vary::Wave,
        }
    }
}

/// What the sanitizer has told the code; see [`Context`](crate::abi::Context).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Settled {
    /// Begin of a range of guest memory.
    Start(u8),
    /// Its bytes.
    Len(u8),
    /// Bytes of LDS.
    Lds,
    /// Lanes that it has seen.
    Lanes,
    /// 0 if there are no stores to wait for.
    Stores,
}

/// Operations. Arguments are in [`Node::args`]. Unless stated otherwise, all arguments and the
/// result have one width and the result varies as the join of the arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Op {
    // ---- leaves
    /// A constant of the node's width.
    Const(u64),
    /// A guest code address, relocated for each load of the code (W64, wave).
    CodeAddress(u64),
    /// What the sanitizer need not be told of (W64, wave).
    Settled(Settled),
    /// Any value, which may be another one at each use (wave).
    Undef,
    /// The lane's number, 0..=63.
    LaneId,
    /// A scalar slot at block entry.
    ReadS(Slot),
    /// A vector register at block entry (all 64 lanes as stored).
    ReadV(u16),
    // ---- integer, W32 or W64
    /// a + b
    Add,
    /// a - b
    Sub,
    /// Low bits of a * b
    Mul,
    /// High half of the unsigned product (W32 by lane or wave; W64 by wave only)
    MulHiU,
    /// High half of the signed product
    MulHiS,
    /// a & b (W1 too)
    And,
    /// a | b (W1 too)
    Or,
    /// a ^ b (W1 too)
    Xor,
    /// ~a (W1 too)
    Not,
    /// a << (b mod width); b is W32
    Shl,
    /// Logical; b is W32
    Lshr,
    /// Arithmetic; b is W32
    Ashr,
    /// Unsigned minimum
    MinU,
    /// Unsigned maximum
    MaxU,
    /// Signed minimum
    MinS,
    /// Signed maximum
    MaxS,
    /// Number of ones; result W32
    Popcnt,
    /// Leading zeros, the width for 0; result W32
    Clz,
    /// Trailing zeros, the width for 0; result W32
    Ctz,
    /// Bits reversed
    Brev,
    /// (W32) `{a, b} >> (c & 31)`, low word
    AlignBit,
    /// (W32) byte permute of {a, b} by selectors c, as `v_perm_b32`
    Perm,
    /// (W32) byte n, zero-extended
    ByteU(u8),
    /// (W32) the same on the low and the high 16 bits
    Halves(Halves),
    /// Sign extension from bit n-1 (n < width)
    SextFrom(u8),
    /// Comparison, result W1
    Icmp(Icmp),
    // ---- widths
    /// W64 from (low, high)
    Pair,
    /// Low word of a W64
    Lo,
    /// High word of a W64
    Hi,
    /// W32 to W64
    Zext,
    /// W32 to W64
    Sext,
    /// 1 or 0 from W1, result W32
    BoolToInt,
    // ---- selection
    /// mask ? b : c; args (mask W1, b, c)
    Select,
    // ---- masks and lanes
    /// The lane mask whose bits are the wave value a (W64): lane i is true when bit i is set
    MaskFromBits,
    /// As [`Op::MaskFromBits`] of an EXEC value; code may be versioned on it being all ones
    ExecMask,
    /// The 64 bits of a lane mask as a wave value (W64)
    Ballot,
    /// The lane value a at lane b (wave W32, taken mod 64), a wave value
    LaneAt,
    // ---- float on the bits of W32 (F32) or W64 (F64), round to nearest even; other modes go through lane functions
    /// a + b
    FAdd(Float, Flush),
    /// a - b
    FSub(Float, Flush),
    /// a * b
    FMul(Float, Flush),
    /// a * b + c with one rounding
    Fma(Float, Flush),
    /// Quotient, correctly rounded
    FDiv(Float, Flush),
    /// Square root, correctly rounded
    FSqrt(Float, Flush),
    /// Comparison, result W1 (sources flushed when `Flush::src`)
    Fcmp(Float, Fcmp, Flush),
    /// Toward -inf
    FFloor(Float),
    /// Toward +inf
    FCeil(Float),
    /// Toward zero
    FTrunc(Float),
    /// To nearest even
    FNearest(Float),
    /// The NaN kept, with its quiet bit set; other values unchanged
    FQuiet(Float),
    /// Denormals to zero of the same sign
    FFlush(Float),
    /// i32 to float
    CvtFromS(Float),
    /// u32 to float
    CvtFromU(Float),
    /// Truncating, saturating, NaN to 0; result W32
    CvtToS(Float),
    /// Truncating, saturating, NaN to 0; result W32
    CvtToU(Float),
    /// f32 to f64 (W32 to W64)
    FWiden,
    /// f64 to f32, nearest even
    FNarrow(Flush),
    /// 1 / sqrt(a), correctly rounded; negative sources give the default NaN with its sign set.
    /// Denormal f32 count as zeros of their sign
    FRsq(Float),
    /// a * 2^b with one rounding; b is an i32
    Ldexp(Float, Flush),
    /// The m of a = m * 2^e with 1/2 <= |m| < 1; zeros and infinities unchanged, NaNs quieted
    FrexpMant(Float),
    /// That e as an i32; 0 for zeros, infinities and NaNs; result W32
    FrexpExp(Float),
    /// The result of a compiler's division sequence (`v_div_scale` to `v_div_fixup`); args (n, d):
    /// n / d correctly rounded; a NaN source quieted, n first; 0/0 and inf/inf give the default NaN
    /// with its sign set. (Denormal f64 results are those of the sequence's steps.)
    Quotient(Float, Flush),
    /// The value of `v_div_scale`; args (s0, denominator, numerator, plain): where plain is true,
    /// the result is s0
    DivScale(Float),
    /// The VCC bit of `v_div_scale`; args (denominator, numerator, plain), result W1: where plain
    /// is true, the result is false
    DivScaled(Float),
    /// `v_div_fmas`; args (a, b, c, bit), the last one W1
    DivFmas(Float, Flush),
    /// `v_div_fixup`; args (quotient, denominator, numerator, plain): where plain is true, neither
    /// source is zero, denormal, infinite or a NaN, and the quotient does not underflow
    DivFixup(Float),
    // ---- functions
    /// A pure function of lanes that has no operation of its own; args W32 (W64 is passed as lo,
    /// hi). The first result is the node itself, others through [`Op::Result`]. The immediate is
    /// passed to the function as `mode`.
    Call(LaneFn, u32),
    /// Result n of a call (args: the call)
    Result(u8),
    // ---- memory. Effects, appended in order. args: address, exec mask (W1), then data words
    /// Load of lanes. First dword is the node, others through [`Op::Result`]. Address: W64 by lane
    /// for Global and Flat; W32 for Lds, Scratch and Buffer, for the last two an offset in the
    /// lane's own scratch or in the buffer. Sub-dword data is extended. Inactive lanes' results are
    /// unspecified. Trailing arguments: Flat takes FLAT_SCRATCH and the LDS limit; Scratch the
    /// address of the wave's scratch (W64); Buffer the descriptor as two W64, SOFFSET, and a
    /// constant: an offset below it is a sum whose carry takes part in the range check (all of the
    /// wave). An access through a descriptor that matches [`SCRATCH_DESCRIPTOR`] is a scratch
    /// access.
    Load(Space, Data, SiteId),
    /// Store of lanes; data words follow, then the trailing arguments of a load.
    Store(Space, Data, SiteId),
    /// Read-modify-write; data words follow; `true`: the old value is used.
    Atomic(Space, Atomic, u8, bool, SiteId),
    /// Load of `n` dwords at a wave address (W64) into wave values: the node and [`Op::Result`]s.
    ScalarLoad(u8, SiteId),
    /// A call with effects; args: as in [`EffectFn::signature`]; an operand of kind `Either` is
    /// passed by its type when the call is emitted; `lanes` lane results (masked by EXEC as an
    /// argument), then `scalars` wave results (W32); the node is result 0.
    Effect {
        /// What is called.
        f: EffectFn,
        /// The guest instruction.
        site: SiteId,
        /// Lane results.
        lanes: u8,
        /// Wave results.
        scalars: u8,
    },
}

impl Op {
    /// A description of a whole-wave operation.
    pub fn in_words(self) -> String {
        let space = |space: Space| format!("{space:?}").to_lowercase();
        match self {
            Op::Load(s, ..) => format!("{} load", space(s)),
            Op::Store(s, ..) => format!("{} store", space(s)),
            Op::Atomic(s, ..) => format!("{} atomic", space(s)),
            Op::ScalarLoad(..) => "scalar load".to_owned(),
            Op::LaneAt => "scalar code reads a lane".to_owned(),
            Op::Call(f, _) => format!("call of {f:?}"),
            Op::Effect { f, .. } => format!("call of {f:?}"),
            op => format!("{op:?}"),
        }
    }

    /// Is it integer arithmetic that occurs in address computations?
    pub(crate) fn is_address_part(self) -> bool {
        matches!(
            self,
            Op::Add
                | Op::Sub
                | Op::Mul
                | Op::And
                | Op::Or
                | Op::Xor
                | Op::Not
                | Op::Shl
                | Op::Lshr
                | Op::Ashr
                | Op::MinU
                | Op::MaxU
                | Op::MinS
                | Op::MaxS
                | Op::Pair
                | Op::Lo
                | Op::Hi
                | Op::Zext
                | Op::Sext
                | Op::SextFrom(_)
                | Op::ByteU(_)
        )
    }
}

/// Index into [`Func::sites`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct SiteId(pub u32);

/// One node.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Node {
    /// Operation.
    pub op: Op,
    /// Arguments.
    pub args: Args,
    /// Type of the result (of the first result).
    pub ty: Type,
}

/// Arguments of a node, inline.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Args {
    len: u8,
    vals: [Val; Args::MAX],
}

impl Args {
    /// Maximum number of arguments of a node.
    pub const MAX: usize = 12;

    /// From a slice.
    pub fn new(vals: &[Val]) -> Args {
        assert!(
            vals.len() <= Args::MAX,
            "bug: node with {} arguments",
            vals.len()
        );
        let mut args = Args {
            len: vals.len() as u8,
            vals: [Val(0); Args::MAX],
        };
        args.vals[..vals.len()].copy_from_slice(vals);
        args
    }
}

impl std::ops::Deref for Args {
    type Target = [Val];

    fn deref(&self) -> &[Val] {
        &self.vals[..usize::from(self.len)]
    }
}

impl fmt::Debug for Args {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

/// A block's terminator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Term {
    /// Unconditional.
    Jump(Target),
    /// On a wave truth value.
    Branch {
        /// W1 wave value.
        cond: Val,
        /// When true.
        then: Target,
        /// When false.
        other: Target,
    },
    /// To a computed guest address (W64 wave value): returns to the dispatcher.
    Indirect(Val),
    /// The wave ends.
    End,
    /// Barrier; the dispatcher resumes the wave behind it.
    Barrier {
        /// Behind the barrier.
        next: Target,
    },
    /// The interpreter must run the instruction at `pc`; control returns to the dispatcher.
    Interpret {
        /// Guest address.
        pc: u64,
    },
    /// The interpreter runs the site's instruction, which does not branch; the region continues.
    Fallback {
        /// The instruction.
        site: SiteId,
        /// Behind it.
        next: Target,
    },
    /// [`EffectFn::ScalarRelative`] moves a scalar register to or from the one that M0 names. All
    /// scalar registers are in the wave then, and the region reads them back. VGPRs are unaffected.
    ScalarMove {
        /// The instruction.
        site: SiteId,
        /// The value moved to the register that M0 names (W32 or W64); `None` when that register is
        /// read.
        value: Option<Val>,
        /// Behind it.
        next: Target,
    },
    /// [`EffectFn::Matrix`] on the vector registers in the wave: it reads and writes all lanes of
    /// them. Scalar registers are unaffected.
    Matrix {
        /// The first instruction.
        site: SiteId,
        /// What is multiplied, in order: at least one and at most [`MAX_CALLS`](matrix::MAX_CALLS).
        calls: Vec<MatrixCall>,
        /// Behind it.
        next: Target,
    },
}

impl Term {
    /// The statically known targets.
    pub fn targets(&self) -> impl Iterator<Item = Target> {
        let targets = match *self {
            Term::Jump(next)
            | Term::Barrier { next }
            | Term::Fallback { next, .. }
            | Term::ScalarMove { next, .. }
            | Term::Matrix { next, .. } => [Some(next), None],
            Term::Branch { then, other, .. } => [Some(then), Some(other)],
            Term::Indirect(_) | Term::End | Term::Interpret { .. } => [None, None],
        };
        targets.into_iter().flatten()
    }

    /// Its matrix instructions.
    pub fn matrix_calls(&self) -> &[MatrixCall] {
        match self {
            Term::Matrix { calls, .. } => calls,
            _ => &[],
        }
    }

    /// The wave value that the terminator uses.
    pub fn value(&self) -> Option<Val> {
        match *self {
            Term::Branch { cond: v, .. } | Term::Indirect(v) => Some(v),
            Term::ScalarMove { value, .. } => value,
            _ => None,
        }
    }
}

/// A branch target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "`pc` is the guest address everywhere")]
pub enum Target {
    /// A block of this region; `back` marks a backward branch, which burns fuel.
    Block {
        /// Index into [`Func::blocks`].
        block: usize,
        /// Backward in guest addresses.
        back: bool,
        /// Guest address, for yields.
        pc: u64,
    },
    /// Outside this region: returns to the dispatcher.
    Exit {
        /// Guest address.
        pc: u64,
        /// A backward branch, which burns fuel.
        back: bool,
    },
}

impl Target {
    /// Guest address.
    pub fn pc(&self) -> u64 {
        match *self {
            Target::Block { pc, .. } | Target::Exit { pc, .. } => pc,
        }
    }

    /// The block, when it is inside the region.
    pub fn block(&self) -> Option<usize> {
        match *self {
            Target::Block { block, .. } => Some(block),
            Target::Exit { .. } => None,
        }
    }
}

/// A straight-line piece of a region.
#[derive(Clone, Debug)]
pub struct Block {
    /// Guest address of its first instruction.
    pub pc: u64,
    /// All values; pure nodes and effects.
    pub nodes: Vec<Node>,
    /// Effects in program order (indices into `nodes`).
    pub effects: Vec<Val>,
    /// EXEC at effects that follow a write to it in this block, in order of the effects; faults
    /// report it.
    pub execs: Vec<(Val, Val)>,
    /// Scalar slots written, with their value at the end.
    pub writes_s: Vec<(Slot, Val)>,
    /// Vector registers written, with their merged value at the end (`Select(ExecMask(e), new, old)`).
    pub writes_v: Vec<(u16, Val)>,
    /// Terminator.
    pub term: Term,
    /// Guest instructions in it.
    pub guest_insts: u32,
    /// EXEC values and how many vector instructions ran under each (for counting).
    pub counts: Vec<(Val, u32)>,
    /// Outcomes to count, in code that counts them.
    pub outcomes: Vec<Counted>,
}

/// An outcome of a condition that is counted where a block ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counted {
    /// Guest address of the instruction.
    pub pc: u64,
    /// What is counted.
    pub outcome: Outcome,
    /// Its bits (W64) are counted: lanes, or the wave as bit 0.
    pub bits: Val,
}

impl Block {
    /// Is it a merge under EXEC whose value outside of EXEC nobody reads?
    pub(crate) fn is_free_merge(&self, node: &Node) -> bool {
        node.op == Op::Select && self.nodes[node.args[2].index()].op == Op::Undef
    }

    /// EXEC at an effect, where it differs from EXEC at block entry.
    pub fn exec_at(&self, effect: Val) -> Option<Val> {
        let found = self.execs.binary_search_by_key(&effect, |&(v, _)| v);
        found.ok().map(|at| self.execs[at].1)
    }

    /// The scalar registers that are read as the low words of pairs.
    pub fn pairs_read(&self) -> impl Iterator<Item = u8> {
        let register = |v: Val| match self.nodes[v.index()].op {
            Op::ReadS(Slot::Sgpr(n)) => Some(n),
            _ => None,
        };
        let pairs = self.nodes.iter().filter(|node| node.op == Op::Pair);
        pairs.filter_map(move |node| {
            let [low, high] = [0, 1].map(|i| register(node.args[i]));
            low.filter(|low| high == Some(low + 1))
        })
    }

    /// The vector registers that it writes.
    pub fn written_vectors(&self) -> impl Iterator<Item = u16> {
        let calls = self.term.matrix_calls().iter();
        self.lane_writes()
            .map(|(n, _)| n)
            .chain(calls.flat_map(MatrixCall::writes))
    }

    /// The vector registers of the guest with the values that they are written with.
    pub fn lane_writes(&self) -> impl Iterator<Item = (u16, Val)> {
        let writes = self.writes_v.iter().copied();
        writes.filter(|&(n, _)| usize::from(n) < VECTOR_REGISTERS)
    }

    /// Number of staging registers that it writes, which are the first ones.
    pub fn staged(&self) -> u32 {
        (self.writes_v.len() - self.lane_writes().count()) as u32
    }

    /// The scalar slots that may have to be stored to the wave before the block is left: those
    /// written, and EXEC where an effect has a different one.
    pub fn written_slots(&self) -> impl Iterator<Item = Slot> {
        let exec = self.execs.first().map(|_| Slot::Exec);
        self.writes_s.iter().map(|&(slot, _)| slot).chain(exec)
    }
}

/// A region: blocks with one entry (block 0). A wave that left at a barrier or a backward branch
/// re-enters there.
#[derive(Clone, Debug)]
pub struct Func {
    /// Guest address of the entry.
    pub entry: u64,
    /// MODE float bits that the code is specialised on.
    pub mode: u32,
    /// Blocks; 0 is the entry.
    pub blocks: Vec<Block>,
    /// Guest instructions referred to by effects.
    pub sites: Vec<crate::abi::Site>,
    /// Names of instructions that fall back to the interpreter.
    pub fallbacks: Vec<&'static str>,
}

impl Func {
    /// A region of one block.
    pub fn of(block: Block, mode: u32, sites: Vec<crate::abi::Site>) -> Func {
        Func {
            entry: block.pc,
            mode,
            blocks: vec![block],
            sites,
            fallbacks: Vec::new(),
        }
    }

    /// A region at the same entry that leaves its first instruction to the interpreter.
    pub(crate) fn interpreted(f: &Func) -> Func {
        let block = Block {
            pc: f.entry,
            nodes: Vec::new(),
            effects: Vec::new(),
            execs: Vec::new(),
            writes_s: Vec::new(),
            writes_v: Vec::new(),
            term: Term::Interpret { pc: f.entry },
            guest_insts: 0,
            counts: Vec::new(),
            outcomes: Vec::new(),
        };
        Func {
            blocks: vec![block],
            ..f.clone()
        }
    }

    /// Guest addresses at which the region is left.
    pub fn exits(&self) -> impl Iterator<Item = u64> {
        let targets = self.blocks.iter().flat_map(|block| block.term.targets());
        targets.filter_map(|target| match target {
            Target::Exit { pc, .. } => Some(pc),
            Target::Block { .. } => None,
        })
    }
}
