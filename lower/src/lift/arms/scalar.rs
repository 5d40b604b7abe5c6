//! SOP1, SOP2, SOPK, SOPC, SOPP: the scalar unit. Everything here is wave-uniform integer work; the
//! SCC rules of the rows are applied in one place.

use frontend::desc::Scc;
use frontend::inst::{Inst, M0, Operand, Special, VCC_LO};
use frontend::op::{Cmp, Logic, Op};
use frontend::ops;
use frontend::state::mode;
use frontend::ty::Ty;

use crate::abi::{PRIVATE_BASE, SHARED_BASE};
use crate::ir::Val;
use crate::ir::functions::EffectFn;
use crate::lift::arms::memory::effect;
use crate::lift::arms::{Lowered, Sites};
use crate::lift::guest::Guest;
use crate::lift::value::{M, Q, U};

/// Result of an operation: the value of D and, for the rules that use it, a truth value for SCC.
enum Out<'b> {
    W(U<'b>),
    D(Q<'b>),
    /// D and SCC by the operation itself.
    WithScc(U<'b>, M<'b>),
    /// SCC only.
    Test(M<'b>),
    /// Already complete.
    Nothing,
}

/// The value of a special source as a 32-bit operand.
pub(super) fn special32<'b>(g: &mut Guest<'b>, special: Special) -> Option<U<'b>> {
    let b = g.b;
    let zero_test = |v: Q<'b>| v.is_zero().int();
    Some(match special {
        Special::Vccz => zero_test(Q::new(b, g.vcc())),
        Special::Execz => zero_test(Q::new(b, g.exec())),
        Special::Scc => M::new(b, g.scc()).int(),
        // 32-bit reads of the aperture registers give 0 in hardware.
        Special::SharedBase
        | Special::SharedLimit
        | Special::PrivateBase
        | Special::PrivateLimit
        | Special::PopsExitingWaveId => U::imm(b, 0),
        Special::LdsDirect => U::new(b, g.lds_direct?),
    })
}

/// The value of a special source as a 64-bit operand.
pub(super) fn special64<'b>(g: &mut Guest<'b>, special: Special) -> Option<Q<'b>> {
    let b = g.b;
    let limit = 0xffff_ffff;
    Some(match special {
        Special::SharedBase => Q::imm(b, SHARED_BASE),
        Special::SharedLimit => Q::imm(b, SHARED_BASE + limit),
        Special::PrivateBase => Q::imm(b, PRIVATE_BASE),
        Special::PrivateLimit => Q::imm(b, PRIVATE_BASE + limit),
        Special::PopsExitingWaveId
        | Special::Vccz
        | Special::Execz
        | Special::Scc
        | Special::LdsDirect => special32(g, special)?.zext(),
    })
}

/// A 32-bit source of the scalar unit.
fn read32<'b>(g: &mut Guest<'b>, operand: Operand, ty: Ty) -> Option<U<'b>> {
    let b = g.b;
    Some(match operand {
        Operand::Sgpr(n) => U::new(b, g.read_s32(n)),
        Operand::Inline { bits, .. } | Operand::Literal { bits, .. } => U::imm(b, bits),
        Operand::Special(special) => special32(g, special)?,
        // simm16: the unsigned compares take it zero-extended.
        Operand::Imm(value) if ty == Ty::U32 => U::imm(b, u64::from(value as u16)),
        Operand::Imm(value) => U::imm(b, value as u64),
        Operand::None | Operand::Vgpr(_) | Operand::Agpr(_) => return None,
    })
}

/// A 64-bit source of the scalar unit.
fn read64<'b>(g: &mut Guest<'b>, operand: Operand) -> Option<Q<'b>> {
    let b = g.b;
    Some(match operand {
        Operand::Sgpr(n) => Q::new(b, g.read_s64(n)),
        Operand::Inline { bits, .. } | Operand::Literal { bits, .. } => Q::imm(b, bits),
        Operand::Special(special) => special64(g, special)?,
        Operand::Imm(value) => Q::imm(b, i64::from(value) as u64),
        Operand::None | Operand::Vgpr(_) | Operand::Agpr(_) => return None,
    })
}

