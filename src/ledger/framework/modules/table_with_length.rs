//! `0x1::table_with_length`: a table that knows how many items it has.

use super::table::Table;
use ledger_vm::{Context, ModuleDeclaration, MoveType, StructDeclaration, TypeSignature, VmError};
use serde::{Deserialize, Serialize};

/// A table with keys `K` and values `V`, and the number of its items.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(bound = "")]
pub struct TableWithLength<K, V> {
    inner: Table<K, V>,
    length: u64,
}

impl<K: MoveType, V: MoveType> MoveType for TableWithLength<K, V> {
    fn signature() -> TypeSignature {
        TypeSignature::Struct {
            module: "table_with_length",
            name: "TableWithLength",
            args: vec![K::signature(), V::signature()],
        }
    }
}

impl<K: MoveType, V: MoveType> TableWithLength<K, V> {
    /// Makes an empty table and records its types.
    ///
    /// # Errors
    /// When the state cannot be read or gas runs out.
    ///
    /// # Panics
    /// As [`Table::new`].
    pub fn new(context: &mut Context<'_>) -> Result<Self, VmError> {
        Ok(Self {
            inner: Table::new(context)?,
            length: 0,
        })
    }

    /// How many items there are.
    pub fn length(&self) -> u64 {
        self.length
    }

    /// The value under `key`.
    ///
    /// # Errors
    /// When the state cannot be read or gas runs out.
    pub fn get(&self, context: &mut Context<'_>, key: &K) -> Result<Option<V>, VmError> {
        self.inner.get(context, key)
    }

    /// Puts a value under a key, in place of what is there, which it gives. The length changes in
    /// `self`: the resource that holds it is to be written.
    ///
    /// # Errors
    /// When the state cannot be read or gas runs out.
    pub fn upsert(
        &mut self,
        context: &mut Context<'_>,
        key: &K,
        value: &V,
    ) -> Result<Option<V>, VmError> {
        let previous = self.inner.get(context, key)?;
        if previous.is_none() {
            self.length = self.length.checked_add(1).ok_or(VmError::Arithmetic)?;
        }
        self.inner.upsert(context, key, value)?;
        Ok(previous)
    }

    /// Takes the value under `key` out of the table, where there is one. The length changes in `self`,
    /// as with [`TableWithLength::upsert`].
    ///
    /// # Errors
    /// When the state cannot be read or gas runs out.
    pub fn remove(&mut self, context: &mut Context<'_>, key: &K) -> Result<Option<V>, VmError> {
        let value = self.inner.take(context, key)?;
        if value.is_some() {
            self.length = self.length.checked_sub(1).ok_or(VmError::Arithmetic)?;
        }
        Ok(value)
    }
}

pub(super) fn module() -> ModuleDeclaration {
    let inner = TypeSignature::Struct {
        module: "table",
        name: "Table",
        args: vec![TypeSignature::Parameter(0), TypeSignature::Parameter(1)],
    };
    let table = StructDeclaration::new(
        "TableWithLength",
        &["store"],
        vec![("inner", inner), ("length", u64::signature())],
    )
    .with_type_parameters(&[&["copy", "drop"], &[]]);
    ModuleDeclaration {
        name: "table_with_length",
        structs: vec![table],
        functions: vec![],
        errors: &[],
    }
}
