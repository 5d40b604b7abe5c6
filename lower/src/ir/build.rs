//! Builds the nodes of one block: hash-consing, constant folding and the few identities that make
//! guest idioms disappear (register pairs, masks through SGPRs, carry chains).

mod bytes;

use std::cell::RefCell;

use crate::ir::{Args, Icmp, LaneFn, Node, Op, Slot, Type, Val, Vary, Width};
use crate::maps::HashMap;

/// Nodes of the block under construction.
#[derive(Default)]
pub struct Build {
    inner: RefCell<Inner>,
}

#[derive(Default)]
struct Inner {
    nodes: Vec<Node>,
    effects: Vec<Val>,
    known: HashMap<Node, Val>,
}

const WAVE1: Type = Type {
    width: Width::W1,
    vary: Vary::Wave,
};
const WAVE32: Type = Type {
    width: Width::W32,
    vary: Vary::Wave,
};
const WAVE64: Type = Type {
    width: Width::W64,
    vary: Vary::Wave,
};

/// Bits of a width as a mask.
fn ones(width: Width) -> u64 {
    match width {
        Width::W1 => 1,
        Width::W32 => 0xffff_ffff,
        Width::W64 => u64::MAX,
    }
}

impl Build {
    /// An empty block.
    pub fn new() -> Build {
        Build::default()
    }

    /// The nodes and the effects in order; empties the builder.
    pub fn finish(&self) -> (Vec<Node>, Vec<Val>) {
        let mut inner = self.inner.borrow_mut();
        inner.known.clear();
        // Preserves the capacity for the next block.
        (inner.nodes.split_off(0), inner.effects.split_off(0))
    }

    /// Number of effects so far.
    pub fn effect_count(&self) -> usize {
        self.inner.borrow().effects.len()
    }

    /// Type of a value.
    pub fn ty(&self, v: Val) -> Type {
        self.inner.borrow().nodes[v.index()].ty
    }

    /// The node of a value.
    pub fn node(&self, v: Val) -> Node {
        self.inner.borrow().nodes[v.index()].clone()
    }

    /// Operation and arguments of a value.
    pub fn parts(&self, v: Val) -> (Op, Args) {
        let inner = self.inner.borrow();
        let node = &inner.nodes[v.index()];
        (node.op, node.args)
    }

    /// The constant that a value is, if any.
    pub fn as_const(&self, v: Val) -> Option<u64> {
        match self.inner.borrow().nodes[v.index()].op {
            Op::Const(c) => Some(c),
            _ => None,
        }
    }

    /// Is the value the same for the whole wave?
    pub fn is_wave(&self, v: Val) -> bool {
        self.ty(v).vary == Vary::Wave
    }

    /// The guest address of a code location.
    pub fn code_address(&self, pc: u64) -> Val {
        self.leaf(Op::CodeAddress(pc), types::W64)
    }

    /// A constant.
    pub fn constant(&self, width: Width, value: u64) -> Val {
        let ty = Type {
            width,
            vary: Vary::Wave,
        };
        self.intern(Node {
            op: Op::Const(value & ones(width)),
            args: Args::new(&[]),
            ty,
        })
    }

    /// A leaf with an explicit type (`LaneId`, `ReadS`, `ReadV`).
    pub fn leaf(&self, op: Op, ty: Type) -> Val {
        self.intern(Node {
            op,
            args: Args::new(&[]),
            ty,
        })
    }

    /// Appends a node with effects; never shared, ordered after the earlier ones.
    pub fn effect(&self, op: Op, args: &[Val], ty: Type) -> Val {
        let mut inner = self.inner.borrow_mut();
        let v = Val(inner.nodes.len() as u32);
        inner.nodes.push(Node {
            op,
            args: Args::new(args),
            ty,
        });
        inner.effects.push(v);
        v
    }

    /// Number of effects so far.
    pub fn effects(&self) -> usize {
        self.inner.borrow().effects.len()
    }

    /// The effects from number `first` on.
    pub fn effects_from(&self, first: usize) -> Vec<Val> {
        self.inner.borrow().effects[first..].to_vec()
    }

