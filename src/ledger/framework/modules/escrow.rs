//! `0x1::escrow`: coins locked for a recipient, who may take them until the payer takes them back after
//! a deadline. Came with version 2 of the framework; the worked example of its README.

use super::{
    coin::{self, Coin},
    table::Table,
};
use ledger_types::{AccountAddress, TypeTag};
use ledger_vm::{
    Context, Function, ModuleDeclaration, MoveStruct, Signer, VmError, abort_codes, move_structs,
};

/// The farthest deadline, in seconds from the block that opens the escrow: a year. A deadline that never
/// comes would lock coins for ever where the recipient cannot take them.
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

    /// Coins that wait for their recipient.
    Escrow as "Escrow" has ["copy", "drop", "store"] {
        /// Who may take them.
        recipient: AccountAddress,
        /// How many, in the coin's smallest unit.
        amount: u64,
        /// From when on the payer may take them back, in seconds since 1970.
        deadline_secs: u64,
    }

    /// The escrows of one coin that a payer opened.
    EscrowStore as "EscrowStore" has ["key"] phantom 1 {
        /// The coins of all that are open.
        locked: Coin,
        /// Those that are open, by number.
        open: Table<u64, Escrow>,
        /// The number of the next one.
        next_number: u64,
    }

    /// An escrow was opened.
    Opened as "Opened" has ["drop", "store"] event true {
        /// Who paid.
        payer: AccountAddress,
        /// The coin's type.
        coin_type: String,
        /// Its number among the payer's escrows of this coin.
        number: u64,
        /// What was agreed.
        escrow: Escrow,
    }

    /// An escrow was closed: its coins went to the recipient or back to the payer.
    Closed as "Closed" has ["drop", "store"] event true {
        /// Who had paid.
        payer: AccountAddress,
        /// The coin's type.
        coin_type: String,
        /// Its number among the payer's escrows of this coin.
        number: u64,
        /// Who has the coins now.
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

/// The block's time: the same on every node, unlike a clock.
fn now_secs(context: &Context<'_>) -> u64 {
    context.timestamp_usecs() / 1_000_000
}

/// Gives the coins to the recipient, who asks for them; also after the deadline, while they are there.
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

/// Gives the coins back to the payer, who asks for them after the deadline.
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

/// Takes an open escrow out of its store and its coins to `paid_to`.
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

/// The open escrow `number` of `payer`.
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

/// What all open escrows of `payer` hold, in the coin's smallest unit.
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
