//! Which of several keys signed: one bit each, the highest bit of the first byte is key 0.

use bytes::Bytes;

/// The places of the bits that are set, ascending. Places above 255 do not exist: an account has
/// at most 32 keys.
pub(super) fn indices(bitmap: &[u8]) -> impl Iterator<Item = u8> {
    (0..=u8::MAX).filter(|&index| {
        let byte = bitmap.get(usize::from(index / 8)).copied().unwrap_or(0);
        byte & bit(index) != 0
    })
}

/// The shortest bitmap with these places set.
pub(super) fn of(indices: impl Iterator<Item = u8>) -> Bytes {
    let mut bitmap = Vec::new();
    for index in indices {
        let at = usize::from(index / 8);
        if bitmap.len() <= at {
            bitmap.resize(at + 1, 0);
        }
        bitmap[at] |= bit(index);
    }
    bitmap.into()
}

const fn bit(index: u8) -> u8 {
    0x80 >> (index % 8)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_round_trip() {
        let places = [0, 3, 8, 31];
        let bitmap = of(places.into_iter());
        assert_eq!(&bitmap[..], &[0b1001_0000, 0x80, 0, 1]);
        assert!(indices(&bitmap).eq(places));
        assert_eq!(of([].into_iter()), Bytes::new());
    }
}
