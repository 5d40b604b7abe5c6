//! Lane values inside a segment: a group of lanes is `slices` host vectors of four lanes, or of eight for
//! the wide back end. A W32 value is one vector of dwords a slice, a mask one of all ones or zeros. A W64
//! value is two vectors of quads, in the order in which dwords unpack: of four lanes 0, 1 and 2, 3, of
//! eight 0, 1, 4, 5 and 2, 3, 6, 7.

use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::{
    AbiParam, ConstantData, ExtFuncData, ExternalName, InstBuilder, Signature, Type as Clif,
    UserExternalName, Value, types,
};
use cranelift_frontend::FunctionBuilder;

use super::flags;
use super::scalar::{Scalars, clif_type, float_cc, int_cc, layout};
use crate::ir::{Float, Flush, Icmp, Op, Width};
use crate::wide::{self, Intrinsic};

/// Emits lane operations slice by slice.
pub(crate) struct Lanes<'a, 'f> {
    /// Where instructions go.
    pub(crate) b: &'a mut FunctionBuilder<'f>,
    /// NaN results follow the guest's rule bit for bit.
    pub(crate) exact_nan: bool,
    /// Host vectors in a group.
    pub(crate) slices: usize,
    /// Lanes in a host vector: 4, or 8 for the wide back end.
    pub(crate) per: usize,
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

/// A vector of dwords.
pub(crate) fn dwords_type(per: usize) -> Clif {
    if per == 8 { types::I32X8 } else { types::I32X4 }
}

/// A vector of quads.
fn quads_type(per: usize) -> Clif {
    if per == 8 { types::I64X4 } else { types::I64X2 }
}

impl Lanes<'_, '_> {
    // ---- small change

    fn dwords_type(&self) -> Clif {
        dwords_type(self.per)
    }

    fn quads_type(&self) -> Clif {
        quads_type(self.per)
    }

    fn vector(&self, float: Float) -> Clif {
        match (float, self.per) {
            (Float::F32, 8) => types::F32X8,
            (Float::F32, _) => types::F32X4,
            (Float::F64, 8) => types::F64X4,
            (Float::F64, _) => types::F64X2,
        }
    }

    fn bits_type(&self, float: Float) -> Clif {
        match float {
            Float::F32 => self.dwords_type(),
            Float::F64 => self.quads_type(),
        }
    }

    /// What only the wide back end has.
    fn intrinsic(&mut self, f: Intrinsic, args: &[Value], result: Clif) -> Value {
        let name = UserExternalName::new(wide::INTRINSIC, f as u32);
        self.call_by_name(name, args, result)
    }

    fn call_by_name(&mut self, name: UserExternalName, args: &[Value], result: Clif) -> Value {
        let mut signature = Signature::new(self.b.func.signature.call_conv);
        for &arg in args {
            let ty = self.b.func.dfg.value_type(arg);
            signature.params.push(AbiParam::new(ty));
        }
        signature.returns.push(AbiParam::new(result));
        let signature = self.b.import_signature(signature);
        let name = self.b.func.declare_imported_user_function(name);
        let callee = self.b.import_function(ExtFuncData {
            name: ExternalName::user(name),
            signature,
            colocated: false,
            patchable: false,
        });
        let call = self.b.ins().call(callee, args);
        self.b.inst_results(call)[0]
    }

    fn cast(&mut self, ty: Clif, v: Value) -> Value {
        if self.b.func.dfg.value_type(v) == ty {
            v
        } else {
            self.b.ins().bitcast(ty, flags(), v)
        }
    }