/// Lowers a scalar ALU instruction that does not change the flow of control.
pub(super) fn lower(g: &mut Guest<'_>, inst: &Inst, pc: u64, sites: &mut Sites) -> Lowered {
    if let Op::MovRelS | Op::MovRelD = inst.op() {
        return relative(g, inst).unwrap_or(Lowered::Fallback);
    }
    match compute(g, inst, pc, sites) {
        None => Lowered::Fallback,
        Some(out) => {
            write(g, inst, out);
            Lowered::Done
        }
    }
}

/// `s_movrel`. The register that M0 names must be a numbered one; a moved value may be any source.
fn relative<'b>(g: &mut Guest<'b>, inst: &Inst) -> Option<Lowered> {
    let (Operand::Sgpr(_), source) = (inst.dst[0], inst.src[0]) else {
        return None;
    };
    let value = if inst.op() == Op::MovRelS {
        let Operand::Sgpr(_) = source else {
            return None;
        };
        None
    } else if inst.dst_ty(0).bits() == 64 {
        Some(read64(g, source)?.v)
    } else {
        Some(read32(g, source, inst.src_ty(0))?.v)
    };
    Some(Lowered::ScalarMove(value))
}

/// Applies the SCC rule, then writes D.
fn write(g: &mut Guest<'_>, inst: &Inst, out: Out<'_>) {
    let rule = inst.desc.scc;
    let scc = match (&out, rule) {
        (Out::W(d), Scc::NonZero) => Some(d.is_nonzero()),
        (Out::D(d), Scc::NonZero) => Some(d.is_nonzero()),
        (Out::WithScc(_, scc) | Out::Test(scc), _) => Some(*scc),
        _ => None,
    };
    let d = inst.dst[0];
    match (out, d) {
        (Out::W(v) | Out::WithScc(v, _), Operand::Sgpr(n)) => g.write_s32(n, v.v),
        (Out::D(v), Operand::Sgpr(n)) => g.write_s64(n, v.v),
        _ => {}
    }
    if let Some(scc) = scc {
        g.set_scc(scc.v);
    }
}

