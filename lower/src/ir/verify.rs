//! Verifies a region, in linear time. Regions that break a rule are not translated: legalization
//! and the functions of the runtime rely on the rules, above all on which values are uniform and
//! which are in lane slots.

use frontend::op::{Atomic, Data, Space};

use crate::ir::functions::{EffectFn, LaneFn, Takes};
use crate::ir::matrix::{MAX_CALLS, MAX_STAGED, STAGED};
use crate::ir::{
    Block, Float, Func, Halves, MatrixCall, Node, Op, SiteId, Target, Term, Type, Val, Vary, Width,
};

/// The first broken rule.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Broken(String);

/// Result of a check.
type Checked = Result<(), Broken>;

fn broken<T>(what: impl Into<String>) -> Result<T, Broken> {
    Err(Broken(what.into()))
}

/// Checks one rule.
fn rule(holds: bool, what: &str) -> Checked {
    if holds { Ok(()) } else { broken(what) }
}

/// Checks all rules of a region.
pub fn func(f: &Func) -> Checked {
    for (i, b) in f.blocks.iter().enumerate() {
        block(b, f).map_err(|e| Broken(format!("block {i}: {e}")))?;
    }
    rule(!f.blocks.is_empty(), "a region without blocks")
}

fn block(b: &Block, f: &Func) -> Checked {
    let mut effects = b.effects.iter();
    for (i, node) in b.nodes.iter().enumerate() {
        if let Some(arg) = node.args.iter().find(|arg| arg.index() >= i) {
            return broken(format!("%{i} uses %{} before it is defined", arg.0));
        }
        let checked = Checker { b, f, node }.check(&mut effects, i);
        checked.map_err(|e| Broken(format!("%{i} {:?}: {e}", node.op)))?;
    }
    rule(
        effects.next().is_none(),
        "the list of effects is longer than there are effects",
    )?;
    let ty = |v: Val| match b.nodes.get(v.index()) {
        Some(node) => Ok(node.ty),
        None => broken(format!("%{} of {} nodes", v.0, b.nodes.len())),
    };
    let wave64 = |v: Val| Ok(is_wave(ty(v)?, Width::W64));
    for &(slot, v) in &b.writes_s {
        if ty(v)? != slot.ty() {
            return broken(format!("{slot:?} gets %{}", v.0));
        }
    }
    for &(n, v) in &b.writes_v {
        if ty(v)?.width != Width::W32 {
            return broken(format!("v{n} gets %{}", v.0));
        }
    }
    let mut staged = b.writes_v.iter().map(|w| w.0).filter(|&n| n >= STAGED);
    let in_order = (0..b.staged() as u16).all(|k| staged.next() == Some(STAGED + k));
    rule(
        in_order && b.staged() <= MAX_STAGED.into(),
        "staging registers are not written in order",
    )?;
    if b.staged() > 0 {
        rule(
            matches!(b.term, Term::Matrix { .. }),
            "staged without a matrix instruction",
        )?;
    }
    let mut last = None;
    for &(v, exec) in &b.execs {
        rule(last < Some(v), "EXEC of effects out of order")?;
        rule(wave64(exec)?, "EXEC of an effect is no wave value")?;
        ty(v)?;
        last = Some(v);
    }
    for &(exec, _) in &b.counts {
        rule(wave64(exec)?, "counts lanes of what is no wave value")?;
    }
    for counted in &b.outcomes {
        rule(
            wave64(counted.bits)?,
            "counts outcomes of what is no wave value",
        )?;
    }
    for target in b.term.targets() {
        if let Target::Block { block, .. } = target
            && block >= f.blocks.len()
        {
            return broken(format!("jump to block {block} of {}", f.blocks.len()));
        }
    }
    match &b.term {
        Term::Branch { cond, .. } => rule(
            is_wave(ty(*cond)?, Width::W1),
            "branch on something that is not a wave truth value",
        ),
        Term::Indirect(to) => rule(wave64(*to)?, "jump to what is no wave address"),
        Term::Fallback { site, .. } => site_of(f, *site),
        Term::ScalarMove { site, value, .. } => {
            if let Some(value) = *value {
                let ty = ty(value)?;
                let wave = ty.vary == Vary::Wave && ty.width != Width::W1;
                rule(wave, "a scalar register gets a lane value")?;
            }
            site_of(f, *site)
        }
        Term::Matrix { site, calls, .. } => {
            rule(
                (1..=MAX_CALLS).contains(&calls.len()),
                "too many matrix instructions, or none",
            )?;
            rule(
                calls.iter().all(MatrixCall::is_valid),
                "a matrix instruction has no such registers",
            )?;
            let staged = STAGED + b.staged() as u16;
            let mut reads = calls.iter().flat_map(MatrixCall::reads);
            rule(
                reads.all(|n| n < staged),
                "a matrix instruction reads what is not staged",
            )?;
            site_of(f, *site)
        }
        Term::Jump(_) | Term::Barrier { .. } | Term::End | Term::Interpret { .. } => Ok(()),
    }
}

