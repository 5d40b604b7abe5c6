//! The kit's kernel. Its argument is the address of an [image](crate::layout), in place: it loads
//! registers and LDS, jumps to the case's instructions and, when they come back, stores registers and
//! LDS. Nothing on hardware waits by itself, so before and behind each instruction of a case everything
//! is waited for, and more wait states than any hazard needs are inserted.

use std::collections::BTreeMap;

use frontend::{Encoding, Gfx, Inst, LANES, Op};
use fuzz::assembler::{Assembler, EXEC, LITERAL, M0, MINUS_ONE, MODE, Place, RAW, VCC, constant};
use fuzz::program::Rows;
use runtime::object::KernelDescriptor;

use crate::layout::{Layout, OWN, SCALARS, SGPRS, VECTORS, vector, word};

/// Its name.
pub const NAME: &str = "kit";

/// Bytes of LDS.
pub const LDS: u32 = 16384;

/// Words before and behind the instructions of a case that jumps.
pub const AROUND: usize = 16;

/// VGPRs that are loaded and stored for most cases.
const FEW: usize = 32;

/// Scalar registers of the kernel while a case runs.
mod own {
    /// Where the epilogue is.
    pub(super) const EPILOGUE: u32 = 90;
    /// Where the case is.
    pub(super) const CASE: u32 = 92;
    /// SCC.
    pub(super) const SCC: u32 = 94;
    /// Where the case's jump arrived.
    pub(super) const LANDING: u32 = 95;
    /// Address of the image.
    pub(super) const IMAGE: u32 = 96;
    /// A pair for intermediate values.
    pub(super) const PAIR: u32 = 98;
    /// Where the prologue is, and another pair.
    pub(super) const OTHER: u32 = 100;
}

/// Where the dwords of [`word`] are loaded to: those from [`word::VCC`] on.
const LOADED: u32 = 64;

const LANE: u32 = OWN.start as u32;
const SCRATCH: u32 = LANE + 1;
const SCALAR_LANES: u32 = LANE + 2;

const _: () = assert!(SGPRS as u32 == own::EPILOGUE, "behind the image's");

/// Codes of operands.
const SHARED_BASE: u32 = 235;
const PRIVATE_BASE: u32 = 237;

/// `count` bits of MODE from `first` on, as an operand of `s_setreg_b32`.
const fn mode_bits(first: u32, count: u32) -> u32 {
    (count - 1) << 11 | first << 6 | 1
}

/// Bits of MODE that the kernel sets and stores: rounding, denormals, DX10_CLAMP and IEEE; on gfx9
/// FP16_OVFL; from gfx8 on GPR_IDX_EN.
pub fn mode_mask(gfx: Gfx) -> u32 {
    let overflow = u32::from(gfx.has_fp16_overflow()) << 23;
    let index = u32::from(gfx.is_gfx8_up()) << 27;
    0x3ff | overflow | index
}

/// What a run needs of the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Needs {
    /// More than the first vector registers.
    pub many: bool,
    /// LDS.
    pub lds: bool,
}

impl Needs {
    const ALL: [Needs; 4] = [
        Needs::new(false, false),
        Needs::new(false, true),
        Needs::new(true, false),
        Needs::new(true, true),
    ];

    /// What is needed.
    pub const fn new(many: bool, lds: bool) -> Needs {
        Needs { many, lds }
    }

    /// How many VGPRs and accumulation registers.
    fn registers(self) -> usize {
        if self.many { VECTORS } else { FEW }
    }

    /// Are so many registers enough?
    pub fn few(registers: usize) -> bool {
        registers <= FEW
    }
}

/// A case's code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CaseCode {
    /// Its first word, in bytes from the kernel's first.
    pub at: u32,
    /// Has it landing places around it?
    pub jumps: bool,
}

/// Writes the kernel.
pub struct Writer {
    rows: Rows,
    layout: Layout,
    code: Vec<u8>,
    /// From where distances count.
    here: u32,
    prologues: BTreeMap<Needs, u32>,
    epilogues: BTreeMap<Needs, u32>,
    cases: BTreeMap<Vec<u32>, CaseCode>,
}

impl Assembler for Writer {
    fn rows(&self) -> &Rows {
        &self.rows
    }

    fn code(&mut self) -> &mut Vec<u8> {
        &mut self.code
    }
}

