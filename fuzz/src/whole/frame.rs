//! What surrounds a body: a prologue that sets registers, an epilogue that stores them.

use harness::random::Random;
use harness::words::{self, prepared};

use super::writer::Writer;
use super::{
    BUFFER, COUNTERS, INPUT, LDS_COUNTERS, LDS_EXCHANGE, LDS_FIRST, LDS_WAVE, RESULTS, SLICE,
    scalar, vector,
};
use crate::assembler::{Assembler, EXEC, LITERAL, M0, MINUS_ONE, MODE, Place, RAW, VCC, constant};

impl Writer<'_> {
    pub(super) fn prologue(&mut self, r: &mut Random, waves: u32) {
        let temporary = scalar::TEMPORARY;
        self.load(scalar::INPUT_AT, 2, 0, 0);
        self.load(scalar::COUNTERS_AT, 1, 0, 16);
        // The wave's number in the workgroup. Lanes that are not in the grid have numbers, too, since instructions make
        // them active.
        self.vop2("v_lshrrev_b32", vector::VALUE, constant(6), 0);
        let first = self.rows().first_lane(temporary, vector::VALUE);
        self.add(&first);
        self.sop1("s_mov_b64", scalar::ADDRESS, EXEC);
        self.all_lanes();
        self.lane_number();
        self.sop2("s_lshl_b32", temporary + 1, temporary, constant(6));
        self.vop2("v_or_b32", vector::ITEM, temporary + 1, vector::LANE);
        self.vop2("v_lshlrev_b32", vector::LANE4, constant(2), vector::LANE);
        self.vop2("v_lshlrev_b32", vector::EXCHANGE, constant(2), vector::ITEM);
        // Its number among all waves.
        self.sop2("s_mul_i32", temporary + 1, 2, constant(waves));
        self.sop2("s_add_u32", temporary + 1, temporary + 1, temporary);
        self.wait();
        self.sop2("s_mul_i32", temporary + 1, temporary + 1, LITERAL);
        self.word(SLICE);
        self.sop2(
            "s_add_u32",
            scalar::SLICE_AT,
            scalar::SLICE_AT,
            temporary + 1,
        );
        self.sop2(
            "s_addc_u32",
            scalar::SLICE_AT + 1,
            scalar::SLICE_AT + 1,
            constant(0),
        );
        let base = prepared::GLOBAL_S;
        self.sop2("s_add_u32", base, scalar::SLICE_AT, LITERAL);
        self.word(BUFFER);
        self.sop2("s_addc_u32", base + 1, scalar::SLICE_AT + 1, constant(0));
        self.sopk("s_movk_i32", prepared::NEAR_S, 8 * r.below(8));
        self.sopk("s_movk_i32", prepared::FAR_S, 4 * r.below(256));
        // Descriptors.
        self.descriptor(scalar::COUNTERS, Some(scalar::COUNTERS_AT), COUNTERS, 0);
        self.descriptor(scalar::INPUT, Some(scalar::INPUT_AT), INPUT, 0);
        self.descriptor(scalar::SLICE, Some(scalar::SLICE_AT), SLICE, 0);
        for descriptor in [prepared::BUFFER_S, prepared::PRIVATE_S] {
            let stride = *r.pick(&[0, 0, 4, 8, 16]);
            self.descriptor(descriptor, Some(base), BUFFER / stride.max(1), stride);
        }
        self.descriptor(prepared::ZERO_S, None, u32::MAX, 0);
        // Addresses of lanes.
        for low in [prepared::GLOBAL_V, prepared::FLAT_V, prepared::PRIVATE_V] {
            self.vop2("v_lshlrev_b32", low, constant(2 + r.below(3)), vector::LANE);
            self.vop1("v_mov_b32", low + 1, base + 1);
            let (add, carry) = (self.rows().add_co(), self.rows().add_carry());
            self.vop2(add, low, base, low);
            self.vop2(carry, low + 1, constant(0), low + 1);
        }
        for register in [prepared::OFFSET_V, prepared::SCRATCH_V, prepared::LDS_V] {
            let shift = constant(2 + r.below(2));
            self.vop2("v_lshlrev_b32", register, shift, vector::LANE);
        }
        self.sop2("s_mul_i32", temporary, temporary, LITERAL);
        self.word(LDS_WAVE);
        self.sop2("s_add_u32", temporary, temporary, LITERAL);
        self.word(LDS_FIRST);
        self.vop2("v_or_b32", prepared::LDS_V, temporary, prepared::LDS_V);
        self.vop1("v_mov_b32", prepared::FRAME_V, constant(4 * r.below(16)));
        self.vop1("v_mov_b32", prepared::INDEX_V, 256 + vector::LANE);
        self.vop1(
            "v_mov_b32",
            prepared::INDEX_V + 1,
            constant(4 * r.below(16)),
        );
        self.sop1("s_mov_b32", M0, MINUS_ONE);
        // Values: work-items of different workgroups have different ones.
        self.sop2("s_mul_i32", temporary, 2, LITERAL);
        self.word(132);
        let place = Place {
            address: vector::EXCHANGE,
            descriptor: scalar::INPUT,
            base: temporary,
            offset: 0,
        };
        // Some keep what the dispatch gave.
        for n in r.below(2)..words::VGPRS {
            let offset = 64 * 4 * (n & 7);
            self.mubuf("buffer_load_dword", n, Place { offset, ..place });
        }
        for n in [0, 8, 16] {
            self.load(n, 3, scalar::INPUT_AT, 512 + 4 * n);
        }
        self.load(temporary, 1, scalar::INPUT_AT, 256);
        self.wait();
        self.sop1("s_mov_b64", VCC, temporary);
        self.sop1("s_mov_b64", EXEC, scalar::ADDRESS);
        self.spent = 0;
    }

    /// The lane's number, by counting the lanes before it.
    pub(super) fn lane_number(&mut self) {
        let names = ["v_mbcnt_lo_u32_b32", "v_mbcnt_hi_u32_b32"];
        for (name, before) in names.into_iter().zip([constant(0), 256 + vector::LANE]) {
            let bytes = match self.gfx.is_gfx8_up() {
                true => self.rows().vop3(name, vector::LANE, MINUS_ONE, before),
                false => {
                    self.vop1("v_mov_b32", vector::VALUE, before);
                    self.rows()
                        .vop2(name, vector::LANE, MINUS_ONE, vector::VALUE)
                }
            };
            self.add(&bytes);
        }
    }

    /// The descriptor of memory at the address in a pair, or of all memory.
    pub(super) fn descriptor(&mut self, at: u32, base: Option<u32>, records: u32, stride: u32) {
        match base {
            Some(base) => self.sop1("s_mov_b64", at, base),
            None => self.sop1("s_mov_b64", at, constant(0)),
        }
        if stride != 0 {
            self.sop2("s_or_b32", at + 1, at + 1, LITERAL);
            self.word(stride << 16);
        }
        for (register, word) in [(at + 2, records), (at + 3, RAW)] {
            self.move_literal(register, word);
        }
    }

    pub(super) fn epilogue(&mut self, waves: u32) {
        let (temporary, address) = (scalar::TEMPORARY, scalar::ADDRESS);
        self.sop2("s_cselect_b32", temporary, constant(1), constant(0));
        self.sopk("s_getreg_b32", temporary + 1, MODE);
        self.sop1("s_mov_b64", address, EXEC);
        self.all_lanes();
        let special = [
            VCC,
            VCC + 1,
            M0,
            temporary,
            temporary + 1,
            address,
            address + 1,
        ];
        for (lane, register) in (0..words::SGPRS).chain(special).enumerate() {
            self.write_lane(vector::SCALARS, register, lane as u32);
        }
        self.barrier();
        let mut next = RESULTS;
        for register in (0..words::VGPRS).chain([vector::SCALARS]) {
            self.keep(register, &mut next);
        }
        // The wave's LDS, which begins at the lanes' addresses.
        self.vop1("v_mov_b32", vector::ADDRESS, 256 + prepared::LDS_V);
        for n in 0..4 {
            self.ds(
                "ds_read_b32",
                256 * n,
                vector::VALUE << 24 | vector::ADDRESS,
            );
            self.keep(vector::VALUE, &mut next);
        }
        let shared = [LDS_COUNTERS].into_iter();
        for at in shared.chain((0..waves).map(|wave| LDS_EXCHANGE + 256 * wave)) {
            self.ds("ds_read_b32", at, vector::VALUE << 24 | vector::LANE4);
            self.keep(vector::VALUE, &mut next);
        }
        assert!(next <= SLICE, "bug: results have no room");
        self.sopp("s_endpgm", 0);
    }

    /// Stores a register to the slice.
    pub(super) fn keep(&mut self, register: u32, next: &mut u32) {
        self.wait();
        self.sopk("s_movk_i32", scalar::TEMPORARY, *next);
        self.mubuf(
            "buffer_store_dword",
            register,
            Place {
                address: vector::LANE4,
                descriptor: scalar::SLICE,
                base: scalar::TEMPORARY,
                offset: 0,
            },
        );
        *next += 256;
    }
}
