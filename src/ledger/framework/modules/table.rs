//! `0x1::table`: tables of items, each in a state slot of its own.
//!
//! A table records the types of its keys and values on creation, so that clients can decode its
//! items.

use ledger_types::{AccountAddress, TypeTag};
use ledger_vm::{
    Context, ErrorConstant, ModuleDeclaration, MoveStruct, MoveType, StructDeclaration,
    TypeSignature, VmError, move_structs,
};
use serde::{Deserialize, Serialize};
use std::marker::PhantomData;

/// Abort code of [`Table::add`] for a key that exists.
pub const EKEY_EXISTS: ErrorConstant = ErrorConstant::unnamed(25607);
/// Abort code of [`Table::borrow`] and [`Table::remove`] for a key that does not exist.
pub const EKEY_ABSENT: ErrorConstant = ErrorConstant::unnamed(25863);

move_structs! {
    module "table";

    /// The types of a table, stored at the address of its handle.
    ///
    /// The reference node stores them outside of the ledger, and not every node has them.
    TableInfo as "TableInfo" has ["key"] {
        /// Text form of the key type.
        key_type: String,
        /// Text form of the value type.
        value_type: String,
    }
}

impl TableInfo {
    /// Returns the types of keys and values, or `None` if a recorded type does not parse.
    pub fn types(&self) -> Option<(TypeTag, TypeTag)> {
        Some((self.key_type.parse().ok()?, self.value_type.parse().ok()?))
    }
}

/// A table with keys `K` and values `V`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(bound = "")]
pub struct Table<K, V> {
    /// Address that identifies the table.
    pub handle: AccountAddress,
    #[serde(skip)]
    types: PhantomData<fn() -> (K, V)>,
}

impl<K: MoveType, V: MoveType> MoveType for Table<K, V> {
    fn signature() -> TypeSignature {
        TypeSignature::Struct {
            module: "table",
            name: "Table",
            args: vec![K::signature(), V::signature()],
        }
    }
}

impl<K: MoveType, V: MoveType> Table<K, V> {
    /// Creates an empty table and records its types.
    ///
    /// # Errors
    ///
    /// Returns [`VmError::State`] if the state cannot be read or decoded, and [`VmError::OutOfGas`]
    /// if gas runs out.
    ///
    /// # Panics
    ///
    /// Panics if `K` or `V` has an open type parameter.
    pub fn new(context: &mut Context<'_>) -> Result<Self, VmError> {
        let handle = context.new_table_handle();
        context.write_resource(handle, &[], &Self::table_info(context))?;
        Ok(Self {
            handle,
            types: PhantomData,
        })
    }

    /// Returns the table at a handle that no transaction creates, and records its types if they are
    /// missing.
    ///
    /// # Errors
    ///
    /// Returns [`VmError::State`] if the state cannot be read or decoded, and [`VmError::OutOfGas`]
    /// if gas runs out.
    ///
    /// # Panics
    ///
    /// Panics if `K` or `V` has an open type parameter.
    pub fn ensure_at(context: &mut Context<'_>, handle: AccountAddress) -> Result<Self, VmError> {
        if !context.has_resource::<TableInfo>(handle, &[])? {
            context.write_resource(handle, &[], &Self::table_info(context))?;
        }
        Ok(Self {
            handle,
            types: PhantomData,
        })
    }

    fn table_info(context: &Context<'_>) -> TableInfo {
        let vendor = context.chain().vendor();
        let type_text = |signature: TypeSignature| {
            let tag = signature.resolve(&[], vendor);
            tag.expect("tables have closed types").to_string()
        };
        TableInfo {
            key_type: type_text(K::signature()),
            value_type: type_text(V::signature()),
        }
    }

    fn encode_key(key: &K) -> Vec<u8> {
        bcs::to_bytes(key).expect("declared types have a BCS form")
    }

    /// Returns the value of `key`, or `None` if the key does not exist.
    ///
    /// # Errors
    ///
    /// Returns [`VmError::State`] if the state cannot be read or decoded, and [`VmError::OutOfGas`]
    /// if gas runs out.
    pub fn get(&self, context: &mut Context<'_>, key: &K) -> Result<Option<V>, VmError> {
        let Some(bytes) = context.read_item(&self.handle, &Self::encode_key(key))? else {
            return Ok(None);
        };
        let value = bcs::from_bytes(&bytes).map_err(|error| {
            ledger_types::StateError(format!(
                "an item of table {} does not decode: {error}",
                self.handle
            ))
        })?;
        Ok(Some(value))
    }

    /// Returns the value of `key`, which must exist.
    ///
    /// # Errors
    ///
    /// Aborts with `EKEY_ABSENT` if the key does not exist.
    pub fn borrow(&self, context: &mut Context<'_>, key: &K) -> Result<V, VmError> {
        match self.get(context, key)? {
            Some(value) => Ok(value),
            None => context.abort("table", &EKEY_ABSENT),
        }
    }

    /// Inserts a new key and its value.
    ///
    /// # Errors
    ///
    /// Aborts with `EKEY_EXISTS` if the key exists.
    pub fn add(&self, context: &mut Context<'_>, key: &K, value: &V) -> Result<(), VmError> {
        if context
            .read_item(&self.handle, &Self::encode_key(key))?
            .is_some()
        {
            return context.abort("table", &EKEY_EXISTS);
        }
        self.upsert(context, key, value)
    }

    /// Sets the value of `key`, whether or not the key exists.
    ///
    /// # Errors
    ///
    /// Returns [`VmError::State`] if the state cannot be read, and [`VmError::OutOfGas`] if gas
    /// runs out.
    pub fn upsert(&self, context: &mut Context<'_>, key: &K, value: &V) -> Result<(), VmError> {
        let bytes = bcs::to_bytes(value).expect("declared types have a BCS form");
        context.write_item(&self.handle, &Self::encode_key(key), Some(bytes.into()))
    }

    /// Removes and returns the value of `key`, if the key exists.
    ///
    /// # Errors
    ///
    /// Returns [`VmError::State`] if the state cannot be read or decoded, and [`VmError::OutOfGas`]
    /// if gas runs out.
    pub fn take(&self, context: &mut Context<'_>, key: &K) -> Result<Option<V>, VmError> {
        let value = self.get(context, key)?;
        if value.is_some() {
            context.write_item(&self.handle, &Self::encode_key(key), None)?;
        }
        Ok(value)
    }

    /// Removes and returns the value of `key`, which must exist.
    ///
    /// # Errors
    ///
    /// Aborts with `EKEY_ABSENT` if the key does not exist.
    pub fn remove(&self, context: &mut Context<'_>, key: &K) -> Result<V, VmError> {
        match self.take(context, key)? {
            Some(value) => Ok(value),
            None => context.abort("table", &EKEY_ABSENT),
        }
    }
}

pub(super) fn module() -> ModuleDeclaration {
    let table = StructDeclaration::new(
        "Table",
        &["store"],
        vec![("handle", AccountAddress::signature())],
    )
    .with_type_parameters(&[&["copy", "drop"], &[]]);
    ModuleDeclaration {
        name: "table",
        structs: vec![table, TableInfo::declaration()],
        functions: vec![],
        errors: &[],
    }
}
