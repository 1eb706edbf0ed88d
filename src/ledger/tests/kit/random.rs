//! Numbers for tests that try much: a fixed sequence from a seed, so that a failure can be run again.

/// SplitMix64.
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `bound`.
    pub fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }

    /// A place in a list of this length.
    pub fn place(&mut self, length: usize) -> usize {
        self.below(length as u64) as usize
    }

    pub fn flag(&mut self) -> bool {
        self.below(2) == 0
    }

    /// Mostly small, now and then an edge of 64 bits.
    pub fn amount(&mut self) -> u64 {
        match self.below(16) {
            0 => 0,
            1 => u64::MAX,
            2 => u64::MAX - 1_000,
            3 => 1 << 63,
            _ => self.next() % 1_000_000,
        }
    }
}
