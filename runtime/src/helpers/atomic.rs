//! Atomics of the whole wave, on global memory, through FLAT and on LDS, and the DS operations that
//! are not plain loads or stores. Lanes act in ascending order; on guest memory each is one host
//! atomic.

use frontend::op::{Atomic, DsOp, Op, Space};
use frontend::{LANES, Ty};
use lower::abi::ExitCode;

use super::memory::{Bounds, Place, active, addresses, place, wrapped};
use super::{Call, Words};
use crate::choices;
use crate::fault::{Access, FaultKind};
use crate::math::{self, Denorm, Env, Round};
use crate::memory::Memory;

/// An operation on a memory word of one or two dwords.
#[derive(Clone, Copy)]
pub(super) struct Rmw {
    op: Atomic,
    /// Two dwords.
    wide: bool,
    /// How float additions treat denormals.
    denorm: Denorm,
    /// The same, where FLAT finds LDS.
    flat_lds: Denorm,
}

/// Operations by their number in `lower::ir::functions::atomic_code`.
pub(super) const OPERATIONS: [Atomic; 22] = [
    Atomic::Swap,
    Atomic::CmpSwap,
    Atomic::Add,
    Atomic::Sub,
    Atomic::Rsub,
    Atomic::MinI,
    Atomic::MinU,
    Atomic::MaxI,
    Atomic::MaxU,
    Atomic::And,
    Atomic::Or,
    Atomic::Xor,
    Atomic::Inc,
    Atomic::Dec,
    Atomic::FCmpSwap,
    Atomic::FMin,
    Atomic::FMax,
    Atomic::FAdd,
    Atomic::PkFAdd16,
    Atomic::Mskor,
    Atomic::Wrap,
    Atomic::PkFAddBf16,
];

const _: () = {
    let mut i = 0;
    while i < OPERATIONS.len() {
        assert!(OPERATIONS[i] as usize == i);
        i += 1;
    }
};

/// Does the operation take a second operand?
pub(super) fn takes_two(op: Atomic) -> bool {
    matches!(
        op,
        Atomic::CmpSwap | Atomic::FCmpSwap | Atomic::Mskor | Atomic::Wrap
    )
}

impl Rmw {
    /// An operation of its own.
    pub(super) fn new(op: Atomic, wide: bool, denorm: Denorm) -> Rmw {
        Rmw {
            op,
            wide,
            denorm,
            flat_lds: denorm,
        }
    }

    /// The operation where FLAT finds LDS.
    fn on_lds(self) -> Rmw {
        Rmw {
            denorm: self.flat_lds,
            ..self
        }
    }

    /// From an atomic code.
    pub(super) fn of(code: u64, denorm: Denorm) -> Rmw {
        Rmw::new(
            OPERATIONS[(code & 0xff) as usize],
            code >> 16 & 0xff == 2,
            denorm,
        )
    }

    /// Bytes of the memory word.
    pub(super) fn bytes(self) -> usize {
        if self.wide { 8 } else { 4 }
    }

    /// The sign-extended value.
    fn signed(self, x: u64) -> i64 {
        if self.wide {
            x as i64
        } else {
            i64::from(x as i32)
        }
    }

    /// Float comparison of two words: less, equal.
    fn less(self, a: u64, b: u64) -> bool {
        if self.wide {
            f64::from_bits(a) < f64::from_bits(b)
        } else {
            f32::from_bits(a as u32) < f32::from_bits(b as u32)
        }
    }

    fn equal(self, a: u64, b: u64) -> bool {
        if self.wide {
            f64::from_bits(a) == f64::from_bits(b)
        } else {
            f32::from_bits(a as u32) == f32::from_bits(b as u32)
        }
    }

    fn sum(self, a: u64, b: u64) -> u64 {
        let env = Env {
            round: Round::NearestEven,
            denorm: self.denorm,
        };
        if self.wide {
            math::add_f64_flush(a, b, env)
        } else {
            u64::from(math::add_f32_flush(a as u32, b as u32, env))
        }
    }

