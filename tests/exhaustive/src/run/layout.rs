//! Where a batch's sources and results are, and the code that it runs.

use frontend::state::LANES;

use crate::sweep::{Form, Shape};

/// `s_barrier`, and no instruction, so that every register is observable at the barrier.
const END: [u32; 2] = [0xbf8a_0000, 0xffff_ffff];

/// Registers of a slot.
pub(super) struct Layout {
    pub(super) slots: usize,
    /// Inputs of a slot.
    pub(super) lanes: usize,
    pub(super) sources: usize,
    /// Result registers of a slot: vector ones or scalar ones.
    pub(super) results: usize,
    pub(super) vector: bool,
}

impl Layout {
    pub(super) fn of(form: &Form) -> Layout {
        let (slots, results, vector) = match form.shape {
            Shape::Lanes(1) => (64, 1, true),
            Shape::Lanes(n) => (32, n as usize, true),
            Shape::Compare => (32, 2, false),
            Shape::CompareExec => (16, 4, false),
            Shape::Scalar(n, scc) => (16, n as usize + usize::from(scc), false),
        };
        Layout {
            slots: if form.bits < 12 { slots.min(4) } else { slots },
            lanes: if matches!(form.shape, Shape::Scalar(..)) {
                1
            } else {
                LANES
            },
            sources: form.fields.len(),
            results,
            vector,
        }
    }

    pub(super) fn inputs(&self) -> usize {
        self.slots * self.lanes
    }

    /// First source register of a slot.
    pub(super) fn source(&self, slot: usize) -> usize {
        slot * self.sources
    }

    /// First result register of a slot.
    pub(super) fn result(&self, slot: usize) -> usize {
        let base = match (self.vector, self.lanes) {
            (true, _) => self.slots * self.sources,
            (false, 1) => self.slots,
            (false, _) => 0,
        };
        base + slot * self.results
    }
}

pub(super) fn code(form: &Form, layout: &Layout) -> Vec<u8> {
    let mut words = Vec::new();
    for slot in 0..layout.slots {
        let (s, d) = (layout.source(slot) as u32, layout.result(slot) as u32);
        // A vector source of comparisons, a scalar one of scalar instructions; one source is both.
        let sources = [s, s + layout.sources as u32 - 1];
        words.extend(form.words(d, sources));
        match form.shape {
            Shape::CompareExec => {
                let s_mov_b64 = if form.gfx.is_gfx6_7() { 4 } else { 1 };
                let moved = |d: u32, s: u32| 0x17d << 23 | d << 16 | s_mov_b64 << 8 | s;
                // EXEC into the second pair, and all lanes again.
                words.extend([moved(d + 2, 126), moved(126, 193)]);
            }
            Shape::Scalar(n, true) => {
                // s_cselect_b32 of 1 and 0
                words.push(0x2 << 30 | 0x0a << 23 | (d + n) << 16 | 128 << 8 | 129);
            }
            Shape::Scalar(_, false) | Shape::Lanes(_) | Shape::Compare => {}
        }
    }
    words.extend(END);
    words.into_iter().flat_map(u32::to_le_bytes).collect()
}
