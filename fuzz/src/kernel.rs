//! A program that differs, as a kernel that an ordinary launch runs: a prologue loads the registers
//! and the LDS of the program's first state from a buffer, an epilogue stores them to another.
//!
//! Scalar registers from s80 on are free for both, since programs use none of them. Addresses of the
//! zone, which lies elsewhere in a launch, are stored relative to it, and the prologue adds its address.

use std::ops::Range;

use frontend::Gfx;
use frontend::state::{LANES, mode};
use harness::snippet::{END, LDS, SCRATCH, State, VGPRS, ZONE, agprs};
use harness::words::prepared;
use runtime::object::{KernelDescriptor, Processor};

use crate::Error;
use crate::assembler::{Assembler, EXEC, M0, MINUS_ONE, MODE, Place, RAW, VCC, constant};
use crate::checker::Failure;
use crate::code_object::Kernel;
use crate::program::Rows;

/// A program as a kernel with what it starts from. Its arguments are the addresses of [`STATE`],
/// [`ZONE_NAME`] and [`RESULT`], in this order.
#[derive(Clone, Debug)]
pub struct Launch {
    /// The code object.
    pub code_object: Vec<u8>,
    /// Work-items in each dimension, of the grid and of its only workgroup.
    pub workgroup: [u32; 2],
    /// Contents of the buffer with registers and LDS.
    pub state: Vec<u8>,
    /// Contents of the buffer that the program accesses.
    pub zone: Vec<u8>,
    /// Dwords of the buffer that registers and LDS are stored to: v0 to v39 by lane; s0 to s79, VCC, M0,
    /// EXEC, SCC and MODE as the lanes of two more VGPRs; the LDS; a0 to a39.
    pub result: usize,
}

/// The kernel's name.
pub const KERNEL: &str = "program";
/// The buffer with registers and LDS before the program.
pub const STATE: &str = "state";
/// The buffer that the program accesses.
pub const ZONE_NAME: &str = "zone";
/// The buffer with registers and LDS after the program.
pub const RESULT: &str = "result";

/// Scalar registers that a program may use, but for special ones.
const SGPRS: usize = 80;
/// Words of the state before the VGPRs: [`SGPRS`] registers, then those of [`special`].
const SCALARS: usize = 96;
/// Bytes of a VGPR.
const VGPR: usize = 4 * LANES;
/// Where the LDS begins in the state.
const LDS_AT: usize = 4 * SCALARS + VGPR * VGPRS;
/// Where accumulation registers begin in the state, if the target has any.
const AGPRS_AT: usize = LDS_AT + LDS;
/// Bytes of the state at most.
const STATE_BYTES: usize = AGPRS_AT + VGPR * VGPRS;
/// VGPRs of the result: those of the program, and two whose lanes hold scalar registers.
const RESULT_VGPRS: usize = VGPRS + 2;

/// Scalar registers of prologue and epilogue: those that [`SCALARS`] words are loaded to, behind the
/// program's own.
mod special {
    pub(super) const VCC: u32 = 80;
    pub(super) const M0: u32 = 82;
    pub(super) const SCC: u32 = 83;
    pub(super) const EXEC: u32 = 84;
    pub(super) const FLAT_SCRATCH: u32 = 86;
    /// Distance of the program from the instruction behind `s_getpc_b64`.
    pub(super) const PROGRAM: u32 = 88;
    /// The same of the epilogue.
    pub(super) const EPILOGUE: u32 = 89;
    /// A pair for intermediate values.
    pub(super) const PAIR: u32 = 90;
    pub(super) const PROGRAM_PC: u32 = 92;
    pub(super) const EPILOGUE_PC: u32 = 94;
    // Behind the words that are loaded.
    pub(super) const STATE: u32 = 96;
    pub(super) const ZONE: u32 = 98;
    pub(super) const RESULT: u32 = 100;
}

/// VGPRs of prologue and epilogue.
mod vector {
    use harness::snippet::VGPRS;

    /// Four times the lane's number.
    pub(super) const LANE: u32 = VGPRS as u32;
    pub(super) const SCRATCH: u32 = LANE + 1;
    /// The first of two whose lanes hold scalar registers.
    pub(super) const SCALARS: u32 = LANE + 2;
}

