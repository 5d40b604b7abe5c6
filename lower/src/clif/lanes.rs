//! Lane values inside a segment: a group of lanes is `slices` host vectors of four lanes. A W32 value
//! is one I32X4 a slice, a W64 value two I64X2, a mask one I32X4 of all ones or zeros.

use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::{ConstantData, InstBuilder, Type as Clif, Value, types};
use cranelift_frontend::FunctionBuilder;

use super::flags;
use super::scalar::{Scalars, clif_type, float_cc, int_cc, layout};
use crate::ir::{Float, Flush, Icmp, Op, Width};

/// Emits lane operations slice by slice.
pub(crate) struct Lanes<'a, 'f> {
    /// Where instructions go.
    pub(crate) b: &'a mut FunctionBuilder<'f>,
    /// NaN results follow the guest's rule bit for bit.
    pub(crate) exact_nan: bool,
    /// Host vectors in a group.
    pub(crate) slices: usize,
}

/// Low dwords of two I64X2 as one I32X4, as byte numbers of the concatenation.
const EVEN: [u8; 16] = [0, 1, 2, 3, 8, 9, 10, 11, 16, 17, 18, 19, 24, 25, 26, 27];
/// High dwords of two I64X2.
const ODD: [u8; 16] = [4, 5, 6, 7, 12, 13, 14, 15, 20, 21, 22, 23, 28, 29, 30, 31];
/// Interleaves the low two dwords of two I32X4.
const UNPACK_LOW: [u8; 16] = [0, 1, 2, 3, 16, 17, 18, 19, 4, 5, 6, 7, 20, 21, 22, 23];
/// Interleaves the high two dwords.
const UNPACK_HIGH: [u8; 16] = [8, 9, 10, 11, 24, 25, 26, 27, 12, 13, 14, 15, 28, 29, 30, 31];
/// The high two dwords moved to the low half.
const HIGH_HALF: [u8; 16] = [8, 9, 10, 11, 12, 13, 14, 15, 8, 9, 10, 11, 12, 13, 14, 15];
/// The low halves of two vectors.
const LOW_HALVES: [u8; 16] = [0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23];

fn vector(float: Float) -> Clif {
    match float {
        Float::F32 => types::F32X4,
        Float::F64 => types::F64X2,
    }
}

fn bits_type(float: Float) -> Clif {
    match float {
        Float::F32 => types::I32X4,
        Float::F64 => types::I64X2,
    }
}

impl Lanes<'_, '_> {
    // ---- small change

    fn cast(&mut self, ty: Clif, v: Value) -> Value {
        if self.b.func.dfg.value_type(v) == ty {
            v
        } else {
            self.b.ins().bitcast(ty, flags(), v)
        }
    }

    fn shuffle(&mut self, ty: Clif, a: Value, b: Value, mask: [u8; 16]) -> Value {
        let a = self.cast(types::I8X16, a);
        let b = self.cast(types::I8X16, b);
        let mask = self
            .b
            .func
            .dfg
            .immediates
            .push(ConstantData::from(&mask[..]));
        let v = self.b.ins().shuffle(a, b, mask);
        self.cast(ty, v)
    }

    /// A vector constant of four dwords.
    pub(crate) fn dwords(&mut self, words: [u32; 4]) -> Value {
        let bytes: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
        let c = self
            .b
            .func
            .dfg
            .constants
            .insert(ConstantData::from(&bytes[..]));
        self.b.ins().vconst(types::I32X4, c)
    }

    fn quads(&mut self, word: u64) -> Value {
        let bytes: Vec<u8> = [word, word].iter().flat_map(|w| w.to_le_bytes()).collect();
        let c = self
            .b
            .func
            .dfg
            .constants
            .insert(ConstantData::from(&bytes[..]));
        self.b.ins().vconst(types::I64X2, c)
    }

    /// A constant of a format's bits in every lane.
    fn constant(&mut self, float: Float, bits: u64) -> Value {
        match float {
            Float::F32 => self.dwords([bits as u32; 4]),
            Float::F64 => self.quads(bits),
        }
    }

