//! The twelve edge cases of ed25519 from "Taming the many EdDSAs" (Chalkias, Garillot, Nikolaenko;
//! SSR 2020, table 5), each with its verdict under the rule of this ledger and the reason.

use super::kit::bytes;
use ledger_crypto::{
    Ed25519PublicKey, Ed25519Signature,
    SignatureError::{self, KeySmallOrder, NonceSmallOrder, ScalarEncoding},
    ed25519::batch,
};

/// A signature with its expected verdict.
struct Case {
    message: &'static str,
    key: &'static str,
    nonce: &'static str,
    scalar: &'static str,
    verdict: Result<(), SignatureError>,
    reason: &'static str,
}

/// Cases in the order of the paper, counted from 0.
const CASES: [Case; 12] = [
    Case {
        message: "8c93255d71dcab10e8f379c26200f3c7bd5f09d9bc3068d3ef4edeb4853022b6",
        key: "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa",
        nonce: "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
        scalar: "0000000000000000000000000000000000000000000000000000000000000000",
        verdict: Err(KeySmallOrder),
        reason: "small-order key, for which anyone can sign",
    },
    Case {
        message: "9bd9f44f4dcc75bd531b56b2cd280b0bb38fc1cd6d1230e14861d861de092e79",
        key: "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa",
        nonce: "f7badec5b8abeaf699583992219b7b223f1df3fbbea919844e3f7c554a43dd43",
        scalar: "a5bb704786be79fc476f91d3f3f89b03984d8068dcf1bb7dfc6637b45450ac04",
        verdict: Err(KeySmallOrder),
        reason: "small-order key with an R of mixed order",
    },
    Case {
        message: "aebf3f2601a0c8c5d39cc7d8911642f740b78168218da8471772b35f9d35b9ab",
        key: "f7badec5b8abeaf699583992219b7b223f1df3fbbea919844e3f7c554a43dd43",
        nonce: "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa",
        scalar: "8c4bd45aecaca5b24fb97bc10ac27ac8751a7dfe1baff8b953ec9f5833ca260e",
        verdict: Err(NonceSmallOrder),
        reason: "small-order R, which no honest signer produces",
    },
    Case {
        message: "9bd9f44f4dcc75bd531b56b2cd280b0bb38fc1cd6d1230e14861d861de092e79",
        key: "cdb267ce40c5cd45306fa5d2f29731459387dbf9eb933b7bd5aed9a765b88d4d",
        nonce: "9046a64750444938de19f227bb80485e92b83fdb4b6506c160484c016cc1852f",
        scalar: "87909e14428a7a1d62e9f22f3d3ad7802db02eb2e688b6c52fcd6648a98bd009",
        verdict: Ok(()),
        reason: "key and R of mixed order, which only the owner of the key can produce",
    },
    Case {
        message: "e47d62c63f830dc7a6851a0b1f33ae4bb2f507fb6cffec4011eaccd55b53f56c",
        key: "cdb267ce40c5cd45306fa5d2f29731459387dbf9eb933b7bd5aed9a765b88d4d",
        nonce: "160a1cb0dc9c0258cd0a7d23e94d8fa878bcb1925f2c64246b2dee1796bed512",
        scalar: "5ec6bc982a269b723e0668e540911a9a6a58921d6925e434ab10aa7940551a09",
        verdict: Ok(()),
        reason: "valid only under the cofactored equation, which this ledger uses",
    },
    Case {
        message: "e47d62c63f830dc7a6851a0b1f33ae4bb2f507fb6cffec4011eaccd55b53f56c",
        key: "cdb267ce40c5cd45306fa5d2f29731459387dbf9eb933b7bd5aed9a765b88d4d",
        nonce: "21122a84e0b5fca4052f5b1235c80a537878b38f3142356b2c2384ebad4668b7",
        scalar: "e40bc836dac0f71076f9abe3a53f9c03c1ceeeddb658d0030494ace586687405",
        verdict: Ok(()),
        reason: "valid under the cofactored equation if 8k is not reduced before the multiplication, as in this ledger",
    },
    Case {
        message: "85e241a07d148b41e47d62c63f830dc7a6851a0b1f33ae4bb2f507fb6cffec40",
        key: "442aad9f089ad9e14647b1ef9099a1ff4798d78589e66f28eca69c11f582a623",
        nonce: "e96f66be976d82e60150baecff9906684aebb1ef181f67a7189ac78ea23b6c0e",
        scalar: "547f7690a0e2ddcd04d87dbc3490dc19b3b3052f7ff0538cb68afb369ba3a514",
        verdict: Err(ScalarEncoding),
        reason: "s above the group order, a second encoding of a signature",
    },
    Case {
        message: "85e241a07d148b41e47d62c63f830dc7a6851a0b1f33ae4bb2f507fb6cffec40",
        key: "442aad9f089ad9e14647b1ef9099a1ff4798d78589e66f28eca69c11f582a623",
        nonce: "8ce5b96c8f26d0ab6c47958c9e68b937104cd36e13c33566acd2fe8d38aa1942",
        scalar: "7e71f98a473474f2f13f06f97c20d58cc3f54b8bd0d272f42b695dd7e89a8c22",
        verdict: Err(ScalarEncoding),
        reason: "s far above the group order, which a check of the top bits does not detect",
    },
    Case {
        message: "9bedc267423725d473888631ebf45988bad3db83851ee85c85e241a07d148b41",
        key: "f7badec5b8abeaf699583992219b7b223f1df3fbbea919844e3f7c554a43dd43",
        nonce: "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
        scalar: "03be9678ac102edcd92b0210bb34d7428d12ffc5df5f37e359941266a4e35f0f",
        verdict: Err(NonceSmallOrder),
        reason: "small-order R with a sign bit on x = 0, hashed in canonical form",
    },
    Case {
        message: "9bedc267423725d473888631ebf45988bad3db83851ee85c85e241a07d148b41",
        key: "f7badec5b8abeaf699583992219b7b223f1df3fbbea919844e3f7c554a43dd43",
        nonce: "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
        scalar: "ca8c5b64cd208982aa38d4936621a4775aa233aa0505711d8fdcfdaa943d4908",
        verdict: Err(NonceSmallOrder),
        reason: "small-order R with a sign bit on x = 0, hashed without change",
    },
    Case {
        message: "e96b7021eb39c1a163b6da4e3093dcd3f21387da4cc4572be588fafae23c155b",
        key: "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
        nonce: "a9d55260f765261eb9b84e106f665e00b867287a761990d7135963ee0a7d59dc",
        scalar: "a5bb704786be79fc476f91d3f3f89b03984d8068dcf1bb7dfc6637b45450ac04",
        verdict: Err(KeySmallOrder),
        reason: "key with a sign bit on x = 0, hashed in canonical form",
    },
    Case {
        message: "39a591f5321bbe07fd5a23dc2f39d025d74526615746727ceefd6e82ae65c06f",
        key: "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
        nonce: "a9d55260f765261eb9b84e106f665e00b867287a761990d7135963ee0a7d59dc",
        scalar: "a5bb704786be79fc476f91d3f3f89b03984d8068dcf1bb7dfc6637b45450ac04",
        verdict: Err(KeySmallOrder),
        reason: "key with a sign bit on x = 0, hashed without change",
    },
];

#[test]
fn returns_the_verdicts_of_the_twelve_cases() {
    for (number, case) in CASES.iter().enumerate() {
        let message: [u8; 32] = bytes(case.message);
        let key = Ed25519PublicKey(bytes(case.key));
        let signature = Ed25519Signature(bytes(&format!("{}{}", case.nonce, case.scalar)));
        let verdict = key.verify(&[&message], &signature);
        assert_eq!(verdict, case.verdict, "case {number}: {}", case.reason);
        // The verdict is the same in a batch that also contains an invalid signature.
        if let Ok(equation) = key.equation(&[&message], &signature) {
            let other = key
                .equation(&[b"another message"], &signature)
                .expect("the signature is well-formed");
            let equations = [&equation, &other, &equation, &equation].map(Clone::clone);
            assert_eq!(
                batch::check(&equations),
                [true, false, true, true],
                "case {number}"
            );
        }
    }
}
