//! Resources and derived addresses in comparison with golden vectors. The unmodified TypeScript SDK
//! generated them (`tests/sdk/golden_resources.mjs` at the root of the workspace). The bytes and
//! the JSON must be those of the interface.

use ledger_framework::{
    module_registry,
    modules::{
        account::{Account, OriginatingAddress, resource_address},
        coin::{CoinInfo, CoinStore, PairedCoinType},
        fungible_asset::{ConcurrentSupply, FungibleAssetEvents, FungibleStore, Metadata},
        gas_schedule::GasScheduleV2,
        managed_fungible_asset::ManagedFungibleAsset,
        multisig_account::MultisigAccount,
        object::{ObjectCore, named_address, user_derived_address},
        registry::Registry,
        resource_account::Container,
        vendor_account::DirectTransferConfig,
    },
};
use ledger_types::{AccountAddress, TypeTag};
use ledger_vm::MoveStruct;
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::Value;

fn vectors<T: DeserializeOwned>(json: &str) -> T {
    serde_json::from_str(json).expect("a file of golden vectors")
}

fn bytes(text: &str) -> Vec<u8> {
    hex::decode(text.strip_prefix("0x").expect("bytes with 0x")).expect("hex digits")
}

/// A resource in BCS and in JSON.
#[derive(Deserialize)]
struct ResourceVector {
    #[serde(rename = "type")]
    tag: String,
    bcs: String,
    json: Value,
}

fn resources() -> Vec<ResourceVector> {
    vectors(include_str!("../../../../tests/golden/resources.json"))
}

#[test]
fn converts_resources_between_bcs_and_json() {
    let registry = module_registry(&"APTOS".parse().expect("a vendor word"));
    let vectors = resources();
    assert!(vectors.len() >= 20, "20 types, not {}", vectors.len());
    for vector in vectors {
        let tag: TypeTag = vector.tag.parse().expect("a type");
        let bytes = bytes(&vector.bcs);
        assert_eq!(
            registry.value_to_json(&tag, &bytes),
            Ok(vector.json.clone()),
            "{tag}"
        );
        assert_eq!(
            registry.value_from_json(&tag, &vector.json),
            Ok(bytes),
            "{tag}"
        );
    }
}

/// Asserts that the Rust struct of a module reads the bytes of the SDK and writes the same bytes.
fn assert_round_trip<T: MoveStruct>(vectors: &[ResourceVector]) {
    let module = T::MODULE.replace("{vendor}", "aptos");
    let name = format!("0x1::{module}::{}", T::NAME);
    let is_named = |vector: &&ResourceVector| vector.tag.split('<').next() == Some(&name);
    let vector = vectors
        .iter()
        .find(is_named)
        .expect("a vector of the struct");
    let bytes = bytes(&vector.bcs);
    let value: T = bcs::from_bytes(&bytes).expect("the struct's bytes");
    assert_eq!(bcs::to_bytes(&value), Ok(bytes), "{name}");
}

#[test]
fn encodes_module_structs_like_the_sdk() {
    let vectors = resources();
    assert_round_trip::<Account>(&vectors);
    assert_round_trip::<CoinStore>(&vectors);
    assert_round_trip::<CoinInfo>(&vectors);
    assert_round_trip::<ObjectCore>(&vectors);
    assert_round_trip::<FungibleStore>(&vectors);
    assert_round_trip::<FungibleAssetEvents>(&vectors);
    assert_round_trip::<Metadata>(&vectors);
    assert_round_trip::<MultisigAccount>(&vectors);
    assert_round_trip::<ConcurrentSupply>(&vectors);
    assert_round_trip::<DirectTransferConfig>(&vectors);
    assert_round_trip::<Registry>(&vectors);
    assert_round_trip::<ManagedFungibleAsset>(&vectors);
    assert_round_trip::<OriginatingAddress>(&vectors);
    assert_round_trip::<PairedCoinType>(&vectors);
    assert_round_trip::<Container>(&vectors);
    assert_round_trip::<GasScheduleV2>(&vectors);
}

/// The addresses that the SDK derives.
#[derive(Deserialize)]
struct DerivedAddresses {
    named: Vec<NamedVector>,
    derived: Vec<DerivedVector>,
}

/// The addresses derived from an account and a seed.
#[derive(Deserialize)]
struct NamedVector {
    source: AccountAddressText,
    seed: String,
    object: AccountAddressText,
    resource_account: AccountAddressText,
}

/// The address derived from two addresses.
#[derive(Deserialize)]
struct DerivedVector {
    source: AccountAddressText,
    derive_from: AccountAddressText,
    user_derived_object: AccountAddressText,
}

/// An address in its printed form.
#[derive(Deserialize)]
#[serde(try_from = "String")]
struct AccountAddressText(AccountAddress);

impl TryFrom<String> for AccountAddressText {
    type Error = ledger_types::AddressError;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse().map(Self)
    }
}

#[test]
fn derived_addresses() {
    let file: DerivedAddresses = vectors(include_str!(
        "../../../../tests/golden/derived_addresses.json"
    ));
    for vector in file.named {
        let (source, seed) = (vector.source.0, bytes(&vector.seed));
        assert_eq!(
            named_address(source, &seed),
            vector.object.0,
            "{}",
            vector.seed
        );
        assert_eq!(
            resource_address(source, &seed),
            vector.resource_account.0,
            "{}",
            vector.seed
        );
    }
    for vector in file.derived {
        let (source, from) = (vector.source.0, vector.derive_from.0);
        assert_eq!(
            user_derived_address(source, from),
            vector.user_derived_object.0
        );
    }
}
