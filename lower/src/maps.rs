//! Hash tables of the translator with a fast hash. Keys are numbers and small structures of its
//! own; guest code crafted for collisions only slows its own translation.

/// A table by keys.
pub(crate) type HashMap<K, V> = rustc_hash::FxHashMap<K, V>;

/// A set.
pub(crate) type HashSet<T> = rustc_hash::FxHashSet<T>;
