//! State of one group of lanes while it is emitted.

use super::lanes::Selectors;
use crate::ir::Val;
use crate::maps::HashMap;
use crate::vir::Value;

/// One version of a segment's loop while its body is emitted.
pub(super) struct Body {
    /// Host vectors in a group.
    pub(super) slices: usize,
    /// EXEC is all ones.
    pub(super) full: bool,
    /// First lane of the group, I64.
    pub(super) lane: Value,
    /// The wave plus the group's byte offset.
    pub(super) wave: Value,
    /// The frame plus the group's byte offset.
    pub(super) frame: Value,
    /// Values computed so far.
    pub(super) values: HashMap<Val, Vec<Value>>,
    /// Further result words of functions computed so far.
    pub(super) words: HashMap<Val, Vec<Vec<Value>>>,
    /// Whether a mask is true for some lane (I32), for masks tested so far.
    pub(super) any: HashMap<Val, Value>,
    /// Permutations for selectors that are wave values.
    pub(super) selectors: HashMap<Val, Selectors>,
    /// Values at the first lane of each of the group's rows.
    pub(super) at: Vec<HashMap<Val, Value>>,
}
