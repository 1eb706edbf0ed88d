//! `0x1::stake`: the validators of the chain, in the resource that clients of the reference node
//! read. There is no stake: all validators have the same voting power, and genesis names them.

use ledger_types::{AccountAddress, Validator};
use ledger_vm::{Context, ModuleDeclaration, MoveStruct, VmError, move_structs};

/// Voting power of each validator.
const VOTING_POWER: u64 = 1;

move_structs! {
    module "stake";

    /// The keys and addresses of a validator.
    ValidatorConfig as "ValidatorConfig" has ["key", "copy", "store", "drop"] {
        /// Public key of the validator's votes; empty on a chain of one node, which casts none.
        consensus_pubkey: Vec<u8>,
        /// Addresses for validators: empty, because the operators exchange them.
        network_addresses: Vec<u8>,
        /// Addresses for full nodes: empty, because the operators exchange them.
        fullnode_addresses: Vec<u8>,
        /// Position among the validators.
        validator_index: u64,
    }

    /// A validator with its voting power.
    ValidatorInfo as "ValidatorInfo" has ["copy", "store", "drop"] {
        /// Account of the validator, which the blocks that it proposes name.
        addr: AccountAddress,
        /// Weight of its votes.
        voting_power: u64,
        /// Keys and addresses of the validator.
        config: ValidatorConfig,
    }

    /// The validators of the epoch.
    ValidatorSet as "ValidatorSet" has ["copy", "key", "drop", "store"] {
        /// Kind of consensus: always 0.
        consensus_scheme: u8,
        /// Validators of the epoch, in the order of their turns.
        active_validators: Vec<ValidatorInfo>,
        /// Validators that leave at the end of the epoch: always empty.
        pending_inactive: Vec<ValidatorInfo>,
        /// Validators that join at the end of the epoch: always empty.
        pending_active: Vec<ValidatorInfo>,
        /// Sum of the voting power of the active validators.
        total_voting_power: u128,
        /// Sum of the voting power of the joining validators: always 0.
        total_joining_power: u128,
    }
}

/// Writes the validators of the chain. A chain of one node lists that node, at the address 0x0,
/// which its blocks name as their proposer.
///
/// # Errors
///
/// Returns [`VmError::State`] if the state cannot be read.
pub fn write_genesis(context: &mut Context<'_>, validators: &[Validator]) -> Result<(), VmError> {
    let info = |validator_index, addr, consensus_pubkey| ValidatorInfo {
        addr,
        voting_power: VOTING_POWER,
        config: ValidatorConfig {
            consensus_pubkey,
            network_addresses: Vec::new(),
            fullnode_addresses: Vec::new(),
            validator_index,
        },
    };
    let mut active_validators: Vec<_> = (0..)
        .zip(validators)
        .map(|(index, one)| info(index, one.address, one.public_key.0.to_vec()))
        .collect();
    if active_validators.is_empty() {
        active_validators.push(info(0, AccountAddress::ZERO, Vec::new()));
    }
    let powers = active_validators.iter().map(|one| one.voting_power);
    let set = ValidatorSet {
        consensus_scheme: 0,
        total_voting_power: powers.map(u128::from).sum(),
        active_validators,
        pending_inactive: Vec::new(),
        pending_active: Vec::new(),
        total_joining_power: 0,
    };
    context.write_resource(AccountAddress::ONE, &[], &set)
}

pub(super) fn module() -> ModuleDeclaration {
    ModuleDeclaration {
        name: "stake",
        structs: vec![
            ValidatorConfig::declaration(),
            ValidatorInfo::declaration(),
            ValidatorSet::declaration(),
        ],
        functions: vec![],
        errors: &[],
    }
}