    /// Result `n` of a call or load (0 is the node itself).
    pub fn result(&self, call: Val, n: u8, ty: Type) -> Val {
        if n == 0 {
            return call;
        }
        self.intern(Node {
            op: Op::Result(n),
            args: Args::new(&[call]),
            ty,
        })
    }

    /// A pure lane function on 32-bit arguments; see [`LaneFn`].
    pub fn call(&self, f: LaneFn, mode: u32, args: &[Val]) -> Val {
        let ty = Type {
            width: Width::W32,
            vary: Vary::Lane,
        };
        self.intern(Node {
            op: Op::Call(f, mode),
            args: Args::new(args),
            ty,
        })
    }

    /// A pure node; folds, shares, and derives the type from the arguments.
    pub fn pure(&self, op: Op, args: &[Val]) -> Val {
        if let Some(v) = self.fold(op, args) {
            return v;
        }
        let ty = self.result_type(op, args);
        self.intern(Node {
            op,
            args: Args::new(args),
            ty,
        })
    }

    fn intern(&self, node: Node) -> Val {
        let mut inner = self.inner.borrow_mut();
        if let Some(&v) = inner.known.get(&node) {
            return v;
        }
        let v = Val(inner.nodes.len() as u32);
        inner.nodes.push(node.clone());
        inner.known.insert(node, v);
        v
    }

    fn result_type(&self, op: Op, args: &[Val]) -> Type {
        let inner = self.inner.borrow();
        let ty = |v: Val| inner.nodes[v.index()].ty;
        let vary = args.iter().fold(Vary::Wave, |acc, &v| acc.join(ty(v).vary));
        let width = match op {
            Op::Icmp(_) | Op::Fcmp(..) | Op::DivScaled(_) => Width::W1,
            Op::Popcnt | Op::Clz | Op::Ctz | Op::Lo | Op::Hi | Op::BoolToInt => Width::W32,
            Op::CvtToS(_) | Op::CvtToU(_) | Op::FNarrow(_) | Op::FrexpExp(_) => Width::W32,
            Op::CvtFromS(f) | Op::CvtFromU(f) => match f {
                crate::ir::Float::F32 => Width::W32,
                crate::ir::Float::F64 => Width::W64,
            },
            Op::Pair | Op::Zext | Op::Sext | Op::FWiden => Width::W64,
            Op::Select => ty(args[1]).width,
            Op::MaskFromBits | Op::ExecMask => {
                return Type {
                    width: Width::W1,
                    vary: Vary::Lane,
                };
            }
            Op::Ballot => return WAVE64,
            Op::LaneAt => {
                return Type {
                    width: ty(args[0]).width,
                    vary: Vary::Wave,
                };
            }
            _ => ty(args[0]).width,
        };
        Type { width, vary }
    }

    // ---- folding

