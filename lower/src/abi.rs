//! The interface between translated code and the runtime: the context that every compiled region
//! receives, exit codes, and the functions that generated code calls. `runtime` fills these,
//! `lower` takes every offset from `offset_of!`.

use std::ptr;

use frontend::inst::Inst;
use frontend::state::{LANES, WaveState};

/// A value of 64 lanes in memory: a VGPR's home or a temporary slot.
pub type Lanes = [u32; LANES];

/// First byte of the LDS aperture as in the aperture registers; the runtime's own constant must
/// agree.
pub const SHARED_BASE: u64 = 1 << 48;

/// First byte of the scratch aperture; see [`SHARED_BASE`].
pub const PRIVATE_BASE: u64 = 2 << 48;

/// Result of a compiled region: the low 32 bits of the returned word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum ExitCode {
    /// Look up the region at `wave.pc` and continue there.
    Continue = 0,
    /// The wave ended.
    End = 1,
    /// A barrier; `wave.pc` is behind it.
    Barrier = 2,
    /// Fuel ran out at a backward branch; `wave.pc` is the target.
    Yield = 3,
    /// The guest faulted; the runtime has the details, `wave.pc` is the instruction.
    Fault = 4,
    /// The interpreter must run the complete instruction at `wave.pc` (an undecodable word, a trap,
    /// or a change of how code is translated).
    Interpret = 5,
}

/// The context of one run of a wave. Generated code accesses it by offset.
#[repr(C)]
pub struct Context {
    /// The wave's registers.
    pub wave: *mut WaveState,
    /// Temporary lane slots of the region (`Compiled::frame_slots` of them).
    pub frame: *mut Lanes,
    /// Lowest guest address that inline loads may touch.
    pub arena_base: u64,
    /// Bytes from `arena_base` that inline loads may touch.
    pub arena_len: u64,
    /// Lowest guest address that inline stores and atomics may touch: what is below is read-only.
    pub store_base: u64,
    /// Bytes from `store_base` that inline stores and atomics may touch.
    pub store_len: u64,
    /// Distance of `store_base` from `arena_base`.
    pub read_only: u64,
    /// Offsets from `arena_base` below which scalar loads of 1, 2, 4, 8, 16 and 32 dwords may begin
    /// that are done inline.
    pub scalar_starts: [u64; 6],
    /// The workgroup's LDS.
    pub lds: *mut u8,
    /// Size of LDS in bytes as instructions see it.
    pub lds_len: u32,
    /// Bytes of LDS that inline accesses may touch: all, or none where there is no arena.
    pub lds_inline: u64,
    /// Address of the wave's scratch.
    pub scratch: u64,
    /// Bytes of the wave's scratch that inline accesses may touch, fewer than 2^31; 0 in checked
    /// mode.
    pub scratch_len: u64,
    /// Backward branches left before a yield.
    pub fuel: u32,
    /// Addresses of the functions that code may call, indexed by `LaneFn` then `EffectFn`.
    pub functions: *const usize,
    /// Where to enter the region: 0 at its beginning, otherwise a number from `resume`.
    pub entry: u32,
    /// The entry by which the wave may re-enter the region after a barrier or a yield; 0 for none.
    pub resume: u32,
    /// The waves of the workgroup, up to `last`. Code with barriers runs the waves after the
    /// entered one, by the same entry, before it returns: see [`Context::last`].
    pub waves: *const *mut WaveState,
    /// Number of the running wave in its workgroup; after the return, of the wave that returned.
    pub index: u32,
    /// Number of the last wave that the code switches to when one ends or arrives at a barrier;
    /// `index` for none.
    pub last: u32,
    /// How often the code restarts with wave 0 when all waves have arrived at the same barrier.
    pub rounds: u32,
    /// The entry behind the barrier that the waves of this round have arrived at; `entry` is that
    /// of the waves still to run. A wave that arrives at another barrier returns.
    pub arrived: u32,
    /// Waves that have ended, one bit each. Once one has, there are no more rounds.
    pub ended: u32,
    /// The fuel quantum: the value of `fuel` after a switch to another wave.
    pub fuel_quantum: u32,
    /// Scalar results of an effect call.
    pub ret: [u32; 16],
    /// T# and S# of the current image instruction.
    pub descriptors: [u32; 12],
    /// Guest instructions and lane-instructions executed, when counting is compiled in.
    pub instructions: u64,
    /// See `instructions`.
    pub lane_instructions: u64,
    /// Interpreter calls made because an instruction was not lowered.
    pub fallbacks: u64,
    /// Counters of the region, if profiling is compiled in (`profile::Shape::counters` of them).
    pub counters: *mut u64,
    /// The runtime's own data (its group and engine), opaque to code.
    pub host: *mut core::ffi::c_void,
    /// By number, guest memory from which loads need not be announced to the sanitizer.
    pub settled: [Settled; SETTLED],
    /// Bytes of LDS from which loads need not be announced in the present interval between barriers.
    pub lds_settled: u64,
    /// Lanes of the running wave that the sanitizer has seen active.
    pub known_lanes: u64,
    /// 0 if the running wave has not stored to global memory since it has waited for its stores.
    pub stores: u64,
    /// Kinds of matrix instructions executed ([`MatrixKinds`](frontend::op::MatrixKinds)).
    pub matrix_kinds: u32,
}

