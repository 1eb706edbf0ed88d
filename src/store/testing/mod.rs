//! What the tests of the store share with those of the actors.

pub(crate) mod disk;