fn is_wave(ty: Type, width: Width) -> bool {
    ty == Type {
        width,
        vary: Vary::Wave,
    }
}

fn is_lanes(ty: Type) -> bool {
    ty.width == Width::W32 && ty.vary == Vary::Lane
}

fn site_of(f: &Func, site: SiteId) -> Checked {
    rule((site.0 as usize) < f.sites.len(), "there is no such site")
}

/// Role of a node.
enum Role {
    /// A value.
    Value,
    /// A pure function with this number of lane results.
    Function(u8),
    /// An effect, ordered; numbers of lane results and, after them, wave results.
    Effect(u8, u8),
}

fn role(op: Op) -> Role {
    match op {
        Op::Call(f, _) => Role::Function(f.shape().1 as u8),
        Op::Load(_, data, _) => Role::Effect(words(data).unwrap_or(0), 0),
        Op::Store(..) => Role::Effect(0, 0),
        Op::Atomic(_, _, dwords, returns_old, _) => {
            Role::Effect(if returns_old { dwords } else { 0 }, 0)
        }
        Op::ScalarLoad(n, _) => Role::Effect(0, n),
        Op::Effect { lanes, scalars, .. } => Role::Effect(lanes, scalars),
        Op::Const(_)
        | Op::CodeAddress(_)
        | Op::Settled(_)
        | Op::Undef
        | Op::LaneId
        | Op::ReadS(_)
        | Op::ReadV(_)
        | Op::Add
        | Op::Sub
        | Op::Mul
        | Op::MulHiU
        | Op::MulHiS
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
        | Op::Popcnt
        | Op::Clz
        | Op::Ctz
        | Op::Brev
        | Op::AlignBit
        | Op::Perm
        | Op::ByteU(_)
        | Op::Halves(_)
        | Op::SextFrom(_)
        | Op::Icmp(_)
        | Op::Pair
        | Op::Lo
        | Op::Hi
        | Op::Zext
        | Op::Sext
        | Op::BoolToInt
        | Op::Select
        | Op::MaskFromBits
        | Op::ExecMask
        | Op::Ballot
        | Op::LaneAt
        | Op::FAdd(..)
        | Op::FSub(..)
        | Op::FMul(..)
        | Op::Fma(..)
        | Op::FDiv(..)
        | Op::FSqrt(..)
        | Op::Fcmp(..)
        | Op::FFloor(_)
        | Op::FCeil(_)
        | Op::FTrunc(_)
        | Op::FNearest(_)
        | Op::FQuiet(_)
        | Op::FFlush(_)
        | Op::CvtFromS(_)
        | Op::CvtFromU(_)
        | Op::CvtToS(_)
        | Op::CvtToU(_)
        | Op::FWiden
        | Op::FNarrow(_)
        | Op::FRsq(_)
        | Op::Ldexp(..)
        | Op::FrexpMant(_)
        | Op::FrexpExp(_)
        | Op::Quotient(..)
        | Op::DivScale(_)
        | Op::DivScaled(_)
        | Op::DivFmas(..)
        | Op::DivFixup(_)
        | Op::Result(_) => Role::Value,
    }
}