    /// Bytes of two vectors, within each 128 bits.
    fn shuffle(&mut self, ty: Clif, a: Value, b: Value, mask: [u8; 16]) -> Value {
        if self.per == 8 {
            let mask = self
                .b
                .func
                .dfg
                .immediates
                .push(ConstantData::from(&mask[..]));
            let name = UserExternalName::new(wide::SHUFFLE, mask.as_u32());
            return self.call_by_name(name, &[a, b], ty);
        }
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

    /// A vector constant: dword n is `word(n)`.
    pub(crate) fn dwords_by(&mut self, word: impl Fn(usize) -> u32) -> Value {
        let bytes: Vec<u8> = (0..self.per).flat_map(|n| word(n).to_le_bytes()).collect();
        let c = self
            .b
            .func
            .dfg
            .constants
            .insert(ConstantData::from(&bytes[..]));
        let ty = self.dwords_type();
        self.b.ins().vconst(ty, c)
    }

    /// A dword in every lane.
    fn dwords(&mut self, word: u32) -> Value {
        self.dwords_by(|_| word)
    }

    /// A vector constant: quad n is `quad(n)`.
    pub(crate) fn quads_by(&mut self, quad: impl Fn(usize) -> u64) -> Value {
        let bytes = (0..self.per / 2).flat_map(|n| quad(n).to_le_bytes());
        let bytes: Vec<u8> = bytes.collect();
        let c = self
            .b
            .func
            .dfg
            .constants
            .insert(ConstantData::from(&bytes[..]));
        let ty = self.quads_type();
        self.b.ins().vconst(ty, c)
    }

    fn quads(&mut self, word: u64) -> Value {
        self.quads_by(|_| word)
    }

    /// Vectors of four lanes as host vectors.
    pub(crate) fn join_fours(&mut self, fours: Vec<Value>) -> Vec<Value> {
        if self.per == 4 {
            return fours;
        }
        let ty = self.dwords_type();
        let pairs = fours.chunks_exact(2);
        pairs
            .map(|pair| self.intrinsic(Intrinsic::Join, pair, ty))
            .collect()
    }

    /// The lane of quad n of the second or first vector of a slice.
    pub(crate) fn lane_of_quad(&self, second: bool, n: usize) -> usize {
        let n = if self.per == 8 {
            n & 1 | (n & 2) << 1
        } else {
            n
        };
        n + if second { 2 } else { 0 }
    }

    /// A constant of a format's bits in every lane.
    fn constant(&mut self, float: Float, bits: u64) -> Value {
        match float {
            Float::F32 => self.dwords(bits as u32),
            Float::F64 => self.quads(bits),
        }
    }

    /// A wave value in all lanes of the group.
    pub(crate) fn splat(&mut self, width: Width, v: Value) -> Vec<Value> {
        match width {
            Width::W32 => {
                let ty = self.dwords_type();
                let s = self.b.ins().splat(ty, v);
                vec![s; self.slices]
            }
            Width::W64 => {
                let ty = self.quads_type();
                let s = self.b.ins().splat(ty, v);
                vec![s; self.slices * 2]
            }
            Width::W1 => {
                let wide = self.b.ins().uextend(types::I32, v);
                let all = self.b.ins().ineg(wide);
                let ty = self.dwords_type();
                let s = self.b.ins().splat(ty, all);
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
            let v = self.dwords(value as u32);
            vec![v; self.slices]
        }
    }

    /// All lanes true.
    pub(crate) fn all_true(&mut self) -> Vec<Value> {
        let ones = self.dwords(u32::MAX);
        vec![ones; self.slices]
    }

    /// The lane numbers of the group whose first lane is `first` (I32).
    pub(crate) fn lane_ids(&mut self, first: Value) -> Vec<Value> {
        let ty = self.dwords_type();
        let base = self.b.ins().splat(ty, first);
        let per = self.per;
        (0..self.slices)
            .map(|j| {
                let ids = self.dwords_by(|n| (per * j + n) as u32);
                self.b.ins().iadd(base, ids)
            })
            .collect()
    }

    /// Mask bits (I32, bit 0 is the group's first lane) as masks.
    pub(crate) fn expand_mask(&mut self, bits: Value) -> Vec<Value> {
        let ty = self.dwords_type();
        let all = self.b.ins().splat(ty, bits);
        let per = self.per;
        (0..self.slices)
            .map(|j| {
                let select = self.dwords_by(|n| 1 << (per * j + n));
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
                self.b.ins().ishl_imm_u(four, (self.per * j) as i64)
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
            wide.push(self.shuffle(self.quads_type(), m, m, UNPACK_LOW));
            wide.push(self.shuffle(self.quads_type(), m, m, UNPACK_HIGH));
        }
        wide
    }

    /// A W64 comparison's two masks a slice as one.
    fn narrow_mask(&mut self, wide: &[Value]) -> Vec<Value> {
        wide.chunks_exact(2)
            .map(|m| self.shuffle(self.dwords_type(), m[0], m[1], EVEN))
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
        self.cast(self.vector(float), v)
    }

    fn as_bits(&mut self, float: Float, v: Value) -> Value {
        self.cast(self.bits_type(float), v)
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
        let tiny = self.cast(self.bits_type(float), tiny);
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
                let mask = l.dwords(0xff);
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
                    wide.push(self.shuffle(self.quads_type(), lo, hi, UNPACK_LOW));
                    wide.push(self.shuffle(self.quads_type(), lo, hi, UNPACK_HIGH));
                }
                wide
            }
            Op::Zext | Op::Sext => {
                let mut wide = Vec::with_capacity(a.len() * 2);
                for &lo in a {
                    let hi = if op == Op::Zext {
                        self.dwords(0)
                    } else {
                        let amount = self.b.ins().iconst(types::I32, 31);
                        self.b.ins().sshr(lo, amount)
                    };
                    wide.push(self.shuffle(self.quads_type(), lo, hi, UNPACK_LOW));
                    wide.push(self.shuffle(self.quads_type(), lo, hi, UNPACK_HIGH));
                }
                wide
            }
            Op::Lo => a
                .chunks_exact(2)
                .map(|w| self.shuffle(self.dwords_type(), w[0], w[1], EVEN))
                .collect(),
            Op::Hi => a
                .chunks_exact(2)
                .map(|w| self.shuffle(self.dwords_type(), w[0], w[1], ODD))
                .collect(),
            Op::BoolToInt => self.map1(a, |l, x| {
                let one = l.dwords(1);
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
                let is = l.cast(l.bits_type(float), is);
                let quiet = l.constant(float, layout(float).quiet);
                let bit = l.b.ins().band(is, quiet);
                l.b.ins().bor(x, bit)
            }),
            Op::FFlush(float) => self.map1(a, |l, x| l.flush(float, x)),
            Op::CvtFromS(Float::F32) => self.map1(a, |l, x| {
                let ty = l.vector(Float::F32);
                let f = l.b.ins().fcvt_from_sint(ty, x);
                l.as_bits(Float::F32, f)
            }),
            Op::CvtFromU(Float::F32) => self.map1(a, |l, x| {
                let ty = l.vector(Float::F32);
                let f = l.b.ins().fcvt_from_uint(ty, x);
                l.as_bits(Float::F32, f)
            }),
            Op::CvtFromS(Float::F64) | Op::CvtFromU(Float::F64) if self.per == 8 => {
                self.widen_integers(a, matches!(op, Op::CvtFromU(_)))
            }
            Op::CvtFromS(Float::F64) | Op::CvtFromU(Float::F64) => {
                let mut wide = Vec::with_capacity(a.len() * 2);
                for &x in a {
                    let high = self.shuffle(self.dwords_type(), x, x, HIGH_HALF);
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
                let ty = l.dwords_type();
                l.b.ins().fcvt_to_sint_sat(ty, f)
            }),
            Op::CvtToU(Float::F32) => self.map1(a, |l, x| {
                let f = l.as_float(Float::F32, x);
                let ty = l.dwords_type();
                l.b.ins().fcvt_to_uint_sat(ty, f)
            }),
            Op::FWiden if self.per == 8 => {
                let ty = self.vector(Float::F64);
                let halves = [Intrinsic::PromoteLow, Intrinsic::PromoteHigh];
                let wide = a.iter().flat_map(|&x| halves.map(|half| (x, half)));
                wide.map(|(x, half)| {
                    let f = self.as_float(Float::F32, x);
                    let f = self.intrinsic(half, &[f], ty);
                    self.as_bits(Float::F64, f)
                })
                .collect()
            }
            Op::FWiden => {
                let mut wide = Vec::with_capacity(a.len() * 2);
                for &x in a {
                    let high = self.shuffle(self.dwords_type(), x, x, HIGH_HALF);
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
                        if self.per == 8 {
                            f
                        } else {
                            self.b.ins().fvdemote(f)
                        }
                    })
                    .collect();
                if self.per == 8 {
                    let ty = self.vector(Float::F32);
                    let f = self.intrinsic(Intrinsic::Demote, &halves, ty);
                    return self.as_bits(Float::F32, f);
                }
                self.shuffle(self.dwords_type(), halves[0], halves[1], LOW_HALVES)
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
            let mut v = l.shuffle(l.dwords_type(), y, x, mask);
            if and != u32::MAX {
                let keep = l.dwords(and);
                v = l.b.ins().band(v, keep);
            }
            if or != 0 {
                let set = l.dwords(or);
                v = l.b.ins().bor(v, set);
            }
            v
        })
    }