fn compute<'b>(g: &mut Guest<'b>, inst: &Inst, pc: u64, sites: &mut Sites) -> Option<Out<'b>> {
    let is_test = matches!(inst.op(), Op::Cmp(_) | Op::Bitcmp0 | Op::Bitcmp1);
    let wide = if is_test {
        inst.src_ty(0).bits() == 64
    } else {
        inst.desc.dst.first().is_some_and(|ty| ty.bits() == 64)
    };
    let counts64 = inst.desc.src.first().is_some_and(|ty| ty.bits() == 64);
    let position = |count: U<'b>| Out::W(first_or_none(count, 64));
    match inst.op() {
        Op::Nop | Op::Waitcnt | Op::Hint(_) | Op::Sendmsg => Some(Out::Nothing),
        // Handled by the region.
        Op::Branch(_) | Op::Call | Op::SetPc | Op::SwapPc | Op::Endpgm | Op::Barrier => None,
        Op::CbranchGFork | Op::CbranchIFork | Op::CbranchJoin | Op::SetVskip => None,
        Op::Trap | Op::Rfe | Op::RfeRestore => None,
        Op::SaveExec(logic) => exec_logic(g, inst, logic, true),
        Op::WrExec(logic) => exec_logic(g, inst, logic, false),
        Op::GetPc => {
            let next = g.b.code_address(pc.wrapping_add(u64::from(inst.len)));
            Some(Out::D(Q::new(g.b, next)))
        }
        Op::SetGprIdxOn => {
            let index = read32(g, inst.src[0], Ty::B32)?;
            set_indexing(g, Some(index), Some(enables(inst.src[1])?), Some(true))
        }
        Op::SetGprIdxIdx => {
            let index = read32(g, inst.src[0], Ty::B32)?;
            set_indexing(g, Some(index), None, None)
        }
        Op::SetGprIdxMode => set_indexing(g, None, Some(enables(inst.src[0])?), None),
        Op::SetGprIdxOff => set_indexing(g, None, None, Some(false)),
        Op::GetReg => get_reg(g, inst, pc, sites),
        Op::SetReg => set_reg(g, inst, pc, sites),
        Op::Bitcmp0 | Op::Bitcmp1 => bit_test(g, inst, wide),
        // 64-bit source, 32-bit result
        Op::Bcnt0 if counts64 => Some(Out::W((!read64(g, inst.src[0])?).popcnt())),
        Op::Bcnt1 if counts64 => Some(Out::W(read64(g, inst.src[0])?.popcnt())),
        Op::Ff0 if counts64 => Some(position((!read64(g, inst.src[0])?).ctz())),
        Op::Ff1 if counts64 => Some(position(read64(g, inst.src[0])?.ctz())),
        Op::Flbit if counts64 => Some(position(read64(g, inst.src[0])?.clz())),
        Op::FlbitI if counts64 => {
            let s0 = read64(g, inst.src[0])?;
            Some(position((s0 ^ s0.ashr_k(63)).clz()))
        }
        // 32-bit sources, 64-bit result
        Op::Bfm if wide => {
            let (s0, s1) = (
                read32(g, inst.src[0], Ty::U32)?,
                read32(g, inst.src[1], Ty::U32)?,
            );
            let one = Q::imm(g.b, 1);
            Some(Out::D((one.shl(s0) - one).shl(s1)))
        }
        Op::Bitset0 | Op::Bitset1 if wide => {
            let Operand::Sgpr(d) = inst.dst[0] else {
                return None;
            };
            let bit = Q::imm(g.b, 1).shl(read32(g, inst.src[0], Ty::U32)?);
            let old = Q::new(g.b, g.read_s64(d));
            Some(Out::D(if inst.op() == Op::Bitset0 {
                old & !bit
            } else {
                old | bit
            }))
        }
        Op::BitReplicate => {
            let s0 = read32(g, inst.src[0], Ty::B32)?;
            Some(Out::D(bit_replicate(s0)))
        }
        Op::Mov | Op::Select if wide => compute64(g, inst),
        Op::Mov | Op::Select => compute32(g, inst),
        ops!(arithmetic | integer | logic | shifts | bits | compare | scalar | scalar_bits) => {
            match wide {
                true => compute64(g, inst),
                false => compute32(g, inst),
            }
        }
        Op::MovRelS | Op::MovRelD | Op::MovRelSD | Op::MovRelSD2 | ops!(valu | mem) => None,
    }
}

