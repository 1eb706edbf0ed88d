//! `0x1::escrow`: coins locked for a recipient.
//!
//! The recipient can take the coins until the payer cancels, which is possible once a deadline has
//! passed. Version 2 of the framework introduced this module. It is the worked example of
//! `README.md`.

use super::{
    coin::{self, Coin},
    table::Table,
};
use ledger_types::{AccountAddress, TypeTag};
use ledger_vm::{
    Context, Function, ModuleDeclaration, MoveStruct, Signer, VmError, abort_codes, move_structs,
};

/// Maximum time from the block that opens the escrow to its deadline, in seconds: 365 days.
///
/// A deadline that never passes would lock the coins forever if the recipient cannot take them.
pub const DURATION_SECS_MAX: u64 = 365 * 24 * 60 * 60;

abort_codes! {
    const ERRORS;
    pub EZERO_AMOUNT = InvalidArgument 1 "an escrow holds at least one unit of the coin";
    pub EDEADLINE = InvalidArgument 2
        "the deadline must lie ahead of the block's time, by at most 365 days";
    pub ENOT_OPEN = NotFound 3 "the payer has no open escrow of this coin with this number";
    pub ENOT_RECIPIENT = PermissionDenied 4 "only the recipient of the escrow may release it";
    pub EBEFORE_DEADLINE = InvalidState 5
        "the payer may cancel the escrow only when its deadline has come";
}

move_structs! {
    module "escrow";

    /// An amount of coins reserved for a recipient.
    Escrow as "Escrow" has ["copy", "drop", "store"] {
        /// Account that can release the escrow.
        recipient: AccountAddress,
        /// Amount in the coin's smallest unit.
        amount: u64,
        /// Block time from which the payer can cancel, in seconds since 1970.
        deadline_secs: u64,
    }

    /// The open escrows of one payer and one coin.
    EscrowStore as "EscrowStore" has ["key"] phantom 1 {
        /// Coins of all open escrows.
        locked: Coin,
        /// Open escrows by number.
        open: Table<u64, Escrow>,
        /// Number of the next escrow.
        next_number: u64,
    }

    /// Event of the opening of an escrow.
    Opened as "Opened" has ["drop", "store"] event true {
        /// Account that paid the coins.
        payer: AccountAddress,
        /// Type of the coin.
        coin_type: String,
        /// Number among the payer's escrows of this coin.
        number: u64,
        /// Terms of the escrow.
        escrow: Escrow,
    }

    /// Event of the closing of an escrow: the recipient or the payer received the coins.
    Closed as "Closed" has ["drop", "store"] event true {
        /// Account that paid the coins.
        payer: AccountAddress,
        /// Type of the coin.
        coin_type: String,
        /// Number among the payer's escrows of this coin.
        number: u64,
        /// Account that received the coins.
        paid_to: AccountAddress,
    }
}

/// Locks `amount` of the payer's coins for `recipient`.
fn open(
    context: &mut Context<'_>,
    type_args: &[TypeTag],
    payer: Signer,
    recipient: AccountAddress,
    amount: u64,
    deadline_secs: u64,
) -> Result<(), VmError> {
    let escrow = Escrow {
        recipient,
        amount,
        deadline_secs,
    };
    check(context, &escrow)?;
    coin::withdraw(context, payer.0, &type_args[0], amount)?;
    let mut store = match context.read_resource::<EscrowStore>(payer.0, type_args)? {
        Some(store) => store,
        None => EscrowStore {
            locked: Coin { value: 0 },
            open: Table::new(context)?,
            next_number: 0,
        },
    };
    let number = store.next_number;
    store.next_number = number.checked_add(1).ok_or(VmError::Arithmetic)?;
    store.locked.value = store
        .locked
        .value
        .checked_add(amount)
        .ok_or(VmError::Arithmetic)?;
    store.open.add(context, &number, &escrow)?;
    context.write_resource(payer.0, type_args, &store)?;
    context.emit(&Opened {
        payer: payer.0,
        coin_type: type_args[0].to_string(),
        number,
        escrow,
    })
}

