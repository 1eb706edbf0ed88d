//! `0x1::registry`: named records of an account, for everyone to look up. They are the items of a typed
//! table, and every change goes to one of the registry's two event streams.

use super::{account, table_with_length::TableWithLength};
use ledger_types::{AccountAddress, TypeTag};
use ledger_vm::{
    Context, EventHandle, Function, ModuleDeclaration, MoveStruct, Signer, VmError, abort_codes,
    move_structs,
};
use serde_bytes::ByteBuf;

/// The longest name, in bytes: room for a path or a domain name, small as a key.
pub const NAME_BYTES_MAX: usize = 256;
/// The longest content, in bytes. A record is read whole and repeated by its event.
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

    /// What is recorded under a name.
    Record as "Record" has ["copy", "drop", "store"] {
        /// Whatever the owner wants it to be.
        content: ByteBuf,
        /// How often it was set since it was made, the first time included.
        revision: u64,
        /// The time of the block that set it last, in microseconds since 1970.
        updated_usecs: u64,
    }

    /// A record was made or replaced.
    SetEvent as "SetEvent" has ["drop", "store"] {
        /// Its name.
        name: String,
        /// What it is now.
        record: Record,
    }

    /// A record was removed.
    RemovedEvent as "RemovedEvent" has ["drop", "store"] {
        /// Its name.
        name: String,
        /// What it was last.
        record: Record,
    }

    /// The records of an account.
    Registry as "Registry" has ["key"] {
        /// By name.
        records: TableWithLength<String, Record>,
        /// The stream of records that were set.
        set_events: EventHandle<SetEvent>,
        /// The stream of records that were removed.
        removed_events: EventHandle<RemovedEvent>,
    }
}

/// Makes an empty registry of `owner`.
fn initialize(context: &mut Context<'_>, _: &[TypeTag], owner: Signer) -> Result<(), VmError> {
    if context.read_resource::<Registry>(owner.0, &[])?.is_some() {
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

/// Makes the record `name`, or replaces its content.
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
    let mut registry = registry_of(context, owner)?;
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
    let mut registry = registry_of(context, owner)?;
    let Some(record) = registry.records.remove(context, &name)? else {
        return context.abort("registry", &ERECORD_NOT_FOUND);
    };
    context.emit_to(&mut registry.removed_events, &RemovedEvent { name, record })?;
    context.write_resource(owner.0, &[], &registry)
}

fn registry_of(context: &mut Context<'_>, owner: Signer) -> Result<Registry, VmError> {
    match context.read_resource(owner.0, &[])? {
        Some(registry) => Ok(registry),
        None => context.abort("registry", &EREGISTRY_NOT_FOUND),
    }
}

/// The record `name` of `owner`; none where there is no registry either.
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

/// Whether `owner` has a record `name`.
fn contains(
    context: &mut Context<'_>,
    type_args: &[TypeTag],
    owner: AccountAddress,
    name: String,
) -> Result<bool, VmError> {
    Ok(get(context, type_args, owner, name)?.is_some())
}

/// How many records `owner` has; 0 where there is no registry.
fn size(context: &mut Context<'_>, _: &[TypeTag], owner: AccountAddress) -> Result<u64, VmError> {
    let registry = context.read_resource::<Registry>(owner, &[])?;
    Ok(registry.map_or(0, |registry| registry.records.length()))
}

/// Whether `owner` has a registry.
fn is_initialized(
    context: &mut Context<'_>,
    _: &[TypeTag],
    owner: AccountAddress,
) -> Result<bool, VmError> {
    Ok(context.read_resource::<Registry>(owner, &[])?.is_some())
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