/// -1 if the count is the width, which means that no bit was found.
fn first_or_none(count: U<'_>, bits: u64) -> U<'_> {
    count.eq(count.k(bits)).pick(count.k(u64::MAX), count)
}

/// A source of the row's type, or D for rows that read it.
fn compute32<'b>(g: &mut Guest<'b>, inst: &Inst) -> Option<Out<'b>> {
    let b = g.b;
    let ty = inst.desc.ty();
    let signed = ty.is_signed();
    let s = |g: &mut Guest<'b>, i: usize| read32(g, inst.src[i], inst.src_ty(i));
    let mut s0 = s(g, 0)?;
    // s_addk, s_mulk: D op simm16. Their unsigned-looking immediates are sign-extended.
    if let (Op::Add | Op::Mul, Operand::Imm(value), Operand::Sgpr(d)) =
        (inst.op(), inst.src[0], inst.dst[0])
    {
        s0 = U::new(b, g.read_s32(d));
        let s1 = U::imm(b, value as u64);
        return Some(if inst.op() == Op::Add {
            add_signed(s0, s1)
        } else {
            Out::W(s0 * s1)
        });
    }
    if inst.desc.src.len() < 2 {
        return unary32(g, inst, s0);
    }
    let s1 = if let (Op::Cmp(_), imm @ Operand::Imm(_)) = (inst.op(), inst.src[1]) {
        // s_cmpk: the immediate extends as the register's type says.
        read32(g, imm, inst.src_ty(0))?
    } else {
        s(g, 1)?
    };
    let carry = M::new(b, g.scc());
    Some(match inst.op() {
        Op::Select => Out::W(carry.pick(s0, s1)),
        Op::PackLL => Out::W(s0.pack16(s1)),
        Op::PackLH => Out::W(s0.lo16() | (s1 & s1.k(0xffff_0000))),
        Op::PackHH => Out::W(s0.hi16() | (s1 & s1.k(0xffff_0000))),
        Op::Add if signed => add_signed(s0, s1),
        Op::Add => {
            let d = s0 + s1;
            Out::WithScc(d, d.lt_u(s0))
        }
        Op::Sub if signed => {
            let d = s0 - s1;
            // Overflow: the operands' signs differ and the result's is not S0's.
            Out::WithScc(d, ((s0 ^ s1) & (s0 ^ d)).lt_s(d.k(0)))
        }
        Op::Sub => Out::WithScc(s0 - s1, s0.lt_u(s1)),
        Op::AddCarry => {
            let d = U::new(b, b.add_with_carry(s0.v, s1.v, carry.v));
            let wrapped = (s0 + s1).lt_u(s0) | (carry & (s0 + s1).eq(s0.k(0xffff_ffff)));
            Out::WithScc(d, wrapped)
        }
        Op::SubBorrow => {
            let d = U::new(b, b.sub_with_borrow(s0.v, s1.v, carry.v));
            Out::WithScc(d, s0.lt_u(s1) | (carry & s0.eq(s1)))
        }
        Op::Mul => Out::W(s0 * s1),
        Op::MulHi if signed => Out::W(s0.mul_hi_s(s1)),
        Op::MulHi => Out::W(s0.mul_hi_u(s1)),
        Op::Min if signed => Out::WithScc(s0.min_s(s1), s0.lt_s(s1)),
        Op::Min => Out::WithScc(s0.min_u(s1), s0.lt_u(s1)),
        Op::Max if signed => Out::WithScc(s0.max_s(s1), s1.lt_s(s0)),
        Op::Max => Out::WithScc(s0.max_u(s1), s1.lt_u(s0)),
        Op::AbsDiff => {
            // |S0 - S1| with the difference wrapped to 32 bits first.
            let d = s0 - s1;
            Out::W(d.lt_s(d.k(0)).pick(d.k(0) - d, d))
        }
        Op::ShlNAdd(n) => {
            let n = u32::from(n);
            let d = s0.shl_k(n) + s1;
            let carry = d.lt_u(s1) | s0.lshr_k(32 - n).is_nonzero();
            Out::WithScc(d, carry)
        }
        Op::And => Out::W(s0 & s1),
        Op::Or => Out::W(s0 | s1),
        Op::Xor => Out::W(s0 ^ s1),
        Op::AndN2 => Out::W(s0 & !s1),
        Op::OrN2 => Out::W(s0 | !s1),
        Op::Nand => Out::W(!(s0 & s1)),
        Op::Nor => Out::W(!(s0 | s1)),
        Op::Xnor => Out::W(!(s0 ^ s1)),
        Op::Shl => Out::W(s0.shl(s1)),
        Op::Lshr => Out::W(s0.lshr(s1)),
        Op::Ashr => Out::W(s0.ashr(s1)),
        Op::Bfm => Out::W((s0.k(1).shl(s0) - s0.k(1)).shl(s1)),
        Op::SBfe => {
            // offset S1[4:0], width S1[22:16]
            let offset = s1 & s1.k(31);
            let width = s1.lshr_k(16) & s1.k(0x7f);
            // Bits above the register are sign or zero, so a field that extends beyond it ends at
            // bit 31.
            let field = if signed {
                s0.ashr(offset)
            } else {
                s0.lshr(offset)
            };
            let up = width.k(32) - width.min_u(width.k(32));
            let cut = field.shl(up);
            let cut = if signed { cut.ashr(up) } else { cut.lshr(up) };
            Out::W(width.is_zero().pick(s0.k(0), cut))
        }
        Op::Cmp(cmp) => Out::Test(compare(cmp, inst.src_ty(0).is_signed(), s0, s1)?),
        Op::Nop | Op::Mov | Op::MovRelS | Op::MovRelD | Op::MovRelSD | Op::MovRelSD2 => {
            return None;
        }
        Op::Mad | Op::Mac | Op::Fma | Op::Fmac | Op::Min3 | Op::Max3 | Op::Med3 => return None,
        Op::Not => return None,
        Op::Cmpx(_) | Op::Cmps(_) | Op::Cmpsx(_) | Op::CmpClass | Op::CmpxClass => return None,
        ops!(bits | scalar_bits | scalar_other | control | valu | mem) => return None,
    })
}