    fn fold(&self, op: Op, args: &[Val]) -> Option<Val> {
        let c = |i: usize| args.get(i).and_then(|&v| self.as_const(v));
        let width = self.ty(args[0]).width;
        let all = ones(width);
        let bits = if width == Width::W64 { 64 } else { 32 };
        let konst = |value: u64| Some(self.constant(width, value));
        // Constants are the second operand of commutative operations, so that equal values share a
        // node.
        if matches!(
            op,
            Op::Add
                | Op::Mul
                | Op::And
                | Op::Or
                | Op::Xor
                | Op::MinU
                | Op::MaxU
                | Op::MinS
                | Op::MaxS
        ) && c(0).is_some()
            && c(1).is_none()
        {
            return Some(self.pure(op, &[args[1], args[0]]));
        }
        match op {
            Op::Add => match (c(0), c(1)) {
                (Some(a), Some(b)) => konst(a.wrapping_add(b)),
                (_, Some(0)) => Some(args[0]),
                (None, Some(b)) => match self.parts(args[0]) {
                    (Op::Add, inner) if self.as_const(inner[1]).is_some() => {
                        let a = self.as_const(inner[1])?;
                        let sum = self.constant(width, a.wrapping_add(b));
                        Some(self.pure(Op::Add, &[inner[0], sum]))
                    }
                    _ => None,
                },
                _ => None,
            },
            Op::Sub => match (c(0), c(1)) {
                (Some(a), Some(b)) => konst(a.wrapping_sub(b)),
                (_, Some(0)) => Some(args[0]),
                (_, Some(b)) => {
                    let neg = self.constant(width, b.wrapping_neg());
                    Some(self.pure(Op::Add, &[args[0], neg]))
                }
                _ if args[0] == args[1] => konst(0),
                _ => None,
            },
            Op::Mul => match (c(0), c(1)) {
                (Some(a), Some(b)) => konst(a.wrapping_mul(b)),
                (_, Some(0)) => konst(0),
                (_, Some(1)) => Some(args[0]),
                (_, Some(b)) if b.is_power_of_two() => {
                    let n = self.constant(Width::W32, u64::from(b.trailing_zeros()));
                    Some(self.pure(Op::Shl, &[args[0], n]))
                }
                _ => None,
            },
            Op::And => match (c(0), c(1)) {
                (Some(a), Some(b)) => konst(a & b),
                (_, Some(0)) => konst(0),
                (_, Some(b)) if b == all => Some(args[0]),
                _ if args[0] == args[1] => Some(args[0]),
                _ if width == Width::W64 && self.within(args[0], args[1]) => Some(args[0]),
                _ if width == Width::W64 && self.within(args[1], args[0]) => Some(args[1]),
                _ => self.and_absorbs(args[0], args[1]),
            },
            Op::Or => match (c(0), c(1)) {
                (Some(a), Some(b)) => konst(a | b),
                (_, Some(0)) => Some(args[0]),
                (_, Some(b)) if b == all => konst(all),
                _ if args[0] == args[1] => Some(args[0]),
                _ if width == Width::W64 && self.within(args[0], args[1]) => Some(args[1]),
                _ if width == Width::W64 && self.within(args[1], args[0]) => Some(args[0]),
                _ => None,
            },
            Op::Xor => match (c(0), c(1)) {
                (Some(a), Some(b)) => konst(a ^ b),
                (_, Some(0)) => Some(args[0]),
                (_, Some(b)) if b == all => Some(self.pure(Op::Not, &[args[0]])),
                _ if args[0] == args[1] => konst(0),
                _ => None,
            },
            Op::Not => match (c(0), self.parts(args[0])) {
                (Some(a), _) => konst(!a),
                (_, (Op::Not, inner)) => Some(inner[0]),
                _ => None,
            },
            Op::Shl | Op::Lshr | Op::Ashr => {
                let n = c(1)? & (bits - 1);
                if n == 0 {
                    return Some(args[0]);
                }
                // Lshr(Pair(0, x), n) and the like: a high word shifted down is the extended word
                // shifted up.
                if let (Op::Lshr | Op::Ashr, (Op::Pair, inner)) = (op, self.parts(args[0]))
                    && n <= 32
                    && self.as_const(inner[0]) == Some(0)
                {
                    let extend = if op == Op::Lshr { Op::Zext } else { Op::Sext };
                    let wide = self.pure(extend, &[inner[1]]);
                    let up = self.constant(Width::W32, 32 - n);
                    return Some(self.pure(Op::Shl, &[wide, up]));
                }
                let a = c(0)?;
                konst(match (op, width) {
                    (Op::Shl, _) => a << n,
                    (Op::Lshr, _) => a >> n,
                    (_, Width::W64) => ((a as i64) >> n) as u64,
                    _ => ((a as u32 as i32) >> n) as u32 as u64,
                })
            }
            Op::Icmp(cond) => match (c(0), c(1)) {
                (Some(a), Some(b)) => {
                    let signed = |x: u64| match width {
                        Width::W64 => x as i64,
                        _ => i64::from(x as u32 as i32),
                    };
                    let yes = match cond {
                        Icmp::Eq => a == b,
                        Icmp::Ne => a != b,
                        Icmp::Ult => a < b,
                        Icmp::Ule => a <= b,
                        Icmp::Slt => signed(a) < signed(b),
                        Icmp::Sle => signed(a) <= signed(b),
                    };
                    Some(self.constant(Width::W1, u64::from(yes)))
                }
                (_, Some(0)) if cond == Icmp::Ult => Some(self.constant(Width::W1, 0)),
                _ if args[0] == args[1] => {
                    let yes = matches!(cond, Icmp::Eq | Icmp::Ule | Icmp::Sle);
                    Some(self.constant(Width::W1, u64::from(yes)))
                }
                // A zero-extended word is 0 if and only if the word is.
                (Some(0), None) | (None, Some(0))
                    if matches!(cond, Icmp::Ne | Icmp::Eq) && width == Width::W64 =>
                {
                    let at = usize::from(c(0).is_some());
                    let (Op::Zext | Op::Sext, inner) = self.parts(args[at]) else {
                        return None;
                    };
                    let mut words = [self.constant(Width::W32, 0); 2];
                    words[at] = inner[0];
                    Some(self.pure(op, &words))
                }
                // bool != 0, bool == 0
                (None, Some(0)) if matches!(cond, Icmp::Ne | Icmp::Eq) => {
                    match self.parts(args[0]) {
                        (Op::BoolToInt, inner) if cond == Icmp::Ne => Some(inner[0]),
                        (Op::BoolToInt, inner) => Some(self.pure(Op::Not, &[inner[0]])),
                        _ => None,
                    }
                }
                _ => None,
            },
            Op::Pair => self.fold_pair(args[0], args[1]),
            Op::Perm => self.fold_perm(args),
            Op::Lo => match self.parts(args[0]) {
                (Op::Pair | Op::Zext | Op::Sext, inner) => Some(inner[0]),
                (Op::Const(x), _) => Some(self.constant(Width::W32, x)),
                // Canonicalizes the low word of a 64-bit sum to a 32-bit sum.
                (Op::Add | Op::Sub, inner) => {
                    let [a, b] = [0, 1].map(|i| self.pure(Op::Lo, &[inner[i]]));
                    Some(self.pure(self.parts(args[0]).0, &[a, b]))
                }
                (Op::Shl, inner) if self.as_const(inner[1]).is_some_and(|n| n < 32) => {
                    let low = self.pure(Op::Lo, &[inner[0]]);
                    Some(self.pure(Op::Shl, &[low, inner[1]]))
                }
                _ => None,
            },
            Op::Hi => match self.parts(args[0]) {
                (Op::Pair, inner) => Some(inner[1]),
                (Op::Zext, _) => Some(self.constant(Width::W32, 0)),
                (Op::Const(x), _) => Some(self.constant(Width::W32, x >> 32)),
                _ => None,
            },
            Op::Zext => Some(self.constant(Width::W64, c(0)?)),
            Op::Sext => Some(self.constant(Width::W64, c(0)? as u32 as i32 as i64 as u64)),
            Op::BoolToInt => Some(self.constant(Width::W32, c(0)?)),
            Op::SextFrom(n) => {
                let up = 64 - u32::from(n);
                konst(((c(0)? << up) as i64 >> up) as u64)
            }
            Op::Select => match c(0) {
                Some(0) => Some(args[2]),
                Some(_) => Some(args[1]),
                None if args[1] == args[2] => Some(args[1]),
                None => match self.parts(args[2]) {
                    // select(m, new, select(m, _, old)) = select(m, new, old)
                    (Op::Select, inner) if inner[0] == args[0] => {
                        Some(self.pure(Op::Select, &[args[0], args[1], inner[2]]))
                    }
                    _ => None,
                },
            },
            Op::MaskFromBits | Op::ExecMask => match (c(0), self.parts(args[0])) {
                (Some(0), _) => Some(self.constant(Width::W1, 0)),
                (Some(u64::MAX), _) => Some(self.constant(Width::W1, 1)),
                (_, (Op::Ballot, inner)) if op == Op::MaskFromBits => Some(inner[0]),
                _ => None,
            },
            Op::Ballot => match self.parts(args[0]) {
                (Op::Const(0), _) => Some(self.constant(Width::W64, 0)),
                (Op::Const(_), _) => Some(self.constant(Width::W64, u64::MAX)),
                (Op::MaskFromBits | Op::ExecMask, inner) => Some(inner[0]),
                _ => None,
            },
            Op::LaneAt if self.is_wave(args[0]) => Some(args[0]),
            _ => None,
        }
    }

