//! The structs of `0x1::fungible_asset`: what an asset is, how much of it there is and where it lies,
//! the references that stand for powers over it, and its events.

use crate::modules::{aggregator_v2::Aggregator, object::Object};
use ledger_types::AccountAddress;
use ledger_vm::move_structs;

move_structs! {
    module "fungible_asset";

    /// What an asset is.
    Metadata as "Metadata" has ["key", "copy", "drop"] member true {
        /// Its name, at most 32 bytes.
        name: String,
        /// Its symbol, at most 32 bytes.
        symbol: String,
        /// Decimal places between the shown and the smallest unit, at most 32.
        decimals: u8,
        /// Where its picture is, at most 512 bytes.
        icon_uri: String,
        /// Where more is told about it, at most 512 bytes.
        project_uri: String,
    }

    /// How much of an asset there is, and may be; the greatest number stands for no bound.
    ConcurrentSupply as "ConcurrentSupply" has ["key"] member true {
        /// In the asset's smallest unit.
        current: Aggregator<u128>,
    }

    /// Marks an asset whose stores can never be given away.
    Untransferable as "Untransferable" has ["key"] member true {
        /// A struct without fields has one hidden byte.
        dummy_field: bool,
    }

    /// Holds an asset.
    FungibleStore as "FungibleStore" has ["key"] member true {
        /// Which asset.
        metadata: Object<Metadata>,
        /// How much of it, in its smallest unit.
        balance: u64,
        /// Whether its owner can neither take from it nor anyone put into it.
        frozen: bool,
    }

    /// The power to make more of an asset.
    MintRef as "MintRef" has ["drop", "store"] {
        /// Which asset.
        metadata: Object<Metadata>,
    }

    /// The power to move an asset and to freeze its stores, whoever owns them.
    TransferRef as "TransferRef" has ["drop", "store"] {
        /// Which asset.
        metadata: Object<Metadata>,
    }

    /// The power to destroy some of an asset, wherever it lies.
    BurnRef as "BurnRef" has ["drop", "store"] {
        /// Which asset.
        metadata: Object<Metadata>,
    }

    /// The power to change what an asset is called.
    MutateMetadataRef as "MutateMetadataRef" has ["drop", "store"] {
        /// Which asset.
        metadata: Object<Metadata>,
    }

    /// An asset was made.
    Creation as "Creation" has ["drop", "store"] event true {
        /// Where it is.
        metadata: AccountAddress,
        /// Its name.
        name: String,
        /// Its symbol.
        symbol: String,
        /// Its decimal places.
        decimals: u8,
        /// Where its picture is.
        icon_uri: String,
        /// Where more is told about it.
        project_uri: String,
        /// How much of it there may be, in its smallest unit.
        maximum_supply: Option<u128>,
    }

    /// Some of an asset was put into a store.
    Deposit as "Deposit" has ["drop", "store"] event true {
        /// The store.
        store: AccountAddress,
        /// In the asset's smallest unit.
        amount: u64,
    }

    /// Some of an asset was taken from a store.
    Withdraw as "Withdraw" has ["drop", "store"] event true {
        /// The store.
        store: AccountAddress,
        /// In the asset's smallest unit.
        amount: u64,
    }

    /// It was said whether a store is frozen; also where nothing changed.
    Frozen as "Frozen" has ["drop", "store"] event true {
        /// The store.
        store: AccountAddress,
        /// Whether it is frozen from then on.
        frozen: bool,
    }

    /// A store was removed.
    FungibleStoreDeletion as "FungibleStoreDeletion" has ["drop", "store"] event true {
        /// The store.
        store: AccountAddress,
        /// Whose it was.
        owner: AccountAddress,
        /// Which asset it was for.
        metadata: AccountAddress,
    }
}
