//! How much memory reading a JSON body may take, told from its text before any of it is read.
//!
//! A few bytes of text may stand for many times as much memory: an object of one member has seven, and
//! takes most of a kilobyte. What a body is read into is gone again when the request is, but for a moment it
//! is all there, on as many threads as serve requests.

/// What a value takes at most while it is read: its place in two lists of 32 bytes each, of which each is
/// there twice while it is made longer.
const VALUE_BYTES: usize = 160;

/// What the smallest list takes beside its values.
const LIST_BYTES: usize = 256;

/// What the smallest object takes beside its values: one node of a tree.
const OBJECT_BYTES: usize = 900;

/// How often the text itself may be copied.
const TEXT_COPIES: usize = 2;

/// The most memory that reading a body may take. Arguments of one byte each that fill the largest
/// transaction that chains take by default take a sixth of it.
pub(crate) const MEMORY_BYTES_MAX: usize = 64 * 1024 * 1024;

/// An upper bound of the memory that reading `text` takes, in bytes. It need not be JSON: reading stops where
/// it is none.
pub(crate) fn memory_bytes(text: &[u8]) -> usize {
    let mut memory = VALUE_BYTES.saturating_add(text.len().saturating_mul(TEXT_COPIES));
    let mut bytes = text.iter();
    while let Some(byte) = bytes.next() {
        let more = match byte {
            b'"' => {
                skip_text(&mut bytes);
                continue;
            }
            b'[' => LIST_BYTES + VALUE_BYTES,
            b'{' => OBJECT_BYTES + VALUE_BYTES,
            b',' => VALUE_BYTES,
            _ => continue,
        };
        memory = memory.saturating_add(more);
    }
    memory
}

/// Goes on behind the quotation mark that ends a text.
fn skip_text<'a>(bytes: &mut impl Iterator<Item = &'a u8>) {
    while let Some(byte) = bytes.next() {
        match byte {
            b'"' => return,
            b'\\' => {
                bytes.next();
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn beside_text(text: &str) -> usize {
        memory_bytes(text.as_bytes()) - VALUE_BYTES - TEXT_COPIES * text.len()
    }

    #[test]
    fn values_count_and_what_stands_in_texts_does_not() {
        assert_eq!(beside_text("1"), 0);
        assert_eq!(beside_text("[1,2,3]"), LIST_BYTES + 3 * VALUE_BYTES);
        assert_eq!(beside_text(r#"{"a":1}"#), OBJECT_BYTES + VALUE_BYTES);
        assert_eq!(beside_text(r#""[{,\"[{,\\""#), 0);
        assert_eq!(beside_text(r#""\\",[]"#), LIST_BYTES + 2 * VALUE_BYTES);
        assert_eq!(beside_text("\"[[[["), 0, "a text without an end");
        assert_eq!(beside_text("\"\\"), 0);
    }

    #[test]
    fn what_fills_the_largest_transaction_is_read_and_a_body_of_tiny_values_is_not() {
        let full = format!("[{}]", vec!["false"; 64 * 1024].join(","));
        assert!(memory_bytes(full.as_bytes()) < MEMORY_BYTES_MAX / 4);
        for tiny in ["1,", "[],", r#"{"":0},"#, r#""","#] {
            let text = tiny.repeat((8 << 20) / tiny.len());
            assert!(memory_bytes(text.as_bytes()) > MEMORY_BYTES_MAX, "{tiny}");
        }
    }
}