fn add_signed<'b>(s0: U<'b>, s1: U<'b>) -> Out<'b> {
    let d = s0 + s1;
    // Overflow: the operands' signs agree and the result's is the other one.
    Out::WithScc(d, (!(s0 ^ s1) & (s0 ^ d)).lt_s(d.k(0)))
}

fn unary32<'b>(g: &mut Guest<'b>, inst: &Inst, s0: U<'b>) -> Option<Out<'b>> {
    let d = |g: &mut Guest<'b>| {
        let Operand::Sgpr(n) = inst.dst[0] else {
            return None;
        };
        Some(U::new(g.b, g.read_s32(n)))
    };
    Some(Out::W(match inst.op() {
        Op::Mov => s0,
        Op::CMov => M::new(g.b, g.scc()).pick(s0, d(g)?),
        Op::Not => !s0,
        Op::Wqm => quads(s0) * s0.k(15),
        Op::QuadMask => gather_quads(quads(s0).zext()).lo(),
        Op::Brev => s0.brev(),
        Op::Bcnt0 => (!s0).popcnt(),
        Op::Bcnt1 => s0.popcnt(),
        Op::Ff0 => first_or_none((!s0).ctz(), 32),
        Op::Ff1 => first_or_none(s0.ctz(), 32),
        Op::Flbit => first_or_none(s0.clz(), 32),
        Op::FlbitI => first_or_none((s0 ^ s0.ashr_k(31)).clz(), 32),
        Op::SextI8 => s0.sext_from(8),
        Op::SextI16 => s0.sext_from(16),
        Op::Bitset0 => d(g)? & !s0.k(1).shl(s0),
        Op::Bitset1 => d(g)? | s0.k(1).shl(s0),
        Op::Abs => s0.lt_s(s0.k(0)).pick(s0.k(0) - s0, s0),
        Op::Nop | Op::Select | Op::MovRelS | Op::MovRelD | Op::MovRelSD | Op::MovRelSD2 => {
            return None;
        }
        Op::And | Op::Or | Op::Xor | Op::AndN2 | Op::OrN2 | Op::Nand | Op::Nor | Op::Xnor => {
            return None;
        }
        ops!(arithmetic | integer | shifts | compare | scalar | scalar_other | control) => {
            return None;
        }
        ops!(valu | mem) => return None,
    }))
}

