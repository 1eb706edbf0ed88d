//! Bitmaps of the keys that signed. Key 0 is the highest bit of the first byte.

/// Length of the bitmap that SDKs write for a multi key signature, in bytes. It has a bit for each
/// key that an account can have.
pub(super) const SDK_BITMAP_BYTES: usize = 4;

/// Returns the indices of the set bits, ascending. Bits after index 255 are ignored: an account has
/// far fewer keys.
pub(super) fn indices(bitmap: &[u8]) -> impl Iterator<Item = u8> {
    (0..=u8::MAX).filter(|&index| {
        let byte = bitmap.get(usize::from(index / 8)).copied().unwrap_or(0);
        byte & bit(index) != 0
    })
}

/// Returns the bitmap with the bits at `indices` set, or `None` if it has no bit for one of them.
pub(super) fn from_indices(
    indices: impl IntoIterator<Item = u8>,
) -> Option<[u8; SDK_BITMAP_BYTES]> {
    let mut bitmap = [0; SDK_BITMAP_BYTES];
    for index in indices {
        *bitmap.get_mut(usize::from(index / 8))? |= bit(index);
    }
    Some(bitmap)
}

const fn bit(index: u8) -> u8 {
    0x80 >> (index % 8)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn converts_indices_to_a_bitmap_and_back() {
        let expected = [0, 3, 8, 31];
        let bitmap = from_indices(expected).unwrap();
        assert_eq!(bitmap, [0b1001_0000, 0x80, 0, 1]);
        assert!(indices(&bitmap).eq(expected));
        assert_eq!(from_indices([]), Some([0; SDK_BITMAP_BYTES]));
        assert_eq!(from_indices([31, 32]), None);
    }
}
