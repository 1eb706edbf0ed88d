//! The arithmetic of curve points that curve25519-dalek uses on this processor.

/// Whether the AVX-512 backend is compiled: by the flag of `.cargo/config.toml`, or because the
/// whole program is compiled for processors that have the instructions.
const HAS_AVX512: bool = cfg!(curve25519_dalek_backend = "avx512")
    || cfg!(all(
        target_feature = "avx512ifma",
        target_feature = "avx512vl"
    ));

/// Returns the backend that curve25519-dalek selects on this processor: `avx512`, `avx2` or
/// `serial`.
///
/// The crate does not report its selection. This function makes the same checks in the same order.
pub fn backend() -> &'static str {
    #[cfg(target_arch = "x86_64")]
    {
        if HAS_AVX512
            && is_x86_feature_detected!("avx512ifma")
            && is_x86_feature_detected!("avx512vl")
        {
            return "avx512";
        }
        if is_x86_feature_detected!("avx2") {
            return "avx2";
        }
    }
    "serial"
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write as _;

    /// `RUSTFLAGS` of the environment replaces the flags of `.cargo/config.toml` without a word.
    #[test]
    fn compiles_the_avx512_backend_on_x86_64() {
        let text = format!("AVX-512 compiled: {HAS_AVX512}; selected: {}\n", backend());
        std::io::stderr().write_all(text.as_bytes()).unwrap();
        let is_missing = cfg!(target_arch = "x86_64") && !HAS_AVX512;
        if is_missing && std::env::var_os("CI").is_some() {
            panic!("RUSTFLAGS replaces the flags of .cargo/config.toml");
        }
    }
}
