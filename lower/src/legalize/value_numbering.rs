//! Value numbering of emitted instructions: a lookup is cheaper than emission, selection and
//! allocation.

use crate::maps::HashMap;
use crate::vir::{Block, Builder, Constant, Type, Value};

/// Values of a region available for reuse.
#[derive(Default)]
pub(crate) struct ValueNumbering {
    /// Integer constants of the baseline tier, at the function's entry.
    integers: HashMap<(Type, i64), Value>,
    constants: HashMap<(Type, u64), Constant>,
    /// The block for which the rest is valid.
    block: Option<Block>,
    vectors: HashMap<(Type, u64), Value>,
    wholes: HashMap<(Type, Constant), Value>,
    flushed: HashMap<Value, Value>,
    dwords: HashMap<[Value; 2], [Value; 2]>,
}

impl ValueNumbering {
    /// An integer constant at the function's entry, for any block.
    pub(super) fn integer(&mut self, b: &mut Builder<'_>, ty: Type, n: i64) -> Value {
        let new = || b.iconst_at_entry(ty, n);
        *self.integers.entry((ty, n)).or_insert_with(new)
    }

    /// A vector that repeats this lane, of 32 or 64 bits.
    pub(super) fn vector(&mut self, b: &mut Builder<'_>, ty: Type, lane: u64) -> Value {
        self.go_to(b);
        if let Some(&v) = self.vectors.get(&(ty, lane)) {
            return v;
        }
        let constant = *self.constants.entry((ty, lane)).or_insert_with(|| {
            let lane = lane.to_le_bytes();
            let lanes = lane[..ty.lane_type().bytes() as usize].iter().cycle();
            let bytes: Vec<u8> = lanes.copied().take(ty.bytes() as usize).collect();
            b.func.constant(&bytes)
        });
        let v = b.vconst(ty, constant);
        self.vectors.insert((ty, lane), v);
        v
    }

    /// A vector of these bytes.
    pub(super) fn whole(&mut self, b: &mut Builder<'_>, ty: Type, bytes: &[u8]) -> Value {
        self.go_to(b);
        let constant = b.func.constant(bytes);
        let new = || b.vconst(ty, constant);
        *self.wholes.entry((ty, constant)).or_insert_with(new)
    }

    /// A value without its denormals, if computed or trivially itself.
    pub(super) fn flushed(&mut self, b: &Builder<'_>, v: Value) -> Option<Value> {
        self.go_to(b);
        self.flushed.get(&v).copied()
    }

    /// Records that one value is another without its denormals.
    pub(super) fn note_flushed(&mut self, v: Value, flushed: Value) {
        self.flushed.insert(v, flushed);
        self.flushed.insert(flushed, flushed);
    }

    /// The low and the high dwords of two vectors of quads, if available.
    pub(super) fn dwords(&mut self, b: &Builder<'_>, quads: [Value; 2]) -> Option<[Value; 2]> {
        self.go_to(b);
        self.dwords.get(&quads).copied()
    }

    /// Records the dwords of quads.
    pub(super) fn note_dwords(&mut self, b: &Builder<'_>, quads: [Value; 2], dwords: [Value; 2]) {
        self.go_to(b);
        self.dwords.insert(quads, dwords);
    }

    /// Invalidates the values of another block.
    fn go_to(&mut self, b: &Builder<'_>) {
        let here = b.current_block();
        if self.block != here {
            self.block = here;
            self.vectors.clear();
            self.wholes.clear();
            self.flushed.clear();
            self.dwords.clear();
        }
    }
}