/// Number of [`Context::settled`].
pub const SETTLED: usize = 256;

/// A range of guest memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Settled {
    /// Its first address.
    pub start: u64,
    /// Its bytes.
    pub len: u64,
}

impl Context {
    /// An empty context: no wave, no memory, no fuel.
    pub fn new(functions: *const usize) -> Context {
        Context {
            wave: ptr::null_mut(),
            frame: ptr::null_mut(),
            arena_base: 0,
            arena_len: 0,
            store_base: 0,
            store_len: 0,
            read_only: 0,
            scalar_starts: [0; 6],
            lds: ptr::null_mut(),
            lds_len: 0,
            lds_inline: 0,
            scratch: 0,
            scratch_len: 0,
            fuel: 0,
            functions,
            entry: 0,
            resume: 0,
            waves: ptr::null(),
            index: 0,
            last: 0,
            rounds: 0,
            arrived: 0,
            ended: 0,
            fuel_quantum: 0,
            ret: [0; 16],
            descriptors: [0; 12],
            instructions: 0,
            lane_instructions: 0,
            fallbacks: 0,
            counters: ptr::null_mut(),
            settled: [Settled::default(); SETTLED],
            lds_settled: 0,
            known_lanes: 0,
            stores: 0,
            matrix_kinds: 0,
            host: ptr::null_mut(),
        }
    }

    /// Sets where the arena begins, and how many of its first bytes are read-only.
    #[inline]
    pub fn set_arena(&mut self, base: u64, read_only: u64) {
        (self.arena_base, self.store_base) = (base, base + read_only);
        self.read_only = read_only;
    }

    /// Sets the workgroup's LDS and its size, and the bytes from `arena_base` on that inline
    /// accesses may touch.
    #[inline]
    pub fn set_memory(&mut self, arena_len: u64, lds: *mut u8, lds_len: u32) {
        (self.lds, self.lds_len) = (lds, lds_len);
        // Without an arena every access takes the slow path, including those to LDS.
        self.lds_inline = if arena_len == 0 { 0 } else { lds_len.into() };
        self.set_arena_len(arena_len);
    }

    /// Sets the wave's scratch and the bytes of it that inline accesses may touch, limited to 31
    /// bits.
    #[inline]
    pub fn set_scratch(&mut self, (start, len): (u64, u64)) {
        (self.scratch, self.scratch_len) = (start, len.min(i32::MAX as u64));
    }

    fn set_arena_len(&mut self, len: u64) {
        self.store_len = len.saturating_sub(self.read_only);
        if self.arena_len == len {
            return;
        }
        self.arena_len = len;
        self.scalar_starts = [3, 7, 15, 31, 63, 127].map(|more| len.saturating_sub(more));
    }
}

/// Scalar registers that relative moves may reach, in a wave that has as many.
pub const RELATIVE_SGPRS: u8 = 104;

/// A guest instruction that generated code refers to when it calls the runtime.
#[derive(Clone, Debug)]
pub struct Site {
    /// Its address.
    pub pc: u64,
    /// The decoded instruction.
    pub inst: Inst,
}

/// A pure lane function: `out[i]` are result slots, `args[i]` argument slots, all 64 lanes are
/// computed. `mode` is the MODE register's float bits.
pub type LaneFnPtr =
    unsafe extern "C" fn(out: *const *mut Lanes, args: *const *const Lanes, mode: u32);

/// A function with effects. Each of `args` is a wave value zero-extended, a mask's 64 bits, or the
/// address of a lane slot (`*const Lanes`); for a function with a `functions::Signature` the first
/// word is the header, which tells which of those the others are. `out[i]` are lane result slots,
/// of which only the lanes active in EXEC are written; scalar results go to `Context::ret`. Returns
/// an [`ExitCode`]: `Continue`, or `Fault`; the interpreter may also end a wave or stop it at a
/// barrier.
pub type EffectFnPtr = unsafe extern "C" fn(
    ctx: *mut Context,
    site: *const Site,
    args: *const u64,
    out: *const *mut Lanes,
) -> u64;
