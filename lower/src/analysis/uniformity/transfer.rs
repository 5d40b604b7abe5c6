//! Transfer functions: the fact about a result from those about its operands.

use super::{ALIKE, Analysis, Fact, Guard, Registers, SMALL, Set, Step, is_small};
use crate::ir::{Block, Node, Op, Val, Width};
use crate::maps::HashMap;
use frontend::state::LANES;

impl Analysis<'_> {
    pub(super) fn lane_fact(
        &self,
        block: &Block,
        v: Val,
        entry: &Registers,
        values: &[Option<Fact>],
        sets: &HashMap<Val, Set>,
    ) -> Option<Fact> {
        let fact = self.fact_of(block, v, entry, values, sets)?;
        let bits = match block.nodes[v.index()].ty.width {
            Width::W64 => u64::BITS,
            _ => u32::BITS,
        };
        let alike = if fact.alike >= bits {
            ALIKE
        } else {
            fact.alike
        };
        Some(Fact { alike, ..fact })
    }

    /// The same, where [`Fact::alike`] may count bits beyond the value's width.
    fn fact_of(
        &self,
        block: &Block,
        v: Val,
        entry: &Registers,
        values: &[Option<Fact>],
        sets: &HashMap<Val, Set>,
    ) -> Option<Fact> {
        let node = &block.nodes[v.index()];
        let arg = |i: usize| values[node.args[i].index()];
        let constant = |i: usize| entry.constant(block, node.args[i]);
        let mask = if node.ty.width == Width::W64 {
            u64::MAX
        } else {
            0xffff_ffff
        };
        let with = |f: Fact, stride: u64| Fact {
            stride: stride & mask,
            ..f
        };
        let two = |f: &dyn Fn(u64, u64) -> u64| {
            let (x, y) = (arg(0)?, arg(1)?);
            let set = self.meet_sets(x.set, y.set)?;
            let guarded = x.guarded || y.guarded;
            let stepped = x.stepped || y.stepped;
            let whole = x.whole && y.whole;
            let aligned = self.aligned_in(x, whole).min(self.aligned_in(y, whole));
            let stride = f(x.stride, y.stride) & mask;
            // A part that wraps moves the value against its own stride. That shows at the ends only if the sum has a stride
            // of the same sign, and all parts that may wrap do so in one direction.
            let along = |part: Fact, stride_of_part: i64| {
                let same = (stride_of_part < 0) == ((stride as i64) < 0);
                !part.guarded || stride != 0 && same
            };
            let of_second = match node.op {
                Op::Sub => (y.stride as i64).wrapping_neg(),
                _ => y.stride as i64,
            };
            let seen = stepped || along(x, x.stride as i64) && along(y, of_second);
            if !seen {
                return None;
            }
            Some(Fact {
                stride,
                guarded,
                whole,
                alike: x.alike.min(y.alike),
                stepped,
                masked: x.masked || y.masked,
                aligned,
                set,
            })
        };
        match node.op {
            Op::LaneId => Some(Fact {
                stride: 1,
                guarded: false,
                whole: true,
                alike: 0,
                stepped: false,
                masked: false,
                aligned: 64,
                set: Set::All,
            }),
            Op::ReadV(n) => entry.vgpr[usize::from(n)],
            Op::Add => two(&|x, y| x.wrapping_add(y)),
            Op::Sub => two(&|x, y| x.wrapping_sub(y)),
            Op::Mul if constant(1).is_some() => {
                let factor = constant(1).unwrap_or(0);
                arg(0).map(|f| Fact {
                    alike: f.alike + factor.trailing_zeros(),
                    aligned: f.aligned + factor.trailing_zeros(),
                    ..with(f, f.stride.wrapping_mul(factor))
                })
            }
            Op::Shl if constant(1).is_some() => {
                let n = node.ty.width.shift_amount(constant(1)?);
                arg(0).map(|f| Fact {
                    alike: f.alike + n,
                    aligned: f.aligned + n,
                    ..with(f, f.stride << n)
                })
            }
            Op::Lo => arg(0).map(|f| with(f, f.stride)).map(|f| Fact {
                guarded: false,
                ..f
            }),
            Op::Pair => {
                let read = |i: usize| match block.nodes[node.args[i].index()].op {
                    Op::ReadV(n) => Some(n),
                    _ => None,
                };
                if let (Some(n), Some(m)) = (read(0), read(1))
                    && n.checked_add(1) == Some(m)
                    && let Some(&fact) = entry.pair.get(&n)
                {
                    return Some(fact);
                }
                let (lo, hi) = (arg(0)?, arg(1)?);
                if hi.stride != 0 {
                    return None;
                }
                let set = self.meet_sets(lo.set, hi.set)?;
                Some(Fact {
                    stride: sign(lo.stride),
                    guarded: self.may_wrap(lo, 32),
                    whole: lo.whole && hi.whole,
                    alike: match lo.alike {
                        ALIKE => u32::BITS + hi.alike,
                        low => low,
                    },
                    stepped: lo.stepped || hi.stepped,
                    masked: lo.masked || hi.masked,
                    aligned: lo.aligned,
                    set,
                })
            }
            // Uniform among lanes between which the low word does not wrap.
            Op::Hi if arg(0)?.stride != 0 => {
                let f = arg(0)?;
                is_small(f.stride as i64).then_some(Fact {
                    stride: 0,
                    guarded: false,
                    stepped: true,
                    alike: f.alike.saturating_sub(u32::BITS),
                    aligned: 0,
                    ..f
                })
            }
            Op::Zext | Op::Sext => {
                let f = arg(0)?;
                let bits = if node.op == Op::Sext { 31 } else { 32 };
                Some(Fact {
                    stride: sign(f.stride),
                    guarded: self.may_wrap(f, bits),
                    ..f
                })
            }
            // The merge under EXEC: on those lanes it is the new value.
            Op::Select if block.nodes[node.args[0].index()].op == Op::ExecMask => {
                let exec = *sets.get(&block.nodes[node.args[0].index()].args[0])?;
                let new = arg(1)?;
                Some(Fact {
                    set: self.meet_sets(new.set, exec)?,
                    ..new
                })
            }
            Op::ReadS(_)
            | Op::Call(..)
            | Op::Result(_)
            | Op::Effect { .. }
            | Op::Load(..)
            | Op::Atomic(..)
            | Op::MaskFromBits
            | Op::ExecMask => None,
            Op::And | Op::Or | Op::Xor if self.varies(arg(0)?, arg(1)?) => {
                let bits = if arg(0)?.stride != 0 { 1 } else { 0 };
                let (x, other) = (arg(1 - bits)?, arg(bits)?);
                let known = self.bitwise(node.op, x, other, constant(bits));
                known.or_else(|| match node.op {
                    Op::And => self.under_mask(x, other, constant(bits)),
                    _ => None,
                })
            }
            Op::Lshr if arg(0)?.stride != 0 => {
                let f = arg(0)?;
                let n = node.ty.width.shift_amount(constant(1)?);
                let reach = self.reach(f)?;
                let alike = match f.alike {
                    ALIKE => ALIKE,
                    low => low.saturating_sub(n),
                };
                if f.guarded || reach > f.aligned {
                    None
                } else if reach <= n {
                    Some(Fact {
                        stride: 0,
                        alike,
                        aligned: 0,
                        ..f
                    })
                } else {
                    (f.stride.trailing_zeros() >= n && f.aligned >= n).then(|| Fact {
                        stride: f.stride >> n,
                        alike,
                        aligned: f.aligned - n,
                        ..f
                    })
                }
            }
            // No lane reaches the bound if the ends do not.
            Op::MinS | Op::MaxS | Op::MinU | Op::MaxU
                if node.ty.width == Width::W32 && self.varies(arg(0)?, arg(1)?) =>
            {
                let (x, y) = (arg(0)?, arg(1)?);
                let f = if x.stride != 0 { x } else { y };
                (f.stride < SMALL).then_some(Fact {
                    set: self.meet_sets(x.set, y.set)?,
                    whole: x.whole && y.whole,
                    alike: all_alike([x, y]),
                    stepped: true,
                    masked: x.masked || y.masked,
                    aligned: 0,
                    ..f
                })
            }
            Op::SextFrom(n) if arg(0)?.stride != 0 => {
                let f = arg(0)?;
                let reach = self.reach(f)?;
                let alike = if f.alike >= u32::from(n) {
                    ALIKE
                } else {
                    f.alike
                };
                (!f.guarded && reach <= f.aligned && reach < u32::from(n))
                    .then_some(Fact { alike, ..f })
            }
            // Any function of uniform values is uniform on the lanes where they all are.
            _ => {
                let mut set = Set::All;
                let (mut whole, mut alike) = (true, ALIKE);
                let (mut stepped, mut masked) = (false, false);
                for i in 0..node.args.len() {
                    let f = arg(i)?;
                    if f.stride != 0 || f.guarded {
                        return None;
                    }
                    set = self.meet_sets(set, f.set)?;
                    whole &= f.whole;
                    alike = alike.min(all_alike([f]));
                    stepped |= f.stepped;
                    masked |= f.masked;
                }
                Some(Fact {
                    stride: 0,
                    guarded: false,
                    whole,
                    alike,
                    stepped,
                    masked,
                    aligned: 0,
                    set,
                })
            }
        }
    }

    /// Number of bits that the lanes' differences span: stride times lane is below 2 to that.
    pub(super) fn reach(&self, f: Fact) -> Option<u32> {
        let lanes = if f.whole { LANES } else { self.row } as u64;
        (f.stride < SMALL).then(|| u64::BITS - (f.stride * (lanes - 1)).leading_zeros())
    }

    /// May a word of this width wrap between the lanes? Not where they differ only in bits that are
    /// 0 in lane 0, of the wave or of each row.
    pub(super) fn may_wrap(&self, f: Fact, bits: u32) -> bool {
        let within = |reach: u32| reach <= f.aligned && reach <= bits;
        f.stride != 0 && !self.reach(f).is_some_and(within)
    }

    /// Trailing zero bits of lane 0's value, of the wave or of each row.
    pub(super) fn aligned_in(&self, f: Fact, whole: bool) -> u32 {
        if f.stride == 0 || f.whole == whole {
            return f.aligned;
        }
        let rows = f.stride.trailing_zeros() + self.row.ilog2();
        f.aligned.min(rows)
    }

    /// Does one of two values differ by lane and the other not?
    pub(super) fn varies(&self, x: Fact, y: Fact) -> bool {
        (x.stride == 0) != (y.stride == 0)
    }

    /// `x`, which differs by lane, combined with the bits of a uniform value, which may be a
    /// constant. Where the lanes differ only in low bits that are otherwise 0, these may be kept,
    /// cleared or combined independently of the rest.
    pub(super) fn bitwise(
        &self,
        op: Op,
        x: Fact,
        other: Fact,
        constant: Option<u64>,
    ) -> Option<Fact> {
        let set = self.meet_sets(x.set, other.set)?;
        let whole = x.whole && other.whole;
        let f = Fact {
            whole,
            alike: x.alike.min(other.alike),
            aligned: self.aligned_in(x, whole),
            set,
            stepped: x.stepped || other.stepped,
            masked: x.masked || other.masked,
            ..x
        };
        let reach = self.reach(f)?;
        if f.guarded || other.guarded || reach > f.aligned || reach >= u64::BITS {
            return None;
        }
        let low = (1u64 << reach) - 1;
        let alike = match (op, constant) {
            (Op::And, Some(c)) if f.alike < ALIKE && c >> f.alike == 0 => ALIKE,
            _ => f.alike,
        };
        let f = Fact { alike, ..f };
        match (op, constant) {
            (Op::And, Some(c)) if c & low == low => Some(Fact {
                aligned: f.aligned.max((c & !low).trailing_zeros()),
                ..f
            }),
            (Op::And, Some(c)) if c & low == 0 => Some(Fact {
                stride: 0,
                aligned: f.aligned.max(c.trailing_zeros()),
                ..f
            }),
            (Op::Or | Op::Xor, _) if other.aligned >= reach => Some(Fact {
                aligned: f.aligned.min(other.aligned),
                ..f
            }),
            _ => None,
        }
    }

    /// `x`, which differs by lane, under a uniform mask, which may be a constant. It stays affine
    /// where the mask keeps all bits in which lanes differ, which [`Step::Mask`] checks.
    fn under_mask(&self, x: Fact, mask: Fact, constant: Option<u64>) -> Option<Fact> {
        let low = (1u64 << self.reach(x)?) - 1;
        let may_keep = mask.aligned == 0 && constant.is_none_or(|c| c & low == low);
        (may_keep && x.whole && mask.whole).then_some(Fact {
            guarded: x.guarded || mask.guarded,
            alike: x.alike.min(mask.alike),
            stepped: true,
            masked: true,
            set: self.meet_sets(x.set, mask.set)?,
            ..x
        })
    }
}