/// Bit 4n of the result: is a bit of quad n set?
fn quads(s0: U<'_>) -> U<'_> {
    let pairs = s0 | s0.lshr_k(1);
    (pairs | pairs.lshr_k(2)) & s0.k(0x1111_1111)
}

/// Bits 0, 4, 8, … moved together.
fn gather_quads(spread: Q<'_>) -> Q<'_> {
    let x = (spread | spread.lshr_k(3)) & spread.k(0x0303_0303_0303_0303);
    let x = (x | x.lshr_k(6)) & x.k(0x000f_000f_000f_000f);
    let x = (x | x.lshr_k(12)) & x.k(0x0000_00ff_0000_00ff);
    (x | x.lshr_k(24)) & x.k(0xffff)
}

/// Each bit doubled.
fn bit_replicate(s0: U<'_>) -> Q<'_> {
    let x = s0.zext();
    let x = (x | x.shl_k(16)) & x.k(0x0000_ffff_0000_ffff);
    let x = (x | x.shl_k(8)) & x.k(0x00ff_00ff_00ff_00ff);
    let x = (x | x.shl_k(4)) & x.k(0x0f0f_0f0f_0f0f_0f0f);
    let x = (x | x.shl_k(2)) & x.k(0x3333_3333_3333_3333);
    let x = (x | x.shl_k(1)) & x.k(0x5555_5555_5555_5555);
    x | x.shl_k(1)
}

fn compute64<'b>(g: &mut Guest<'b>, inst: &Inst) -> Option<Out<'b>> {
    let b = g.b;
    let s0 = read64(g, inst.src[0])?;
    let signed = inst.desc.ty().is_signed();
    if inst.desc.src.len() < 2 {
        return Some(Out::D(match inst.op() {
            Op::Mov => s0,
            Op::CMov => {
                let Operand::Sgpr(d) = inst.dst[0] else {
                    return None;
                };
                M::new(b, g.scc()).pick(s0, Q::new(b, g.read_s64(d)))
            }
            Op::Not => !s0,
            Op::Wqm => {
                let pairs = s0 | s0.lshr_k(1);
                let quads = (pairs | pairs.lshr_k(2)) & s0.k(0x1111_1111_1111_1111);
                let twos = quads | quads.shl_k(1);
                twos | twos.shl_k(2)
            }
            Op::QuadMask => {
                let pairs = s0 | s0.lshr_k(1);
                gather_quads((pairs | pairs.lshr_k(2)) & s0.k(0x1111_1111_1111_1111))
            }
            Op::Brev => s0.brev(),
            Op::Nop | Op::Select | Op::MovRelS | Op::MovRelD | Op::MovRelSD | Op::MovRelSD2 => {
                return None;
            }
            Op::And | Op::Or | Op::Xor | Op::AndN2 | Op::OrN2 | Op::Nand | Op::Nor | Op::Xnor => {
                return None;
            }
            Op::Ff1 | Op::Flbit | Op::FlbitI | Op::Bcnt0 | Op::Bcnt1 | Op::Ff0 => return None,
            Op::Abs | Op::SextI8 | Op::SextI16 | Op::Bitset0 | Op::Bitset1 => return None,
            ops!(arithmetic | integer | shifts | compare | scalar | scalar_other | control) => {
                return None;
            }
            ops!(valu | mem) => return None,
        }));
    }
    if inst.src_ty(1).bits() == 32 {
        let s1 = read32(g, inst.src[1], Ty::U32)?;
        return Some(Out::D(match inst.op() {
            Op::Shl => s0.shl(s1),
            Op::Lshr => s0.lshr(s1),
            Op::Ashr => s0.ashr(s1),
            Op::SBfe => {
                // offset S1[5:0], width S1[22:16]
                let offset = s1 & s1.k(63);
                let width = s1.lshr_k(16) & s1.k(0x7f);
                let field = if signed {
                    s0.ashr(offset)
                } else {
                    s0.lshr(offset)
                };
                let up = width.k(64) - width.min_u(width.k(64));
                let cut = field.shl(up);
                let cut = if signed { cut.ashr(up) } else { cut.lshr(up) };
                width.is_zero().pick(s0.k(0), cut)
            }
            Op::PackLL | Op::PackLH | Op::PackHH | Op::AbsDiff | Op::ShlNAdd(_) => return None,
            ops!(moves | arithmetic | integer | logic | bits | compare) => return None,
            ops!(scalar_bits | scalar_other | control | valu | mem) => return None,
        }));
    }
    let s1 = read64(g, inst.src[1])?;
    Some(match inst.op() {
        Op::Select => Out::D(M::new(b, g.scc()).pick(s0, s1)),
        Op::And => Out::D(s0 & s1),
        Op::Or => Out::D(s0 | s1),
        Op::Xor => Out::D(s0 ^ s1),
        Op::AndN2 => Out::D(s0 & !s1),
        Op::OrN2 => Out::D(s0 | !s1),
        Op::Nand => Out::D(!(s0 & s1)),
        Op::Nor => Out::D(!(s0 | s1)),
        Op::Xnor => Out::D(!(s0 ^ s1)),
        Op::Cmp(Cmp::Eq) => Out::Test(s0.eq(s1)),
        Op::Cmp(Cmp::Lg) => Out::Test(s0.ne(s1)),
        Op::Nop | Op::Mov | Op::MovRelS | Op::MovRelD | Op::MovRelSD | Op::MovRelSD2 => {
            return None;
        }
        Op::Not => return None,
        Op::Cmp(_) | Op::Cmpx(_) | Op::Cmps(_) | Op::Cmpsx(_) => return None,
        Op::CmpClass | Op::CmpxClass => return None,
        ops!(arithmetic | integer | shifts | bits | salu | valu | mem) => return None,
    })
}

fn compare<'b>(cmp: Cmp, signed: bool, s0: U<'b>, s1: U<'b>) -> Option<M<'b>> {
    let less = |a: U<'b>, b: U<'b>| if signed { a.lt_s(b) } else { a.lt_u(b) };
    let less_equal = |a: U<'b>, b: U<'b>| if signed { a.le_s(b) } else { a.le_u(b) };
    Some(match cmp {
        Cmp::Eq => s0.eq(s1),
        Cmp::Lg => s0.ne(s1),
        Cmp::Lt => less(s0, s1),
        Cmp::Le => less_equal(s0, s1),
        Cmp::Gt => less(s1, s0),
        Cmp::Ge => less_equal(s1, s0),
        Cmp::F | Cmp::T | Cmp::O | Cmp::U => return None,
        Cmp::Nge | Cmp::Nlg | Cmp::Ngt | Cmp::Nle | Cmp::Neq | Cmp::Nlt => return None,
    })
}

fn bit_test<'b>(g: &mut Guest<'b>, inst: &Inst, wide: bool) -> Option<Out<'b>> {
    let n = read32(g, inst.src[1], Ty::U32)?;
    let bit = if wide {
        (read64(g, inst.src[0])?.lshr(n) & Q::imm(g.b, 1)).is_zero()
    } else {
        (read32(g, inst.src[0], Ty::B32)?.lshr(n) & U::imm(g.b, 1)).is_zero()
    };
    Some(Out::Test(if inst.op() == Op::Bitcmp0 { bit } else { !bit }))
}

