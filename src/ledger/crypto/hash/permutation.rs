//! The permutation of SHA-3 (FIPS 202, section 3) on eight states in parallel.
//!
//! Word `i` of all eight states is contiguous in memory, so that one vector instruction processes
//! all of them. With AVX-512, a hash costs 79 ns in a batch and 378 ns alone (`node_among_others`
//! and `node_alone` of `cargo bench -p ledger-execution --bench stages`). With AVX2, a batch is
//! about twice as fast as single hashes. The instruction set is detected at run time.

/// Number of states that one permutation processes in parallel.
pub(super) const LANES: usize = 8;
/// Number of 64-bit words of a state.
const WORDS: usize = 25;

/// Eight states, ordered by word and then by lane.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
pub(super) struct States(pub(super) [[u64; LANES]; WORDS]);

impl States {
    /// Creates the initial states of eight hashes.
    pub(super) const fn new() -> Self {
        Self([[0; LANES]; WORDS])
    }

    /// Applies the permutation to each state, with the fastest instructions of the processor.
    pub(super) fn permute(&mut self) {
        #[cfg(target_arch = "x86_64")]
        {
            if std::arch::is_x86_feature_detected!("avx512f") {
                // SAFETY: the function requires only AVX-512F, and the processor has it.
                #[expect(
                    unsafe_code,
                    reason = "almost five times as fast, and nothing but the check makes it sound"
                )]
                unsafe {
                    simd::avx512(&mut self.0);
                }
                return;
            }
            if std::arch::is_x86_feature_detected!("avx2") {
                // SAFETY: the function requires only AVX2, and the processor has it.
                #[expect(
                    unsafe_code,
                    reason = "twice as fast, and nothing but the check makes it sound"
                )]
                unsafe {
                    simd::avx2(&mut self.0);
                }
                return;
            }
        }
        self.permute_scalar();
    }

    /// Applies the permutation to one state after another, without vector instructions.
    fn permute_scalar(&mut self) {
        let permutation = keccak::Keccak::new();
        for lane in 0..LANES {
            let mut state = self.0.map(|word| word[lane]);
            permutation.with_f1600(|permute| permute(&mut state));
            for (words, word) in self.0.iter_mut().zip(state) {
                words[lane] = word;
            }
        }
    }
}

/// The permutation with vector instructions of x86-64.
#[cfg(target_arch = "x86_64")]
mod simd {
    use super::{LANES, WORDS};
    use std::arch::x86_64::{
        __m256i, __m512i, _mm_cvtsi64_si128, _mm256_andnot_si256, _mm256_or_si256,
        _mm256_set1_epi64x, _mm256_shuffle_epi8, _mm256_sll_epi64, _mm256_srl_epi64,
        _mm256_xor_si256, _mm512_rol_epi64, _mm512_set1_epi64, _mm512_ternarylogic_epi64,
        _mm512_xor_si512,
    };

    /// Round constants of step iota (FIPS 202, section 3.2.5).
    const ROUND_CONSTANTS: [u64; 24] = [
        0x0000_0000_0000_0001,
        0x0000_0000_0000_8082,
        0x8000_0000_0000_808a,
        0x8000_0000_8000_8000,
        0x0000_0000_0000_808b,
        0x0000_0000_8000_0001,
        0x8000_0000_8000_8081,
        0x8000_0000_0000_8009,
        0x0000_0000_0000_008a,
        0x0000_0000_0000_0088,
        0x0000_0000_8000_8009,
        0x0000_0000_8000_000a,
        0x0000_0000_8000_808b,
        0x8000_0000_0000_008b,
        0x8000_0000_0000_8089,
        0x8000_0000_0000_8003,
        0x8000_0000_0000_8002,
        0x8000_0000_0000_0080,
        0x0000_0000_0000_800a,
        0x8000_0000_8000_000a,
        0x8000_0000_8000_8081,
        0x8000_0000_0000_8080,
        0x0000_0000_8000_0001,
        0x8000_0000_8000_8008,
    ];