    /// Are all set bits of the wave value `a` (W64) provably set in `b`?
    pub fn within(&self, a: Val, b: Val) -> bool {
        self.is_wave(a) && self.is_wave(b) && self.within_by(a, b, 4)
    }

    fn within_by(&self, a: Val, b: Val, depth: u32) -> bool {
        if a == b {
            return true;
        }
        if depth == 0 {
            return false;
        }
        let less = depth - 1;
        let (op, args) = self.parts(a);
        let inner = match op {
            Op::And => args.iter().any(|&x| self.within_by(x, b, less)),
            Op::Or => args.iter().all(|&x| self.within_by(x, b, less)),
            Op::Ballot => self
                .confined(args[0])
                .into_iter()
                .any(|x| self.within_by(x, b, less)),
            _ => false,
        };
        inner
            || match self.parts(b) {
                (Op::Or, args) => args.iter().any(|&x| self.within_by(a, x, less)),
                _ => false,
            }
    }

    /// EXEC values (W64) that provably contain a lane mask.
    pub fn confined(&self, mask: Val) -> Vec<Val> {
        let mut found = Vec::new();
        let mut work = vec![mask];
        while let Some(v) = work.pop() {
            let (op, args) = self.parts(v);
            match op {
                Op::And if found.len() + work.len() < 8 => work.extend(args.iter()),
                Op::ExecMask | Op::MaskFromBits => found.push(args[0]),
                _ => {}
            }
        }
        found
    }

