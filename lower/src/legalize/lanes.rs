//! Lane values inside a segment: a group of lanes is `slices` host vectors of four lanes, or of
//! eight or 16 for the wide back end. A W32 value is one vector of dwords per slice, a mask one of
//! all ones or zeros. A W64 value is two vectors of quads, in the order in which dwords unpack: of
//! four lanes 0, 1 and 2, 3, of eight 0, 1, 4, 5 and 2, 3, 6, 7, and so on.

mod bytes;
mod elementary;
mod exponents;
mod float;
mod functions;
mod halves;
mod integer;
mod interleave;
mod quads;
mod roots;
mod shape;

pub(crate) use self::bytes::Selectors;
use super::value_numbering::ValueNumbering;
use crate::ir::{Float, Width};
use crate::vir::patterns;
use crate::vir::{Builder, IntCC, Op as VirOp, Type, Value, types};

/// Emits lane operations slice by slice.
pub(crate) struct Lanes<'a, 'f> {
    /// Where instructions go.
    pub(crate) b: &'a mut Builder<'f>,
    /// NaN results are bit-exact.
    pub(crate) exact_nan: bool,
    /// Host vectors in a group.
    pub(crate) slices: usize,
    /// Lanes in a host vector: 4, or 8 or 16 for the wide back end.
    pub(crate) per: usize,
    /// The host has mask registers.
    pub(crate) masks: bool,
    /// For the baseline tier.
    pub(crate) baseline: bool,
    /// Values available for reuse.
    pub(crate) numbering: &'a mut ValueNumbering,
}

/// Low dwords of two I64X2 as one I32X4, as byte numbers of the concatenation.
pub(crate) const EVEN: [u8; 16] = [0, 1, 2, 3, 8, 9, 10, 11, 16, 17, 18, 19, 24, 25, 26, 27];
/// High dwords of two I64X2.
pub(crate) const ODD: [u8; 16] = [4, 5, 6, 7, 12, 13, 14, 15, 20, 21, 22, 23, 28, 29, 30, 31];
/// Interleaves the low two dwords of two I32X4.
pub(crate) const UNPACK_LOW: [u8; 16] = [0, 1, 2, 3, 16, 17, 18, 19, 4, 5, 6, 7, 20, 21, 22, 23];
/// Interleaves the high two dwords.
pub(crate) const UNPACK_HIGH: [u8; 16] =
    [8, 9, 10, 11, 24, 25, 26, 27, 12, 13, 14, 15, 28, 29, 30, 31];
/// The high two dwords moved to the low half.
const HIGH_HALF: [u8; 16] = [8, 9, 10, 11, 12, 13, 14, 15, 8, 9, 10, 11, 12, 13, 14, 15];
/// The low halves of two vectors.
const LOW_HALVES: [u8; 16] = [0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23];

/// A vector of dwords.
pub(crate) fn dwords_type(per: usize) -> Type {
    match per {
        16 => types::I32X16,
        8 => types::I32X8,
        _ => types::I32X4,
    }
}

/// A vector of quads.
fn quads_type(per: usize) -> Type {
    match per {
        16 => types::I64X8,
        8 => types::I64X4,
        _ => types::I64X2,
    }
}

impl Lanes<'_, '_> {
    // ---- small change

    fn dwords_type(&self) -> Type {
        dwords_type(self.per)
    }

    fn quads_type(&self) -> Type {
        quads_type(self.per)
    }

    fn vector(&self, float: Float) -> Type {
        match (float, self.per) {
            (Float::F32, 16) => types::F32X16,
            (Float::F64, 16) => types::F64X8,
            (Float::F32, 8) => types::F32X8,
            (Float::F32, _) => types::F32X4,
            (Float::F64, 8) => types::F64X4,
            (Float::F64, _) => types::F64X2,
        }
    }

    fn bits_type(&self, float: Float) -> Type {
        match float {
            Float::F32 => self.dwords_type(),
            Float::F64 => self.quads_type(),
        }
    }

    /// Shuffles bytes of two vectors, within each 128 bits.
    pub(crate) fn shuffle(&mut self, ty: Type, a: Value, b: Value, mask: [u8; 16]) -> Value {
        if let Some(before) = self.sorted_back(a, b, &mask) {
            return self.b.bitcast(ty, before);
        }
        let mask = self.b.func.constant(&mask);
        self.b.shuffle(ty, a, b, mask)
    }

    /// The quads that were split into these low and high dwords, where a shuffle recombines them.
    fn sorted_back(&self, low: Value, high: Value, mask: &[u8; 16]) -> Option<Value> {
        let source = match *mask {
            UNPACK_LOW => 0,
            UNPACK_HIGH => 1,
            _ => return None,
        };
        let (low, high) = (self.shuffled(low)?, self.shuffled(high)?);
        (low.0 == high.0 && low.1 == EVEN && high.1 == ODD).then_some(low.0[source])
    }

