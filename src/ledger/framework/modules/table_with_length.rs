//! `0x1::table_with_length`: a table that counts its items.

use super::table::Table;
use ledger_vm::{Context, ModuleDeclaration, MoveType, StructDeclaration, TypeSignature, VmError};
use serde::{Deserialize, Serialize};

/// A table with keys `K` and values `V` that counts its items.
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
        Ok(Self {
            inner: Table::new(context)?,
            length: 0,
        })
    }

    /// Returns the number of items.
    pub fn length(&self) -> u64 {
        self.length
    }

    /// Returns the value of `key`.
    ///
    /// # Errors
    ///
    /// Returns [`VmError::State`] if the state cannot be read or decoded, and [`VmError::OutOfGas`]
    /// if gas runs out.
    pub fn get(&self, context: &mut Context<'_>, key: &K) -> Result<Option<V>, VmError> {
        self.inner.get(context, key)
    }

    /// Sets the value of `key` and returns the previous value.
    ///
    /// Updates the length in `self` only. The caller must write the resource that contains the
    /// table.
    ///
    /// # Errors
    ///
    /// Returns [`VmError::State`] if the state cannot be read or decoded, and [`VmError::OutOfGas`]
    /// if gas runs out.
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

    /// Removes and returns the value of `key`, if the key exists.
    ///
    /// Updates the length in `self` only. The caller must write the resource that contains the
    /// table.
    ///
    /// # Errors
    ///
    /// Returns [`VmError::State`] if the state cannot be read or decoded, and [`VmError::OutOfGas`]
    /// if gas runs out.
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
