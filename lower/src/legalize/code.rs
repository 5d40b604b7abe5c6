//! The host code of a region while it is emitted, and the operations that need nothing but the
//! region: constants, checks, the context, frame slots. Memory accesses and lane operations
//! ([`super::access`], [`super::lanes`]) build on it.

use std::mem::offset_of;

use frontend::state::WaveState;

use super::lanes::Lanes;
use super::region::Region;
use super::value_numbering::ValueNumbering;
use super::variables::Variables;
use crate::abi::{Context, ExitCode, Lanes as LaneSlot, Settled as Range, Site};
use crate::ir::functions::{EffectFn, LaneFn};
use crate::ir::{Block, Settled, SiteId};
use crate::vir::{self, Builder, Memory, Symbol, Type, Value, Variable, types};

/// The host code of a region: the builder, and what it has allocated or can reuse, regardless of
/// the guest block that is emitted. It lasts for the region.
pub(super) struct Code<'f> {
    /// Where instructions go.
    pub(super) b: Builder<'f>,
    /// The region.
    pub(super) region: Region<'f>,
    /// Emitted values that can be reused.
    numbering: ValueNumbering,
    /// Variables in use by the current block, and free ones.
    variables: Variables,
    /// Frame slots used.
    slots: u32,
    /// The frame slot that scatters without an instruction pass their lanes through.
    scatter_slot: Option<u32>,
    /// The accesses being emitted are a segment's slow path: some lanes are inactive, an address is
    /// out of bounds or addresses are not affine. The fast path has the inline code, so the
    /// baseline tier keeps this one short.
    out_of_line: bool,
}

/// An offset in a structure that code and runtime share.
pub(super) fn offset32(n: usize) -> i32 {
    i32::try_from(n).expect("structures are small")
}

/// Offset in the wave of a vector register's home.
pub(super) fn home_offset(n: u16) -> i32 {
    offset32(offset_of!(WaveState, vgpr) + usize::from(n) * size_of::<LaneSlot>())
}

/// Offset of a frame slot.
pub(super) fn frame_offset(slot: u32) -> i32 {
    offset32(slot as usize * size_of::<LaneSlot>())
}

