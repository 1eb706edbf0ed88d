//! Structs of `0x1::fungible_asset`: metadata, supply, stores, references with rights, and events.

use crate::modules::{aggregator_v2::Aggregator, object::Object};
use ledger_types::AccountAddress;
use ledger_vm::{EventHandle, move_structs};

move_structs! {
    module "fungible_asset";

    /// Metadata of an asset.
    Metadata as "Metadata" has ["key", "copy", "drop"] member true {
        /// Name, at most 32 bytes.
        name: String,
        /// Symbol, at most 32 bytes.
        symbol: String,
        /// Number of decimal places between the displayed unit and the smallest unit, at most 32.
        decimals: u8,
        /// URI of the icon, at most 512 bytes.
        icon_uri: String,
        /// URI of a description, at most 512 bytes.
        project_uri: String,
    }

    /// Supply and maximum supply of an asset. A maximum of [`u128::MAX`] means no limit.
    ConcurrentSupply as "ConcurrentSupply" has ["key"] member true {
        /// Supply in the asset's smallest unit.
        current: Aggregator<u128>,
    }

    /// Marker of an asset with stores that can never be transferred to another owner.
    Untransferable as "Untransferable" has ["key"] member true {
        /// Hidden byte of a struct without fields.
        dummy_field: bool,
    }

    /// Store of one asset.
    FungibleStore as "FungibleStore" has ["key"] member true {
        /// Metadata object of the asset.
        metadata: Object<Metadata>,
        /// Balance in the asset's smallest unit.
        balance: u64,
        /// `true` if the store rejects withdrawals by its owner and all deposits without a
        /// [`TransferRef`].
        frozen: bool,
    }

    /// Event streams of a store, which repeat its module events.
    ///
    /// The chain parameter `coin_event_handles` decides whether the stores of coins have them.
    FungibleAssetEvents as "FungibleAssetEvents" has ["key"] member true {
        /// Stream of deposits.
        deposit_events: EventHandle<DepositEvent>,
        /// Stream of withdrawals.
        withdraw_events: EventHandle<WithdrawEvent>,
        /// Stream of changes of the frozen flag.
        frozen_events: EventHandle<FrozenEvent>,
    }

    /// Stream event of a deposit into a store.
    DepositEvent as "DepositEvent" has ["drop", "store"] {
        /// Amount in the asset's smallest unit.
        amount: u64,
    }

    /// Stream event of a withdrawal from a store.
    WithdrawEvent as "WithdrawEvent" has ["drop", "store"] {
        /// Amount in the asset's smallest unit.
        amount: u64,
    }

    /// Stream event emitted when a store is frozen or unfrozen.
    FrozenEvent as "FrozenEvent" has ["drop", "store"] {
        /// `true` if the store is frozen after the event.
        frozen: bool,
    }

    /// The right to mint an asset.
    MintRef as "MintRef" has ["drop", "store"] {
        /// Metadata object of the asset.
        metadata: Object<Metadata>,
    }

    /// The right to transfer an asset and to freeze its stores, regardless of their owners.
    TransferRef as "TransferRef" has ["drop", "store"] {
        /// Metadata object of the asset.
        metadata: Object<Metadata>,
    }

    /// The right to burn an asset in any of its stores.
    BurnRef as "BurnRef" has ["drop", "store"] {
        /// Metadata object of the asset.
        metadata: Object<Metadata>,
    }

    /// The right to change the metadata of an asset.
    MutateMetadataRef as "MutateMetadataRef" has ["drop", "store"] {
        /// Metadata object of the asset.
        metadata: Object<Metadata>,
    }

    /// Event emitted when an asset is created.
    Creation as "Creation" has ["drop", "store"] event true {
        /// Address of the metadata object.
        metadata: AccountAddress,
        /// Name of the asset.
        name: String,
        /// Symbol of the asset.
        symbol: String,
        /// Number of decimal places of the asset.
        decimals: u8,
        /// URI of the icon.
        icon_uri: String,
        /// URI of a description.
        project_uri: String,
        /// Maximum supply in the asset's smallest unit, or `None` without a limit.
        maximum_supply: Option<u128>,
    }

    /// Event emitted when an asset is deposited into a store.
    Deposit as "Deposit" has ["drop", "store"] event true {
        /// Address of the store.
        store: AccountAddress,
        /// Amount in the asset's smallest unit.
        amount: u64,
    }

    /// Event emitted when an asset is withdrawn from a store.
    Withdraw as "Withdraw" has ["drop", "store"] event true {
        /// Address of the store.
        store: AccountAddress,
        /// Amount in the asset's smallest unit.
        amount: u64,
    }

    /// Event emitted when a store is frozen or unfrozen, even if its state does not change.
    Frozen as "Frozen" has ["drop", "store"] event true {
        /// Address of the store.
        store: AccountAddress,
        /// `true` if the store is frozen after the event.
        frozen: bool,
    }

    /// Event emitted when a store is removed.
    FungibleStoreDeletion as "FungibleStoreDeletion" has ["drop", "store"] event true {
        /// Address of the store.
        store: AccountAddress,
        /// Owner of the store.
        owner: AccountAddress,
        /// Address of the metadata of the store's asset.
        metadata: AccountAddress,
    }
}