/// The saveexec and wrexec families. S0 is read before EXEC and D are written.
fn exec_logic<'b>(g: &mut Guest<'b>, inst: &Inst, logic: Logic, save: bool) -> Option<Out<'b>> {
    let s0 = read64(g, inst.src[0])?;
    let exec = Q::new(g.b, g.exec());
    let new = match logic {
        Logic::And => s0 & exec,
        Logic::Or => s0 | exec,
        Logic::Xor => s0 ^ exec,
        Logic::AndN2 => s0 & !exec,
        Logic::OrN2 => s0 | !exec,
        Logic::Nand => !(s0 & exec),
        Logic::Nor => !(s0 | exec),
        Logic::Xnor => !(s0 ^ exec),
        Logic::AndN1 => !s0 & exec,
        Logic::OrN1 => !s0 | exec,
    };
    let Operand::Sgpr(d) = inst.dst[0] else {
        return None;
    };
    g.write_s64(d, if save { exec.v } else { new.v });
    g.set_exec(new.v);
    g.set_scc(new.is_nonzero().v);
    Some(Out::Nothing)
}

/// Fields of `simm16` of `s_getreg` and `s_setreg`: (register, offset, size).
pub(super) fn hwreg_field(operand: Operand) -> Option<(u32, u32, u32)> {
    let Operand::Imm(field) = operand else {
        return None;
    };
    let field = field as u32;
    Some((field & 63, field >> 6 & 31, (field >> 11 & 31) + 1))
}

/// Hardware register numbers.
mod hwreg {
    pub(super) const MODE: u32 = 1;
    pub(super) const TRAPSTS: u32 = 3;
}

fn get_reg<'b>(g: &mut Guest<'b>, inst: &Inst, pc: u64, sites: &mut Sites) -> Option<Out<'b>> {
    let (register, offset, size) = hwreg_field(inst.src[0])?;
    let b = g.b;
    if register != hwreg::MODE {
        let scc = M::new(b, g.scc()).int();
        let args = [scc.v, g.exec(), g.vcc(), g.mode_reg()];
        let site = sites.add(pc, inst);
        let field = effect(g, EffectFn::GetReg, site, &args, 0, 1);
        return Some(Out::W(U::new(b, field)));
    }
    let value = match (offset + size <= 10, g.mode & mode::FLOAT_BITS) {
        // Bits 9:0 are float bits, which are constant.
        (true, known) => U::imm(b, u64::from(known)),
        (false, _) => U::new(b, g.mode_reg()),
    };
    let shifted = value.lshr_k(offset);
    Some(Out::W(match size {
        32 => shifted,
        _ => shifted & value.k((1 << size) - 1),
    }))
}