    /// The sources and the pattern of the shuffle that defines a value.
    fn shuffled(&self, v: Value) -> Option<([Value; 2], &[u8])> {
        let (op, args) = self.made_by(v)?;
        match (op, args) {
            (VirOp::Shuffle(pattern), &[a, b]) => {
                let plain = [a, b].map(|arg| self.uncast(arg));
                Some((plain, self.b.func.bytes(pattern)))
            }
            _ => None,
        }
    }

    /// A vector without casts.
    fn uncast(&self, v: Value) -> Value {
        patterns::uncast(self.b.func, v)
    }

    /// The operation that defines a vector, regardless of casts, with its sources.
    fn made_by(&self, v: Value) -> Option<(VirOp, &[Value])> {
        self.b.func.made_by(self.uncast(v))
    }

    /// A vector constant: dword n is `word(n)`.
    pub(crate) fn dwords_by(&mut self, word: impl Fn(usize) -> u32) -> Value {
        let bytes: Vec<u8> = (0..self.per).flat_map(|n| word(n).to_le_bytes()).collect();
        let ty = self.dwords_type();
        self.numbering.whole(self.b, ty, &bytes)
    }

    /// A dword in every lane.
    fn dwords(&mut self, word: u32) -> Value {
        self.numbering
            .vector(self.b, self.dwords_type(), word.into())
    }

    /// A vector constant: quad n is `quad(n)`.
    pub(crate) fn quads_by(&mut self, quad: impl Fn(usize) -> u64) -> Value {
        let bytes = (0..self.per / 2).flat_map(|n| quad(n).to_le_bytes());
        let bytes: Vec<u8> = bytes.collect();
        let ty = self.quads_type();
        self.numbering.whole(self.b, ty, &bytes)
    }

    fn quads(&mut self, word: u64) -> Value {
        self.numbering.vector(self.b, self.quads_type(), word)
    }

    /// Joins vectors of this number of lanes to host vectors.
    pub(crate) fn join_parts(&mut self, lanes: usize, mut parts: Vec<Value>) -> Vec<Value> {
        let mut lanes = lanes;
        while lanes < self.per {
            lanes *= 2;
            let ty = dwords_type(lanes);
            let pairs = parts.chunks_exact(2);
            parts = pairs.map(|pair| self.b.op(VirOp::Join, pair, ty)).collect();
        }
        parts
    }

    /// The lane of quad n in the first or second vector of a slice.
    pub(crate) fn lane_of_quad(&self, second: bool, n: usize) -> usize {
        let n = if self.per > 4 {
            n & 1 | (n & !1) << 1
        } else {
            n
        };
        n + if second { 2 } else { 0 }
    }

    /// Broadcasts a wave value to the group.
    pub(crate) fn splat(&mut self, width: Width, v: Value) -> Vec<Value> {
        match width {
            Width::W32 => {
                let ty = self.dwords_type();
                let s = self.b.splat(ty, v);
                vec![s; self.slices]
            }
            Width::W64 => {
                let ty = self.quads_type();
                let s = self.b.splat(ty, v);
                vec![s; self.slices * 2]
            }
            Width::W1 => {
                let wide = self.b.uextend(types::I32, v);
                let all = self.b.ineg(wide);
                let ty = self.dwords_type();
                let mask = if self.masks {
                    self.b.op(VirOp::MaskOfBits, &[all], ty.truth())
                } else {
                    let all = self.b.splat(ty, all);
                    self.b.op(VirOp::VectorToMask, &[all], ty.truth())
                };
                vec![mask; self.slices]
            }
        }
    }

    /// Broadcasts a constant to the group.
    pub(crate) fn const_lanes(&mut self, width: Width, value: u64) -> Vec<Value> {
        if width == Width::W64 {
            let v = self.quads(value);
            vec![v; self.slices * 2]
        } else {
            let v = self.dwords(value as u32);
            vec![v; self.slices]
        }
    }

    /// All lanes true.
    pub(crate) fn all_true(&mut self) -> Vec<Value> {
        let ty = self.dwords_type().truth();
        let ones = self.numbering.vector(self.b, ty, u32::MAX.into());
        vec![ones; self.slices]
    }

    /// The lane numbers of the group whose first lane is `first` (I32).
    pub(crate) fn lane_ids(&mut self, first: Value) -> Vec<Value> {
        let ty = self.dwords_type();
        let base = self.b.splat(ty, first);
        let per = self.per;
        (0..self.slices)
            .map(|j| {
                let ids = self.dwords_by(|n| (per * j + n) as u32);
                self.b.iadd(base, ids)
            })
            .collect()
    }