    /// A wave value in all lanes of the group.
    pub(crate) fn splat(&mut self, width: Width, v: Value) -> Vec<Value> {
        match width {
            Width::W32 => {
                let s = self.b.ins().splat(types::I32X4, v);
                vec![s; self.slices]
            }
            Width::W64 => {
                let s = self.b.ins().splat(types::I64X2, v);
                vec![s; self.slices * 2]
            }
            Width::W1 => {
                let wide = self.b.ins().uextend(types::I32, v);
                let all = self.b.ins().ineg(wide);
                let s = self.b.ins().splat(types::I32X4, all);
                vec![s; self.slices]
            }
        }
    }

    /// A constant in all lanes of the group.
    pub(crate) fn const_lanes(&mut self, width: Width, value: u64) -> Vec<Value> {
        if width == Width::W64 {
            let v = self.quads(value);
            vec![v; self.slices * 2]
        } else {
            let v = self.dwords([value as u32; 4]);
            vec![v; self.slices]
        }
    }

    /// All lanes true.
    pub(crate) fn all_true(&mut self) -> Vec<Value> {
        let ones = self.dwords([u32::MAX; 4]);
        vec![ones; self.slices]
    }

    /// The lane numbers of the group whose first lane is `first` (I32).
    pub(crate) fn lane_ids(&mut self, first: Value) -> Vec<Value> {
        let base = self.b.ins().splat(types::I32X4, first);
        (0..self.slices as u32)
            .map(|j| {
                let ids = self.dwords([4 * j, 4 * j + 1, 4 * j + 2, 4 * j + 3]);
                self.b.ins().iadd(base, ids)
            })
            .collect()
    }

    /// Mask bits (I32, bit 0 is the group's first lane) as masks.
    pub(crate) fn expand_mask(&mut self, bits: Value) -> Vec<Value> {
        let all = self.b.ins().splat(types::I32X4, bits);
        (0..self.slices)
            .map(|j| {
                let one = 1u32 << (4 * j);
                let select = self.dwords([one, one << 1, one << 2, one << 3]);
                let hit = self.b.ins().band(all, select);
                self.b.ins().icmp(IntCC::Equal, hit, select)
            })
            .collect()
    }

    /// Masks as bits (I64), first lane lowest.
    pub(crate) fn collect_mask(&mut self, mask: &[Value]) -> Value {
        let mut bits = None;
        for (j, &m) in mask.iter().enumerate() {
            let four = self.b.ins().vhigh_bits(types::I32, m);
            let placed = if j == 0 {
                four
            } else {
                self.b.ins().ishl_imm_u(four, 4 * j as i64)
            };
            bits = Some(match bits {
                None => placed,
                Some(acc) => self.b.ins().bor(acc, placed),
            });
        }
        let bits = bits.expect("a group has at least one slice");
        self.b.ins().uextend(types::I64, bits)
    }

    /// A mask for W64 lanes: each slice twice as wide.
    fn widen_mask(&mut self, mask: &[Value]) -> Vec<Value> {
        let mut wide = Vec::with_capacity(mask.len() * 2);
        for &m in mask {
            wide.push(self.shuffle(types::I64X2, m, m, UNPACK_LOW));
            wide.push(self.shuffle(types::I64X2, m, m, UNPACK_HIGH));
        }
        wide
    }

    /// A W64 comparison's two masks a slice as one.
    fn narrow_mask(&mut self, wide: &[Value]) -> Vec<Value> {
        wide.chunks_exact(2)
            .map(|m| self.shuffle(types::I32X4, m[0], m[1], EVEN))
            .collect()
    }

