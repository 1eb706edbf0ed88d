//! The framework: native modules, each declared once, from which come dispatch, the ABI, and the
//! JSON form of every value.

use crate::{
    AccountAddress, Chain, EntryFunction, Identifier, ModuleId, StateError, StateView, StructTag, TypeTag,
    Vendor,
};
use bytes::Bytes;

/// The modules of a chain.
#[derive(Debug)]
pub struct Framework {}

/// A value or a call that does not fit the framework's declarations; the text says where.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct FormError(pub String);

/// Which asset a balance is asked of: interface section 4.8.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AssetType {
    /// A fungible asset, by the address of its metadata.
    FungibleAsset(AccountAddress),
    /// A coin, by its type.
    Coin(StructTag),
}

impl Framework {
    /// The modules of a chain with this vendor word.
    pub fn new(vendor: &Vendor) -> Self {
        let _ = vendor;
        todo!()
    }

    /// The ABI of a module as the interface's JSON, or `None` where there is no such module.
    pub fn module_abi(&self, id: &ModuleId) -> Option<serde_json::Value> {
        let _ = id;
        todo!()
    }

    /// The names of the modules at `address`, ascending.
    pub fn module_names(&self, address: &AccountAddress) -> Vec<Identifier> {
        let _ = address;
        todo!()
    }

    /// The JSON form of a BCS value (rest-behaviour section 4, "Encoding rules").
    ///
    /// # Errors
    /// When the type is not declared or the bytes are not a value of it.
    pub fn value_to_json(&self, tag: &TypeTag, bytes: &[u8]) -> Result<serde_json::Value, FormError> {
        let _ = (tag, bytes);
        todo!()
    }

    /// The BCS form of a JSON value.
    ///
    /// # Errors
    /// When the type is not declared or the JSON is not a value of it.
    pub fn value_from_json(&self, tag: &TypeTag, value: &serde_json::Value) -> Result<Vec<u8>, FormError> {
        let _ = (tag, value);
        todo!()
    }

    /// An entry function call from the interface's JSON: `function` is `0x1::module::name`.
    ///
    /// # Errors
    /// With the reference's texts: unknown function, wrong number of arguments, an argument that
    /// is no value of its type.
    pub fn call_from_json(
        &self,
        function: &str,
        type_arguments: &[String],
        arguments: &[serde_json::Value],
    ) -> Result<EntryFunction, FormError> {
        let _ = (function, type_arguments, arguments);
        todo!()
    }

    /// The arguments of a call as JSON; those that cannot be decoded are hex strings.
    pub fn arguments_to_json(&self, call: &EntryFunction) -> Vec<serde_json::Value> {
        let _ = call;
        todo!()
    }
}

/// The balance of `asset` that `owner` holds; 0 where there is no account or no such asset.
///
/// # Errors
/// When the state cannot be read.
pub fn balance(
    chain: &Chain,
    view: &dyn StateView,
    owner: &AccountAddress,
    asset: &AssetType,
) -> Result<u64, StateError> {
    let _ = (chain, view, owner, asset);
    let _: Option<Bytes> = None;
    todo!()
}