/// [`Fact::alike`] of any function of values.
fn all_alike<const N: usize>(values: [Fact; N]) -> u32 {
    match values.iter().all(|f| f.alike == ALIKE) {
        true => ALIKE,
        false => 0,
    }
}

/// The 64-bit value of which `lo` and `hi` are provably the words.
pub(crate) fn pair_of(block: &Block, lo: Val, hi: Val) -> Option<Val> {
    let hi = &block.nodes[hi.index()];
    if hi.op != Op::Hi {
        return None;
    }
    low_is(block, hi.args[0], lo).then_some(hi.args[0])
}

/// Is `low` the low word of `wide`, in the builder's canonical forms?
pub(super) fn low_is(block: &Block, wide: Val, low: Val) -> bool {
    let node = &block.nodes[wide.index()];
    let l = &block.nodes[low.index()];
    match node.op {
        Op::Pair | Op::Zext | Op::Sext => node.args[0] == low,
        Op::Const(c) => matches!(l.op, Op::Const(l) if l == c & 0xffff_ffff),
        Op::Add | Op::Sub => {
            let lows = |n: usize, m: usize| {
                low_is(block, node.args[0], l.args[n]) && low_is(block, node.args[1], l.args[m])
            };
            let zero = |i: usize| match block.nodes[node.args[i].index()].op {
                Op::Const(c) => c & 0xffff_ffff == 0,
                _ => false,
            };
            l.op == node.op && (lows(0, 1) || node.op == Op::Add && lows(1, 0))
                || zero(1) && low_is(block, node.args[0], low)
        }
        Op::Shl if l.op == Op::Shl => {
            // The amount counts modulo the width, so that of a word may be another one.
            let amount = block.nodes[node.args[1].index()].op;
            let same = l.args[1] == node.args[1] && matches!(amount, Op::Const(n) if n < 32);
            same && low_is(block, node.args[0], l.args[0])
        }
        _ => l.op == Op::Lo && l.args[0] == wide,
    }
}

