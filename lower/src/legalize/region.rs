//! The region that is emitted.

use std::mem::offset_of;

use super::code::offset32;
use super::wave_switch;
use crate::abi::Context;
use crate::analysis::liveness::Live;
use crate::host;
use crate::ir::{Func, SiteId};
use crate::options::{Forms, Options};
use crate::vir::{Builder, Memory, Value, types};

/// The region, how it is emitted, and the host values that all its code reads. It does not change
/// while blocks are emitted.
pub(super) struct Region<'f> {
    func: &'f Func,
    options: Options,
    /// Guest addresses in the code are relative to it.
    base: u64,
    /// The live-ins of each block.
    live_in: &'f [Live],
    /// Lanes in a row, for values that are affine within rows only.
    row: i64,
    /// See [`super::Emitted::straight`].
    straight: bool,
    /// The context, the running wave and its frame.
    ctx: Value,
    wave: Value,
    frame: Value,
}

impl<'f> Region<'f> {
    /// A region whose context is `ctx`; loads the wave and its frame.
    pub(super) fn new(
        func: &'f Func,
        options: Options,
        base: u64,
        live_in: &'f [Live],
        row: usize,
        (b, ctx): (&mut Builder<'_>, Value),
    ) -> Region<'f> {
        let [wave, frame] = [offset_of!(Context, wave), offset_of!(Context, frame)]
            .map(|at| b.load(types::I64, Memory::Trusted, ctx, offset32(at)));
        Region {
            func,
            options,
            base,
            live_in,
            row: row as i64,
            straight: wave_switch::is_straight(func),
            ctx,
            wave,
            frame,
        }
    }

    /// The lane IR.
    pub(super) fn func(&self) -> &'f Func {
        self.func
    }

    /// The options.
    pub(super) fn options(&self) -> &Options {
        &self.options
    }

    /// The live-ins of a block.
    pub(super) fn live_in(&self, block: usize) -> &'f Live {
        &self.live_in[block]
    }

    /// Lanes in a row, for values that are affine within rows only.
    pub(super) fn row(&self) -> i64 {
        self.row
    }

    /// Has the region no back edge? See [`super::Emitted::straight`].
    pub(super) fn is_straight(&self) -> bool {
        self.straight
    }

    /// The address of the context (I64).
    pub(super) fn ctx(&self) -> Value {
        self.ctx
    }

    /// The address of the running wave (I64).
    pub(super) fn wave(&self) -> Value {
        self.wave
    }

    /// The address of the frame (I64).
    pub(super) fn frame(&self) -> Value {
        self.frame
    }

    /// Replaces the wave by the running one, where waves switch. Only for the prologue.
    pub(super) fn set_wave(&mut self, wave: Value) {
        self.wave = wave;
    }

    /// Replaces the frame's address. Only for the prologue.
    pub(super) fn set_frame(&mut self, frame: Value) {
        self.frame = frame;
    }

    /// The distance of a guest address from the base.
    pub(super) fn distance_of(&self, pc: u64) -> i64 {
        pc.wrapping_sub(self.base) as i64
    }

    /// The guest address of a site.
    pub(super) fn pc_of(&self, site: SiteId) -> u64 {
        self.func.sites[site.0 as usize].pc
    }

    /// Does the host have mask registers?
    pub(super) fn has_masks(&self) -> bool {
        self.options.host.has_masks()
    }

    /// Lanes in a host vector.
    pub(super) fn per(&self) -> usize {
        let longest = self.has_masks() && self.options.has(Forms::ZMM);
        // 16 lanes only if a row has as many: a vector must not span rows.
        match longest && self.row >= 2 * host::LANES as i64 {
            true => 2 * host::LANES,
            false => self.options.host.lanes(),
        }
    }
}