    /// i32 or u32 lanes to f64.
    fn widen_integers(&mut self, a: &[Value], unsigned: bool) -> Vec<Value> {
        let ty = self.vector(Float::F64);
        let mut wide = Vec::with_capacity(a.len() * 2);
        for &x in a {
            // An unsigned number less 2^31 is a signed one.
            let x = if unsigned {
                let top = self.dwords(1 << 31);
                self.b.ins().bxor(x, top)
            } else {
                x
            };
            for half in [Intrinsic::FromIntLow, Intrinsic::FromIntHigh] {
                let mut f = self.intrinsic(half, &[x], ty);
                if unsigned {
                    let bits = self.quads(2_147_483_648f64.to_bits());
                    let top = self.as_float(Float::F64, bits);
                    f = self.b.ins().fadd(f, top);
                }
                wide.push(self.as_bits(Float::F64, f));
            }
        }
        wide
    }

    /// High words of products, from those of the even and those of the odd lanes.
    fn wide_high_of_product(&mut self, x: Value, y: Value, signed: bool) -> Value {
        let ty = self.quads_type();
        let f = if signed {
            Intrinsic::MulWideS
        } else {
            Intrinsic::MulWideU
        };
        let (x, y) = (self.cast(ty, x), self.cast(ty, y));
        let even = self.intrinsic(f, &[x, y], ty);
        let even = self.shift(even, 32, false);
        let (x, y) = (self.shift(x, 32, false), self.shift(y, 32, false));
        let odd = self.intrinsic(f, &[x, y], ty);
        let dwords = self.dwords_type();
        self.intrinsic(Intrinsic::OddDwords, &[even, odd], dwords)
    }