    /// Does the lane value `v` differ from `old` only by merges under EXEC values within `exec`?
    pub fn merged_under(&self, v: Val, exec: Val, old: Val) -> bool {
        let mut at = v;
        while at != old {
            let (op, args) = self.parts(at);
            if op == Op::Undef {
                // Nobody reads it.
                return true;
            }
            if op != Op::Select {
                return false;
            }
            match self.parts(args[0]) {
                (Op::ExecMask, mask) if self.within(mask[0], exec) => at = args[2],
                _ => return false,
            }
        }
        true
    }

    /// and(m, and(m, x)) and its mirror images are the inner value.
    fn and_absorbs(&self, a: Val, b: Val) -> Option<Val> {
        match (self.parts(a), self.parts(b)) {
            (_, (Op::And, inner)) if inner[0] == a || inner[1] == a => Some(b),
            ((Op::And, inner), _) if inner[0] == b || inner[1] == b => Some(a),
            _ => None,
        }
    }

    /// pair(lo(x), hi(x)) = x, pair(x, 0) = zext(x), and the low half of a carry chain joined with
    /// the high half built by [`Build::add_with_carry`].
    fn fold_pair(&self, lo: Val, hi: Val) -> Option<Val> {
        let (lo_op, _) = self.parts(lo);
        let (hi_op, hi_args) = self.parts(hi);
        match (lo_op, hi_op) {
            (Op::Const(a), Op::Const(b)) => {
                Some(self.constant(Width::W64, (a & 0xffff_ffff) | b << 32))
            }
            (_, Op::Const(0)) => Some(self.pure(Op::Zext, &[lo])),
            // Both words merged under one mask: the pair is merged.
            (Op::Select, Op::Select) => {
                let (_, lo_args) = self.parts(lo);
                let number = (lo_args[0] == hi_args[0])
                    .then(|| self.fold_pair(lo_args[1], hi_args[1]))
                    .flatten()?;
                let old = self.pure(Op::Pair, &[lo_args[2], hi_args[2]]);
                Some(self.pure(Op::Select, &[lo_args[0], number, old]))
            }
            (_, Op::Hi) if self.pure(Op::Lo, &[hi_args[0]]) == lo => Some(hi_args[0]),
            (_, Op::Ashr) => {
                // pair(x, x >> 31) is the sign extension
                (hi_args[0] == lo && self.as_const(hi_args[1]) == Some(31))
                    .then(|| self.pure(Op::Sext, &[lo]))
            }
            _ => None,
        }
    }

