//! `0x1::resource_account`: accounts that a creator derives from a seed and can sign for.

use super::{
    account::{self, SignerCapability},
    coin,
    simple_map::SimpleMap,
};
use ledger_types::{AccountAddress, TypeTag};
use ledger_vm::{
    Context, Function, ModuleDeclaration, MoveStruct, Signer, VmError, abort_codes, move_structs,
};

/// Maximum number of resource accounts that one account can create.
///
/// Their list is one slot, which each creation reads and writes as a whole.
pub const RESOURCE_ACCOUNTS_MAX: usize = 1000;

abort_codes! {
    const ERRORS;
    pub ETOO_MANY_RESOURCE_ACCOUNTS = ResourceExhausted 101
        "an account makes at most 1000 resource accounts";
}

move_structs! {
    module "resource_account";

    /// The resource accounts that an account created, at most [`RESOURCE_ACCOUNTS_MAX`].
    Container as "Container" has ["key"] {
        /// Signer capabilities by the address of the resource account.
        store: SimpleMap<AccountAddress, SignerCapability>,
    }
}

#[expect(clippy::needless_pass_by_value, reason = "arguments come by value")]
fn create_resource_account(
    context: &mut Context<'_>,
    _: &[TypeTag],
    origin: Signer,
    seed: Vec<u8>,
    optional_auth_key: Vec<u8>,
) -> Result<(), VmError> {
    let address = account::create_resource_account(context, origin.0, &seed)?;
    store_capability_and_set_key(context, origin.0, address, optional_auth_key)
}

#[expect(clippy::needless_pass_by_value, reason = "arguments come by value")]
fn create_resource_account_and_fund(
    context: &mut Context<'_>,
    _: &[TypeTag],
    origin: Signer,
    seed: Vec<u8>,
    optional_auth_key: Vec<u8>,
    fund_amount: u64,
) -> Result<(), VmError> {
    let address = account::create_resource_account(context, origin.0, &seed)?;
    coin::transfer_native(context, origin.0, address, fund_amount)?;
    store_capability_and_set_key(context, origin.0, address, optional_auth_key)
}

/// Stores the signer capability with the creator and sets the key of the resource account.
///
/// The key is `optional_auth_key`, or the current key of the creator if `optional_auth_key` is
/// empty.
fn store_capability_and_set_key(
    context: &mut Context<'_>,
    origin: AccountAddress,
    address: AccountAddress,
    optional_auth_key: Vec<u8>,
) -> Result<(), VmError> {
    let mut container = context
        .read_resource::<Container>(origin, &[])?
        .unwrap_or_else(|| Container {
            store: SimpleMap::default(),
        });
    if container.store.data.len() >= RESOURCE_ACCOUNTS_MAX {
        return context.abort("resource_account", &ETOO_MANY_RESOURCE_ACCOUNTS);
    }
    // Replaces no entry: a listed account exists, and an existing account is not created again.
    container
        .store
        .upsert(address, SignerCapability { account: address });
    context.write_resource(origin, &[], &container)?;
    let key = if optional_auth_key.is_empty() {
        account::load(context, origin)?.authentication_key
    } else {
        optional_auth_key
    };
    account::rotate_without_proof(context, address, key)
}

pub(super) fn module() -> ModuleDeclaration {
    ModuleDeclaration {
        name: "resource_account",
        structs: vec![Container::declaration()],
        functions: vec![
            Function::entry("create_resource_account", create_resource_account),
            Function::entry(
                "create_resource_account_and_fund",
                create_resource_account_and_fund,
            ),
        ],
        errors: ERRORS,
    }
}
