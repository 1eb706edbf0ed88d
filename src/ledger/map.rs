//! Maps of what is looked up again and again for every transaction. Clients choose many of the keys, so each map
//! has a random seed of its own, which no answer tells; the hashes of the standard library, which are safe even
//! from those who see them, took 2 % of the time of a loaded node.

/// How keys are hashed.
pub type HashState = foldhash::quality::RandomState;

/// A map of hashed keys; made with `default`.
pub type HashMap<K, V> = std::collections::HashMap<K, V, HashState>;

/// A set of hashed values; made with `default`.
pub type HashSet<V> = std::collections::HashSet<V, HashState>;