/// Words of an element in memory, for the data kinds of memory nodes.
fn words(data: Data) -> Option<u8> {
    match data {
        Data::Dwords(n @ 1..=4) => Some(n),
        Data::U8 | Data::I8 | Data::U16 | Data::I16 => Some(1),
        Data::Dwords(_)
        | Data::D16U8
        | Data::D16I8
        | Data::D16
        | Data::D16HiU8
        | Data::D16HiI8
        | Data::D16Hi
        | Data::D16HiB8
        | Data::Format(_)
        | Data::FormatD16(_)
        | Data::FormatD16Hi => None,
    }
}

/// Number of operands of an atomic.
fn operands(op: Atomic) -> u8 {
    match op {
        Atomic::CmpSwap | Atomic::FCmpSwap | Atomic::Mskor | Atomic::Wrap => 2,
        Atomic::Swap
        | Atomic::Add
        | Atomic::Sub
        | Atomic::Rsub
        | Atomic::MinI
        | Atomic::MinU
        | Atomic::MaxI
        | Atomic::MaxU
        | Atomic::And
        | Atomic::Or
        | Atomic::Xor
        | Atomic::Inc
        | Atomic::Dec
        | Atomic::FMin
        | Atomic::FMax
        | Atomic::PkFAddBf16
        | Atomic::FAdd
        | Atomic::PkFAdd16 => 1,
    }
}

/// Checks one node, whose arguments are defined.
struct Checker<'a> {
    b: &'a Block,
    f: &'a Func,
    node: &'a Node,
}