impl Failure {
    /// The program as a kernel. Of programs in read-only memory there is none.
    pub fn launch(&self, gfx: Gfx) -> Result<Launch, Error> {
        let zone = self.zone.as_ref().ok_or(Error::NoLaunch)?;
        let rows = Rows::new(gfx, &crate::Options::default())?;
        let mut writer = Writer {
            rows: &rows,
            state: &self.state,
            // The program knows its work-items by v0 to v2 only if they are those of a launch.
            ids: ids(gfx, &self.state),
            zone,
            code: Vec::new(),
        };
        let mut words = writer.words();
        let here = writer.prologue(&mut words);
        // The barrier at the end stays; the invalid word behind it becomes a jump.
        let end = END.to_le_bytes();
        writer
            .code
            .extend(self.code.strip_suffix(&end).unwrap_or(&self.code));
        writer.sop1("s_setpc_b64", 0, special::EPILOGUE_PC);
        words[special::EPILOGUE as usize] = writer.code.len() as u32 - here;
        writer.epilogue();

        let mut state: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        state.extend(&self.state.lds);
        let accumulation = self.state.agpr.iter().flatten();
        state.extend(accumulation.flat_map(|word| word.to_le_bytes()));
        let workgroup = match (writer.ids, self.state.rows) {
            (Ids::Rows, rows) => [1 << rows, LANES as u32 >> rows],
            _ => [LANES as u32, 1],
        };
        let kernel = Kernel {
            name: KERNEL,
            processor: Processor::by_name(gfx.name()).expect("each target is a processor"),
            descriptor: descriptor(&self.state, writer.ids),
            workgroup: [workgroup[0], workgroup[1], 1],
            parameters: &[STATE, ZONE_NAME, RESULT],
            code: &writer.code,
        };
        Ok(Launch {
            code_object: kernel.file(),
            workgroup,
            state,
            zone: self.state.memory.clone(),
            result: (VGPR * (RESULT_VGPRS + agprs(gfx)) + LDS) / 4,
        })
    }
}

/// What v0 to v2 are.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Ids {
    /// Registers like others.
    Loaded,
    /// v0 is the work-item's x, which counts lanes.
    Count,
    /// v0 to v2 are the work-item's x, y and z in a workgroup of two dimensions.
    Rows,
}

fn ids(gfx: Gfx, state: &State) -> Ids {
    let lanes = 0..LANES as u32;
    let is = |register: usize, id: &dyn Fn(u32) -> u32| {
        let lanes = lanes.clone();
        state.fresh
            && lanes
                .zip(&state.vgpr[register])
                .all(|(lane, &value)| value == id(lane))
    };
    match state.rows {
        0 if is(0, &|lane| lane) => Ids::Count,
        rows if rows != 0
            && !gfx.packs_work_item_ids()
            && is(0, &|lane| lane & ((1 << rows) - 1))
            && is(1, &|lane| lane >> rows)
            && is(2, &|_| 0) =>
        {
            Ids::Rows
        }
        _ => Ids::Loaded,
    }
}

fn descriptor(state: &State, ids: Ids) -> KernelDescriptor {
    let flag = |bit: u32, at: u32| u32::from(state.mode & bit != 0) << at;
    KernelDescriptor {
        group_segment_fixed_size: LDS as u32,
        private_segment_fixed_size: SCRATCH as u32,
        // As many registers as there are, and MODE.
        rsrc1: 63
            | 12 << 6
            | (state.mode & 0xff) << 12
            | flag(mode::DX10_CLAMP, 21)
            | flag(mode::IEEE, 23)
            | flag(mode::FP16_OVFL, 26),
        // Scratch; two user SGPRs, which are the address of the arguments; ids.
        rsrc2: 1 | 2 << 1 | if ids == Ids::Rows { 2 << 11 } else { 0 },
        // On gfx90a, where ordinary registers end.
        rsrc3: 63,
        properties: 1 << 3,
        ..KernelDescriptor::default()
    }
}

/// Writes the instructions around a program.
struct Writer<'a> {
    rows: &'a Rows,
    state: &'a State,
    ids: Ids,
    zone: &'a Range<u64>,
    code: Vec<u8>,
}

impl Assembler for Writer<'_> {
    fn rows(&self) -> &Rows {
        self.rows
    }

    fn code(&mut self) -> &mut Vec<u8> {
        &mut self.code
    }
}

