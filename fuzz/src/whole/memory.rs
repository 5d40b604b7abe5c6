//! Accesses to the wave's own memory, exchanges through LDS, shared counters.

use frontend::{Encoding, Op, decode};
use harness::random::Random;
use harness::words::{self, As, prepared};

use super::writer::Writer;
use super::{LDS_COUNTERS, LDS_EXCHANGE, WAVES, scalar, vector};
use crate::assembler::{Assembler, LITERAL, Place, constant};
use crate::program::fits;

impl Writer<'_> {
    /// An access to the wave's slice or its part of the LDS, or an exchange among its lanes.
    pub(super) fn own_access(&mut self, r: &mut Random) {
        let desc = *r.pick(&self.parts.own);
        let Some(mut bytes) = words::random(r, self.gfx, desc, As::Native) else {
            return;
        };
        match desc.encoding {
            Encoding::Ds => {
                // No GDS.
                let gds = if self.gfx.is_gfx6_7() { 17 } else { 16 };
                clear(&mut bytes, gds);
                if !matches!(desc.op, Op::Ds(_)) {
                    bytes[4] = prepared::LDS_V as u8;
                }
            }
            // Not to LDS.
            Encoding::Mubuf => clear(&mut bytes, 16),
            // M0 is no offset.
            Encoding::Smem if self.gfx.is_gfx8_up() && bytes[2] & 2 == 0 && bytes[4] == 124 => {
                return;
            }
            _ => {}
        }
        if decode(self.gfx, &bytes).is_ok_and(|inst| fits(&inst)) {
            self.add(&bytes);
        }
    }

    /// Each work-item stores a word to LDS and, behind a barrier, loads that of another.
    pub(super) fn exchange(&mut self, r: &mut Random) {
        let (from, to) = (r.below(words::VGPRS), r.below(words::VGPRS));
        let other = 4 * r.below(64 * WAVES);
        if r.once_in(2) {
            self.all_lanes();
        }
        self.ds("ds_write_b32", LDS_EXCHANGE, from << 8 | vector::EXCHANGE);
        self.barrier();
        self.vop1("v_mov_b32", vector::ADDRESS, LITERAL);
        self.word(other);
        self.vop2(
            "v_xor_b32",
            vector::ADDRESS,
            256 + vector::EXCHANGE,
            vector::ADDRESS,
        );
        self.ds("ds_read_b32", LDS_EXCHANGE, to << 24 | vector::ADDRESS);
        self.barrier();
    }

    /// One of `count` counters with the lanes' offsets from it in a register, so that they access the same word or up to
    /// four, and a pair with data.
    fn counter(&mut self, r: &mut Random, count: usize) -> (u32, u32) {
        let (counter, spread) = (r.below(count as u32), r.below(4));
        let data = 2 * r.below(words::VGPRS / 2);
        self.vop2("v_and_b32", vector::ADDRESS, constant(spread), vector::LANE);
        self.vop2(
            "v_lshlrev_b32",
            vector::ADDRESS,
            constant(3),
            vector::ADDRESS,
        );
        (counter, data)
    }

    /// A counter of the workgroup.
    pub(super) fn count_in_lds(&mut self, r: &mut Random) {
        const NAMES: [&str; 8] = [
            "ds_add_u32",
            "ds_sub_u32",
            "ds_and_b32",
            "ds_or_b32",
            "ds_xor_b32",
            "ds_max_u32",
            "ds_min_i32",
            "ds_add_u64",
        ];
        let (counter, data) = self.counter(r, NAMES.len());
        let registers = data << 8 | vector::ADDRESS;
        let offset = LDS_COUNTERS + 32 * counter;
        self.ds(NAMES[counter as usize], offset, registers);
    }

    /// A counter of the dispatch.
    pub(super) fn count_in_memory(&mut self, r: &mut Random) {
        const NAMES: [&str; 8] = [
            "buffer_atomic_add",
            "buffer_atomic_sub",
            "buffer_atomic_and",
            "buffer_atomic_or",
            "buffer_atomic_xor",
            "buffer_atomic_umax",
            "buffer_atomic_smin",
            "buffer_atomic_add_x2",
        ];
        let (counter, data) = self.counter(r, NAMES.len());
        self.mubuf(
            NAMES[counter as usize],
            data,
            Place {
                address: vector::ADDRESS,
                descriptor: scalar::COUNTERS,
                base: 128,
                offset: 32 * counter,
            },
        );
    }
}

/// Clears a bit of an instruction's first dword.
fn clear(bytes: &mut [u8], bit: u32) {
    bytes[bit as usize / 8] &= !(1 << (bit % 8));
}