impl Writer {
    /// Writes what is there without cases.
    pub fn new(gfx: Gfx) -> Result<Writer, fuzz::Error> {
        let mut writer = Writer {
            rows: Rows::new(gfx, &fuzz::Options::default())?,
            layout: Layout::new(gfx),
            code: Vec::new(),
            here: 0,
            prologues: BTreeMap::new(),
            epilogues: BTreeMap::new(),
            cases: BTreeMap::new(),
        };
        writer.entry();
        for needs in Needs::ALL {
            let at = writer.prologue(needs);
            writer.prologues.insert(needs, at);
            let at = writer.epilogue(needs);
            writer.epilogues.insert(needs, at);
        }
        Ok(writer)
    }

    fn gfx(&self) -> Gfx {
        self.rows.gfx
    }

    /// Its code, once all cases are in it.
    pub fn finish(self) -> Vec<u8> {
        self.code
    }

    /// The words of an image by which the kernel finds its way.
    pub fn way(&self, needs: Needs, case: CaseCode) -> [(usize, u32); 3] {
        [
            (word::PROLOGUE, self.prologues[&needs] - self.here),
            (word::CASE, case.at - self.here),
            (word::EPILOGUE, self.epilogues[&needs] - self.here),
        ]
    }

    /// Code that stores its own address in s\[0:1\], and where there are aperture registers, them in
    /// s\[2:5\].
    pub fn probe(&mut self) -> CaseCode {
        let at = self.here();
        self.sop1("s_getpc_b64", 0, 0);
        if self.gfx().has_aperture_registers() {
            self.sop1("s_mov_b64", 2, SHARED_BASE);
            self.sop1("s_mov_b64", 4, PRIVATE_BASE);
        }
        self.tail();
        CaseCode { at, jumps: false }
    }

    /// The code of a case. The same words have the same code.
    pub fn case(&mut self, words: &[u32], insts: &[Inst]) -> CaseCode {
        if let Some(&case) = self.cases.get(words) {
            return case;
        }
        let jumps = insts.iter().any(|inst| {
            use Op::*;
            matches!(
                inst.op(),
                Branch(_) | SetPc | SwapPc | Call | GetPc | CbranchGFork | CbranchIFork
            )
        });
        let case = match jumps {
            true => self.jumping(words),
            false => self.straight(words, insts),
        };
        self.cases.insert(words.to_vec(), case);
        case
    }

    fn straight(&mut self, words: &[u32], insts: &[Inst]) -> CaseCode {
        let at = self.here();
        let mut words = words.iter();
        for (n, inst) in insts.iter().enumerate() {
            if n > 0 {
                self.settle();
            }
            for &word in words.by_ref().take(usize::from(inst.len) / 4) {
                self.word(word);
            }
        }
        self.settle();
        // Scalar stores reach memory only when the cache is told so.
        let stores = |inst: &Inst| {
            inst.desc.encoding == Encoding::Smem
                && matches!(inst.op(), Op::Store(..) | Op::Atomic(..))
        };
        if insts.iter().any(stores) {
            let op = self.rows.opcode(Encoding::Smem, "s_dcache_wb");
            self.word(0x30 << 26 | op << 18);
            self.word(0);
        }
        self.tail();
        CaseCode { at, jumps: false }
    }

    /// Instructions that may jump, between words that say where they arrived.
    fn jumping(&mut self, words: &[u32]) -> CaseCode {
        let first = self.here();
        let at = first + 4 * AROUND as u32;
        let pads = at + 4 * (words.len() + AROUND) as u32;
        // A pad has two words.
        let branch = |writer: &mut Writer, n: usize| {
            let distance = (pads + 8 * n as u32) as i32 - (writer.here() + 4) as i32;
            writer.sopp("s_branch", distance);
        };
        (0..AROUND).for_each(|n| branch(self, n));
        words.iter().for_each(|&word| self.word(word));
        (AROUND..2 * AROUND).for_each(|n| branch(self, n));
        for n in 0..2 * AROUND {
            self.sopk("s_movk_i32", own::LANDING, n as u32 + 1);
            let left = (2 * AROUND - n - 1) as i32;
            self.sopp("s_branch", 8 * left);
        }
        self.tail();
        CaseCode { at, jumps: true }
    }