impl Writer<'_> {
    fn gfx(&self) -> Gfx {
        self.rows.gfx
    }

    /// An address relative to the zone, if it is of the zone or near it.
    fn relative(&self, address: u64) -> Option<u64> {
        const NEAR: u64 = 4096;
        let near = self.zone.start - NEAR..self.zone.end + NEAR;
        near.contains(&address)
            .then(|| address.wrapping_sub(self.zone.start))
    }

    /// The state as the prologue loads it, with addresses as they are.
    fn words(&self) -> Vec<u32> {
        let s = &self.state.sgpr;
        let mut words = s[..SCALARS].to_vec();
        words[SGPRS..].fill(0);
        let mut special = |at: u32, values: &[u32]| {
            words[at as usize..][..values.len()].copy_from_slice(values);
        };
        special(special::VCC, &s[VCC as usize..][..2]);
        special(special::M0, &s[M0 as usize..][..1]);
        special(special::SCC, &[self.state.scc]);
        special(special::EXEC, &s[EXEC as usize..][..2]);
        special(
            special::FLAT_SCRATCH,
            &s[usize::from(self.gfx().flat_scratch())..][..2],
        );
        words.extend(self.state.vgpr.iter().flatten());
        words
    }

    /// Loads the state, whose `words` become what it is loaded from, and jumps to the program. Gives the
    /// place from which distances count.
    fn prologue(&mut self, words: &mut [u32]) -> u32 {
        self.load(special::STATE, 2, 0, 0);
        self.load(special::RESULT, 1, 0, 16);
        self.wait();
        let mut lane = 0;
        if self.ids == Ids::Rows {
            let rows = constant(self.state.rows);
            self.vop2("v_lshlrev_b32", vector::LANE, rows, 1);
            self.vop2("v_or_b32", vector::LANE, 256, vector::LANE);
            lane = vector::LANE;
        }
        self.vop2("v_lshlrev_b32", vector::LANE, constant(2), lane);
        self.raw_buffer(special::STATE);
        self.sop1("s_mov_b32", M0, MINUS_ONE);
        for n in 0..LDS / VGPR {
            self.buffer("buffer_load_dword", vector::SCRATCH, LDS_AT + n * VGPR);
            self.wait();
            self.lds_store(n * VGPR);
        }
        for n in 0..agprs(self.gfx()) {
            self.buffer("buffer_load_dword", vector::SCRATCH, AGPRS_AT + n * VGPR);
            self.wait();
            self.acc_write(n as u32, vector::SCRATCH);
        }
        let first = match self.ids {
            Ids::Loaded => 0,
            Ids::Count => 1,
            Ids::Rows => 3,
        };
        for n in first..VGPRS {
            self.buffer("buffer_load_dword", n as u32, 4 * SCALARS + n * VGPR);
        }
        self.wait();
        self.relocate_vectors(words);
        for at in (0..SCALARS as u32).step_by(16) {
            self.load(at, 4, special::STATE, 4 * at);
        }
        self.wait();
        self.relocate_scalars(words);

        self.sop1("s_getpc_b64", special::PAIR, 0);
        let here = self.code.len() as u32;
        for (pc, distance) in [
            (special::PROGRAM_PC, special::PROGRAM),
            (special::EPILOGUE_PC, special::EPILOGUE),
        ] {
            self.sop2("s_add_u32", pc, special::PAIR, distance);
            self.sop2("s_addc_u32", pc + 1, special::PAIR + 1, constant(0));
        }
        if self.gfx() != Gfx::Gfx600 {
            let at = u32::from(self.gfx().flat_scratch());
            self.sop1("s_mov_b64", at, special::FLAT_SCRATCH);
        }
        self.sop1("s_mov_b64", VCC, special::VCC);
        self.sop1("s_mov_b32", M0, special::M0);
        self.sopc("s_cmp_lg_u32", special::SCC, constant(0));
        self.sop1("s_mov_b64", EXEC, special::EXEC);
        // A jump to an address that is not known begins a region, as the program did in the campaign.
        // The ids of work-items are known in the first region only.
        if self.ids == Ids::Loaded {
            self.sop1("s_setpc_b64", 0, special::PROGRAM_PC);
        }
        words[special::PROGRAM as usize] = self.code.len() as u32 - here;
        here
    }

    /// Adds the zone's address to addresses in VGPRs.
    fn relocate_vectors(&mut self, words: &mut [u32]) {
        self.vop1("v_mov_b32", vector::SCRATCH, special::ZONE + 1);
        for low in [prepared::GLOBAL_V, prepared::FLAT_V] {
            let at = |register: u32, lane: usize| SCALARS + register as usize * LANES + lane;
            let mut mask = 0u64;
            for lane in 0..LANES {
                let pair = [at(low, lane), at(low + 1, lane)];
                let address = u64::from(words[pair[0]]) | u64::from(words[pair[1]]) << 32;
                if let Some(offset) = self.relative(address) {
                    mask |= 1 << lane;
                    words[pair[0]] = offset as u32;
                    words[pair[1]] = (offset >> 32) as u32;
                }
            }
            if mask == 0 {
                continue;
            }
            self.move_literal(EXEC, mask as u32);
            self.move_literal(EXEC + 1, (mask >> 32) as u32);
            let (add, carry) = (self.rows.add_co(), self.rows.add_carry());
            self.vop2(add, low, special::ZONE, low);
            self.vop2(carry, low + 1, 256 + vector::SCRATCH, low + 1);
            self.sop1("s_mov_b64", EXEC, MINUS_ONE);
        }
    }

    /// Adds the zone's address to addresses in SGPRs and descriptors.
    fn relocate_scalars(&mut self, words: &mut [u32]) {
        // An address has 64 bits in a pair, 48 in the descriptor of a buffer, and in that of an image 40 of a
        // multiple of 256.
        let mut pairs = vec![(prepared::GLOBAL_S, 64, 0), (prepared::IMAGE_S, 40, 8)];
        for buffer in [prepared::BUFFER_S, prepared::ZERO_S, prepared::PRIVATE_S] {
            pairs.push((buffer, 48, 0));
        }
        if self.gfx().flat_scratch_is_address() {
            pairs.push((special::FLAT_SCRATCH, 64, 0));
        }
        self.sop2("s_lshr_b64", special::PAIR, special::ZONE, constant(8));
        for (low, bits, shift) in pairs {
            let at = low as usize;
            let value = u64::from(words[at]) | u64::from(words[at + 1]) << 32;
            let mask = u64::MAX >> (64 - bits);
            let Some(offset) = self.relative((value & mask) << shift) else {
                continue;
            };
            // The sum's carry would be added to what is above the address.
            if bits < 64 && offset > self.zone.end - self.zone.start {
                continue;
            }
            let value = value & !mask | offset >> shift & mask;
            words[at] = value as u32;
            words[at + 1] = (value >> 32) as u32;
            let base = if shift == 0 {
                special::ZONE
            } else {
                special::PAIR
            };
            self.sop2("s_add_u32", low, low, base);
            self.sop2("s_addc_u32", low + 1, low + 1, base + 1);
        }
    }

    /// Stores registers and LDS.
    fn epilogue(&mut self) {
        let scalars = (0..SGPRS as u32).chain([VCC, VCC + 1, M0, EXEC, EXEC + 1]);
        let mut next = 0;
        let mut keep = |writer: &mut Self, register: u32| {
            let lanes = LANES as u32;
            writer.write_lane(vector::SCALARS + next / lanes, register, next % lanes);
            next += 1;
        };
        for register in scalars {
            keep(self, register);
        }
        self.sop2("s_cselect_b32", 0, constant(1), constant(0));
        keep(self, 0);
        self.sopk("s_getreg_b32", 0, MODE);
        keep(self, 0);
        self.sop1("s_mov_b64", EXEC, MINUS_ONE);
        self.sop1("s_mov_b32", M0, MINUS_ONE);
        self.raw_buffer(special::RESULT);
        let registers = (0..VGPRS as u32).chain([vector::SCALARS, vector::SCALARS + 1]);
        for (n, register) in registers.enumerate() {
            self.buffer("buffer_store_dword", register, n * VGPR);
        }
        for n in 0..LDS / VGPR {
            self.lds_load(n * VGPR);
            self.wait();
            let at = (RESULT_VGPRS + n) * VGPR;
            self.buffer("buffer_store_dword", vector::SCRATCH, at);
        }
        for n in 0..agprs(self.gfx()) {
            self.acc_read(vector::SCRATCH, n as u32);
            let at = RESULT_VGPRS * VGPR + LDS + n * VGPR;
            self.buffer("buffer_store_dword", vector::SCRATCH, at);
        }
        self.sopp("s_endpgm", 0);
    }

    // ---- encoding

    /// The descriptor of the memory at an address in a pair goes to s0 to s3.
    fn raw_buffer(&mut self, pair: u32) {
        self.sop1("s_mov_b64", 0, pair);
        self.sop1("s_mov_b32", 2, MINUS_ONE);
        self.move_literal(3, RAW);
    }

    /// Loads or stores a VGPR; the buffer is that of s0 to s3.
    fn buffer(&mut self, name: &str, data: u32, at: usize) {
        const OFFSET: u32 = 4;
        self.sopk("s_movk_i32", OFFSET, at as u32);
        let place = Place {
            address: vector::LANE,
            descriptor: 0,
            base: OFFSET,
            offset: 0,
        };
        self.mubuf(name, data, place);
    }

    /// Stores [`vector::SCRATCH`] to the LDS, a dword of each lane.
    fn lds_store(&mut self, at: usize) {
        self.lds("ds_write_b32", at, vector::SCRATCH << 8);
    }

    /// Loads [`vector::SCRATCH`] from there.
    fn lds_load(&mut self, at: usize) {
        self.lds("ds_read_b32", at, vector::SCRATCH << 24);
    }

    fn lds(&mut self, name: &str, at: usize, data: u32) {
        self.ds(name, at as u32, data | vector::LANE);
    }
}

const _: () = assert!(
    STATE_BYTES < 0x8000,
    "offsets are positive numbers of 16 bits"
);
const _: () = assert!(
    (RESULT_VGPRS + VGPRS) * VGPR + LDS < 0x8000,
    "offsets are positive numbers of 16 bits"
);
const _: () = assert!(
    ZONE.is_multiple_of(256),
    "descriptors of images have such addresses"
);
