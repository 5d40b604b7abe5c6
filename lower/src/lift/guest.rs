//! The guest's registers while one block is being translated: the current value of each. It knows
//! EXEC: a write merges under it, and a read whose consumer acts under the same EXEC gets the value
//! before merging.

use std::collections::BTreeSet;

use frontend::inst::{EXEC_HI, EXEC_LO, Operand, VCC_HI, VCC_LO};
use frontend::target::Gfx;

use crate::ir::build::Build;
use crate::ir::build::types;
use crate::ir::{Block, FIRST_AGPR, Op, Slot, Term, VECTOR_REGISTERS, Val, Width};
use crate::lift::arms::relative::Indexing;

/// Current register values of the block under translation.
pub struct Guest<'b> {
    /// The builder of the block.
    pub b: &'b Build,
    /// Target.
    pub gfx: Gfx,
    /// MODE's float bits that the code is specialised on.
    pub mode: u32,
    /// NaN results are bit-exact, at the cost of extra operations.
    pub exact_nan: bool,
    /// SCRATCH instructions are checked against the lane's private segment.
    pub checked: bool,
    /// A sanitizer observes the wave.
    pub sanitize: bool,
    /// GPR indexing is on.
    pub indexing: Option<Indexing>,
    /// The LDS_DIRECT word of the current instruction.
    pub lds_direct: Option<Val>,
    /// The destination operand that an accumulating instruction reads, if it is another register.
    pub accumulator: Option<Operand>,
    sgpr: [Option<Val>; 128],
    sgpr_dirty: [bool; 128],
    vgpr: Box<[Option<Val>; VECTOR_REGISTERS]>,
    /// Those of `vgpr` that the block has written.
    written: BTreeSet<u16>,
    exec: Option<Val>,
    exec_dirty: bool,
    vcc: Option<Val>,
    vcc_dirty: bool,
    scc: Option<Val>,
    scc_dirty: bool,
    mode_reg: Option<Val>,
    mode_dirty: bool,
}

/// The vector register `i` behind `n`; VGPRs and accumulation registers wrap each among themselves.
pub fn register_behind(n: u16, i: u8) -> u16 {
    n & FIRST_AGPR | (n + u16::from(i)) & (FIRST_AGPR - 1)
}

/// The VGPRs saved by [`Guest::replace_lanes`].
pub struct SavedLanes {
    vgpr: Box<[Option<Val>; VECTOR_REGISTERS]>,
    written: BTreeSet<u16>,
}