    /// Loads what leads to the prologue.
    fn entry(&mut self) {
        self.load(own::IMAGE, 1, 0, 0);
        self.wait();
        self.load(LOADED, 4, own::IMAGE, 4 * word::VCC as u32);
        self.wait();
        self.vop2("v_lshlrev_b32", LANE, constant(2), 0);
        self.sop1("s_getpc_b64", own::PAIR, 0);
        self.here = self.here();
        for (to, distance) in [
            (own::EPILOGUE, word::EPILOGUE),
            (own::CASE, word::CASE),
            (own::OTHER, word::PROLOGUE),
        ] {
            self.sop2("s_add_u32", to, own::PAIR, loaded(distance));
            self.sop2("s_addc_u32", to + 1, own::PAIR + 1, constant(0));
        }
        self.raw_buffer();
        self.sop1("s_mov_b32", M0, MINUS_ONE);
        self.sop1("s_setpc_b64", 0, own::OTHER);
    }

    fn prologue(&mut self, needs: Needs) -> u32 {
        let at = self.here();
        if needs.lds {
            for n in 0..LDS / VGPR {
                self.buffer(
                    "buffer_load_dword",
                    SCRATCH,
                    self.layout.lds + n as usize * LANES,
                );
                self.wait();
                self.lds_store(n * VGPR);
            }
        }
        for n in 0..needs.registers().min(self.layout.agpr_count) {
            self.buffer("buffer_load_dword", SCRATCH, self.layout.agprs + n * LANES);
            self.wait();
            self.acc_write(n as u32, SCRATCH);
        }
        for n in (0..needs.registers()).filter(|n| !OWN.contains(n)) {
            self.buffer("buffer_load_dword", n as u32, vector(n));
        }
        self.wait();
        self.mode();
        self.sop1("s_mov_b64", VCC, loaded(word::VCC));
        self.sop1("s_mov_b32", M0, loaded(word::M0));
        self.sop1("s_mov_b32", own::SCC, loaded(word::SCC));
        self.sop1("s_mov_b32", own::LANDING, constant(0));
        self.sop1("s_mov_b64", EXEC, loaded(word::EXEC));
        let mut at_sgpr = 0;
        for log in [4, 4, 4, 4, 4, 3, 1] {
            self.load(at_sgpr, log, own::IMAGE, 4 * at_sgpr);
            at_sgpr += 1 << log;
        }
        assert_eq!(at_sgpr as usize, SGPRS, "all are loaded");
        self.settle();
        self.sopc("s_cmp_lg_u32", own::SCC, constant(0));
        self.sop1("s_setpc_b64", 0, own::CASE);
        at
    }

    /// Sets MODE.
    fn mode(&mut self) {
        let (mode, gfx) = (loaded(word::MODE), self.gfx());
        self.sopk("s_setreg_b32", mode, mode_bits(0, 10));
        for (there, bit) in [(gfx.has_fp16_overflow(), 23), (gfx.is_gfx8_up(), 27)] {
            if there {
                self.sop2("s_lshr_b32", own::PAIR, mode, constant(bit));
                self.nops();
                self.sopk("s_setreg_b32", own::PAIR, mode_bits(bit, 1));
            }
        }
        self.nops();
    }

    fn epilogue(&mut self, needs: Needs) -> u32 {
        let at = self.here();
        self.sop2("s_cselect_b32", own::SCC, constant(1), constant(0));
        self.sopk("s_getreg_b32", own::OTHER, MODE);
        if self.gfx().is_gfx8_up() {
            self.sopp("s_set_gpr_idx_off", 0);
        }
        self.sop2("s_and_b32", own::OTHER, own::OTHER, LITERAL);
        self.word(mode_mask(self.gfx()));
        self.sop1("s_mov_b64", own::PAIR, EXEC);
        self.sop1("s_mov_b64", EXEC, MINUS_ONE);
        self.nops();
        for n in 0..SGPRS.min(LANES) as u32 {
            self.write_lane(SCALAR_LANES, n, n);
        }
        for n in LANES as u32..SGPRS as u32 {
            self.write_lane(SCALAR_LANES + 1, n, n - LANES as u32);
        }
        for (register, at) in [
            (VCC, word::VCC),
            (VCC + 1, word::VCC + 1),
            (own::PAIR, word::EXEC),
            (own::PAIR + 1, word::EXEC + 1),
            (M0, word::M0),
            (own::SCC, word::SCC),
            (own::OTHER, word::MODE),
            (constant(1), word::DONE),
            (own::LANDING, word::LANDING),
        ] {
            self.write_lane(SCALAR_LANES + 1, register, (at - LANES) as u32);
        }
        self.sop1("s_mov_b32", M0, MINUS_ONE);
        self.raw_buffer();
        for n in (0..needs.registers()).filter(|n| !OWN.contains(n)) {
            self.buffer("buffer_store_dword", n as u32, vector(n));
        }
        if needs.lds {
            for n in 0..LDS / VGPR {
                self.lds_load(n * VGPR);
                self.wait();
                self.buffer(
                    "buffer_store_dword",
                    SCRATCH,
                    self.layout.lds + n as usize * LANES,
                );
                self.wait();
            }
        }
        for n in 0..needs.registers().min(self.layout.agpr_count) {
            self.acc_read(SCRATCH, n as u32);
            self.nops();
            self.buffer("buffer_store_dword", SCRATCH, self.layout.agprs + n * LANES);
            self.wait();
        }
        // The scalars come last, and with them the word that says that all is there.
        self.wait();
        self.buffer("buffer_store_dword", SCALAR_LANES, 0);
        self.only_lanes_of_scalars();
        self.buffer("buffer_store_dword", SCALAR_LANES + 1, LANES);
        self.wait();
        self.sopp("s_endpgm", 0);
        at
    }