fn set_reg<'b>(g: &mut Guest<'b>, inst: &Inst, pc: u64, sites: &mut Sites) -> Option<Out<'b>> {
    let (register, _, _) = hwreg_field(inst.src[1])?;
    match register {
        // Changes the translation of later code: handled by the region.
        hwreg::MODE => None,
        hwreg::TRAPSTS => {
            let s0 = read32(g, inst.src[0], Ty::B32)?;
            let site = sites.add(pc, inst);
            effect(g, EffectFn::SetReg, site, &[s0.v], 0, 0);
            Some(Out::Nothing)
        }
        // Not writable.
        _ => Some(Out::Nothing),
    }
}

/// Is it an `s_setreg` of bits of MODE?
pub(crate) fn sets_mode(inst: &Inst) -> bool {
    inst.op() == Op::SetReg && hwreg_field(inst.src[1]).is_some_and(|f| f.0 == hwreg::MODE)
}

/// An address in a pair of scalar registers; instructions start at multiples of 4.
pub(crate) fn address(g: &mut Guest<'_>, operand: Operand) -> Option<Val> {
    let to = read64(g, operand)?;
    Some((to & to.k(!3)).v)
}

/// `s_setreg` of MODE and `s_setvskip`: the complete new MODE. The float bits of the following code
/// are unknown from here on.
pub(crate) fn write_mode(g: &mut Guest<'_>, inst: &Inst) -> Option<()> {
    let old = U::new(g.b, g.mode_reg());
    let new = if inst.op() == Op::SetVskip {
        let bits = read32(g, inst.src[0], Ty::B32)?;
        let bit = bits.lshr(read32(g, inst.src[1], Ty::U32)?) & old.k(1);
        let at = mode::VSKIP.trailing_zeros();
        (old & old.k(u64::from(!mode::VSKIP))) | bit.shl_k(at)
    } else {
        let value = read32(g, inst.src[0], Ty::B32)?;
        let (_, offset, size) = hwreg_field(inst.src[1])?;
        let field = (((1u64 << size) - 1) << offset) & 0xffff_ffff;
        (old & old.k(!field)) | (value.shl_k(offset) & old.k(field))
    };
    g.set_mode_reg(new.v, g.mode);
    Some(())
}

/// The enables of GPR indexing in an immediate.
fn enables(operand: Operand) -> Option<u64> {
    let Operand::Imm(imm) = operand else {
        return None;
    };
    Some(imm as u64 & 15)
}

/// Changes GPR indexing: MODE has the switch; M0 the index in bits 7:0 and the enables in bits
/// 15:12.
fn set_indexing<'b>(
    g: &mut Guest<'b>,
    index: Option<U<'b>>,
    enables: Option<u64>,
    switch: Option<bool>,
) -> Option<Out<'b>> {
    let mut m0 = U::new(g.b, g.read_s32(M0));
    if let Some(index) = index {
        m0 = (m0 & m0.k(!0xff)) | (index & m0.k(0xff));
    }
    if let Some(enables) = enables {
        m0 = (m0 & m0.k(!0xf000)) | m0.k(enables << 12);
    }
    g.write_s32(M0, m0.v);
    let old = U::new(g.b, g.mode_reg());
    let bit = u64::from(mode::GPR_IDX_EN);
    let new = match switch {
        Some(true) => old | old.k(bit),
        Some(false) => old & old.k(!bit),
        None => old,
    };
    g.set_mode_reg(new.v, g.mode);
    Some(Out::Nothing)
}

/// VCC as a lane mask for consumers confined to the active lanes.
pub(super) fn vcc_mask<'b>(g: &mut Guest<'b>) -> M<'b> {
    M::new(g.b, g.read_mask(VCC_LO))
}