    /// Mask bits (I64, bit 0 is the group's first lane) as masks.
    pub(crate) fn expand_mask(&mut self, bits: Value) -> Vec<Value> {
        let ty = self.dwords_type();
        let bits = match self.slices * self.per {
            33.. => bits,
            _ => self.b.ireduce(types::I32, bits),
        };
        if self.masks {
            return (0..self.slices)
                .map(|j| {
                    let here = match j * self.per {
                        0 => bits,
                        first => self.b.ushr_imm(bits, first as i64),
                    };
                    self.b.op(VirOp::MaskOfBits, &[here], ty.truth())
                })
                .collect();
        }
        let all = self.b.splat(ty, bits);
        let per = self.per;
        (0..self.slices)
            .map(|j| {
                let select = self.dwords_by(|n| 1 << (per * j + n));
                let hit = self.b.band(all, select);
                self.b.icmp(IntCC::Equal, hit, select)
            })
            .collect()
    }

    /// Masks as bits (I64), first lane lowest.
    pub(crate) fn collect_mask(&mut self, mask: &[Value]) -> Value {
        let mut bits = None;
        for (j, &m) in mask.iter().enumerate() {
            let mut here = self.b.vhigh_bits(types::I32, m);
            if self.slices * self.per > 32 {
                here = self.b.uextend(types::I64, here);
            }
            let placed = match j {
                0 => here,
                _ => self.b.ishl_imm(here, (self.per * j) as i64),
            };
            bits = Some(match bits {
                None => placed,
                Some(acc) => self.b.bor(acc, placed),
            });
        }
        let bits = bits.expect("a group has at least one slice");
        match self.b.func.ty(bits) {
            types::I64 => bits,
            _ => self.b.uextend(types::I64, bits),
        }
    }

    /// A mask for W64 lanes: two vectors for each slice.
    fn widen_mask(&mut self, mask: &[Value]) -> Vec<Value> {
        let mut wide = Vec::with_capacity(mask.len() * 2);
        for &m in mask {
            wide.push(self.shuffle(self.quads_type(), m, m, UNPACK_LOW));
            wide.push(self.shuffle(self.quads_type(), m, m, UNPACK_HIGH));
        }
        wide
    }

    /// The two masks per slice of a W64 comparison as one.
    fn narrow_mask(&mut self, wide: &[Value]) -> Vec<Value> {
        wide.chunks_exact(2)
            .map(|m| self.shuffle(self.dwords_type(), m[0], m[1], EVEN))
            .collect()
    }

    fn map1(&mut self, a: &[Value], mut f: impl FnMut(&mut Self, Value) -> Value) -> Vec<Value> {
        a.iter().map(|&x| f(self, x)).collect()
    }

    fn map2(
        &mut self,
        a: &[Value],
        b: &[Value],
        f: impl Fn(&mut Self, Value, Value) -> Value,
    ) -> Vec<Value> {
        a.iter().zip(b).map(|(&x, &y)| f(self, x, y)).collect()
    }

    /// mask ? a : b on vectors of one type.
    fn blend(&mut self, mask: Value, a: Value, b: Value) -> Value {
        let ty = self.b.func.ty(a);
        let b = self.b.bitcast(ty, b);
        let mask = self.b.bitcast(ty, mask);
        if ty.is_float() || ty.lane_type().is_float() {
            // The pattern that `min` and `max` recognize.
            return self.b.bitselect(mask, a, b);
        }
        self.b.blendv(mask, a, b)
    }

    /// Is a mask true for some lane? (I32.)
    pub(crate) fn any(&mut self, mask: &[Value]) -> Value {
        let mut any = mask[0];
        for &m in &mask[1..] {
            any = self.b.bor(any, m);
        }
        self.b.vhigh_bits(types::I32, any)
    }

    /// `x`, with `change` applied out of line if a lane of the mask `any` is true, which is rare.
    pub(crate) fn where_any(
        &mut self,
        any: Value,
        x: &[Value],
        change: impl FnOnce(&mut Self) -> Vec<Value>,
    ) -> Vec<Value> {
        let (some, behind) = (self.b.create_block(), self.b.create_block());
        let ty = self.b.func.ty(x[0]);
        for _ in x {
            self.b.append_block_param(behind, ty);
        }
        self.b.set_cold_block(some);
        self.b.brif(any, some, &[], behind, x);
        self.b.switch_to_block(some);
        let changed = change(self).into_iter();
        let changed: Vec<Value> = changed.map(|v| self.b.bitcast(ty, v)).collect();
        self.b.jump(behind, &changed);
        self.b.switch_to_block(behind);
        self.b.block_params(behind).to_vec()
    }

    /// `select` of W32 or W64 lanes.
    pub(crate) fn select(
        &mut self,
        width: Width,
        mask: &[Value],
        a: &[Value],
        b: &[Value],
    ) -> Vec<Value> {
        let wide;
        let mask = if width == Width::W64 {
            wide = self.widen_mask(mask);
            &wide
        } else {
            mask
        };
        (0..a.len())
            .map(|i| self.blend(mask[i], a[i], b[i]))
            .collect()
    }
}