/// A 32-bit stride as a 64-bit one.
pub(super) fn sign(stride: u64) -> u64 {
    stride as u32 as i32 as i64 as u64
}

/// The runtime check of a value with this fact, required where another fact assumes that no word
/// wraps.
pub(super) fn step_of(
    node: &crate::ir::Node,
    fact: Option<Fact>,
    values: &[Option<Fact>],
) -> Option<Step> {
    let fact = fact?;
    match node.op {
        Op::Zext | Op::Sext | Op::Pair => {
            (fact.stride != 0).then_some(Step::Stride(fact.stride as i64))
        }
        Op::Hi => (values[node.args[0].index()]?.stride != 0).then_some(Step::Equal),
        Op::MinS | Op::MaxS => (fact.stride != 0).then_some(Step::Clamp(fact.stride as i64, true)),
        Op::MinU | Op::MaxU => (fact.stride != 0).then_some(Step::Clamp(fact.stride as i64, false)),
        Op::And if fact.masked && fact.stride != 0 => {
            let line = node
                .args
                .iter()
                .position(|a| values[a.index()].is_some_and(|f| f.stride != 0));
            line.map(Step::Mask)
        }
        _ => None,
    }
}

/// The condition for a widened value to be affine, if any; see [`super::Facts::guard`].
pub(super) fn guard_of(
    block: &Block,
    node: &Node,
    fact: Option<Fact>,
    values: &[Option<Fact>],
) -> Option<Option<Guard>> {
    if !matches!(node.op, Op::Zext | Op::Sext | Op::Pair) || !fact?.guarded {
        return None;
    }
    let read = |v: Val| matches!(block.nodes[v.index()].op, Op::ReadV(_));
    let word = values[node.args[0].index()];
    Some(match (node.op, word) {
        // The pair may have a fact.
        (Op::Pair, _) if node.args.iter().all(|&half| read(half)) => None,
        (_, None) => None,
        (op, Some(word)) => Some(Guard {
            stride: sign(word.stride) as i64,
            signed: op == Op::Sext,
        }),
    })
}

/// Trailing bits of a wave value that are provably 0.
pub(super) fn zeros(block: &Block, v: Val, depth: u32) -> u32 {
    let node = &block.nodes[v.index()];
    if depth == 8 {
        return 0;
    }
    let of = |i: usize| zeros(block, node.args[i], depth + 1);
    let constant = |i: usize| match block.nodes[node.args[i].index()].op {
        Op::Const(c) => Some(c),
        _ => None,
    };
    match node.op {
        Op::Const(c) => c.trailing_zeros(),
        Op::Add | Op::Sub | Op::Or | Op::Xor => of(0).min(of(1)),
        Op::And => of(0).max(of(1)),
        Op::Mul => of(0) + of(1),
        Op::Shl => match constant(1) {
            Some(n) if n < 32 => of(0) + n as u32,
            _ => of(0),
        },
        Op::Lo | Op::Zext | Op::Sext => of(0),
        Op::Pair => of(0).min(32),
        _ => 0,
    }
}
