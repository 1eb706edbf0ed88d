//! Transfers of the peer: RLP of legacy transactions, whose signatures cover the chain id
//! (EIP-155).

use k256::ecdsa::SigningKey;
use sha3::{Digest as _, Keccak256};

/// Gas of a plain transfer.
const GAS: u64 = 21_000;
/// Gas price in wei, above the base fee of a new development chain.
const GAS_PRICE: u64 = 2_000_000_000;
/// Amount of each transfer, in wei.
const AMOUNT: u64 = 1;

/// An account of the peer.
pub struct Account {
    key: SigningKey,
    address: [u8; 20],
}

impl Account {
    /// Returns the account whose key derives from `number`.
    pub fn new(number: u64) -> Self {
        let secret = keccak(&[b"ledger-peer-load", number.to_le_bytes().as_slice()].concat());
        // Fewer than one in 2^127 of all strings of 32 bytes are invalid keys.
        let key = SigningKey::from_slice(&secret).expect("a hash is a key");
        let point = key.verifying_key().to_sec1_point(false);
        let mut address = [0; 20];
        address.copy_from_slice(&keccak(&point.as_bytes()[1..])[12..]);
        Self { key, address }
    }

    /// Returns the address in the hexadecimal form of the interface.
    pub fn address(&self) -> String {
        format!("0x{}", hex::encode(self.address))
    }

    /// Signs a transfer to `to` and returns the bytes to submit.
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

/// Encodes a number in RLP: big-endian, without leading zeros.
fn integer(number: u64) -> Vec<u8> {
    bytes(&number.to_be_bytes())
}

/// Encodes a big-endian number in RLP, without its leading zeros.
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

/// Returns `bytes` behind their RLP prefix. The prefix of a short string is its length in one byte.
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

    /// The examples of the RLP specification, and numbers of the example of EIP-155.
    #[test]
    fn encodes_numbers_strings_and_lists_in_rlp() {
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

    /// The key 0x4646..46 of the example of EIP-155 has this address.
    #[test]
    fn derives_the_address_from_the_hash_of_the_key() {
        let key = SigningKey::from_slice(&[0x46; 32]).unwrap();
        let point = key.verifying_key().to_sec1_point(false);
        let hash = keccak(&point.as_bytes()[1..]);
        assert_eq!(
            hex::encode(&hash[12..]),
            "9d8a62f656a8d1615c1294fd71e9cfb3e4855a4f"
        );
    }
}
