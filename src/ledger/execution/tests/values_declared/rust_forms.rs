//! The Rust types of the modules match their declarations: they read and write the bytes of the
//! declared fields. The test generates these bytes from the ABI alone.

use super::{
    check,
    declared::{DECLARED, FRAMEWORK},
    generate::values,
};
use ledger_framework::modules::*;
use ledger_types::TypeTag;
use ledger_vm::{MoveStruct, MoveType};
use proptest::prelude::*;
use std::collections::BTreeSet;

/// A declared struct, with a function that decodes and encodes its Rust type.
struct RustForm {
    tag: TypeTag,
    reencode: fn(&[u8]) -> bcs::Result<Vec<u8>>,
}

fn rust_form<T: MoveType>(tag: TypeTag) -> RustForm {
    RustForm {
        tag,
        reencode: |bytes| bcs::to_bytes(&bcs::from_bytes::<T>(bytes)?),
    }
}

fn struct_form<T: MoveStruct>() -> RustForm {
    let type_args = vec![TypeTag::U8; T::declaration().type_parameters.len()];
    rust_form::<T>(FRAMEWORK.tag_of::<T>(&type_args).into())
}

/// Returns the generic structs, each with type arguments.
fn generic_forms() -> Vec<RustForm> {
    fn form<T: MoveType>(tag: &str) -> RustForm {
        rust_form::<T>(tag.parse().unwrap())
    }
    vec![
        form::<account::CapabilityOffer<bool>>("0x1::account::CapabilityOffer<bool>"),
        form::<aggregator_v2::Aggregator<u128>>("0x1::aggregator_v2::Aggregator<u128>"),
        form::<ledger_vm::EventHandle<u8>>("0x1::event::EventHandle<u8>"),
        form::<object::Object<u8>>("0x1::object::Object<u8>"),
        form::<simple_map::Element<u16, String>>(
            "0x1::simple_map::Element<u16, 0x1::string::String>",
        ),
        form::<simple_map::SimpleMap<String, Option<u64>>>(
            "0x1::simple_map::SimpleMap<0x1::string::String, 0x1::option::Option<u64>>",
        ),
        form::<table::Table<u8, bool>>("0x1::table::Table<u8, bool>"),
        form::<table_with_length::TableWithLength<u8, bool>>(
            "0x1::table_with_length::TableWithLength<u8, bool>",
        ),
    ]
}

/// Structs that are declared for their names only. No Rust type reads their values.
const WITHOUT_RUST_TYPE: &[&str] = &["0x1::aptos_coin::AptosCoin", "0x1::ed25519::SignedMessage"];

macro_rules! rust_forms {
    ($($module:ident { $($name:ident),* $(,)? })*) => {
        vec![$($(struct_form::<$module::$name>()),*),*]
    };
}

/// Returns the structs without type parameters, and those whose fields do not depend on them.
fn struct_forms() -> Vec<RustForm> {
    rust_forms! {
        account {
            Account, CoinRegisterEvent, KeyRotation, KeyRotationEvent, KeyRotationToPublicKey,
            OriginatingAddress, RotationCapability, RotationCapabilityOfferProofChallengeV2,
            RotationProofChallenge, SignerCapability, SignerCapabilityOfferProofChallengeV2,
        }
        block { BlockResource, NewBlockEvent, UpdateEpochIntervalEvent }
        chain_id { ChainId }
        chain_status { GenesisEndMarker }
        code {
            Any, ModuleMetadata, PackageDep, PackageMetadata, PackageRegistry, UpgradePolicy,
        }
        coin {
            BurnCapability, Coin, CoinConversionMap, CoinInfo, CoinStore, DepositEvent,
            FreezeCapability, MintCapability, PairCreation, PairedCoinType, PairedFungibleAssetRefs,
            WithdrawEvent,
        }
        escrow { Closed, Escrow, EscrowStore, Opened }
        ledger_vm { Guid, GuidId }
        exchange { AssetsExchanged, CoinsExchanged }
        features { Features }
        fungible_asset {
            BurnRef, ConcurrentSupply, Creation, Deposit, DepositEvent, Frozen, FrozenEvent,
            FungibleAssetEvents, FungibleStore, FungibleStoreDeletion, Metadata, MintRef,
            MutateMetadataRef, TransferRef, Untransferable, Withdraw, WithdrawEvent,
        }
        gas_schedule { GasEntry, GasScheduleV2 }
        managed_coin { Capabilities }
        managed_fungible_asset { ManagedFungibleAsset, StoreCreation }
        managed_object { ObjectCreation, ObjectDeletion, ObjectRefs }
        multisig_account {
            CreationMessage, CreationWithAuthKeyRevocationMessage, ExecutionError, MultisigAccount,
            MultisigTransaction,
            AddOwners, AddOwnersEvent, CreateTransaction, CreateTransactionEvent,
            ExecuteRejectedTransaction, ExecuteRejectedTransactionEvent, MetadataUpdated,
            MetadataUpdatedEvent, RemoveOwners, RemoveOwnersEvent, TransactionExecutionFailed,
            TransactionExecutionFailedEvent, TransactionExecutionSucceeded,
            TransactionExecutionSucceededEvent, UpdateSignaturesRequired, UpdateSignaturesRequiredEvent,
            Vote, VoteEvent,
        }
        nonce_validation { Bucket, RememberedNonce }
        object {
            ConstructorRef, DeleteRef, DeriveRef, ExtendRef, ObjectCore, ObjectGroup, TombStone, Transfer,
            TransferEvent, TransferRef, Untransferable,
        }
        optional_aggregator { Aggregator, Integer, OptionalAggregator }
        primary_fungible_store { DeriveRefPod }
        reconfiguration { Configuration, NewEpochEvent }
        registry { Record, Registry, RemovedEvent, SetEvent }
        resource_account { Container }
        stake { ValidatorConfig, ValidatorInfo, ValidatorSet }
        table { TableInfo }
        timestamp { CurrentTimeMicroseconds }
        transaction_fee { FeeStatement }
        type_info { TypeInfo }
        vendor_account {
            DirectCoinTransferConfigUpdated, DirectCoinTransferConfigUpdatedEvent, DirectTransferConfig,
        }
    }
}

#[test]
fn encodes_rust_types_as_declared() {
    for form in struct_forms().into_iter().chain(generic_forms()) {
        check(&values(&form.tag), 4, |(_, bytes)| {
            prop_assert_eq!((form.reencode)(&bytes), Ok(bytes), "{}", form.tag);
            Ok(())
        });
    }
}

#[test]
fn covers_every_declared_struct() {
    let forms = struct_forms().into_iter().chain(generic_forms());
    let covered: BTreeSet<String> = forms.map(|form| without_arguments(&form.tag)).collect();
    let missing: Vec<&str> = DECLARED
        .iter()
        .map(|declared| declared.name.as_str())
        .filter(|name| !covered.contains(*name))
        .collect();
    assert_eq!(missing, WITHOUT_RUST_TYPE, "the lists above lack structs");
}

fn without_arguments(tag: &TypeTag) -> String {
    let printed = tag.to_string();
    printed.split('<').next().unwrap().to_owned()
}
