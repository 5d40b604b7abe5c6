//! Wave values of the current block.

use crate::ir::Val;
use crate::maps::HashMap;
use crate::vir::Value;

/// The wave values of the current block that are available where code is emitted. A loop inside the
/// lane groups, or a path that does not dominate what follows, has its own.
#[derive(Default)]
pub(super) struct WaveValues {
    /// Values that are the same for all lanes.
    scalars: HashMap<Val, Value>,
    /// The bits of masks that segments have computed (I64).
    mask_bits: HashMap<Val, Value>,
}

impl WaveValues {
    /// Clears all values, for another block.
    pub(super) fn clear(&mut self) {
        self.scalars.clear();
        self.mask_bits.clear();
    }

    /// Clears the scalars only.
    pub(super) fn clear_scalars(&mut self) {
        self.scalars.clear();
    }

    /// The available scalars, to be restored after other code.
    pub(super) fn scalars(&self) -> &HashMap<Val, Value> {
        &self.scalars
    }

    /// The cache in which wave values are evaluated.
    pub(super) fn scalars_mut(&mut self) -> &mut HashMap<Val, Value> {
        &mut self.scalars
    }

    /// Replaces the available scalars.
    pub(super) fn set_scalars(&mut self, scalars: HashMap<Val, Value>) {
        self.scalars = scalars;
    }

    /// Is a scalar available?
    pub(super) fn has(&self, v: Val) -> bool {
        self.scalars.contains_key(&v)
    }

    /// Makes a scalar available.
    pub(super) fn insert(&mut self, v: Val, value: Value) {
        self.scalars.insert(v, value);
    }

    /// The bits of a mask that a segment has computed.
    pub(super) fn mask_bits(&self, v: Val) -> Value {
        self.mask_bits[&v]
    }

    /// Makes the bits of a mask available.
    pub(super) fn insert_mask_bits(&mut self, v: Val, bits: Value) {
        self.mask_bits.insert(v, bits);
    }
}
