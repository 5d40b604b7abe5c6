//! Which host operations a lane operation is; see [`Lanes::op`].

use super::{EVEN, HIGH_HALF, Lanes, ODD, UNPACK_HIGH, UNPACK_LOW};
use crate::ir::{Float, Op, Width};
use crate::legalize::compound;
use crate::legalize::division::Division;
use crate::legalize::roots;
use crate::legalize::scalar::{Scalars, clif_type, float_cc, layout};
use crate::vir::{FloatCC, Op as VirOp, Value, types};

impl Lanes<'_, '_> {
    /// One operation on a group; `width` is the width of the first argument.
    pub(crate) fn op(&mut self, op: Op, width: Width, args: &[&[Value]]) -> Vec<Value> {
        let a = args[0];
        let b = args.get(1).copied().unwrap_or(&[]);
        match op {
            Op::Add => self.map2(a, b, |l, x, y| l.b.iadd(x, y)),
            Op::Sub => self.map2(a, b, |l, x, y| l.b.isub(x, y)),
            Op::Mul => self.map2(a, b, |l, x, y| l.b.imul(x, y)),
            Op::And => self.map2(a, b, |l, x, y| l.b.band(x, y)),
            Op::Or => self.map2(a, b, |l, x, y| l.b.bor(x, y)),
            Op::Xor => self.map2(a, b, |l, x, y| l.b.bxor(x, y)),
            Op::Not => self.map1(a, |l, x| l.b.bnot(x)),
            Op::MinU if width == Width::W32 => self.map2(a, b, |l, x, y| l.b.umin(x, y)),
            Op::MaxU if width == Width::W32 => self.map2(a, b, |l, x, y| l.b.umax(x, y)),
            Op::MinS if width == Width::W32 => self.map2(a, b, |l, x, y| l.b.smin(x, y)),
            Op::MaxS if width == Width::W32 => self.map2(a, b, |l, x, y| l.b.smax(x, y)),
            Op::MulHiU | Op::MulHiS => {
                let signed = op == Op::MulHiS;
                self.map2(a, b, |l, x, y| l.high_of_product(x, y, signed))
            }
            Op::Brev if width == Width::W32 => self.map1(a, |l, x| l.reverse(x)),
            Op::Popcnt if width == Width::W32 => self.map1(a, |l, x| l.popcount(x)),
            Op::Halves(op) => self.by_halves(op, args),
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
                l.b.band(shifted, mask)
            }),
            Op::SextFrom(n) => {
                let up = if width == Width::W64 { 64 } else { 32 } - i64::from(n);
                self.map1(a, |l, x| {
                    let amount = l.b.iconst(types::I32, up);
                    let x = l.b.ishl(x, amount);
                    l.b.sshr(x, amount)
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
                        let amount = self.b.iconst(types::I32, 31);
                        self.b.sshr(lo, amount)
                    };
                    wide.push(self.shuffle(self.quads_type(), lo, hi, UNPACK_LOW));
                    wide.push(self.shuffle(self.quads_type(), lo, hi, UNPACK_HIGH));
                }
                wide
            }
            Op::Lo | Op::Hi if self.masks => {
                let which = usize::from(op == Op::Hi);
                let quads = a.chunks_exact(2);
                quads.map(|w| self.dwords_of([w[0], w[1]])[which]).collect()
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
                l.b.band(x, one)
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
                        self.b.fcmp(float_cc(cond), x, y)
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
                        Op::FFloor(_) => l.b.floor(f),
                        Op::FCeil(_) => l.b.ceil(f),
                        Op::FTrunc(_) => l.b.trunc(f),
                        _ => l.b.nearest(f),
                    };
                    l.as_bits(float, r)
                }),
            Op::FQuiet(float) => self.map1(a, |l, x| {
                let f = l.as_float(float, x);
                let is = l.b.fcmp(FloatCC::Unordered, f, f);
                let is = l.cast(l.bits_type(float), is);
                let quiet = l.constant(float, layout(float).quiet);
                let bit = l.b.band(is, quiet);
                l.b.bor(x, bit)
            }),
            Op::FFlush(float) => self.map1(a, |l, x| l.flush(float, x)),
            Op::CvtFromS(Float::F32) => self.map1(a, |l, x| {
                let ty = l.vector(Float::F32);
                let f = l.b.fcvt_from_sint(ty, x);
                l.as_bits(Float::F32, f)
            }),
            Op::CvtFromU(Float::F32) => self.map1(a, |l, x| {
                let ty = l.vector(Float::F32);
                let f = l.b.fcvt_from_uint(ty, x);
                l.as_bits(Float::F32, f)
            }),
            Op::CvtFromS(Float::F64) | Op::CvtFromU(Float::F64) if self.per > 4 => {
                self.widen_integers(a, matches!(op, Op::CvtFromU(_)))
            }
            Op::CvtFromS(Float::F64) | Op::CvtFromU(Float::F64) => {
                let mut wide = Vec::with_capacity(a.len() * 2);
                for &x in a {
                    let high = self.shuffle(self.dwords_type(), x, x, HIGH_HALF);
                    for half in [x, high] {
                        let f = if matches!(op, Op::CvtFromS(_)) {
                            let w = self.b.swiden_low(half);
                            self.b.fcvt_from_sint(types::F64X2, w)
                        } else {
                            let w = self.b.uwiden_low(half);
                            self.b.fcvt_from_uint(types::F64X2, w)
                        };
                        wide.push(self.as_bits(Float::F64, f));
                    }
                }
                wide
            }
            Op::CvtToS(Float::F32) => self.map1(a, |l, x| {
                let f = l.as_float(Float::F32, x);
                let ty = l.dwords_type();
                l.b.fcvt_to_sint_sat(ty, f)
            }),
            Op::CvtToU(Float::F32) => self.map1(a, |l, x| {
                let f = l.as_float(Float::F32, x);
                let ty = l.dwords_type();
                l.b.fcvt_to_uint_sat(ty, f)
            }),
            Op::CvtToS(Float::F64) if self.per > 4 => compound::to_integer(self, &a.to_vec(), true),
            Op::CvtToU(Float::F64) if self.per > 4 => {
                compound::to_integer(self, &a.to_vec(), false)
            }
            Op::FWiden if self.per > 4 => {
                let ty = self.vector(Float::F64);
                let halves = [VirOp::PromoteLow, VirOp::PromoteHigh];
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
                        let f = self.b.fvpromote_low(f);
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
            Op::FRsq(Float::F32) if self.masks => self.map1(a, Self::rsq),
            Op::FRsq(Float::F32) => self.rsq_by_root(a),
            Op::FRsq(Float::F64) => roots::rsq_double(self, &a.to_vec()),
            Op::Ldexp(Float::F32, flush) => self.ldexp(flush, a, b),
            Op::FrexpMant(Float::F32) => self.map1(a, Self::frexp_mant),
            Op::FrexpExp(Float::F32) => self.map1(a, Self::frexp_exp),
            Op::Ldexp(Float::F64, flush) if self.masks => self.scaled_doubles(flush, a, b),
            Op::Ldexp(Float::F64, flush) => {
                compound::ldexp_double(self, flush, &a.to_vec(), &b.to_vec())
            }
            Op::FrexpMant(Float::F64) => compound::frexp_mant_double(self, &a.to_vec()),
            Op::FrexpExp(Float::F64) => compound::frexp_exp_double(self, &a.to_vec()),
            Op::Quotient(float, flush) => {
                Division::new(self, float).quotient(flush, &a.to_vec(), &b.to_vec())
            }
            Op::DivScale(float) => {
                let v = args.iter().map(|arg| arg.to_vec()).collect::<Vec<_>>();
                Division::new(self, float).scale([&v[0], &v[1], &v[2]], &v[3])
            }
            Op::DivScaled(float) => {
                let v = args.iter().map(|arg| arg.to_vec()).collect::<Vec<_>>();
                Division::new(self, float).scaled(&v[0], &v[1], &v[2])
            }
            Op::DivFmas(float, flush) => {
                let v = args.iter().map(|arg| arg.to_vec()).collect::<Vec<_>>();
                Division::new(self, float).fmas(flush, [&v[0], &v[1], &v[2]], &v[3])
            }
            Op::DivFixup(float) => {
                let v = args.iter().map(|arg| arg.to_vec()).collect::<Vec<_>>();
                Division::new(self, float).fixup([&v[0], &v[1], &v[2]], &v[3])
            }
            Op::Call(f, _) => self.function(f, args).swap_remove(0),
            Op::Perm if self.per > 4 => (0..a.len())
                .map(|i| self.permute(a[i], b[i], args[2][i]))
                .collect(),
            _ => self.by_lane(op, width, args),
        }
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
                let v = self.b.extractlane(arg[vector], at);
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
        let ty = self.b.func.ty(results[0]);
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
                None => self.b.splat(vec_ty, x),
                Some(v) => self.b.insertlane(v, x, at),
            });
        }
        vectors.into_iter().flatten().collect()
    }
}