    /// The sum of two bf16, to nearest even. f32 has more than twice as many bits and the same exponents, so that a sum that is
    /// rounded to f32 first has the same result.
    fn sum_bf16(self, a: u16, b: u16) -> u16 {
        let denormal = |x: u16| x & 0x7f80 == 0;
        let flush = |x: u16, flushes: bool| match denormal(x) && flushes {
            true => x & 0x8000,
            false => x,
        };
        let wide = |x: u16| f32::from_bits(u32::from(flush(x, self.denorm.flush_src)) << 16);
        let sum = wide(a) + wide(b);
        if sum.is_nan() {
            return choices::BF16_NAN;
        }
        let bits = sum.to_bits();
        let rounded = (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
        flush(rounded as u16, self.denorm.flush_dst)
    }

    /// Both halves of a word.
    fn halves(mem: u64, data: u64, sum: impl Fn(u16, u16) -> u16) -> u64 {
        let half =
            |shift: u32| u64::from(sum((mem >> shift) as u16, (data >> shift) as u16)) << shift;
        half(0) | half(16)
    }

    /// The new memory word. `second` is the compare value, or DATA1.
    pub(super) fn apply(self, mem: u64, data: u64, second: u64) -> u64 {
        let new = match self.op {
            Atomic::Swap => data,
            Atomic::CmpSwap if mem == second => data,
            Atomic::CmpSwap => mem,
            Atomic::Add => mem.wrapping_add(data),
            Atomic::Sub => mem.wrapping_sub(data),
            Atomic::Rsub => data.wrapping_sub(mem),
            Atomic::MinI if self.signed(data) < self.signed(mem) => data,
            Atomic::MinI => mem,
            Atomic::MaxI if self.signed(data) > self.signed(mem) => data,
            Atomic::MaxI => mem,
            Atomic::MinU => mem.min(data),
            Atomic::MaxU => mem.max(data),
            Atomic::And => mem & data,
            Atomic::Or => mem | data,
            Atomic::Xor => mem ^ data,
            Atomic::Inc if mem >= data => 0,
            Atomic::Inc => mem + 1,
            Atomic::Dec if mem == 0 || mem > data => data,
            Atomic::Dec => mem - 1,
            Atomic::FCmpSwap if self.equal(mem, second) => data,
            Atomic::FCmpSwap => mem,
            Atomic::FMin if self.less(data, mem) => data,
            Atomic::FMin => mem,
            Atomic::FMax if self.less(mem, data) => data,
            Atomic::FMax => mem,
            Atomic::FAdd => self.sum(mem, data),
            Atomic::PkFAdd16 => {
                let env = Env {
                    round: Round::NearestEven,
                    denorm: self.denorm,
                };
                Rmw::halves(mem, data, |a, b| math::add_f16_flush(a, b, env))
            }
            Atomic::PkFAddBf16 => Rmw::halves(mem, data, |a, b| self.sum_bf16(a, b)),
            Atomic::Mskor => mem & !data | second,
            Atomic::Wrap if mem >= data => mem - data,
            Atomic::Wrap => mem.wrapping_add(second),
        };
        if self.wide { new } else { new & 0xffff_ffff }
    }

    /// On guest memory; gives the old word.
    pub(super) fn on_memory(
        self,
        memory: &Memory,
        address: u64,
        data: u64,
        second: u64,
    ) -> Result<u64, FaultKind> {
        Ok(if self.wide {
            memory.atomic_u64(address, |old| self.apply(old, data, second))?
        } else {
            let new = |old: u32| self.apply(u64::from(old), data, second) as u32;
            u64::from(memory.atomic_u32(address, new)?)
        })
    }

    /// On the bytes of a word that only this wave accesses; returns the old word.
    fn on_bytes(self, bytes: &mut [u8], data: u64, second: u64) -> u64 {
        debug_assert_eq!(bytes.len(), self.bytes(), "bug: a word of another size");
        // Copies of constant size.
        let (dwords, _) = bytes.as_chunks_mut::<4>();
        let old = dwords.iter().rev().fold(0, |old, dword| {
            old << 32 | u64::from(u32::from_le_bytes(*dword))
        });
        let new = self.apply(old, data, second);
        for (dword, shift) in dwords.iter_mut().zip([0, 32]) {
            *dword = ((new >> shift) as u32).to_le_bytes();
        }
        old
    }
}

impl Call<'_> {
    /// Gives old values: one or two registers.
    fn give_old(&mut self, exec: u64, rmw: Rmw, old: &[u64; LANES]) {
        self.result(0, exec, &old.map(|word| word as u32));
        if rmw.wide {
            self.result(1, exec, &old.map(|word| (word >> 32) as u32));
        }
    }