    /// Defines `permute` for one instruction set, with its vector type and five operations.
    macro_rules! permutation {
        ($feature:literal, $vector:ty, $xor:ident, $xor3:ident, $rotate:ident, $chi:ident, $broadcast:ident) => {
            /// Permutes the lanes of each of `N` vectors per word.
            ///
            /// The words of a vector are more than AVX2 has registers for. So a round reads them
            /// from one array and writes them to another, row by row: only the five words of a row,
            /// the five parities, and what theta adds to the columns are in registers.
            #[target_feature(enable = $feature)]
            fn permute<const N: usize>(states: &mut [[$vector; N]; WORDS]) {
                let mut other = [[$broadcast(0); N]; WORDS];
                for n in 0..N {
                    // The number of rounds is even, so that the last one writes to `states`.
                    let (mut from, mut to) = (&mut *states, &mut other);
                    let column = |x: usize| {
                        let upper = $xor3(from[x][n], from[x + 5][n], from[x + 10][n]);
                        $xor3(upper, from[x + 15][n], from[x + 20][n])
                    };
                    let mut parity = [column(0), column(1), column(2), column(3), column(4)];
                    for round in &ROUND_CONSTANTS {
                        // Theta: XORs each column with the parities of its two adjacent columns.
                        let d = [
                            $xor(parity[4], $rotate::<1>(parity[1])),
                            $xor(parity[0], $rotate::<1>(parity[2])),
                            $xor(parity[1], $rotate::<1>(parity[3])),
                            $xor(parity[2], $rotate::<1>(parity[4])),
                            $xor(parity[3], $rotate::<1>(parity[0])),
                        ];
                        // Rho and pi: rotates each word by its own number of bits and moves it. The
                        // five words of `b` are one row, which chi combines.
                        let b = [
                            $xor(from[0][n], d[0]),
                            $rotate::<44>($xor(from[6][n], d[1])),
                            $rotate::<43>($xor(from[12][n], d[2])),
                            $rotate::<21>($xor(from[18][n], d[3])),
                            $rotate::<14>($xor(from[24][n], d[4])),
                        ];
                        for x in 0..5 {
                            parity[x] = $chi(b[x], b[(x + 1) % 5], b[(x + 2) % 5]);
                        }
                        parity[0] = $xor(parity[0], $broadcast(round.cast_signed()));
                        for x in 0..5 {
                            to[x][n] = parity[x];
                        }
                        macro_rules! row {
                            ($y:literal, $b:expr) => {
                                let b = $b;
                                for x in 0..5 {
                                    let word = $chi(b[x], b[(x + 1) % 5], b[(x + 2) % 5]);
                                    to[5 * $y + x][n] = word;
                                    parity[x] = $xor(parity[x], word);
                                }
                            };
                        }
                        row!(
                            1,
                            [
                                $rotate::<28>($xor(from[3][n], d[3])),
                                $rotate::<20>($xor(from[9][n], d[4])),
                                $rotate::<3>($xor(from[10][n], d[0])),
                                $rotate::<45>($xor(from[16][n], d[1])),
                                $rotate::<61>($xor(from[22][n], d[2])),
                            ]
                        );
                        row!(
                            2,
                            [
                                $rotate::<1>($xor(from[1][n], d[1])),
                                $rotate::<6>($xor(from[7][n], d[2])),
                                $rotate::<25>($xor(from[13][n], d[3])),
                                $rotate::<8>($xor(from[19][n], d[4])),
                                $rotate::<18>($xor(from[20][n], d[0])),
                            ]
                        );
                        row!(
                            3,
                            [
                                $rotate::<27>($xor(from[4][n], d[4])),
                                $rotate::<36>($xor(from[5][n], d[0])),
                                $rotate::<10>($xor(from[11][n], d[1])),
                                $rotate::<15>($xor(from[17][n], d[2])),
                                $rotate::<56>($xor(from[23][n], d[3])),
                            ]
                        );
                        row!(
                            4,
                            [
                                $rotate::<62>($xor(from[2][n], d[2])),
                                $rotate::<55>($xor(from[8][n], d[3])),
                                $rotate::<39>($xor(from[14][n], d[4])),
                                $rotate::<41>($xor(from[15][n], d[0])),
                                $rotate::<2>($xor(from[21][n], d[1])),
                            ]
                        );
                        (from, to) = (to, from);
                    }
                }
            }
        };
    }

