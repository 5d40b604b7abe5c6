//! Hash tables of the translator. Their keys are numbers and small structures of its own, so they hash in a few
//! instructions; whoever chose guest code to make them collide would only wait longer for its translation.

/// A table by keys.
pub(crate) type HashMap<K, V> = rustc_hash::FxHashMap<K, V>;

/// A set.
pub(crate) type HashSet<T> = rustc_hash::FxHashSet<T>;
