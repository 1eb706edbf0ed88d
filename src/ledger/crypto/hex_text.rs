//! Bytes as the interface prints them: `0x` and two lower-case digits each. Answers are full of them, so they are
//! written without a detour over characters.

/// `bytes` as `0x` and their digits.
pub fn hex_text(bytes: &[u8]) -> String {
    let mut text = vec![b'0'; 2 * bytes.len() + 2];
    text[1] = b'x';
    hex::encode_to_slice(bytes, &mut text[2..]).expect("two digits for each byte");
    String::from_utf8(text).expect("digits are text")
}

/// `0x` and the digits of 32 bytes, in place.
#[derive(Clone, Copy, Debug)]
pub struct HexText {
    bytes: [u8; Self::LENGTH],
    /// Where the text begins.
    start: usize,
}

impl HexText {
    /// The length with all digits.
    const LENGTH: usize = 66;

    /// With all digits.
    pub fn new(bytes: &[u8; 32]) -> Self {
        let mut text = [b'0'; Self::LENGTH];
        text[1] = b'x';
        hex::encode_to_slice(bytes, &mut text[2..]).expect("two digits for each byte");
        Self {
            bytes: text,
            start: 0,
        }
    }

    /// Without the zeros that it begins with; the last digit always stays.
    pub fn short(bytes: &[u8; 32]) -> Self {
        let mut text = Self::new(bytes);
        let digits = &text.bytes[2..Self::LENGTH - 1];
        text.start = digits.iter().take_while(|digit| **digit == b'0').count();
        text.bytes[text.start..text.start + 2].copy_from_slice(b"0x");
        text
    }

    /// The text.
    ///
    /// # Panics
    /// Never: digits are text.
    pub fn as_str(&self) -> &str {
        std::str::from_utf8(&self.bytes[self.start..]).expect("digits are text")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_digits_in_lower_case() {
        assert_eq!(hex_text(&[]), "0x");
        assert_eq!(hex_text(&[0, 0xab, 9]), "0x00ab09");
        let bytes = std::array::from_fn(|n| n as u8 * 7);
        assert_eq!(HexText::new(&bytes).as_str(), hex_text(&bytes));
    }

    #[test]
    fn the_short_form_begins_with_no_zero_but_the_last_digit() {
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
                assert_eq!(HexText::short(&bytes).as_str(), format!("0x{short}"));
            }
        }
    }
}