    /// Permutes all eight lanes in one vector.
    #[target_feature(enable = "avx512f")]
    pub(super) fn avx512(states: &mut [[u64; LANES]; WORDS]) {
        #[target_feature(enable = "avx512f")]
        fn xor(a: __m512i, b: __m512i) -> __m512i {
            _mm512_xor_si512(a, b)
        }
        #[target_feature(enable = "avx512f")]
        fn xor3(a: __m512i, b: __m512i, c: __m512i) -> __m512i {
            _mm512_ternarylogic_epi64::<0x96>(a, b, c)
        }
        #[target_feature(enable = "avx512f")]
        fn rotate<const BITS: i32>(a: __m512i) -> __m512i {
            _mm512_rol_epi64::<BITS>(a)
        }
        /// Computes `a ^ (!b & c)`.
        #[target_feature(enable = "avx512f")]
        fn chi(a: __m512i, b: __m512i, c: __m512i) -> __m512i {
            _mm512_ternarylogic_epi64::<0xd2>(a, b, c)
        }
        #[target_feature(enable = "avx512f")]
        fn broadcast(word: i64) -> __m512i {
            _mm512_set1_epi64(word)
        }
        permutation!("avx512f", __m512i, xor, xor3, rotate, chi, broadcast);
        permute::<1>(bytemuck::cast_mut(states));
    }

    /// Permutes four lanes in one vector, and then the other four in another.
    #[target_feature(enable = "avx2")]
    pub(super) fn avx2(states: &mut [[u64; LANES]; WORDS]) {
        #[target_feature(enable = "avx2")]
        fn xor(a: __m256i, b: __m256i) -> __m256i {
            _mm256_xor_si256(a, b)
        }
        #[target_feature(enable = "avx2")]
        fn xor3(a: __m256i, b: __m256i, c: __m256i) -> __m256i {
            _mm256_xor_si256(a, _mm256_xor_si256(b, c))
        }
        #[target_feature(enable = "avx2")]
        fn rotate<const BITS: i32>(a: __m256i) -> __m256i {
            // A rotation by whole bytes is one instruction instead of three.
            if BITS % 8 == 0 {
                return _mm256_shuffle_epi8(a, rotated_bytes(BITS / 8));
            }
            let left = _mm256_sll_epi64(a, _mm_cvtsi64_si128(i64::from(BITS)));
            let right = _mm256_srl_epi64(a, _mm_cvtsi64_si128(i64::from(64 - BITS)));
            _mm256_or_si256(left, right)
        }
        /// Returns the index of each byte of a word before its rotation by `bytes` bytes, for the
        /// two words of each half of a vector.
        #[target_feature(enable = "avx2")]
        fn rotated_bytes(bytes: i32) -> __m256i {
            bytemuck::cast(std::array::from_fn::<_, 32, _>(|index| {
                let index = index as i32;
                (index & 8 | (index - bytes) & 7) as i8
            }))
        }
        /// Computes `a ^ (!b & c)`.
        #[target_feature(enable = "avx2")]
        fn chi(a: __m256i, b: __m256i, c: __m256i) -> __m256i {
            _mm256_xor_si256(a, _mm256_andnot_si256(b, c))
        }
        #[target_feature(enable = "avx2")]
        fn broadcast(word: i64) -> __m256i {
            _mm256_set1_epi64x(word)
        }
        permutation!("avx2", __m256i, xor, xor3, rotate, chi, broadcast);
        permute::<2>(bytemuck::cast_mut(states));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns eight states without two equal words.
    fn states() -> States {
        let mut word = 1u64;
        States([[(); LANES]; WORDS].map(|lanes| {
            lanes.map(|()| {
                word = word.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(31) ^ 0x5555;
                word
            })
        }))
    }

    #[test]
    fn vector_instructions_match_the_scalar_permutation() {
        let mut scalar = states();
        scalar.permute_scalar();
        let mut detected = states();
        detected.permute();
        assert_eq!(detected.0, scalar.0);
        #[cfg(target_arch = "x86_64")]
        if std::arch::is_x86_feature_detected!("avx2") {
            let mut half = states();
            // SAFETY: the processor has AVX2.
            #[expect(
                unsafe_code,
                reason = "a machine with AVX-512 does not take this way by itself"
            )]
            unsafe {
                simd::avx2(&mut half.0);
            }
            assert_eq!(half.0, scalar.0);
        }
    }
}