    /// The second register of scalars has lanes that nothing was written to.
    fn only_lanes_of_scalars(&mut self) {
        let used = (LANES..SGPRS).chain(word::VCC..=word::MODE);
        let used = used.chain([word::DONE, word::LANDING]);
        let mask = used.fold(0u64, |mask, at| mask | 1 << (at - LANES));
        self.move_literal(EXEC, mask as u32);
        self.move_literal(EXEC + 1, (mask >> 32) as u32);
    }

    /// Waits for what is outstanding, and as long as any hazard lasts.
    fn settle(&mut self) {
        self.wait();
        for _ in 0..3 {
            self.nops();
        }
    }

    /// From a case to the epilogue; SCC stays.
    fn tail(&mut self) {
        self.settle();
        self.sop1("s_setpc_b64", 0, own::EPILOGUE);
    }

    // ---- encoding

    fn here(&self) -> u32 {
        self.code.len() as u32
    }

    /// Eight wait states.
    fn nops(&mut self) {
        self.sopp("s_nop", 4 * 7);
    }

    /// The descriptor of the image goes to s0 to s3.
    fn raw_buffer(&mut self) {
        self.sop1("s_mov_b64", 0, own::IMAGE);
        self.sop1("s_mov_b32", 2, MINUS_ONE);
        self.move_literal(3, RAW);
    }

    /// Loads or stores a VGPR at a dword of the image.
    fn buffer(&mut self, name: &str, data: u32, at: usize) {
        const OFFSET: u32 = 4;
        self.move_literal(OFFSET, 4 * at as u32);
        let place = Place {
            address: LANE,
            descriptor: 0,
            base: OFFSET,
            offset: 0,
        };
        self.mubuf(name, data, place);
    }

    fn lds_store(&mut self, at: u32) {
        self.lds("ds_write_b32", at, SCRATCH << 8);
    }

    fn lds_load(&mut self, at: u32) {
        self.lds("ds_read_b32", at, SCRATCH << 24);
    }

    fn lds(&mut self, name: &str, at: u32, data: u32) {
        self.ds(name, at, data | LANE);
    }
}

/// Bytes of a VGPR.
const VGPR: u32 = 4 * LANES as u32;

/// Where a dword of the image's [`word`]s is loaded to.
const fn loaded(word: usize) -> u32 {
    LOADED + (word - self::word::VCC) as u32
}

const _: () = assert!(
    4 * SCALARS < 1024,
    "offsets of scalar loads on gfx6 have 8 bits, in dwords"
);

/// The descriptor of the kernel: all VGPRs, LDS, and the address of the arguments in s\[0:1\].
pub fn descriptor() -> KernelDescriptor {
    KernelDescriptor {
        group_segment_fixed_size: LDS,
        // Registers; denormals are kept, DX10_CLAMP, IEEE.
        rsrc1: 63 | 12 << 6 | 0xf0 << 12 | 1 << 21 | 1 << 23,
        rsrc2: 2 << 1,
        // On gfx90a and later, where ordinary registers end.
        rsrc3: 63,
        properties: 1 << 3,
        ..KernelDescriptor::default()
    }
}