impl<'f> Code<'f> {
    /// Code without instructions but those of `region`.
    pub(super) fn new(b: Builder<'f>, region: Region<'f>) -> Code<'f> {
        Code {
            b,
            region,
            numbering: ValueNumbering::default(),
            variables: Variables::default(),
            slots: 0,
            scatter_slot: None,
            out_of_line: false,
        }
    }

    /// Lanes in a host vector.
    pub(super) fn per(&self) -> usize {
        self.region.per()
    }

    /// Does the host have mask registers?
    pub(super) fn has_masks(&self) -> bool {
        self.region.has_masks()
    }

    /// Has the host an instruction that gathers dwords?
    pub(super) fn has_gathers(&self) -> bool {
        self.region.options().host.has_gathers()
    }

    /// Is a segment's slow path being emitted?
    pub(super) fn is_out_of_line(&self) -> bool {
        self.out_of_line
    }

    /// Begins or ends a segment's slow path.
    pub(super) fn set_out_of_line(&mut self, out_of_line: bool) {
        self.out_of_line = out_of_line;
    }

    /// Operations on groups of `slices` host vectors of `per` lanes.
    pub(super) fn of_lanes(&mut self, slices: usize, per: usize) -> Lanes<'_, 'f> {
        Lanes {
            masks: self.has_masks(),
            baseline: self.region.options().baseline,
            b: &mut self.b,
            exact_nan: self.region.options().exact_nan,
            slices,
            per,
            numbering: &mut self.numbering,
        }
    }

    /// An integer constant. The baseline tier reuses an earlier one: a lookup is cheaper than
    /// emission, and selection rematerializes it at each use.
    pub(super) fn integer(&mut self, ty: Type, n: i64) -> Value {
        match self.region.options().baseline {
            true => self.numbering.integer(&mut self.b, ty, n),
            false => self.b.iconst(ty, n),
        }
    }

    /// An address plus an offset.
    pub(super) fn offset_by(&mut self, base: Value, bytes: i32) -> Value {
        if self.region.options().baseline && bytes == 0 {
            return base;
        }
        let bytes = self.integer(types::I64, bytes.into());
        self.b.iadd(base, bytes)
    }

    /// Continues in a block whose incoming edges all exist. Sealing it early lets the builder find
    /// variables where they were written; otherwise it would create a parameter for each and remove
    /// them at the end. In the optimizing tier the order of parameters, and so the choice of
    /// registers, is left unchanged.
    pub(super) fn enter(&mut self, block: vir::Block) {
        self.b.switch_to_block(block);
        self.seal(block);
    }

    /// Declares that all edges to a block exist.
    pub(super) fn seal(&mut self, block: vir::Block) {
        if self.region.options().baseline {
            self.b.seal_block(block);
        }
    }

    /// A guest address.
    pub(super) fn address(&mut self, pc: u64) -> Value {
        let distance = self.region.distance_of(pc);
        self.b.symbol_value(Symbol::Guest, distance)
    }

    /// Branches to `other` unless `good` (I8); continues in a new block.
    pub(super) fn require(&mut self, other: vir::Block, good: Value) {
        let on = self.b.create_block();
        self.b.brif(good, on, &[], other, &[]);
        self.enter(on);
    }

    /// Branches to `other` unless `first` or `second` holds. `second` is tested out of line, where
    /// `first` is false.
    pub(super) fn require_either(&mut self, other: vir::Block, first: Value, second: Value) {
        let [look, on] = [(); 2].map(|()| self.b.create_block());
        self.b.set_cold_block(look);
        self.b.brif(first, on, &[], look, &[]);
        self.enter(look);
        self.b.brif(second, on, &[], other, &[]);
        self.enter(on);
    }

    /// Branches to a cold block if a status is not `Continue` and continues there; returns the
    /// other block.
    pub(super) fn unless(&mut self, status: Value) -> vir::Block {
        let bad = self.b.create_block();
        let good = self.b.create_block();
        self.b.set_cold_block(bad);
        self.b.brif(status, bad, &[], good, &[]);
        self.seal(good);
        self.enter(bad);
        good
    }

    /// Calls a function with effects and returns its status; `args` and `out` are addresses.
    pub(super) fn call_effect(
        &mut self,
        f: EffectFn,
        site: SiteId,
        args: Value,
        out: Value,
    ) -> Value {
        let index = LaneFn::ALL.len() + f as usize;
        let callee = self.function(index);
        let distance = site.0 as usize * size_of::<Site>();
        let site = self.b.symbol_value(Symbol::Sites, distance as i64);
        self.b
            .call_effect(callee, [self.region.ctx(), site, args, out])
    }

    /// Address of the runtime's function number `index`.
    pub(super) fn function(&mut self, index: usize) -> Value {
        let offset = offset32(offset_of!(Context, functions));
        let table = self
            .b
            .load(types::I64, Memory::Trusted, self.region.ctx(), offset);
        self.b
            .load(types::I64, Memory::Trusted, table, offset32(index * 8))
    }

    /// Adds the block's instructions to the counters.
    pub(super) fn count(&mut self, block: &Block) {
        let add = |e: &mut Self, offset: usize, n: Value| {
            let offset = offset32(offset);
            let old =
                e.b.load(types::I64, Memory::Trusted, e.region.ctx(), offset);
            let new = e.b.iadd(old, n);
            e.b.store(Memory::Trusted, new, e.region.ctx(), offset);
        };
        let n = self.b.iconst(types::I64, i64::from(block.guest_insts));
        add(self, offset_of!(Context, instructions), n);
    }

    /// What the sanitizer need not be told of (I64).
    pub(super) fn settled(&mut self, what: Settled) -> Value {
        let entry = |n: u8| offset_of!(Context, settled) + usize::from(n) * size_of::<Range>();
        let at = match what {
            Settled::Start(n) => entry(n) + offset_of!(Range, start),
            Settled::Len(n) => entry(n) + offset_of!(Range, len),
            Settled::Lds => offset_of!(Context, lds_settled),
            Settled::Lanes => offset_of!(Context, known_lanes),
            Settled::Stores => offset_of!(Context, stores),
        };
        self.context(types::I64, at)
    }

    /// A field of the context.
    pub(super) fn context(&mut self, ty: vir::Type, at: usize) -> Value {
        self.b
            .load(ty, Memory::Trusted, self.region.ctx(), offset32(at))
    }

    /// Sets a field of the context.
    pub(super) fn set_context(&mut self, value: Value, at: usize) {
        self.b
            .store(Memory::Trusted, value, self.region.ctx(), offset32(at));
    }

    /// The wave's fuel (I32).
    pub(super) fn fuel(&mut self) -> Value {
        self.context(types::I32, offset_of!(Context, fuel))
    }

    /// Sets the wave's remaining fuel (I32).
    pub(super) fn set_fuel(&mut self, left: Value) {
        self.set_context(left, offset_of!(Context, fuel));
    }

    /// Burns a unit of fuel; returns the rest (I32).
    pub(super) fn take_fuel(&mut self) -> Value {
        let fuel = self.fuel();
        let one = self.b.iconst(types::I32, 1);
        let left = self.b.isub(fuel, one);
        self.set_fuel(left);
        left
    }

    /// Leaves the region with `code`.
    pub(super) fn return_with(&mut self, code: ExitCode) {
        let code = self.b.iconst(types::I64, i64::from(code as u32));
        self.b.return_(code);
    }

    /// A variable for the rest of the current block; it must be written before it is read.
    pub(super) fn variable(&mut self, ty: Type) -> Variable {
        self.variables.take(&mut self.b, ty)
    }

    /// Releases the variables of the block.
    pub(super) fn free_variables(&mut self) {
        self.variables.free();
    }

    /// Allocates a frame slot beyond those of the schedule.
    pub(super) fn take_slot(&mut self) -> u32 {
        self.slots += 1;
        self.slots - 1
    }

    /// The frame slot that scatters without an instruction pass their lanes through.
    pub(super) fn scatter_slot(&mut self) -> u32 {
        let slot = self.scatter_slot.unwrap_or_else(|| self.take_slot());
        self.scatter_slot = Some(slot);
        slot
    }

    /// Frame slots used.
    pub(super) fn slots(&self) -> u32 {
        self.slots
    }

    /// Reserves the frame slots of a schedule.
    pub(super) fn reserve_slots(&mut self, slots: u32) {
        self.slots = self.slots.max(slots);
    }
}
