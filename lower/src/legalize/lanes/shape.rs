//! Operations on groups of lanes: a value is a list of host vectors.

use super::{EVEN, HIGH_HALF, Lanes, ODD, UNPACK_HIGH, UNPACK_LOW};
use crate::ir::{Float, Flush, Halves, Icmp, Width};
use crate::legalize::compound;
use crate::legalize::evaluate::Shape;
use crate::legalize::scalar::{Scalars, int_cc, layout, wave_type};
use crate::vir::{Builder, FloatCC, IntCC, Op as VirOp, Value, types};

impl Shape for Lanes<'_, '_> {
    type Value = Vec<Value>;

    fn emit(&mut self, f: impl FnOnce(&mut Builder<'_>) -> Value) -> Value {
        f(self.b)
    }

    fn exact_nan(&self) -> bool {
        self.exact_nan
    }

    fn constant(&mut self, float: Float, bits: u64) -> Value {
        match float {
            Float::F32 => self.dwords(bits as u32),
            Float::F64 => self.quads(bits),
        }
    }

    fn as_float(&mut self, float: Float, v: Value) -> Value {
        self.b.bitcast(self.vector(float), v)
    }

    fn as_bits(&mut self, float: Float, v: Value) -> Value {
        self.b.bitcast(self.bits_type(float), v)
    }

    fn pick(&mut self, mask: Value, yes: Value, no: Value) -> Value {
        self.blend(mask, yes, no)
    }

    fn flush(&mut self, float: Float, v: Value) -> Value {
        if let Some(flushed) = self.numbering.flushed(self.b, v) {
            return flushed;
        }
        let flushed = self.flush_anew(float, v);
        self.numbering.note_flushed(v, flushed);
        flushed
    }

    fn flush_by(&mut self, float: Float, result: Value, scaled: Value) -> Value {
        let bits = self.constant(float, layout(float).scaled_min);
        let min = self.as_float(float, bits);
        let magnitude = self.b.fabs(scaled);
        let tiny = self.b.fcmp(FloatCC::LessThan, magnitude, min);
        let tiny = self.as_bits(float, tiny);
        let keep = self.constant(float, !layout(float).sign);
        let drop = self.b.band(tiny, keep);
        let result = self.b.band_not(result, drop);
        self.numbering.note_flushed(result, result);
        result
    }

    /// A product is 0 where its scaled form is a NaN because scaling overflows.
    fn finish_product(&mut self, float: Float, result: Value, scaled: Value) -> Value {
        self.flush_by(float, result, scaled)
    }

    fn quiet(&mut self, float: Float, v: Value) -> Value {
        let is = self.is_nan(float, v);
        let is = self.as_bits(float, is);
        let quiet = self.constant(float, layout(float).quiet);
        let bit = self.b.band(is, quiet);
        self.b.bor(v, bit)
    }

    fn frexp_mantissa(&mut self, v: Value) -> Value {
        self.frexp_mant(v)
    }

    fn frexp_exponent(&mut self, v: Value) -> Value {
        self.frexp_exp(v)
    }

    fn immediate(&mut self, width: Width, bits: u64) -> Vec<Value> {
        self.const_lanes(width, bits)
    }

    fn each<const N: usize>(
        &mut self,
        args: [&Vec<Value>; N],
        mut f: impl FnMut(&mut Self, [Value; N]) -> Value,
    ) -> Vec<Value> {
        let vectors = 0..args[0].len();
        vectors.map(|i| f(self, args.map(|arg| arg[i]))).collect()
    }

    fn by_lane(
        &mut self,
        args: &[&Vec<Value>],
        mut f: impl FnMut(&mut Scalars<'_, '_>, &[Value]) -> Value,
    ) -> Vec<Value> {
        let quads = args.iter().map(|arg| arg.len() != self.slices);
        let positions: Vec<_> = quads.map(|quads| self.lane_positions(quads)).collect();
        let mut results = Vec::with_capacity(self.slices * self.per);
        for lane in 0..self.slices * self.per {
            let scalars = args.iter().zip(&positions).map(|(arg, positions)| {
                let (vector, at) = positions[lane];
                self.b.extractlane(arg[vector], at)
            });
            let scalars: Vec<Value> = scalars.collect();
            let exact_nan = self.exact_nan;
            let b = &mut *self.b;
            results.push(f(&mut Scalars { b, exact_nan }, &scalars));
        }
        self.of_scalars(&results)
    }

    fn choose(
        &mut self,
        width: Width,
        mask: &Vec<Value>,
        yes: &Vec<Value>,
        no: &Vec<Value>,
    ) -> Vec<Value> {
        self.select(width, mask, yes, no)
    }

    fn not(&mut self, _: Width, a: &Vec<Value>) -> Vec<Value> {
        self.map1(a, |l, x| l.b.bnot(x))
    }

    fn mul_high(&mut self, _: Width, [a, b]: [&Vec<Value>; 2], signed: bool) -> Vec<Value> {
        self.map2(a, b, |l, x, y| l.high_of_product(x, y, signed))
    }

    fn count_ones(&mut self, width: Width, a: &Vec<Value>) -> Vec<Value> {
        match width {
            Width::W32 => self.map1(a, Self::popcount),
            _ => self.by_lane(&[a], |s, x| s.count_ones(width, &x[0])),
        }
    }

    fn count_zeros(&mut self, width: Width, leading: bool, a: &Vec<Value>) -> Vec<Value> {
        match width {
            Width::W32 => self.map1(a, |l, x| l.zeros(x, leading)),
            Width::W1 | Width::W64 => {
                self.by_lane(&[a], |s, x| s.count_zeros(width, leading, &x[0]))
            }
        }
    }

    fn reverse_bits(&mut self, width: Width, a: &Vec<Value>) -> Vec<Value> {
        match width {
            Width::W32 => self.map1(a, Self::reverse),
            _ => self.by_lane(&[a], |s, x| s.reverse_bits(width, &x[0])),
        }
    }

    fn permute_bytes(&mut self, args: [&Vec<Value>; 3]) -> Vec<Value> {
        if self.per > 4 {
            return self.each(args, |l, [s0, s1, selectors]| l.permute(s0, s1, selectors));
        }
        self.by_lane(&args, |s, x| s.permute_bytes([&x[0], &x[1], &x[2]]))
    }

    fn on_halves(&mut self, op: Halves, args: &[&Vec<Value>]) -> Vec<Value> {
        let args: Vec<&[Value]> = args.iter().map(|arg| arg.as_slice()).collect();
        self.by_halves(op, &args)
    }

    fn byte(&mut self, n: u8, a: &Vec<Value>) -> Vec<Value> {
        self.map1(a, |l, x| {
            let shifted = match n {
                0 => x,
                _ => l.shift(x, 8 * u32::from(n), false),
            };
            if n == 3 {
                return shifted;
            }
            let mask = l.dwords(0xff);
            l.b.band(shifted, mask)
        })
    }

    fn sign_extend(&mut self, width: Width, n: u8, a: &Vec<Value>) -> Vec<Value> {
        let up = if width == Width::W64 { 64 } else { 32 } - i64::from(n);
        self.map1(a, |l, x| {
            let amount = l.b.iconst(types::I32, up);
            let x = l.b.ishl(x, amount);
            l.b.sshr(x, amount)
        })
    }

    fn compare(&mut self, cond: Icmp, width: Width, [a, b]: [&Vec<Value>; 2]) -> Vec<Value> {
        if width != Width::W64 {
            return self.map2(a, b, |l, x, y| l.b.icmp(int_cc(cond), x, y));
        }
        if self.masks {
            return self.compare_by_dwords(cond, a, b);
        }
        let signed = match cond {
            Icmp::Ult => IntCC::SignedLessThan,
            Icmp::Ule => IntCC::SignedLessThanOrEqual,
            Icmp::Eq | Icmp::Ne | Icmp::Slt | Icmp::Sle => int_cc(cond),
        };
        // Without unsigned comparisons of 64-bit lanes: flip the sign bit.
        let top = matches!(cond, Icmp::Ult | Icmp::Ule).then(|| self.quads(1 << 63));
        let wide = self.map2(a, b, |l, x, y| {
            let [x, y] = [x, y].map(|v| top.map_or(v, |top| l.b.bxor(v, top)));
            l.b.icmp(signed, x, y)
        });
        self.narrow_mask(&wide)
    }

    fn pair(&mut self, [low, high]: [&Vec<Value>; 2]) -> Vec<Value> {
        let words = low.iter().zip(high);
        words
            .flat_map(|(&low, &high)| self.unpack(low, high))
            .collect()
    }

    fn word(&mut self, high: bool, a: &Vec<Value>) -> Vec<Value> {
        let quads = a.chunks_exact(2).map(|w| [w[0], w[1]]);
        if self.masks {
            return quads
                .map(|w| self.dwords_of(w)[usize::from(high)])
                .collect();
        }
        let (ty, which) = (self.dwords_type(), if high { ODD } else { EVEN });
        quads.map(|[x, y]| self.shuffle(ty, x, y, which)).collect()
    }

    fn extend(&mut self, signed: bool, a: &Vec<Value>) -> Vec<Value> {
        let extended = a.iter().flat_map(|&low| {
            let high = match signed {
                true => {
                    let amount = self.b.iconst(types::I32, 31);
                    self.b.sshr(low, amount)
                }
                false => self.dwords(0),
            };
            self.unpack(low, high)
        });
        extended.collect()
    }

    fn bool_to_int(&mut self, a: &Vec<Value>) -> Vec<Value> {
        self.map1(a, |l, x| {
            let one = l.dwords(1);
            l.b.band(x, one)
        })
    }

    fn shifted(&mut self, x: &Vec<Value>, by: u32, left: bool) -> Vec<Value> {
        self.map1(x, |l, x| l.shift(x, by, left))
    }

    fn mask_of(&mut self, float: Float, compared: Vec<Value>) -> Vec<Value> {
        match float {
            Float::F32 => compared,
            Float::F64 => self.narrow_mask(&compared),
        }
    }

    fn integer_to_float(&mut self, float: Float, signed: bool, a: &Vec<Value>) -> Vec<Value> {
        let convert = |l: &mut Self, x: Value| {
            let ty = l.vector(float);
            let f = match signed {
                true => l.b.fcvt_from_sint(ty, x),
                false => l.b.fcvt_from_uint(ty, x),
            };
            l.as_bits(float, f)
        };
        match float {
            Float::F32 => self.map1(a, convert),
            Float::F64 if self.per > 4 => self.widen_integers(a, !signed),
            Float::F64 => self.by_half(a, |l, half| {
                let wide = match signed {
                    true => l.b.swiden_low(half),
                    false => l.b.uwiden_low(half),
                };
                convert(l, wide)
            }),
        }
    }

    fn float_to_integer(&mut self, float: Float, signed: bool, a: &Vec<Value>) -> Vec<Value> {
        match float {
            Float::F32 => self.map1(a, |l, x| {
                let f = l.as_float(Float::F32, x);
                let ty = l.dwords_type();
                match signed {
                    true => l.b.fcvt_to_sint_sat(ty, f),
                    false => l.b.fcvt_to_uint_sat(ty, f),
                }
            }),
            Float::F64 if self.per > 4 => compound::to_integer(self, a, signed),
            Float::F64 => self.by_lane(&[a], |s, x| s.float_to_integer(float, signed, &x[0])),
        }
    }

    fn promote(&mut self, a: &Vec<Value>) -> Vec<Value> {
        if self.per == 4 {
            return self.by_half(a, |l, half| {
                let f = l.as_float(Float::F32, half);
                let f = l.b.fvpromote_low(f);
                l.as_bits(Float::F64, f)
            });
        }
        let ty = self.vector(Float::F64);
        let halves = [VirOp::PromoteLow, VirOp::PromoteHigh];
        let wide = a.iter().flat_map(|&x| halves.map(|half| (x, half)));
        wide.map(|(x, half)| {
            let f = self.as_float(Float::F32, x);
            let f = self.b.op(half, &[f], ty);
            self.as_bits(Float::F64, f)
        })
        .collect()
    }

    fn narrow(&mut self, flush: Flush, a: &Vec<Value>) -> Vec<Value> {
        let plain = self.demote(a, None);
        if !flush.dst {
            return plain;
        }
        let scaled = self.demote(a, Some(4_294_967_296.0));
        self.map2(&plain, &scaled, |l, r, s| {
            let s = l.as_float(Float::F32, s);
            l.finish(Float::F32, flush, r, Some(s))
        })
    }

    fn rsq_single(&mut self, a: &Vec<Value>) -> Vec<Value> {
        match self.masks {
            true => self.map1(a, Self::rsq),
            false => self.rsq_by_root(a),
        }
    }

    fn estimate_rsq(&mut self, x: &Vec<Value>) -> Vec<Value> {
        self.map1(x, |l, x| {
            let x = l.as_float(Float::F64, x);
            let y = l.root_reciprocal(x);
            l.as_bits(Float::F64, y)
        })
    }

    fn scale_by_power(
        &mut self,
        float: Float,
        flush: Flush,
        [a, n]: [&Vec<Value>; 2],
    ) -> Vec<Value> {
        match float {
            Float::F32 => self.ldexp(flush, a, n),
            Float::F64 if self.masks => self.scaled_doubles(flush, a, n),
            Float::F64 => compound::ldexp_double(self, flush, a, n),
        }
    }

    fn unless_any(
        &mut self,
        width: Width,
        mask: &Vec<Value>,
        usual: Vec<Value>,
        rare: impl FnOnce(&mut Self) -> Vec<Value>,
    ) -> Vec<Value> {
        let ty = match width {
            Width::W64 => self.quads_type(),
            _ => self.dwords_type(),
        };
        let usual = self.map1(&usual, |l, v| l.b.bitcast(ty, v));
        let any = self.any(mask);
        self.where_any(any, &usual, rare)
    }
}

impl Lanes<'_, '_> {
    /// Quads of two vectors of their low and their high dwords.
    fn unpack(&mut self, low: Value, high: Value) -> [Value; 2] {
        let ty = self.quads_type();
        [UNPACK_LOW, UNPACK_HIGH].map(|half| self.shuffle(ty, low, high, half))
    }