impl<'b> Guest<'b> {
    /// The state at the start of a block: every register is a read at block entry.
    pub fn new(b: &'b Build, gfx: Gfx, mode: u32) -> Guest<'b> {
        Guest {
            b,
            gfx,
            mode,
            exact_nan: false,
            checked: false,
            sanitize: false,
            indexing: None,
            lds_direct: None,
            accumulator: None,
            sgpr: [None; 128],
            sgpr_dirty: [false; 128],
            vgpr: Box::new([None; VECTOR_REGISTERS]),
            written: BTreeSet::new(),
            exec: None,
            exec_dirty: false,
            vcc: None,
            vcc_dirty: false,
            scc: None,
            scc_dirty: false,
            mode_reg: None,
            mode_dirty: false,
        }
    }

    // ---- scalars

    /// EXEC, a W64 wave value.
    pub fn exec(&mut self) -> Val {
        let b = self.b;
        *self
            .exec
            .get_or_insert_with(|| b.leaf(Op::ReadS(Slot::Exec), types::W64))
    }

    /// EXEC, if the block has written it.
    pub fn new_exec(&self) -> Option<Val> {
        self.exec.filter(|_| self.exec_dirty)
    }

    /// Sets EXEC.
    pub fn set_exec(&mut self, v: Val) {
        self.exec = Some(v);
        self.exec_dirty = true;
    }

    /// VCC, a W64 wave value.
    pub fn vcc(&mut self) -> Val {
        let b = self.b;
        *self
            .vcc
            .get_or_insert_with(|| b.leaf(Op::ReadS(Slot::Vcc), types::W64))
    }

    /// Sets VCC.
    pub fn set_vcc(&mut self, v: Val) {
        self.vcc = Some(v);
        self.vcc_dirty = true;
    }

    /// SCC, a W1 wave value.
    pub fn scc(&mut self) -> Val {
        let b = self.b;
        *self
            .scc
            .get_or_insert_with(|| b.leaf(Op::ReadS(Slot::Scc), types::W1))
    }

    /// Sets SCC.
    pub fn set_scc(&mut self, v: Val) {
        self.scc = Some(v);
        self.scc_dirty = true;
    }

    /// The whole MODE register, a W32 wave value.
    pub fn mode_reg(&mut self) -> Val {
        let b = self.b;
        *self
            .mode_reg
            .get_or_insert_with(|| b.leaf(Op::ReadS(Slot::Mode), types::W32))
    }

    /// Sets the MODE register; `float_bits` are its float bits, which must be constant.
    pub fn set_mode_reg(&mut self, v: Val, float_bits: u32) {
        self.mode_reg = Some(v);
        self.mode_dirty = true;
        self.mode = float_bits;
    }

    /// A 32-bit scalar register by encoding code.
    pub fn read_s32(&mut self, code: u8) -> Val {
        let b = self.b;
        match code & 127 {
            EXEC_LO => b.pure(Op::Lo, &[self.exec()]),
            EXEC_HI => b.pure(Op::Hi, &[self.exec()]),
            VCC_LO => b.pure(Op::Lo, &[self.vcc()]),
            VCC_HI => b.pure(Op::Hi, &[self.vcc()]),
            n => *self.sgpr[usize::from(n)]
                .get_or_insert_with(|| b.leaf(Op::ReadS(Slot::Sgpr(n)), types::W32)),
        }
    }

    /// A 64-bit scalar register pair by encoding code.
    pub fn read_s64(&mut self, code: u8) -> Val {
        match code & 127 {
            EXEC_LO => self.exec(),
            VCC_LO => self.vcc(),
            n => {
                let lo = self.read_s32(n);
                let hi = self.read_s32((n + 1) & 127);
                self.b.pure(Op::Pair, &[lo, hi])
            }
        }
    }

    /// Writes a 32-bit scalar register by encoding code.
    pub fn write_s32(&mut self, code: u8, v: Val) {
        let b = self.b;
        match code & 127 {
            EXEC_LO => {
                let hi = b.pure(Op::Hi, &[self.exec()]);
                self.set_exec(b.pure(Op::Pair, &[v, hi]));
            }
            EXEC_HI => {
                let lo = b.pure(Op::Lo, &[self.exec()]);
                self.set_exec(b.pure(Op::Pair, &[lo, v]));
            }
            VCC_LO => {
                let hi = b.pure(Op::Hi, &[self.vcc()]);
                self.set_vcc(b.pure(Op::Pair, &[v, hi]));
            }
            VCC_HI => {
                let lo = b.pure(Op::Lo, &[self.vcc()]);
                self.set_vcc(b.pure(Op::Pair, &[lo, v]));
            }
            n => {
                self.sgpr[usize::from(n)] = Some(v);
                self.sgpr_dirty[usize::from(n)] = true;
            }
        }
    }

    /// Writes a 64-bit scalar register pair by encoding code.
    pub fn write_s64(&mut self, code: u8, v: Val) {
        match code & 127 {
            EXEC_LO => self.set_exec(v),
            VCC_LO => self.set_vcc(v),
            n => {
                let lo = self.b.pure(Op::Lo, &[v]);
                let hi = self.b.pure(Op::Hi, &[v]);
                self.write_s32(n, lo);
                self.write_s32((n + 1) & 127, hi);
            }
        }
    }

    // ---- lanes

    /// The mask of the currently active lanes.
    pub fn exec_mask(&mut self) -> Val {
        let exec = self.exec();
        self.b.pure(Op::ExecMask, &[exec])
    }

    /// All 64 lanes of a vector register, for consumers that read other lanes or ignore EXEC.
    pub fn read_v_all(&mut self, n: u16) -> Val {
        let b = self.b;
        *self.vgpr[usize::from(n)].get_or_insert_with(|| b.leaf(Op::ReadV(n), types::L32))
    }

    /// A VGPR for a consumer whose effect is confined to the currently active lanes: inactive lanes
    /// of the result are unspecified, which avoids the merge.
    pub fn read_v(&mut self, n: u16) -> Val {
        let all = self.read_v_all(n);
        self.active(all)
    }

    /// `v` without a merge under the current EXEC.
    pub fn active(&mut self, v: Val) -> Val {
        let mask = self.exec_mask();
        match self.b.parts(v) {
            (Op::Select, args) if args[0] == mask => args[1],
            (Op::And, args) if args[0] == mask => args[1],
            (Op::And, args) if args[1] == mask => args[0],
            _ => v,
        }
    }

    /// Writes a VGPR in the active lanes.
    pub fn write_v(&mut self, n: u16, v: Val) {
        let mask = self.exec_mask();
        let old = self.read_v_all(n);
        let merged = self.b.pure(Op::Select, &[mask, v, old]);
        self.write_v_all(n, merged);
    }

    /// Writes all 64 lanes of a VGPR (`v_writelane` and the like merge explicitly).
    pub fn write_v_all(&mut self, n: u16, v: Val) {
        self.vgpr[usize::from(n)] = Some(v);
        self.written.insert(n);
    }

    /// A lane mask from a scalar register pair, for a consumer confined to the active lanes.
    pub fn read_mask(&mut self, code: u8) -> Val {
        let bits = self.read_s64(code);
        let mask = self.b.pure(Op::MaskFromBits, &[bits]);
        self.active(mask)
    }

    /// Writes a lane mask to a scalar register pair; inactive lanes get 0.
    pub fn write_mask(&mut self, code: u8, mask: Val) {
        let exec = self.exec_mask();
        let both = self.b.pure(Op::And, &[mask, exec]);
        let bits = self.b.pure(Op::Ballot, &[both]);
        self.write_s64(code, bits);
    }

    /// Replaces all VGPRs and returns the previous values for [`Guest::restore_lanes`].
    pub fn replace_lanes(&mut self, values: &[(u16, Val)]) -> SavedLanes {
        let mut vgpr = Box::new([None; VECTOR_REGISTERS]);
        for &(n, v) in values {
            vgpr[usize::from(n)] = Some(v);
        }
        SavedLanes {
            vgpr: std::mem::replace(&mut self.vgpr, vgpr),
            written: std::mem::take(&mut self.written),
        }
    }

    /// Restores the VGPRs; returns the values written meanwhile.
    pub fn restore_lanes(&mut self, saved: SavedLanes) -> Vec<(u16, Val)> {
        let vgpr = std::mem::replace(&mut self.vgpr, saved.vgpr);
        let written = std::mem::replace(&mut self.written, saved.written).into_iter();
        written
            .filter_map(|n| Some((n, vgpr[usize::from(n)]?)))
            .collect()
    }

    /// A 32-bit constant.
    pub fn imm32(&self, value: u32) -> Val {
        self.b.constant(Width::W32, u64::from(value))
    }

    /// A 64-bit constant.
    pub fn imm64(&self, value: u64) -> Val {
        self.b.constant(Width::W64, value)
    }

    // ---- the end of the block

    /// The finished block, without its counts and EXEC at its effects.
    pub fn block(&self, pc: u64, guest_insts: u32, term: Term) -> Block {
        let (writes_s, writes_v) = self.writes();
        let (nodes, effects) = self.b.finish();
        Block {
            pc,
            nodes,
            effects,
            execs: Vec::new(),
            writes_s,
            writes_v,
            term,
            guest_insts,
            counts: Vec::new(),
            outcomes: Vec::new(),
        }
    }

    /// The block's writes: scalar slots and VGPRs with their values at its end.
    #[allow(clippy::type_complexity, reason = "a pair of plain lists")]
    pub fn writes(&self) -> (Vec<(Slot, Val)>, Vec<(u16, Val)>) {
        let mut scalars = Vec::new();
        for (n, value) in self.sgpr.iter().enumerate() {
            if let (Some(v), true) = (*value, self.sgpr_dirty[n]) {
                scalars.push((Slot::Sgpr(n as u8), v));
            }
        }
        let specials = [
            (Slot::Exec, self.exec, self.exec_dirty),
            (Slot::Vcc, self.vcc, self.vcc_dirty),
            (Slot::Scc, self.scc, self.scc_dirty),
            (Slot::Mode, self.mode_reg, self.mode_dirty),
        ];
        for (slot, value, dirty) in specials {
            if let (Some(v), true) = (value, dirty) {
                scalars.push((slot, v));
            }
        }
        scalars.retain(|&(slot, v)| self.b.parts(v).0 != Op::ReadS(slot));
        let lanes = self.written.iter();
        let lanes = lanes.filter_map(|&n| Some((n, self.vgpr[usize::from(n)]?)));
        let lanes = lanes.filter(|&(n, v)| self.b.parts(v).0 != Op::ReadV(n));
        (scalars, lanes.collect())
    }
}
