//! `0x1::table`: items under keys, each in a slot of its own. Typed: a table records the types of its
//! keys and values when it is made, so that readers can decode items.

use ledger_types::{AccountAddress, TypeTag};
use ledger_vm::{
    Context, ErrorConstant, ModuleDeclaration, MoveStruct, MoveType, StructDeclaration,
    TypeSignature, VmError, move_structs,
};
use serde::{Deserialize, Serialize};
use std::marker::PhantomData;

/// An item is added under a key that has one.
pub const EKEY_EXISTS: ErrorConstant = ErrorConstant::unnamed(25607);
/// There is no item under the key.
pub const EKEY_ABSENT: ErrorConstant = ErrorConstant::unnamed(25863);

move_structs! {
    module "table";

    /// The types of a table, kept at the address that is its handle. The reference keeps them off the
    /// ledger, where not every node has them.
    TableInfo as "TableInfo" has ["key"] {
        /// The type of the keys, printed.
        key_type: String,
        /// The type of the values, printed.
        value_type: String,
    }
}

impl TableInfo {
    /// The types of keys and values; `None` where what is recorded does not parse.
    pub fn types(&self) -> Option<(TypeTag, TypeTag)> {
        Some((self.key_type.parse().ok()?, self.value_type.parse().ok()?))
    }
}

/// A table with keys `K` and values `V`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(bound = "")]
pub struct Table<K, V> {
    /// Names the table.
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
    /// Makes an empty table and records its types.
    ///
    /// # Errors
    /// When the state cannot be read or gas runs out.
    ///
    /// # Panics
    /// When `K` or `V` has an open type parameter; tables are made of closed types.
    pub fn new(context: &mut Context<'_>) -> Result<Self, VmError> {
        let handle = context.new_table_handle();
        context.write_resource(handle, &[], &Self::info(context))?;
        Ok(Self {
            handle,
            types: PhantomData,
        })
    }

    /// The table at a handle that no transaction makes; records its types where that was not done yet.
    ///
    /// # Errors
    /// As [`Table::new`].
    ///
    /// # Panics
    /// As [`Table::new`].
    pub fn ensure_at(context: &mut Context<'_>, handle: AccountAddress) -> Result<Self, VmError> {
        if context.read_resource::<TableInfo>(handle, &[])?.is_none() {
            context.write_resource(handle, &[], &Self::info(context))?;
        }
        Ok(Self {
            handle,
            types: PhantomData,
        })
    }

    fn info(context: &Context<'_>) -> TableInfo {
        let vendor = context.chain().vendor();
        let printed = |signature: TypeSignature| {
            let tag = signature.resolve(&[], vendor);
            tag.expect("tables have closed types").to_string()
        };
        TableInfo {
            key_type: printed(K::signature()),
            value_type: printed(V::signature()),
        }
    }

    fn encoded(key: &K) -> Vec<u8> {
        bcs::to_bytes(key).expect("declared types have a BCS form")
    }

    /// The value under `key`.
    ///
    /// # Errors
    /// When the state cannot be read or gas runs out.
    pub fn get(&self, context: &mut Context<'_>, key: &K) -> Result<Option<V>, VmError> {
        let Some(bytes) = context.read_item(&self.handle, &Self::encoded(key))? else {
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

    /// The value under `key`, which must be there.
    ///
    /// # Errors
    /// `EKEY_ABSENT`, and those of [`Table::get`].
    pub fn borrow(&self, context: &mut Context<'_>, key: &K) -> Result<V, VmError> {
        match self.get(context, key)? {
            Some(value) => Ok(value),
            None => context.abort("table", &EKEY_ABSENT),
        }
    }

    /// Puts a value under a key that has none.
    ///
    /// # Errors
    /// `EKEY_EXISTS`, and those of [`Table::get`].
    pub fn add(&self, context: &mut Context<'_>, key: &K, value: &V) -> Result<(), VmError> {
        if context
            .read_item(&self.handle, &Self::encoded(key))?
            .is_some()
        {
            return context.abort("table", &EKEY_EXISTS);
        }
        self.upsert(context, key, value)
    }

    /// Puts a value under a key, in place of what is there.
    ///
    /// # Errors
    /// When the state cannot be read or gas runs out.
    pub fn upsert(&self, context: &mut Context<'_>, key: &K, value: &V) -> Result<(), VmError> {
        let bytes = bcs::to_bytes(value).expect("declared types have a BCS form");
        context.put_item(&self.handle, &Self::encoded(key), Some(bytes.into()))
    }

    /// Takes the value under `key` out of the table, where there is one.
    ///
    /// # Errors
    /// Those of [`Table::get`].
    pub fn take(&self, context: &mut Context<'_>, key: &K) -> Result<Option<V>, VmError> {
        let value = self.get(context, key)?;
        if value.is_some() {
            context.put_item(&self.handle, &Self::encoded(key), None)?;
        }
        Ok(value)
    }

    /// Takes the value under `key`, which must be there, out of the table.
    ///
    /// # Errors
    /// `EKEY_ABSENT`, and those of [`Table::get`].
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
