//! Upper bound on the memory that parsing a JSON body takes, computed from its text.
//!
//! A few bytes of text can take many times as much memory: an object of one member has seven bytes,
//! and takes most of a kilobyte. The parsed values are freed with their request, but every thread
//! that serves requests can hold some at the same time.

/// Maximum memory of a value while it is parsed, in bytes.
///
/// A value has an entry of 32 bytes in each of two lists, and a list exists twice while it is
/// reallocated.
const VALUE_BYTES: usize = 160;

/// Memory of the smallest list beside its values, in bytes.
const LIST_BYTES: usize = 256;

/// Memory of the smallest object beside its values, in bytes: one node of a tree.
const OBJECT_BYTES: usize = 900;

/// Maximum number of copies of the text itself.
const TEXT_COPIES_MAX: usize = 2;

/// Maximum memory that parsing a body may take, in bytes.
///
/// Arguments of one byte each that fill the largest transaction of the default chain parameters
/// take a sixth of it.
pub(crate) const MEMORY_BYTES_MAX: usize = 64 * 1024 * 1024;

/// Returns an upper bound on the memory that parsing `text` takes, in bytes.
///
/// The text need not be JSON, because parsing stops at the first error.
pub(crate) fn memory_bytes(text: &[u8]) -> usize {
    let mut memory = VALUE_BYTES.saturating_add(text.len().saturating_mul(TEXT_COPIES_MAX));
    let mut bytes = text.iter();
    while let Some(byte) = bytes.next() {
        let added = match byte {
            b'"' => {
                skip_string(&mut bytes);
                continue;
            }
            b'[' => LIST_BYTES + VALUE_BYTES,
            b'{' => OBJECT_BYTES + VALUE_BYTES,
            b',' => VALUE_BYTES,
            _ => continue,
        };
        memory = memory.saturating_add(added);
    }
    memory
}

/// Skips the rest of a string, including its closing quotation mark.
fn skip_string<'a>(bytes: &mut impl Iterator<Item = &'a u8>) {
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

    fn value_bytes(text: &str) -> usize {
        memory_bytes(text.as_bytes()) - VALUE_BYTES - TEXT_COPIES_MAX * text.len()
    }

    #[test]
    fn counts_values_but_not_brackets_inside_strings() {
        assert_eq!(value_bytes("1"), 0);
        assert_eq!(value_bytes("[1,2,3]"), LIST_BYTES + 3 * VALUE_BYTES);
        assert_eq!(value_bytes(r#"{"a":1}"#), OBJECT_BYTES + VALUE_BYTES);
        assert_eq!(value_bytes(r#""[{,\"[{,\\""#), 0);
        assert_eq!(value_bytes(r#""\\",[]"#), LIST_BYTES + 2 * VALUE_BYTES);
        assert_eq!(value_bytes("\"[[[["), 0, "an unterminated string");
        assert_eq!(value_bytes("\"\\"), 0);
    }

    #[test]
    fn accepts_the_largest_transaction_and_rejects_bodies_of_tiny_values() {
        let full = format!("[{}]", vec!["false"; 64 * 1024].join(","));
        assert!(memory_bytes(full.as_bytes()) < MEMORY_BYTES_MAX / 4);
        for tiny in ["1,", "[],", r#"{"":0},"#, r#""","#] {
            let text = tiny.repeat((8 << 20) / tiny.len());
            assert!(memory_bytes(text.as_bytes()) > MEMORY_BYTES_MAX, "{tiny}");
        }
    }
}