fn check(context: &Context<'_>, escrow: &Escrow) -> Result<(), VmError> {
    let now_secs = now_secs(context);
    let farthest_secs = now_secs.saturating_add(DURATION_SECS_MAX);
    if escrow.amount == 0 {
        context.abort("escrow", &EZERO_AMOUNT)
    } else if escrow.deadline_secs <= now_secs || escrow.deadline_secs > farthest_secs {
        context.abort("escrow", &EDEADLINE)
    } else {
        Ok(())
    }
}

/// Returns the block's time in seconds since 1970.
///
/// Unlike a clock, it is the same on every node.
fn now_secs(context: &Context<'_>) -> u64 {
    context.timestamp_usecs() / 1_000_000
}

/// Transfers the coins of an open escrow to its recipient, before or after the deadline.
fn release(
    context: &mut Context<'_>,
    type_args: &[TypeTag],
    recipient: Signer,
    payer: AccountAddress,
    number: u64,
) -> Result<(), VmError> {
    let escrow = find(context, type_args, payer, number)?;
    if escrow.recipient != recipient.0 {
        return context.abort("escrow", &ENOT_RECIPIENT);
    }
    close(context, type_args, payer, number, recipient.0)
}

/// Returns the coins of an open escrow to the payer, once the deadline has passed.
fn cancel(
    context: &mut Context<'_>,
    type_args: &[TypeTag],
    payer: Signer,
    number: u64,
) -> Result<(), VmError> {
    let escrow = find(context, type_args, payer.0, number)?;
    if now_secs(context) < escrow.deadline_secs {
        return context.abort("escrow", &EBEFORE_DEADLINE);
    }
    close(context, type_args, payer.0, number, payer.0)
}

fn find(
    context: &mut Context<'_>,
    type_args: &[TypeTag],
    payer: AccountAddress,
    number: u64,
) -> Result<Escrow, VmError> {
    match get(context, type_args, payer, number)? {
        Some(escrow) => Ok(escrow),
        None => context.abort("escrow", &ENOT_OPEN),
    }
}

/// Removes an open escrow from its store and transfers its coins to `paid_to`.
fn close(
    context: &mut Context<'_>,
    type_args: &[TypeTag],
    payer: AccountAddress,
    number: u64,
    paid_to: AccountAddress,
) -> Result<(), VmError> {
    let mut store: EscrowStore = context.require_resource(payer, type_args)?;
    let escrow = store.open.remove(context, &number)?;
    store.locked.value = store
        .locked
        .value
        .checked_sub(escrow.amount)
        .ok_or(VmError::Arithmetic)?;
    context.write_resource(payer, type_args, &store)?;
    coin::deposit(context, paid_to, &type_args[0], escrow.amount)?;
    context.emit(&Closed {
        payer,
        coin_type: type_args[0].to_string(),
        number,
        paid_to,
    })
}

/// Returns the open escrow `number` of `payer`.
fn get(
    context: &mut Context<'_>,
    type_args: &[TypeTag],
    payer: AccountAddress,
    number: u64,
) -> Result<Option<Escrow>, VmError> {
    match context.read_resource::<EscrowStore>(payer, type_args)? {
        Some(store) => store.open.get(context, &number),
        None => Ok(None),
    }
}

/// Returns the total amount in all open escrows of `payer`, in the coin's smallest unit.
fn locked(
    context: &mut Context<'_>,
    type_args: &[TypeTag],
    payer: AccountAddress,
) -> Result<u64, VmError> {
    let store = context.read_resource::<EscrowStore>(payer, type_args)?;
    Ok(store.map_or(0, |store| store.locked.value))
}

pub(super) fn module() -> ModuleDeclaration {
    ModuleDeclaration {
        name: "escrow",
        structs: vec![
            Closed::declaration(),
            Escrow::declaration(),
            EscrowStore::declaration(),
            Opened::declaration(),
        ],
        functions: vec![
            Function::entry("open", open).with_type_parameters(&[&[]]),
            Function::entry("release", release).with_type_parameters(&[&[]]),
            Function::entry("cancel", cancel).with_type_parameters(&[&[]]),
            Function::view("get", get).with_type_parameters(&[&[]]),
            Function::view("locked", locked).with_type_parameters(&[&[]]),
        ],
        errors: ERRORS,
    }
}