    fn high_of_product(&mut self, x: Value, y: Value, signed: bool) -> Value {
        if self.per == 8 {
            return self.wide_high_of_product(x, y, signed);
        }
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
        self.shuffle(self.dwords_type(), halves[0], halves[1], ODD)
    }

    /// Bit reversal by swapping ever larger neighbours.
    fn reverse(&mut self, x: Value) -> Value {
        let mut v = x;
        for (amount, mask) in [(1, 0x5555_5555u32), (2, 0x3333_3333), (4, 0x0f0f_0f0f)] {
            let mask = self.dwords(mask);
            let right = self.shift(v, amount, false);
            let right = self.b.ins().band(right, mask);
            let left = self.b.ins().band(v, mask);
            let left = self.shift(left, amount, true);
            v = self.b.ins().bor(left, right);
        }
        self.shuffle(
            self.dwords_type(),
            v,
            v,
            [3, 2, 1, 0, 7, 6, 5, 4, 11, 10, 9, 8, 15, 14, 13, 12],
        )
    }

    /// Ones in each dword, from ones in each byte.
    fn popcount(&mut self, x: Value) -> Value {
        let ty = if self.per == 8 {
            types::I8X32
        } else {
            types::I8X16
        };
        let bytes = self.cast(ty, x);
        let counts = self.b.ins().popcnt(bytes);
        let v = self.cast(self.dwords_type(), counts);
        let s = self.shift(v, 8, false);
        let v = self.b.ins().iadd(v, s);
        let s = self.shift(v, 16, false);
        let v = self.b.ins().iadd(v, s);
        let mask = self.dwords(0xff);
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
        let slices = self.slices;
        let total = slices * self.per;
        // Where each lane of a value is.
        let places = |l: &Self, quads: bool| -> Vec<(usize, u8)> {
            let mut places = vec![(0, 0); total];
            for slice in 0..slices {
                for n in 0..l.per {
                    let (vector, at, lane) = if quads {
                        let (second, at) = (n >= l.per / 2, n % (l.per / 2));
                        let lane = l.lane_of_quad(second, at);
                        (2 * slice + usize::from(second), at, lane)
                    } else {
                        (slice, n, n)
                    };
                    places[slice * l.per + lane] = (vector, at as u8);
                }
            }
            places
        };
        let mut results = Vec::with_capacity(total);
        for lane in 0..total {
            let mut scalars = Vec::with_capacity(args.len());
            for &arg in args {
                let (vector, at) = places(self, arg.len() != slices)[lane];
                let v = self.b.ins().extractlane(arg[vector], at);
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
        let quads = ty == types::I64;
        let (vec_ty, count) = if quads {
            (self.quads_type(), 2 * slices)
        } else {
            (self.dwords_type(), slices)
        };
        let mut vectors: Vec<Option<Value>> = vec![None; count];
        for (lane, (vector, at)) in places(self, quads).into_iter().enumerate() {
            let x = results[lane];
            vectors[vector] = Some(match vectors[vector] {
                None => self.b.ins().splat(vec_ty, x),
                Some(v) => self.b.ins().insertlane(v, x, at),
            });
        }
        vectors.into_iter().flatten().collect()
    }
}