    fn map1(&mut self, a: &[Value], f: impl Fn(&mut Self, Value) -> Value) -> Vec<Value> {
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
        let ty = self.b.func.dfg.value_type(a);
        let b = self.cast(ty, b);
        let mask = self.cast(ty, mask);
        if ty.is_float() || ty.lane_type().is_float() {
            // As `min` and `max` know it.
            return self.b.ins().bitselect(mask, a, b);
        }
        self.b.ins().blendv(mask, a, b)
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

    // ---- float

    fn as_float(&mut self, float: Float, v: Value) -> Value {
        self.cast(vector(float), v)
    }

    fn as_bits(&mut self, float: Float, v: Value) -> Value {
        self.cast(bits_type(float), v)
    }

    fn flush(&mut self, float: Float, v: Value) -> Value {
        let l = layout(float);
        let exponent = self.constant(float, l.exponent);
        let zero = self.constant(float, 0);
        let magnitude = self.constant(float, !l.sign);
        let field = self.b.ins().band(v, exponent);
        let denormal = self.b.ins().icmp(IntCC::Equal, field, zero);
        let drop = self.b.ins().band(denormal, magnitude);
        self.b.ins().band_not(v, drop)
    }

    fn fix_nan(&mut self, float: Float, result: Value, sources: &[Value]) -> Value {
        if !self.exact_nan {
            return result;
        }
        let l = layout(float);
        let quiet = self.constant(float, l.quiet);
        let mut nan = self.constant(float, l.nan);
        for &s in sources.iter().rev() {
            let f = self.as_float(float, s);
            let is = self.b.ins().fcmp(FloatCC::Unordered, f, f);
            let quieted = self.b.ins().bor(s, quiet);
            nan = self.blend(is, quieted, nan);
        }
        let f = self.as_float(float, result);
        let is = self.b.ins().fcmp(FloatCC::Unordered, f, f);
        self.blend(is, nan, result)
    }

    fn finish(
        &mut self,
        float: Float,
        flush: Flush,
        result: Value,
        scaled: Option<Value>,
    ) -> Value {
        if !flush.dst {
            return result;
        }
        let Some(scaled) = scaled else {
            return self.flush(float, result);
        };
        // The scaled result only tells apart what rounds up to the least normal number; it is a NaN
        // where scaling overflows and another factor is 0.
        let result = self.flush(float, result);
        let l = layout(float);
        let bits = self.constant(float, l.scaled_min);
        let min = self.as_float(float, bits);
        let magnitude = self.b.ins().fabs(scaled);
        let tiny = self.b.ins().fcmp(FloatCC::LessThan, magnitude, min);
        let tiny = self.cast(bits_type(float), tiny);
        let keep = self.constant(float, !l.sign);
        let drop = self.b.ins().band(tiny, keep);
        self.b.ins().band_not(result, drop)
    }

    fn arithmetic(&mut self, op: Op, float: Float, flush: Flush, args: &[Value]) -> Value {
        let sources: Vec<Value> = args
            .iter()
            .map(|&a| if flush.src { self.flush(float, a) } else { a })
            .collect();
        let f: Vec<Value> = sources.iter().map(|&s| self.as_float(float, s)).collect();
        let mut scaled = None;
        let factor = |l: &mut Self, v: Value| {
            let bits = l.constant(float, layout(float).scale);
            let factor = l.as_float(float, bits);
            l.b.ins().fmul(v, factor)
        };
        let r = match op {
            Op::FAdd(..) => self.b.ins().fadd(f[0], f[1]),
            Op::FSub(..) => self.b.ins().fsub(f[0], f[1]),
            Op::FMul(..) => {
                if flush.dst {
                    let a = factor(self, f[0]);
                    scaled = Some(self.b.ins().fmul(a, f[1]));
                }
                self.b.ins().fmul(f[0], f[1])
            }
            Op::Fma(..) => {
                if flush.dst {
                    let a = factor(self, f[0]);
                    let c = factor(self, f[2]);
                    scaled = Some(self.b.ins().fma(a, f[1], c));
                }
                self.b.ins().fma(f[0], f[1], f[2])
            }
            Op::FDiv(..) => self.b.ins().fdiv(f[0], f[1]),
            _ => self.b.ins().sqrt(f[0]),
        };
        let bits = self.as_bits(float, r);
        let bits = self.fix_nan(float, bits, &sources);
        self.finish(float, flush, bits, scaled)
    }

    // ---- operations

    /// One operation on a group; `width` is the width of the first argument.
    pub(crate) fn op(&mut self, op: Op, width: Width, args: &[&[Value]]) -> Vec<Value> {
        let a = args[0];
        let b = args.get(1).copied().unwrap_or(&[]);
        match op {
            Op::Add => self.map2(a, b, |l, x, y| l.b.ins().iadd(x, y)),
            Op::Sub => self.map2(a, b, |l, x, y| l.b.ins().isub(x, y)),
            Op::Mul => self.map2(a, b, |l, x, y| l.b.ins().imul(x, y)),
            Op::And => self.map2(a, b, |l, x, y| l.b.ins().band(x, y)),
            Op::Or => self.map2(a, b, |l, x, y| l.b.ins().bor(x, y)),
            Op::Xor => self.map2(a, b, |l, x, y| l.b.ins().bxor(x, y)),
            Op::Not => self.map1(a, |l, x| l.b.ins().bnot(x)),
            Op::MinU if width == Width::W32 => self.map2(a, b, |l, x, y| l.b.ins().umin(x, y)),
            Op::MaxU if width == Width::W32 => self.map2(a, b, |l, x, y| l.b.ins().umax(x, y)),
            Op::MinS if width == Width::W32 => self.map2(a, b, |l, x, y| l.b.ins().smin(x, y)),
            Op::MaxS if width == Width::W32 => self.map2(a, b, |l, x, y| l.b.ins().smax(x, y)),
            Op::MulHiU | Op::MulHiS => {
                let signed = op == Op::MulHiS;
                self.map2(a, b, |l, x, y| l.high_of_product(x, y, signed))
            }
            Op::Brev if width == Width::W32 => self.map1(a, |l, x| l.reverse(x)),
            Op::Popcnt if width == Width::W32 => self.map1(a, |l, x| l.popcount(x)),
            Op::ByteU(n) => self.map1(a, |l, x| {
                let shifted = if n == 0 {
                    x
                } else {
                    l.shift(x, 8 * u32::from(n), false)
                };
                if n == 3 {
                    return shifted;
                }
                let mask = l.dwords([0xff; 4]);
                l.b.ins().band(shifted, mask)
            }),
            Op::SextFrom(n) => {
                let up = if width == Width::W64 { 64 } else { 32 } - i64::from(n);
                self.map1(a, |l, x| {
                    let amount = l.b.ins().iconst(types::I32, up);
                    let x = l.b.ins().ishl(x, amount);
                    l.b.ins().sshr(x, amount)
                })
            }
            Op::Icmp(cond) => self.icmp(cond, width, a, b),
            Op::Pair => {
                let mut wide = Vec::with_capacity(a.len() * 2);
                for (&lo, &hi) in a.iter().zip(b) {
                    wide.push(self.shuffle(types::I64X2, lo, hi, UNPACK_LOW));
                    wide.push(self.shuffle(types::I64X2, lo, hi, UNPACK_HIGH));
                }
                wide
            }
            Op::Zext | Op::Sext => {
                let mut wide = Vec::with_capacity(a.len() * 2);
                for &lo in a {
                    let hi = if op == Op::Zext {
                        self.dwords([0; 4])
                    } else {
                        let amount = self.b.ins().iconst(types::I32, 31);
                        self.b.ins().sshr(lo, amount)
                    };
                    wide.push(self.shuffle(types::I64X2, lo, hi, UNPACK_LOW));
                    wide.push(self.shuffle(types::I64X2, lo, hi, UNPACK_HIGH));
                }
                wide
            }
            Op::Lo => a
                .chunks_exact(2)
                .map(|w| self.shuffle(types::I32X4, w[0], w[1], EVEN))
                .collect(),
            Op::Hi => a
                .chunks_exact(2)
                .map(|w| self.shuffle(types::I32X4, w[0], w[1], ODD))
                .collect(),
            Op::BoolToInt => self.map1(a, |l, x| {
                let one = l.dwords([1; 4]);
                l.b.ins().band(x, one)
            }),
            Op::FAdd(float, flush)
            | Op::FSub(float, flush)
            | Op::FMul(float, flush)
            | Op::Fma(float, flush)
            | Op::FDiv(float, flush)
            | Op::FSqrt(float, flush) => (0..a.len())
                .map(|i| {
                    let slice: Vec<Value> = args.iter().map(|arg| arg[i]).collect();
                    self.arithmetic(op, float, flush, &slice)
                })
                .collect(),
            Op::Fcmp(float, cond, flush) => {
                let masks: Vec<Value> = (0..a.len())
                    .map(|i| {
                        let (mut x, mut y) = (a[i], b[i]);
                        if flush.src {
                            x = self.flush(float, x);
                            y = self.flush(float, y);
                        }
                        let x = self.as_float(float, x);
                        let y = self.as_float(float, y);
                        self.b.ins().fcmp(float_cc(cond), x, y)
                    })
                    .collect();
                if float == Float::F64 {
                    self.narrow_mask(&masks)
                } else {
                    masks
                }
            }
            Op::FFloor(float) | Op::FCeil(float) | Op::FTrunc(float) | Op::FNearest(float) => self
                .map1(a, |l, x| {
                    let f = l.as_float(float, x);
                    let r = match op {
                        Op::FFloor(_) => l.b.ins().floor(f),
                        Op::FCeil(_) => l.b.ins().ceil(f),
                        Op::FTrunc(_) => l.b.ins().trunc(f),
                        _ => l.b.ins().nearest(f),
                    };
                    l.as_bits(float, r)
                }),
            Op::FQuiet(float) => self.map1(a, |l, x| {
                let f = l.as_float(float, x);
                let is = l.b.ins().fcmp(FloatCC::Unordered, f, f);
                let is = l.cast(bits_type(float), is);
                let quiet = l.constant(float, layout(float).quiet);
                let bit = l.b.ins().band(is, quiet);
                l.b.ins().bor(x, bit)
            }),
            Op::FFlush(float) => self.map1(a, |l, x| l.flush(float, x)),
            Op::CvtFromS(Float::F32) => self.map1(a, |l, x| {
                let f = l.b.ins().fcvt_from_sint(types::F32X4, x);
                l.as_bits(Float::F32, f)
            }),
            Op::CvtFromU(Float::F32) => self.map1(a, |l, x| {
                let f = l.b.ins().fcvt_from_uint(types::F32X4, x);
                l.as_bits(Float::F32, f)
            }),
            Op::CvtFromS(Float::F64) | Op::CvtFromU(Float::F64) => {
                let mut wide = Vec::with_capacity(a.len() * 2);
                for &x in a {
                    let high = self.shuffle(types::I32X4, x, x, HIGH_HALF);
                    for half in [x, high] {
                        let f = if matches!(op, Op::CvtFromS(_)) {
                            let w = self.b.ins().swiden_low(half);
                            self.b.ins().fcvt_from_sint(types::F64X2, w)
                        } else {
                            let w = self.b.ins().uwiden_low(half);
                            self.b.ins().fcvt_from_uint(types::F64X2, w)
                        };
                        wide.push(self.as_bits(Float::F64, f));
                    }
                }
                wide
            }
            Op::CvtToS(Float::F32) => self.map1(a, |l, x| {
                let f = l.as_float(Float::F32, x);
                l.b.ins().fcvt_to_sint_sat(types::I32X4, f)
            }),
            Op::CvtToU(Float::F32) => self.map1(a, |l, x| {
                let f = l.as_float(Float::F32, x);
                l.b.ins().fcvt_to_uint_sat(types::I32X4, f)
            }),
            Op::FWiden => {
                let mut wide = Vec::with_capacity(a.len() * 2);
                for &x in a {
                    let high = self.shuffle(types::I32X4, x, x, HIGH_HALF);
                    for half in [x, high] {
                        let f = self.as_float(Float::F32, half);
                        let f = self.b.ins().fvpromote_low(f);
                        wide.push(self.as_bits(Float::F64, f));
                    }
                }
                wide
            }
            Op::FNarrow(flush) => {
                let plain = self.demote(a, None);
                if !flush.dst {
                    return plain;
                }
                let scaled = self.demote(a, Some(4_294_967_296.0f64));
                self.map2(&plain, &scaled, |l, r, s| {
                    let s = l.as_float(Float::F32, s);
                    l.finish(Float::F32, flush, r, Some(s))
                })
            }
            _ => self.by_lane(op, width, args),
        }
    }

    /// f64 lanes to f32, scaled first when asked.
    fn demote(&mut self, wide: &[Value], scale: Option<f64>) -> Vec<Value> {
        wide.chunks_exact(2)
            .map(|w| {
                let halves: Vec<Value> = w
                    .iter()
                    .map(|&x| {
                        let mut f = self.as_float(Float::F64, x);
                        if let Some(scale) = scale {
                            let bits = self.quads(scale.to_bits());
                            let factor = self.as_float(Float::F64, bits);
                            f = self.b.ins().fmul(f, factor);
                        }
                        self.b.ins().fvdemote(f)
                    })
                    .collect();
                self.shuffle(types::I32X4, halves[0], halves[1], LOW_HALVES)
            })
            .collect()
    }

    /// Logical shifts by a constant; `left` otherwise right.
    fn shift(&mut self, v: Value, amount: u32, left: bool) -> Value {
        let amount = self.b.ins().iconst(types::I32, i64::from(amount));
        if left {
            self.b.ins().ishl(v, amount)
        } else {
            self.b.ins().ushr(v, amount)
        }
    }

    /// Shifts by one wave amount (I32).
    pub(crate) fn shift_by_wave(&mut self, op: Op, a: &[Value], amount: Value) -> Vec<Value> {
        self.map1(a, |l, x| match op {
            Op::Shl => l.b.ins().ishl(x, amount),
            Op::Lshr => l.b.ins().ushr(x, amount),
            _ => l.b.ins().sshr(x, amount),
        })
    }

    /// `v_alignbit` by one wave amount (I32).
    pub(crate) fn align_by_wave(
        &mut self,
        hi: &[Value],
        lo: &[Value],
        amount: Value,
    ) -> Vec<Value> {
        let n = self.b.ins().band_imm_u(amount, 31);
        let c31 = self.b.ins().iconst(types::I32, 31);
        let rest = self.b.ins().isub(c31, n);
        let one = self.b.ins().iconst(types::I32, 1);
        self.map2(hi, lo, |l, h, lo| {
            let right = l.b.ins().ushr(lo, n);
            let left = l.b.ins().ishl(h, one);
            let left = l.b.ins().ishl(left, rest);
            l.b.ins().bor(left, right)
        })
    }

    /// `v_alignbit` by a constant other than 0.
    pub(crate) fn align_by_const(&mut self, hi: &[Value], lo: &[Value], n: u32) -> Vec<Value> {
        self.map2(hi, lo, |l, h, lo| {
            let right = l.shift(lo, n, false);
            let left = l.shift(h, 32 - n, true);
            l.b.ins().bor(left, right)
        })
    }

    /// `v_perm` by a constant selector that wants no sign bytes.
    pub(crate) fn perm_by_const(
        &mut self,
        s0: &[Value],
        s1: &[Value],
        selector: u32,
    ) -> Vec<Value> {
        let sel = selector.to_le_bytes();
        let mut mask = [0u8; 16];
        let (mut and, mut or) = (0u32, 0u32);
        for (i, &s) in sel.iter().enumerate() {
            if s < 8 {
                and |= 0xff << (8 * i);
            } else if s > 12 {
                or |= 0xff << (8 * i);
            }
            for lane in 0..4 {
                // Bytes 0..=3 are S1's, 4..=7 S0's; the shuffle takes (s1, s0).
                let byte = if s < 4 {
                    4 * lane as u8 + s
                } else {
                    16 + 4 * lane as u8 + (s & 3)
                };
                mask[4 * lane + i] = if s < 8 { byte } else { 0 };
            }
        }
        self.map2(s0, s1, |l, x, y| {
            let mut v = l.shuffle(types::I32X4, y, x, mask);
            if and != u32::MAX {
                let keep = l.dwords([and; 4]);
                v = l.b.ins().band(v, keep);
            }
            if or != 0 {
                let set = l.dwords([or; 4]);
                v = l.b.ins().bor(v, set);
            }
            v
        })
    }

    fn high_of_product(&mut self, x: Value, y: Value, signed: bool) -> Value {
        let halves: Vec<Value> = [false, true]
            .into_iter()
            .map(|high| {
                let (x, y) = match (signed, high) {
                    (false, false) => (self.b.ins().uwiden_low(x), self.b.ins().uwiden_low(y)),
                    (false, true) => (self.b.ins().uwiden_high(x), self.b.ins().uwiden_high(y)),
                    (true, false) => (self.b.ins().swiden_low(x), self.b.ins().swiden_low(y)),
                    (true, true) => (self.b.ins().swiden_high(x), self.b.ins().swiden_high(y)),
                };
                self.b.ins().imul(x, y)
            })
            .collect();
        self.shuffle(types::I32X4, halves[0], halves[1], ODD)
    }

    /// Bit reversal by swapping ever larger neighbours.
    fn reverse(&mut self, x: Value) -> Value {
        let mut v = x;
        for (amount, mask) in [(1, 0x5555_5555u32), (2, 0x3333_3333), (4, 0x0f0f_0f0f)] {
            let mask = self.dwords([mask; 4]);
            let right = self.shift(v, amount, false);
            let right = self.b.ins().band(right, mask);
            let left = self.b.ins().band(v, mask);
            let left = self.shift(left, amount, true);
            v = self.b.ins().bor(left, right);
        }
        self.shuffle(
            types::I32X4,
            v,
            v,
            [3, 2, 1, 0, 7, 6, 5, 4, 11, 10, 9, 8, 15, 14, 13, 12],
        )
    }

    /// Ones in each dword, from ones in each byte.
    fn popcount(&mut self, x: Value) -> Value {
        let bytes = self.cast(types::I8X16, x);
        let counts = self.b.ins().popcnt(bytes);
        let v = self.cast(types::I32X4, counts);
        let s = self.shift(v, 8, false);
        let v = self.b.ins().iadd(v, s);
        let s = self.shift(v, 16, false);
        let v = self.b.ins().iadd(v, s);
        let mask = self.dwords([0xff; 4]);
        self.b.ins().band(v, mask)
    }

    fn icmp(&mut self, cond: Icmp, width: Width, a: &[Value], b: &[Value]) -> Vec<Value> {
        if width == Width::W1 {
            // Only equality makes sense on masks.
            return self.map2(a, b, |l, x, y| l.b.ins().icmp(int_cc(cond), x, y));
        }
        if width == Width::W32 {
            return self.map2(a, b, |l, x, y| l.b.ins().icmp(int_cc(cond), x, y));
        }
        let wide = match cond {
            Icmp::Ult | Icmp::Ule => {
                // No unsigned comparison of 64-bit lanes: move the sign bit.
                let signed = if cond == Icmp::Ult {
                    IntCC::SignedLessThan
                } else {
                    IntCC::SignedLessThanOrEqual
                };
                let top = self.quads(1 << 63);
                self.map2(a, b, |l, x, y| {
                    let x = l.b.ins().bxor(x, top);
                    let y = l.b.ins().bxor(y, top);
                    l.b.ins().icmp(signed, x, y)
                })
            }
            _ => self.map2(a, b, |l, x, y| l.b.ins().icmp(int_cc(cond), x, y)),
        };
        self.narrow_mask(&wide)
    }

    /// What has no vector form: each lane through the scalar operation.
    pub(crate) fn by_lane(&mut self, op: Op, width: Width, args: &[&[Value]]) -> Vec<Value> {
        let in_lanes = |v: &[Value], slices: usize| if v.len() == slices { 4 } else { 2 };
        let total = self.slices * 4;
        let mut results = Vec::with_capacity(total);
        for lane in 0..total {
            let mut scalars = Vec::with_capacity(args.len());
            for &arg in args {
                let per = in_lanes(arg, self.slices);
                let v = self
                    .b
                    .ins()
                    .extractlane(arg[lane / per], (lane % per) as u8);
                scalars.push(v);
            }
            let exact_nan = self.exact_nan;
            let r = Scalars {
                b: self.b,
                exact_nan,
            }
            .op(op, width, &scalars);
            results.push(r);
        }
        let ty = self.b.func.dfg.value_type(results[0]);
        debug_assert_ne!(ty, clif_type(Width::W1), "masks have vector forms");
        let (vec_ty, per) = if ty == types::I64 {
            (types::I64X2, 2)
        } else {
            (types::I32X4, 4)
        };
        results
            .chunks_exact(per)
            .map(|lanes| {
                let mut v = self.b.ins().splat(vec_ty, lanes[0]);
                for (i, &x) in lanes.iter().enumerate().skip(1) {
                    v = self.b.ins().insertlane(v, x, i as u8);
                }
                v
            })
            .collect()
    }
}