impl Checker<'_> {
    /// Type of argument `i`.
    fn arg(&self, i: usize) -> Result<Type, Broken> {
        match self.node.args.get(i) {
            Some(v) => Ok(self.b.nodes[v.index()].ty),
            None => broken(format!("has {} arguments", self.node.args.len())),
        }
    }

    fn count(&self, n: usize) -> Checked {
        if self.node.args.len() == n {
            return Ok(());
        }
        broken(format!("has {} arguments", self.node.args.len()))
    }

    /// Arguments of these widths; a result of this width that varies as their join.
    fn pure(&self, args: &[Width], result: Width) -> Checked {
        self.count(args.len())?;
        let mut vary = Vary::Wave;
        for (i, &width) in args.iter().enumerate() {
            let ty = self.arg(i)?;
            rule(ty.width == width, "an argument has another width")?;
            vary = vary.join(ty.vary);
        }
        let ty = Type {
            width: result,
            vary,
        };
        rule(self.node.ty == ty, "the result has another type")
    }

    /// `n` arguments as wide as the result, 32 or 64 bits.
    fn integers(&self, n: usize) -> Checked {
        let width = self.node.ty.width;
        rule(width != Width::W1, "is of a truth value")?;
        self.pure(&[width; 3][..n], width)
    }

    /// As [`Checker::integers`], or truth values.
    fn bits(&self, n: usize) -> Checked {
        let width = self.node.ty.width;
        self.pure(&[width; 3][..n], width)
    }

    /// A leaf of this type.
    fn leaf(&self, ty: Type) -> Checked {
        self.count(0)?;
        rule(self.node.ty == ty, "is of another type")
    }

    fn is_wave(&self, i: usize, width: Width) -> Result<bool, Broken> {
        Ok(is_wave(self.arg(i)?, width))
    }

    fn check(&self, effects: &mut std::slice::Iter<'_, Val>, i: usize) -> Checked {
        use Width::{W1, W32, W64};
        let node = self.node;
        if let Role::Effect(..) = role(node.op) {
            let listed = effects.next().is_some_and(|v| v.index() == i);
            rule(listed, "is not listed among the effects in order")?;
        }
        let wave = |width| Type {
            width,
            vary: Vary::Wave,
        };
        let lanes = Type {
            width: W32,
            vary: Vary::Lane,
        };
        let float = |float: Float| match float {
            Float::F32 => W32,
            Float::F64 => W64,
        };
        match node.op {
            Op::Const(value) => {
                let fits = match node.ty.width {
                    W1 => value <= 1,
                    W32 => value <= u32::MAX.into(),
                    W64 => true,
                };
                rule(fits, "does not fit into its width")?;
                self.leaf(wave(node.ty.width))
            }
            Op::CodeAddress(_) | Op::Settled(_) => self.leaf(wave(W64)),
            Op::Undef => self.leaf(wave(node.ty.width)),
            Op::LaneId | Op::ReadV(_) => self.leaf(lanes),
            Op::ReadS(slot) => self.leaf(slot.ty()),
            Op::Add | Op::Sub | Op::Mul => self.integers(2),
            Op::MinU | Op::MaxU | Op::MinS | Op::MaxS => self.integers(2),
            Op::MulHiU | Op::MulHiS => {
                let wide = node.ty.width == W64 && node.ty.vary != Vary::Wave;
                rule(!wide, "64 bits by lane")?;
                self.integers(2)
            }
            Op::And | Op::Or | Op::Xor => self.bits(2),
            Op::Not => self.bits(1),
            Op::Shl | Op::Lshr | Op::Ashr => {
                let width = node.ty.width;
                rule(width != W1, "is of a truth value")?;
                self.pure(&[width, W32], width)?;
                rule(self.is_wave(1, W32)?, "the amount differs by lane")
            }
            Op::Popcnt | Op::Clz | Op::Ctz => {
                let width = self.arg(0)?.width;
                rule(width != W1, "is of a truth value")?;
                self.pure(&[width], W32)
            }
            Op::Brev => self.integers(1),
            Op::SextFrom(bits) => {
                let most = if node.ty.width == W64 { 64 } else { 32 };
                rule((1..most).contains(&bits), "extends from beyond the width")?;
                self.integers(1)
            }
            Op::AlignBit | Op::Perm => self.pure(&[W32; 3], W32),
            Op::ByteU(n) => {
                rule(n < 4, "there is no such byte")?;
                self.pure(&[W32], W32)
            }
            Op::Halves(op) => match op {
                Halves::Shl(n) | Halves::Lshr(n) | Halves::Ashr(n) => {
                    rule(n < 16, "shifts by more than a half has")?;
                    self.pure(&[W32], W32)
                }
                Halves::Add
                | Halves::Sub
                | Halves::Mul
                | Halves::MinU
                | Halves::MaxU
                | Halves::MinS
                | Halves::MaxS
                | Halves::AddSatU
                | Halves::AddSatS
                | Halves::SubSatU
                | Halves::SubSatS => self.pure(&[W32; 2], W32),
            },
            Op::Icmp(_) => {
                let width = self.arg(0)?.width;
                self.pure(&[width; 2], W1)
            }
            Op::Pair => self.pure(&[W32; 2], W64),
            Op::Lo | Op::Hi => self.pure(&[W64], W32),
            Op::Zext | Op::Sext => self.pure(&[W32], W64),
            Op::BoolToInt => self.pure(&[W1], W32),
            Op::Select => {
                let width = node.ty.width;
                self.pure(&[W1, width, width], width)
            }
            Op::MaskFromBits | Op::ExecMask => {
                self.count(1)?;
                rule(self.is_wave(0, W64)?, "takes 64 bits of the wave")?;
                let mask = Type {
                    width: W1,
                    vary: Vary::Lane,
                };
                rule(node.ty == mask, "the result is a lane mask")
            }
            Op::Ballot => {
                self.count(1)?;
                rule(self.arg(0)?.width == W1, "takes a mask")?;
                rule(is_wave(node.ty, W64), "the result is 64 bits of the wave")
            }
            Op::LaneAt => {
                self.count(2)?;
                rule(self.is_wave(1, W32)?, "takes a lane's number of the wave")?;
                let result = wave(self.arg(0)?.width);
                rule(node.ty == result, "the result is the wave's")
            }
            Op::FAdd(f, _) | Op::FSub(f, _) | Op::FMul(f, _) | Op::FDiv(f, _) => {
                self.pure(&[float(f); 2], float(f))
            }
            Op::Fma(f, _) => self.pure(&[float(f); 3], float(f)),
            Op::FSqrt(f, _)
            | Op::FFloor(f)
            | Op::FCeil(f)
            | Op::FTrunc(f)
            | Op::FNearest(f)
            | Op::FQuiet(f)
            | Op::FFlush(f) => self.pure(&[float(f)], float(f)),
            Op::Fcmp(f, ..) => self.pure(&[float(f); 2], W1),
            Op::CvtFromS(f) | Op::CvtFromU(f) => self.pure(&[W32], float(f)),
            Op::CvtToS(f) | Op::CvtToU(f) => self.pure(&[float(f)], W32),
            Op::FWiden => self.pure(&[W32], W64),
            Op::FNarrow(_) => self.pure(&[W64], W32),
            Op::FRsq(f) => self.pure(&[float(f)], float(f)),
            Op::FrexpMant(f) => self.pure(&[float(f)], float(f)),
            Op::FrexpExp(f) => self.pure(&[float(f)], W32),
            Op::Ldexp(f, _) => self.pure(&[float(f), W32], float(f)),
            Op::Quotient(f, flush) => {
                let other = flush.src || f == Float::F64 && flush.dst;
                rule(!other, "a quotient that is not made")?;
                self.pure(&[float(f); 2], float(f))
            }
            Op::DivFmas(f, flush) => {
                rule(!flush.src, "v_div_fmas does not flush sources")?;
                self.pure(&[float(f), float(f), float(f), W1], float(f))
            }
            Op::DivScale(f) | Op::DivFixup(f) => {
                self.pure(&[float(f), float(f), float(f), W1], float(f))
            }
            Op::DivScaled(f) => self.pure(&[float(f), float(f), W1], W1),
            Op::Call(f, _) => self.call(f),
            Op::Result(n) => self.result(n),
            Op::Load(space, data, site) => {
                let words = self.memory(space, site, words(data))?;
                rule(words == 0, "takes data")?;
                rule(is_lanes(node.ty), "the result is a word by lane")
            }
            Op::Store(space, data, site) => {
                let count = words(data);
                let words = self.memory(space, site, count)?;
                rule(Some(words) == count, "takes other data")
            }
            Op::Atomic(space, op, dwords, _, site) => {
                let offsets = matches!(space, Space::Scratch | Space::Buffer);
                rule(!offsets, "no atomic is of that space")?;
                let width = (1..=2).contains(&dwords).then_some(dwords);
                let words = self.memory(space, site, width)?;
                rule(words == dwords * operands(op), "takes other data")?;
                rule(is_lanes(node.ty), "the result is a word by lane")
            }
            Op::ScalarLoad(n, site) => {
                self.count(1)?;
                site_of(self.f, site)?;
                rule((1..=16).contains(&n), "loads another number of dwords")?;
                rule(self.is_wave(0, W64)?, "takes an address of the wave")?;
                rule(is_wave(node.ty, W32), "the result is a word of the wave")
            }
            Op::Effect {
                f,
                site,
                lanes,
                scalars,
            } => {
                site_of(self.f, site)?;
                self.effect(f, lanes, scalars)
            }
        }
    }

    /// Rules common to loads, stores and atomics: address, mask, 32-bit words, then the wave
    /// arguments of the space. Gives the number of words. `data` is `None` for data kinds that
    /// memory nodes do not have.
    fn memory(&self, space: Space, site: SiteId, data: Option<u8>) -> Result<u8, Broken> {
        site_of(self.f, site)?;
        rule(data.is_some(), "no memory node has such data")?;
        let (address, bounds): (_, &[Width]) = match space {
            Space::Global => (Width::W64, &[]),
            Space::Flat => (Width::W64, &[Width::W64, Width::W32]),
            Space::Lds => (Width::W32, &[]),
            Space::Scratch => (Width::W32, &[Width::W64]),
            Space::Buffer => (
                Width::W32,
                &[Width::W64, Width::W64, Width::W32, Width::W32],
            ),
            Space::Scalar | Space::ScalarBuffer | Space::ScalarScratch | Space::Image => {
                return broken("no memory node is of that space");
            }
        };
        rule(
            self.arg(0)?.width == address,
            "the address has another width",
        )?;
        rule(self.arg(1)?.width == Width::W1, "takes a mask")?;
        let end = self.node.args.len().saturating_sub(bounds.len());
        rule(end >= 2, "takes what its space needs of the wave")?;
        for (i, &width) in bounds.iter().enumerate() {
            let there = self.is_wave(end + i, width)?;
            rule(there, "takes what its space needs of the wave")?;
        }
        for i in 2..end {
            rule(self.arg(i)?.width == Width::W32, "takes words of 32 bits")?;
        }
        Ok((end - 2) as u8)
    }

    fn call(&self, f: LaneFn) -> Checked {
        let (args, _) = f.shape();
        self.count(args)?;
        for i in 0..args {
            rule(self.arg(i)?.width == Width::W32, "takes words of 32 bits")?;
        }
        rule(is_lanes(self.node.ty), "the result is a word by lane")
    }

    /// A call by signature.
    fn effect(&self, f: EffectFn, lanes: u8, words: u8) -> Checked {
        let Some(signature) = f.signature() else {
            return broken("is called by the emitter alone");
        };
        let count = self.node.args.len();
        rule(signature.accepts(count), "takes another number of operands")?;
        for i in 0..count {
            let ty = self.arg(i)?;
            let fits = match signature.takes(i) {
                Some(Takes::Wave32) => is_wave(ty, Width::W32),
                Some(Takes::Wave64) => is_wave(ty, Width::W64),
                Some(Takes::Either) => ty.width == Width::W32,
                None => false,
            };
            if !fits {
                let takes = signature.takes(i);
                return broken(format!("operand {i} is {ty:?}, taken as {takes:?}"));
            }
        }
        let fewer = lanes <= signature.lanes && words <= signature.words;
        rule(fewer, "has no such results")?;
        let result = match lanes {
            0 => is_wave(self.node.ty, Width::W32),
            _ => is_lanes(self.node.ty),
        };
        rule(result, "the result has another type")
    }

    /// A further result of a node.
    fn result(&self, n: u8) -> Checked {
        self.count(1)?;
        let Some(of) = self.node.args.first().map(|v| &self.b.nodes[v.index()]) else {
            return broken("of nothing");
        };
        let (lanes, scalars) = match role(of.op) {
            Role::Value => return broken("of what has one result"),
            Role::Function(lanes) => (lanes, 0),
            Role::Effect(lanes, scalars) => (lanes, scalars),
        };
        rule(
            n > 0 && u32::from(n) < u32::from(lanes) + u32::from(scalars),
            "there is no such result",
        )?;
        let ty = self.node.ty;
        let fits = match n < lanes {
            true => is_lanes(ty),
            false => is_wave(ty, Width::W32),
        };
        rule(fits, "the result has another type")
    }
}

#[cfg(test)]
mod tests;
