//! A transfer in the peer's form: RLP of a legacy transaction, signed over its chain's id (EIP-155).

use k256::ecdsa::SigningKey;
use sha3::{Digest as _, Keccak256};

/// What a plain transfer uses.
const GAS: u64 = 21_000;
/// Above the base fee of a fresh development chain, in wei.
const GAS_PRICE: u64 = 2_000_000_000;
/// What each transfer pays, in wei.
const AMOUNT: u64 = 1;

/// An account of the peer.
pub struct Account {
    key: SigningKey,
    address: [u8; 20],
}

impl Account {
    /// The account of a number.
    pub fn new(number: u64) -> Self {
        let secret = keccak(&[b"ledger-peer-load", number.to_le_bytes().as_slice()].concat());
        // Of all 32 byte strings fewer than one in 2^127 is no key.
        let key = SigningKey::from_slice(&secret).expect("a hash is a key");
        let point = key.verifying_key().to_sec1_point(false);
        let mut address = [0; 20];
        address.copy_from_slice(&keccak(&point.as_bytes()[1..])[12..]);
        Self { key, address }
    }

    /// Its address, as the interface has it.
    pub fn address(&self) -> String {
        format!("0x{}", hex::encode(self.address))
    }

    /// Signs its transfer to `to`: the bytes that are submitted.
    pub fn sign(&self, chain_id: u64, nonce: u64, to: &Self) -> Vec<u8> {
        let head = [
            integer(nonce),
            integer(GAS_PRICE),
            integer(GAS),
            string(&to.address),
            integer(AMOUNT),
            string(&[]),
        ]
        .concat();
        let unsigned = list(&[head.clone(), integer(chain_id), integer(0), integer(0)].concat());
        let (signature, recovery) = self.key.sign_prehash_recoverable(&keccak(&unsigned));
        let parity = u64::from(recovery.is_y_odd());
        let (r, s) = signature.split_bytes();
        list(
            &[
                head,
                integer(chain_id * 2 + 35 + parity),
                bytes(&r),
                bytes(&s),
            ]
            .concat(),
        )
    }
}

fn keccak(bytes: &[u8]) -> [u8; 32] {
    Keccak256::digest(bytes).into()
}

/// A number: its bytes, the highest first, without zeros before.
fn integer(number: u64) -> Vec<u8> {
    bytes(&number.to_be_bytes())
}

/// A number that is given as bytes.
fn bytes(number: &[u8]) -> Vec<u8> {
    let zeros = number.iter().take_while(|byte| **byte == 0).count();
    string(&number[zeros..])
}

fn string(bytes: &[u8]) -> Vec<u8> {
    match bytes {
        [single @ ..=0x7f] => vec![*single],
        _ => prefixed(0x80, bytes),
    }
}

fn list(items: &[u8]) -> Vec<u8> {
    prefixed(0xc0, items)
}

/// The length, in the first byte where it is short, and what it is of.
fn prefixed(kind: u8, bytes: &[u8]) -> Vec<u8> {
    const SHORT_MAX: usize = 55;
    let mut all = Vec::with_capacity(bytes.len() + 3);
    if bytes.len() <= SHORT_MAX {
        all.push(kind + bytes.len() as u8);
    } else {
        let length = bytes.len().to_be_bytes();
        let zeros = length.iter().take_while(|byte| **byte == 0).count();
        all.push(kind + SHORT_MAX as u8 + (length.len() - zeros) as u8);
        all.extend_from_slice(&length[zeros..]);
    }
    all.extend_from_slice(bytes);
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example of EIP-155, whose amounts differ from ours: the encoding of its parts.
    #[test]
    fn parts_are_written_as_the_peers_documents_have_them() {
        assert_eq!(integer(0), [0x80]);
        assert_eq!(integer(9), [9]);
        assert_eq!(
            integer(20_000_000_000),
            [0x85, 0x04, 0xa8, 0x17, 0xc8, 0x00]
        );
        assert_eq!(string(b"dog"), *b"\x83dog");
        assert_eq!(
            list(&[string(b"cat"), string(b"dog")].concat()),
            *b"\xc8\x83cat\x83dog"
        );
        assert_eq!(string(&[0x80]), [0x81, 0x80]);
        assert_eq!(string(&[1; 56])[..2], [0xb8, 56]);
        assert_eq!(list(&[0; 300])[..3], [0xf9, 1, 44]);
    }

    /// Key 0x4646..46 of EIP-155's example has this address.
    #[test]
    fn addresses_are_of_the_keys_hash() {
        let key = SigningKey::from_slice(&[0x46; 32]).unwrap();
        let point = key.verifying_key().to_sec1_point(false);
        let hash = keccak(&point.as_bytes()[1..]);
        assert_eq!(
            hex::encode(&hash[12..]),
            "9d8a62f656a8d1615c1294fd71e9cfb3e4855a4f"
        );
    }
}
