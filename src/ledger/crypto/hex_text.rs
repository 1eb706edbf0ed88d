//! Hexadecimal text of bytes: `0x` and two lowercase digits per byte.
//!
//! API responses contain many of these texts. The functions encode into a buffer of bytes, which is
//! faster than formatting single characters.

/// Returns `0x` and two lowercase hexadecimal digits per byte.
pub fn hex_text(bytes: &[u8]) -> String {
    let mut text = vec![b'0'; 2 * bytes.len() + 2];
    text[1] = b'x';
    hex::encode_to_slice(bytes, &mut text[2..]).expect("two digits for each byte");
    String::from_utf8(text).expect("digits are text")
}

/// The hexadecimal text of 32 bytes, stored without an allocation.
#[derive(Clone, Copy, Debug)]
pub struct HexText {
    bytes: [u8; Self::LENGTH],
    /// Index in `bytes` of the first byte of the text.
    start: usize,
}

impl HexText {
    /// Length of the text with all digits.
    const LENGTH: usize = 66;

    /// Creates the text with all 64 digits.
    pub fn new(bytes: &[u8; 32]) -> Self {
        let mut text = [b'0'; Self::LENGTH];
        text[1] = b'x';
        hex::encode_to_slice(bytes, &mut text[2..]).expect("two digits for each byte");
        Self {
            bytes: text,
            start: 0,
        }
    }

    /// Creates the text without leading zeros. It has at least one digit.
    pub fn without_leading_zeros(bytes: &[u8; 32]) -> Self {
        let mut text = Self::new(bytes);
        let digits = &text.bytes[2..Self::LENGTH - 1];
        text.start = digits.iter().take_while(|digit| **digit == b'0').count();
        text.bytes[text.start..text.start + 2].copy_from_slice(b"0x");
        text
    }

    /// Returns the text, including `0x`.
    pub fn as_str(&self) -> &str {
        std::str::from_utf8(&self.bytes[self.start..]).expect("digits are text")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prints_all_digits_in_lowercase() {
        assert_eq!(hex_text(&[]), "0x");
        assert_eq!(hex_text(&[0, 0xab, 9]), "0x00ab09");
        let bytes = std::array::from_fn(|n| n as u8 * 7);
        assert_eq!(HexText::new(&bytes).as_str(), hex_text(&bytes));
    }

    #[test]
    fn strips_leading_zeros_except_the_last_digit() {
        for zeros in 0..=32 {
            for first in [0x07, 0x70] {
                let mut bytes = [0xa0; 32];
                bytes[..zeros].fill(0);
                bytes
                    .iter_mut()
                    .skip(zeros)
                    .take(1)
                    .for_each(|byte| *byte = first);
                let long = hex::encode(bytes);
                let short = match long.trim_start_matches('0') {
                    "" => "0",
                    digits => digits,
                };
                assert_eq!(
                    HexText::without_leading_zeros(&bytes).as_str(),
                    format!("0x{short}")
                );
            }
        }
    }
}
