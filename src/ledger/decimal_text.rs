//! Numbers as the interface prints them: decimal digits. Answers are full of them, so they are written without
//! the formatting of the standard library and without memory of their own.

/// The most digits of a number of 64 bits.
const DIGITS_MAX: usize = 20;

/// The decimal digits of a number, in place.
#[derive(Clone, Copy, Debug)]
pub struct DecimalText {
    digits: [u8; DIGITS_MAX],
    /// Where they begin.
    start: usize,
}

impl DecimalText {
    /// Those of `number`.
    pub fn new(mut number: u64) -> Self {
        let mut digits = [b'0'; DIGITS_MAX];
        let mut start = DIGITS_MAX;
        loop {
            start -= 1;
            digits[start] = b'0' + (number % 10) as u8;
            number /= 10;
            if number == 0 {
                return Self { digits, start };
            }
        }
    }

    /// The text.
    ///
    /// # Panics
    /// Never: digits are text.
    pub fn as_str(&self) -> &str {
        std::str::from_utf8(&self.digits[self.start..]).expect("digits are text")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_print_as_the_standard_library_prints_them() {
        let powers = (0..20).map(|power| 10u64.pow(power));
        let around = powers.flat_map(|power| [power - 1, power, power + 1]);
        for number in around.chain([u64::MAX - 1, u64::MAX]) {
            assert_eq!(DecimalText::new(number).as_str(), number.to_string());
        }
    }
}