    /// Quads of the low and the high two of four dwords, which are moved to the low half.
    fn by_half(&mut self, a: &[Value], f: impl Fn(&mut Self, Value) -> Value) -> Vec<Value> {
        let mut wide = Vec::with_capacity(a.len() * 2);
        for &x in a {
            let high = self.shuffle(self.dwords_type(), x, x, HIGH_HALF);
            wide.extend([x, high].map(|half| f(self, half)));
        }
        wide
    }

    /// For each lane its vector, and its position in it.
    fn lane_positions(&self, quads: bool) -> Vec<(usize, u8)> {
        let mut positions = vec![(0, 0); self.slices * self.per];
        for slice in 0..self.slices {
            for n in 0..self.per {
                let (vector, at, lane) = if quads {
                    let (second, at) = (n >= self.per / 2, n % (self.per / 2));
                    let lane = self.lane_of_quad(second, at);
                    (2 * slice + usize::from(second), at, lane)
                } else {
                    (slice, n, n)
                };
                positions[slice * self.per + lane] = (vector, at as u8);
            }
        }
        positions
    }

    /// The vectors of the lanes' scalars.
    fn of_scalars(&mut self, lanes: &[Value]) -> Vec<Value> {
        let ty = self.b.func.ty(lanes[0]);
        debug_assert_ne!(ty, wave_type(Width::W1), "masks have vector forms");
        let quads = ty == types::I64;
        let (ty, count) = match quads {
            true => (self.quads_type(), 2 * self.slices),
            false => (self.dwords_type(), self.slices),
        };
        let mut vectors: Vec<Option<Value>> = vec![None; count];
        for (&x, (vector, at)) in lanes.iter().zip(self.lane_positions(quads)) {
            vectors[vector] = Some(match vectors[vector] {
                None => self.b.splat(ty, x),
                Some(v) => self.b.insertlane(v, x, at),
            });
        }
        vectors.into_iter().flatten().collect()
    }
}
