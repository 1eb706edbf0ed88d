//! `0x1::registry`: named records of an account that every client can read.
//!
//! Records are the items of a typed table. Each change emits an event to one of the two streams of
//! the registry.

use super::{account, table_with_length::TableWithLength};
use ledger_types::{AccountAddress, TypeTag};
use ledger_vm::{
    Context, EventHandle, Function, ModuleDeclaration, MoveStruct, Signer, VmError, abort_codes,
    move_structs,
};
use serde_bytes::ByteBuf;

/// Maximum length of a name, in bytes.
///
/// The limit admits a path or a domain name and bounds the size of a table key.
pub const NAME_BYTES_MAX: usize = 256;

/// Maximum length of a record's content, in bytes.
///
/// A read returns the whole record, and the event of a change repeats it.
pub const CONTENT_BYTES_MAX: usize = 8192;

abort_codes! {
    const ERRORS;
    pub EREGISTRY_EXISTS = AlreadyExists 1 "the account has a registry already";
    pub EREGISTRY_NOT_FOUND = NotFound 2
        "the account has no registry: it must initialize one first";
    pub ERECORD_NOT_FOUND = NotFound 3 "the registry has no record of this name";
    pub ENAME_LENGTH = InvalidArgument 4 "a name has 1 to 256 bytes";
    pub ECONTENT_TOO_LONG = InvalidArgument 5 "a record's content has at most 8192 bytes";
}

move_structs! {
    module "registry";

    /// The content of one name.
    Record as "Record" has ["copy", "drop", "store"] {
        /// Content in any format that the owner chooses.
        content: ByteBuf,
        /// Number of times the record was set since its creation, including the first.
        revision: u64,
        /// Time of the block that last set the record, in microseconds since 1970.
        updated_usecs: u64,
    }

    /// Event of the creation or replacement of a record.
    SetEvent as "SetEvent" has ["drop", "store"] {
        /// Name of the record.
        name: String,
        /// Record after the change.
        record: Record,
    }

    /// Event of the removal of a record.
    RemovedEvent as "RemovedEvent" has ["drop", "store"] {
        /// Name of the record.
        name: String,
        /// Record before the removal.
        record: Record,
    }

    /// The records of an account and their event streams.
    Registry as "Registry" has ["key"] {
        /// Records by name.
        records: TableWithLength<String, Record>,
        /// Stream of records that were set.
        set_events: EventHandle<SetEvent>,
        /// Stream of records that were removed.
        removed_events: EventHandle<RemovedEvent>,
    }
}

/// Creates an empty registry for `owner`.
fn initialize(context: &mut Context<'_>, _: &[TypeTag], owner: Signer) -> Result<(), VmError> {
    if context.has_resource::<Registry>(owner.0, &[])? {
        return context.abort("registry", &EREGISTRY_EXISTS);
    }
    let mut account = account::load(context, owner.0)?;
    let registry = Registry {
        records: TableWithLength::new(context)?,
        set_events: account.new_event_handle(owner.0)?,
        removed_events: account.new_event_handle(owner.0)?,
    };
    context.write_resource(owner.0, &[], &account)?;
    context.write_resource(owner.0, &[], &registry)
}

/// Creates the record `name`, or replaces its content.
fn set(
    context: &mut Context<'_>,
    _: &[TypeTag],
    owner: Signer,
    name: String,
    content: ByteBuf,
) -> Result<(), VmError> {
    if name.is_empty() || name.len() > NAME_BYTES_MAX {
        return context.abort("registry", &ENAME_LENGTH);
    }
    if content.len() > CONTENT_BYTES_MAX {
        return context.abort("registry", &ECONTENT_TOO_LONG);
    }
    let mut registry = require_registry(context, owner)?;
    let previous = registry.records.get(context, &name)?;
    let revision = previous.map_or(0, |record| record.revision);
    let record = Record {
        content,
        revision: revision.checked_add(1).ok_or(VmError::Arithmetic)?,
        updated_usecs: context.timestamp_usecs(),
    };
    registry.records.upsert(context, &name, &record)?;
    context.emit_to(&mut registry.set_events, &SetEvent { name, record })?;
    context.write_resource(owner.0, &[], &registry)
}

/// Removes the record `name`.
fn remove(
    context: &mut Context<'_>,
    _: &[TypeTag],
    owner: Signer,
    name: String,
) -> Result<(), VmError> {
    let mut registry = require_registry(context, owner)?;
    let Some(record) = registry.records.remove(context, &name)? else {
        return context.abort("registry", &ERECORD_NOT_FOUND);
    };
    context.emit_to(&mut registry.removed_events, &RemovedEvent { name, record })?;
    context.write_resource(owner.0, &[], &registry)
}

fn require_registry(context: &mut Context<'_>, owner: Signer) -> Result<Registry, VmError> {
    match context.read_resource(owner.0, &[])? {
        Some(registry) => Ok(registry),
        None => context.abort("registry", &EREGISTRY_NOT_FOUND),
    }
}

/// Returns the record `name` of `owner`, or `None` if the record or the registry does not exist.
#[expect(clippy::needless_pass_by_value, reason = "arguments come by value")]
fn get(
    context: &mut Context<'_>,
    _: &[TypeTag],
    owner: AccountAddress,
    name: String,
) -> Result<Option<Record>, VmError> {
    match context.read_resource::<Registry>(owner, &[])? {
        Some(registry) => registry.records.get(context, &name),
        None => Ok(None),
    }
}

/// Returns whether `owner` has a record `name`.
fn contains(
    context: &mut Context<'_>,
    type_args: &[TypeTag],
    owner: AccountAddress,
    name: String,
) -> Result<bool, VmError> {
    Ok(get(context, type_args, owner, name)?.is_some())
}

/// Returns the number of records of `owner`, which is 0 without a registry.
fn size(context: &mut Context<'_>, _: &[TypeTag], owner: AccountAddress) -> Result<u64, VmError> {
    let registry = context.read_resource::<Registry>(owner, &[])?;
    Ok(registry.map_or(0, |registry| registry.records.length()))
}

/// Returns whether `owner` has a registry.
fn is_initialized(
    context: &mut Context<'_>,
    _: &[TypeTag],
    owner: AccountAddress,
) -> Result<bool, VmError> {
    context.has_resource::<Registry>(owner, &[])
}

pub(super) fn module() -> ModuleDeclaration {
    ModuleDeclaration {
        name: "registry",
        structs: vec![
            Record::declaration(),
            Registry::declaration(),
            RemovedEvent::declaration(),
            SetEvent::declaration(),
        ],
        functions: vec![
            Function::entry("initialize", initialize),
            Function::entry("set", set),
            Function::entry("remove", remove),
            Function::view("contains", contains),
            Function::view("get", get),
            Function::view("is_initialized", is_initialized),
            Function::view("size", size),
        ],
        errors: ERRORS,
    }
}