    /// The high half of a 64-bit addition whose carry is `carry`: a.hi + b.hi + carry. If `carry`
    /// is the carry out of a 32-bit addition of a.lo and b.lo, the result is the high half of one
    /// 64-bit addition, which later pairs up with the low half again.
    pub fn add_with_carry(&self, a: Val, b: Val, carry: Val) -> Val {
        if let (Op::Icmp(Icmp::Ult), args) = self.parts(carry)
            && self.ty(args[0]).width == Width::W32
            && let (Op::Add, sum) = self.parts(args[0])
            && (args[1] == sum[0] || args[1] == sum[1])
        {
            // Either high word may belong to either low word: pairs the words of one 64-bit value.
            let straight = self.belong(sum[0], a) + self.belong(sum[1], b);
            let crossed = self.belong(sum[0], b) + self.belong(sum[1], a);
            let (a, b) = if crossed > straight { (b, a) } else { (a, b) };
            let wide_a = self.pure(Op::Pair, &[sum[0], a]);
            let wide_b = self.pure(Op::Pair, &[sum[1], b]);
            let wide = self.pure(Op::Add, &[wide_a, wide_b]);
            return self.pure(Op::Hi, &[wide]);
        }
        let sum = self.pure(Op::Add, &[a, b]);
        let one = self.pure(Op::BoolToInt, &[carry]);
        self.pure(Op::Add, &[sum, one])
    }

    /// Score of two words being the low and the high word of one 64-bit value.
    fn belong(&self, low: Val, high: Val) -> u32 {
        let ((l, l_args), (h, h_args)) = (self.parts(low), self.parts(high));
        let one = match (l, h) {
            (Op::ReadV(n), Op::ReadV(m)) => n.checked_add(1) == Some(m),
            (Op::ReadS(Slot::Sgpr(n)), Op::ReadS(Slot::Sgpr(m))) => n.checked_add(1) == Some(m),
            (Op::Lo, Op::Hi) => l_args[0] == h_args[0],
            (Op::Add | Op::Sub | Op::Shl, Op::Hi) => self.parts(h_args[0]).0 == l,
            (Op::Const(_), Op::Const(_)) => true,
            _ => false,
        };
        let alike = self.ty(low).vary == self.ty(high).vary;
        4 * u32::from(one) + u32::from(alike)
    }

    /// The high half of a 64-bit subtraction whose borrow is `borrow`; see [`Build::add_with_carry`].
    pub fn sub_with_borrow(&self, a: Val, b: Val, borrow: Val) -> Val {
        if let (Op::Icmp(Icmp::Ult), args) = self.parts(borrow)
            && self.ty(args[0]).width == Width::W32
        {
            // borrow = a.lo < b.lo
            let wide_a = self.pure(Op::Pair, &[args[0], a]);
            let wide_b = self.pure(Op::Pair, &[args[1], b]);
            let wide = self.pure(Op::Sub, &[wide_a, wide_b]);
            return self.pure(Op::Hi, &[wide]);
        }
        let diff = self.pure(Op::Sub, &[a, b]);
        let one = self.pure(Op::BoolToInt, &[borrow]);
        self.pure(Op::Sub, &[diff, one])
    }
}

/// Types that other files of the lowering name often.
pub mod types {
    use super::{Type, Vary, WAVE1, WAVE32, WAVE64, Width};

    /// A bit of the wave.
    pub const W1: Type = WAVE1;
    /// A 32-bit scalar of the wave.
    pub const W32: Type = WAVE32;
    /// A 64-bit scalar of the wave.
    pub const W64: Type = WAVE64;
    /// 32 bits in each lane.
    pub const L32: Type = Type {
        width: Width::W32,
        vary: Vary::Lane,
    };
}
