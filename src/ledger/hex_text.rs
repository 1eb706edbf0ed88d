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
pub(crate) struct HexText([u8; 66]);

impl HexText {
    pub(crate) fn new(bytes: &[u8; 32]) -> Self {
        let mut text = [b'0'; 66];
        text[1] = b'x';
        hex::encode_to_slice(bytes, &mut text[2..]).expect("two digits for each byte");
        Self(text)
    }

    /// The text.
    pub(crate) fn as_str(&self) -> &str {
        std::str::from_utf8(&self.0).expect("digits are text")
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
}
