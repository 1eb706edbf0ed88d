//! `0x1::features`: the switches of the reference node that describe this chain, by their numbers
//! there.

use ledger_types::{AccountAddress, TypeTag};
use ledger_vm::{Context, Function, ModuleDeclaration, MoveStruct, VmError, move_structs};

/// Switches of the reference node that hold for every chain.
const ALWAYS_ENABLED: &[u64] = &[
    9,  // Resource groups.
    10, // Multisig accounts.
    22, // Fee payers.
    26, // Module events.
    27, // A fee statement in each transaction.
    28, // Refunds of the deposits of deleted slots.
    33, // `single_sender` signatures.
    34, // Sponsored transactions of accounts without a resource.
    35, // Signatures before the fee payer is known.
    44, // WebAuthn signatures.
    50, // Supplies that blocks change in parallel.
    60, // Coins with paired fungible assets.
    64, // New accounts hold the chain's coin in fungible stores.
    65, // Operations on the chain's coin use fungible stores.
    70, // A multisig transaction has the payload that was proposed, or fails.
    90, // New accounts hold every coin in fungible stores.
    91, // Accounts without a resource.
];

/// Switches of the reference node that hold from [`ORDERLESS_SINCE_VERSION`] on: the newer payload
/// and orderless transactions.
const ORDERLESS: &[u64] = &[93, 94];
/// Framework version that added `0x1::nonce_validation`.
const ORDERLESS_SINCE_VERSION: u64 = 3;

move_structs! {
    module "features";

    /// The enabled switches.
    Features as "Features" has ["key"] {
        /// Bit vector by number: bit `n` is bit `n % 8` of byte `n / 8`, from the lowest on.
        features: Vec<u8>,
    }
}

/// Writes the switches of the framework version of the block.
///
/// # Errors
///
/// Returns [`VmError::State`] if the state cannot be read.
pub fn write(context: &mut Context<'_>) -> Result<(), VmError> {
    let has_orderless = context.framework_version() >= ORDERLESS_SINCE_VERSION;
    let later = if has_orderless { ORDERLESS } else { &[] };
    let mut features = Vec::new();
    for &number in ALWAYS_ENABLED.iter().chain(later) {
        let byte = (number / 8) as usize;
        if features.len() <= byte {
            features.resize(byte + 1, 0);
        }
        features[byte] |= 1 << (number % 8);
    }
    context.write_resource(AccountAddress::ONE, &[], &Features { features })
}

fn is_enabled(context: &mut Context<'_>, _: &[TypeTag], feature: u64) -> Result<bool, VmError> {
    let Features { features } = context.require_resource(AccountAddress::ONE, &[])?;
    let byte = usize::try_from(feature / 8)
        .ok()
        .and_then(|byte| features.get(byte));
    Ok(byte.is_some_and(|byte| (byte >> (feature % 8)) & 1 == 1))
}

pub(super) fn module() -> ModuleDeclaration {
    ModuleDeclaration {
        name: "features",
        structs: vec![Features::declaration()],
        functions: vec![Function::view("is_enabled", is_enabled)],
        errors: &[],
    }
}