    /// One lane's atomic on LDS, which was announced; out of range gives 0 and writes nothing.
    fn lds_atomic(&mut self, rmw: Rmw, offset: u64, (data, second): (u64, u64)) -> u64 {
        let start = offset as usize;
        match self.lds().get_mut(start..start + rmw.bytes()) {
            Some(bytes) => rmw.on_bytes(bytes, data, second),
            None => 0,
        }
    }
}

/// Operand words of a lane: arguments from `first` on.
fn operands(call: &Call<'_>, words: &[Words<'_>], rmw: Rmw, lane: usize) -> (u64, u64) {
    let _ = call;
    let word = |i: usize| words.get(i).map_or(0, |word| u64::from(word.get(lane)));
    if rmw.wide {
        (word(0) | word(1) << 32, word(2) | word(3) << 32)
    } else {
        (word(0), word(1))
    }
}

/// The wave's atomic in any space; `bounds` are those of FLAT.
fn run(
    call: &mut Call<'_>,
    space: u64,
    rmw: Rmw,
    exec: u64,
    address: impl Fn(usize) -> u64,
    words: &[Words<'_>],
    bounds: Option<Bounds>,
) -> Result<(), ExitCode> {
    let memory = call.host().group.memory;
    let mut old = [0; LANES];
    if space == Space::Lds as u64 {
        call.announce_all(Access::Atomic, exec, rmw.bytes(), &address)?;
    }
    for lane in active(exec) {
        let (data, second) = operands(call, words, rmw, lane);
        let at = address(lane);
        old[lane] = if space == Space::Lds as u64 {
            call.lds_atomic(rmw, at, (data, second))
        } else {
            let bytes = rmw.bytes();
            let at = wrapped(call, at);
            let done = match (place(at), bounds) {
                (Place::Global(_), _) | (_, None) => rmw.on_memory(memory, at, data, second),
                // In the apertures as in global memory, unlike those of DS.
                _ if !at.is_multiple_of(bytes as u64) => Err(FaultKind::Misaligned {
                    access: Access::Atomic,
                    address: at,
                    bytes: bytes as u32,
                    align: bytes as u32,
                }),
                (Place::Lds(offset), Some(bounds)) => call
                    .flat_lds(bounds, Access::Atomic, offset, bytes)
                    .map(|range| rmw.on_lds().on_bytes(&mut call.lds()[range], data, second)),
                (Place::Scratch(offset), Some(bounds)) => {
                    scratch_atomic(call, bounds, memory, rmw, offset, (data, second), lane)
                }
            };
            done.map_err(|kind| call.fault(kind, Some(lane)))?
        };
    }
    if returns_old(call) {
        call.give_old(exec, rmw, &old);
    }
    Ok(())
}

/// An atomic on a lane's own scratch, which is not shared.
fn scratch_atomic(
    call: &mut Call<'_>,
    bounds: Bounds,
    memory: &Memory,
    rmw: Rmw,
    offset: u64,
    (data, second): (u64, u64),
    lane: usize,
) -> Result<u64, FaultKind> {
    let size = rmw.bytes();
    let address = call.flat_scratch(bounds, Access::Atomic, offset, size, lane)?;
    let mut bytes = [0; 8];
    for (i, dword) in bytes[..size].as_chunks_mut::<4>().0.iter_mut().enumerate() {
        *dword = memory.load::<4>(address(offset + 4 * i as u64))?;
    }
    let old = rmw.on_bytes(&mut bytes[..size], data, second);
    for (i, dword) in bytes[..size].as_chunks::<4>().0.iter().enumerate() {
        memory.store(address(offset + 4 * i as u64), *dword)?;
    }
    Ok(old)
}

/// `EffectFn::Atomic`: all arguments from the fifth on are slots.
pub(super) fn integer(call: &mut Call<'_>) -> Result<(), ExitCode> {
    let code = call.raw(3);
    let exec = call.raw(2);
    let rmw = Rmw::of(code, Denorm::KEEP);
    let count = rmw.bytes() / 4 * if takes_two(rmw.op) { 2 } else { 1 };
    let words: Vec<Words<'_>> = (0..count)
        .map(|i| Words::Lanes(call.lanes(4 + i)))
        .collect();
    let at = addresses(call);
    let space = code >> 8 & 0xff;
    let at = |lane: usize| at.get(lane);
    let bounds = (space == Space::Flat as u64).then(|| Bounds::of(call, 4 + count));
    run(call, space, rmw, exec, at, &words, bounds)
}

/// Has the site's instruction a destination?
fn returns_old(call: &Call<'_>) -> bool {
    !matches!(call.site.inst.dst[0], frontend::Operand::None)
}

/// `EffectFn::AtomicFloat`.
pub(super) fn float(call: &mut Call<'_>) -> Result<(), ExitCode> {
    let (lo, hi) = (call.words(0), call.words(1));
    let exec = call.wave64(2);
    let code = u64::from(call.wave32(3));
    let space = code >> 8 & 0xff;
    let mode = call.wave32(4);
    let mut rmw = Rmw::of(code, Denorm::KEEP);
    rmw.denorm = float_denorm(rmw.op, space == Space::Lds as u64, rmw.wide, mode);
    rmw.flat_lds = float_denorm(rmw.op, true, rmw.wide, mode);
    let count = rmw.bytes() / 4;
    let words: Vec<Words<'_>> = (0..count).map(|i| call.words(7 + i)).collect();
    let address = |lane: usize| u64::from(lo.get(lane)) | u64::from(hi.get(lane)) << 32;
    let (flat_scratch, limit) = (call.wave64(5), call.wave32(6));
    let flat = space == Space::Flat as u64;
    let bounds = flat.then(|| Bounds::new(call, flat_scratch, limit));
    run(call, space, rmw, exec, address, &words, bounds)
}

/// Flushing of float additions on memory (CDNA2 manual, table 43; CDNA3 manual, table 52): none of f64; of f32 the cache
/// flushes, of halves it does not; LDS follows MODE.
pub(super) fn float_denorm(op: Atomic, lds: bool, wide: bool, mode: u32) -> Denorm {
    match (wide, lds, op.is_packed_sum()) {
        (true, ..) | (false, false, true) => Denorm::KEEP,
        (false, true, false) => Env::f32_of_mode(mode).denorm,
        (false, true, true) => Env::f16_f64_of_mode(mode).denorm,
        (false, false, false) => Denorm::FLUSH,
    }
}

/// `EffectFn::AppendConsume`: one addition for the wave.
pub(super) fn append_consume(call: &mut Call<'_>) -> Result<(), ExitCode> {
    let offset = call.wave32(0);
    let exec = call.wave64(1);
    let count = u64::from(exec.count_ones());
    let op = if call.site.inst.op() == Op::Ds(DsOp::Consume) {
        Atomic::Sub
    } else {
        Atomic::Add
    };
    if exec == 0 {
        return Ok(());
    }
    let lane = exec.trailing_zeros() as usize;
    let rmw = Rmw::new(op, false, Denorm::KEEP);
    let offset = u64::from(offset & !3);
    call.announce(Access::Atomic, offset, 4, lane)?;
    let old = call.lds_atomic(rmw, offset, (count, 0));
    call.ctx.ret[0] = old as u32;
    Ok(())
}

/// `EffectFn::LdsSrc2`: memory[A] = memory[A] op memory[B].
pub(super) fn src2(call: &mut Call<'_>) -> Result<(), ExitCode> {
    let address = call.words(0);
    let exec = call.wave64(1);
    let limit = call.wave32(2);
    let mode = call.wave32(3);
    let inst = call.site.inst;
    let ty = inst.desc.src.get(1).copied().unwrap_or(Ty::B32);
    let wide = ty.bits() == 64;
    let (op, writes) = if let Op::AtomicSrc2(op) = inst.op() {
        (op, false)
    } else {
        (Atomic::Swap, true)
    };
    let rmw = Rmw::new(op, wide, float_denorm(op, true, wide, mode));
    let offset = inst.mem.offset as u32 & 0xffff;
    // The distance in dwords: with offset1[7] it is in the upper bits of the lane's address, else
    // in the offset.
    let by_lane = offset & 0x8000 != 0;
    let distance = ((offset << 17) as i32 >> 17).wrapping_mul(4) as u32;
    let align = if wide { !7 } else { !3 };
    let places = |lane: usize| {
        let both = address.get(lane);
        let (a, b) = if by_lane {
            let a = both & 0x1_ffff;
            (a, a.wrapping_add(((both as i32 >> 17) * 4) as u32))
        } else {
            (both, both.wrapping_add(distance))
        };
        (a & align, b & align)
    };
    let bytes = rmw.bytes();
    let access = if writes {
        Access::Write
    } else {
        Access::Atomic
    };
    let size = call.lds().len().min(limit as usize);
    for lane in active(exec) {
        let (a, b) = places(lane);
        for (access, place) in [(Access::Read, b), (access, a)] {
            call.announce_below(size, access, u64::from(place), bytes, lane)?;
        }
    }
    for lane in active(exec) {
        let (a, b) = places(lane);
        let lds = call.lds();
        let lds = &mut lds[..size];
        let mut word = [0; 8];
        let from = b as usize..b as usize + bytes;
        if let Some(source) = lds.get(from) {
            word[..bytes].copy_from_slice(source);
        }
        let data = u64::from_le_bytes(word);
        if let Some(to) = lds.get_mut(a as usize..a as usize + bytes) {
            rmw.on_bytes(to, data, 0);
        }
    }
    Ok(())
}

/// `EffectFn::LdsExchange`: `ds_wrxchg2_*`, `ds_condxchg32_rtn_b64`.
pub(super) fn exchange(call: &mut Call<'_>) -> Result<(), ExitCode> {
    let at = [call.words(0), call.words(1)];
    let exec = call.wave64(2);
    let inst = call.site.inst;
    if let Op::Ds(DsOp::Condxchg32Rtn64) = inst.op() {
        return conditional(call, at[0], exec);
    }
    let wide = inst.desc.src[1].bits() == 64;
    let rmw = Rmw::new(Atomic::Swap, wide, Denorm::KEEP);
    let width = rmw.bytes() / 4;
    let words: Vec<Words<'_>> = (0..2 * width).map(|i| call.words(3 + i)).collect();
    // Equal offsets are one access, with the first data.
    let same = inst.mem.offset as u32 & 0xff == u32::from(inst.mem.offset1);
    let mut old = [[0; LANES]; 2];
    let place = |half: usize, lane: usize| u64::from(at[half].get(lane));
    for half in 0..if same { 1 } else { 2 } {
        call.announce_all(Access::Atomic, exec, rmw.bytes(), |lane| place(half, lane))?;
    }
    for lane in active(exec) {
        for half in 0..2 {
            if half == 1 && same {
                old[1][lane] = old[0][lane];
                continue;
            }
            let data = operands(call, &words[half * width..], rmw, lane).0;
            old[half][lane] = call.lds_atomic(rmw, place(half, lane), (data, 0));
        }
    }
    for (half, old) in old.iter().enumerate() {
        call.result(half * width, exec, &old.map(|word| word as u32));
        if wide {
            call.result(half * width + 1, exec, &old.map(|word| (word >> 32) as u32));
        }
    }
    Ok(())
}

/// `ds_condxchg32_rtn_b64`: each dword whose data has bit 31 set is replaced by the other 31 bits.
fn conditional(call: &mut Call<'_>, at: Words<'_>, exec: u64) -> Result<(), ExitCode> {
    let data = [call.words(3), call.words(4)];
    let mut old = [[0; LANES]; 2];
    call.announce_all(Access::Atomic, exec, 8, |lane| u64::from(at.get(lane)))?;
    for lane in active(exec) {
        let start = at.get(lane) as usize;
        let Some(bytes) = call.lds().get_mut(start..start + 8) else {
            continue;
        };
        for (half, dword) in bytes.as_chunks_mut::<4>().0.iter_mut().enumerate() {
            old[half][lane] = u32::from_le_bytes(*dword);
            let new = data[half].get(lane);
            if new >> 31 != 0 {
                *dword = (new & 0x7fff_ffff).to_le_bytes();
            }
        }
    }
    for (half, old) in old.iter().enumerate() {
        call.result(half, exec, old);
    }
    Ok(())
}
