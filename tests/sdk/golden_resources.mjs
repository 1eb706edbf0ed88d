// Golden values of resources: the bytes of the SDK's serializer, field by field in the order of the
// framework's ABI, and the JSON of the REST API.

import {
  AccountAddress,
  Serializer,
  createObjectAddress,
  createResourceAddress,
  createUserDerivedObjectAddress,
} from "@aptos-labs/ts-sdk";

const U64_MAX = 0xffff_ffff_ffff_ffffn;
const U128_MAX = (1n << 128n) - 1n;
const COIN = "0x1::aptos_coin::AptosCoin";

// --- values: their JSON, and their bytes by the SDK ---------------------------------------------

const hex = (bytes) => `0x${Buffer.from(bytes).toString("hex")}`;
const shortAddress = (address) =>
  `0x${address
    .toStringLong()
    .slice(2)
    .replace(/^0+(?=.)/, "")}`;

const u8 = (n) => ({ json: n, write: (s) => s.serializeU8(n) });
const u64 = (n) => ({ json: n.toString(), write: (s) => s.serializeU64(n) });
const u128 = (n) => ({ json: n.toString(), write: (s) => s.serializeU128(n) });
const bool = (b) => ({ json: b, write: (s) => s.serializeBool(b) });
const string = (text) => ({ json: text, write: (s) => s.serializeStr(text) });
const bytes = (data) => ({
  json: hex(data),
  write: (s) => s.serializeBytes(Uint8Array.from(data)),
});
const address = (of) => ({ json: shortAddress(of), write: (s) => s.serialize(of) });
const vector = (items) => ({
  json: items.map((item) => item.json),
  write: (s) => {
    s.serializeU32AsUleb128(items.length);
    items.forEach((item) => item.write(s));
  },
});
/** Returns an option: a vector of at most one item. */
const option = (item) => struct({ vec: vector(item === undefined ? [] : [item]) });
const struct = (fields) => ({
  json: Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, value.json])),
  write: (s) => Object.values(fields).forEach((value) => value.write(s)),
});

function golden(type, value) {
  const serializer = new Serializer();
  value.write(serializer);
  return { type, bcs: hex(serializer.toUint8Array()), json: value.json };
}

// --- parts --------------------------------------------------------------------------------------

const owner = AccountAddress.from(`0x${"0a".repeat(32)}`);
const other = AccountAddress.from(`0x${"b7".repeat(32)}`);
const framework = AccountAddress.from("0x1");
const asset = AccountAddress.from("0xa");

const id = (addr, creationNumber) =>
  struct({ creation_num: u64(creationNumber), addr: address(addr) });
const eventHandle = (addr, creationNumber, counter) =>
  struct({ counter: u64(counter), guid: struct({ id: id(addr, creationNumber) }) });
const capabilityOffer = (to) => struct({ for: option(to && address(to)) });
const object = (of) => struct({ inner: address(of) });
const table = (handle) => struct({ handle: address(handle) });
const typeInfo = (addr, module, name) =>
  struct({
    account_address: address(addr),
    module_name: bytes(Buffer.from(module)),
    struct_name: bytes(Buffer.from(name)),
  });
const entry = (key, value) => struct({ key, value });
const simpleMap = (entries) => struct({ data: vector(entries) });

// --- resources ----------------------------------------------------------------------------------

/** Returns one vector per resource, with its fields in the order of the ABI. */
export function resources() {
  return [
    golden(
      "0x1::account::Account",
      struct({
        authentication_key: bytes(owner.toUint8Array()),
        sequence_number: u64(U64_MAX),
        guid_creation_num: u64(4n),
        coin_register_events: eventHandle(owner, 0n, 1n),
        key_rotation_events: eventHandle(owner, 1n, 0n),
        rotation_capability_offer: capabilityOffer(undefined),
        signer_capability_offer: capabilityOffer(other),
      }),
    ),
    golden(
      `0x1::coin::CoinStore<${COIN}>`,
      struct({
        coin: struct({ value: u64(1_000_000_007n) }),
        frozen: bool(true),
        deposit_events: eventHandle(owner, 2n, 300n),
        withdraw_events: eventHandle(owner, 3n, U64_MAX),
      }),
    ),
    golden(
      `0x1::coin::CoinInfo<${COIN}>`,
      struct({
        name: string("Aptos Coin"),
        symbol: string("APT"),
        decimals: u8(8),
        supply: option(
          struct({
            aggregator: option(undefined),
            integer: option(
              struct({ value: u128(12_345_678_901_234_567_890n), limit: u128(U128_MAX) }),
            ),
          }),
        ),
      }),
    ),
    golden(
      "0x1::object::ObjectCore",
      struct({
        guid_creation_num: u64(0x4000_0000_0000_0001n),
        owner: address(framework),
        allow_ungated_transfer: bool(true),
        transfer_events: eventHandle(asset, 0x4000_0000_0000_0000n, 0n),
      }),
    ),
    golden(
      "0x1::fungible_asset::FungibleStore",
      struct({ metadata: object(asset), balance: u64(7n), frozen: bool(false) }),
    ),
    golden(
      "0x1::fungible_asset::FungibleAssetEvents",
      struct({
        deposit_events: eventHandle(owner, 1_125_899_906_842_624n, 2n),
        withdraw_events: eventHandle(owner, 1_125_899_906_842_625n, U64_MAX),
        frozen_events: eventHandle(owner, 1_125_899_906_842_626n, 0n),
      }),
    ),
    golden(
      "0x1::fungible_asset::Metadata",
      struct({
        name: string("Tést asset"),
        symbol: string("TST"),
        decimals: u8(255),
        icon_uri: string("https://example.com/icon.png"),
        project_uri: string(""),
      }),
    ),
    golden(
      "0x1::fungible_asset::ConcurrentSupply",
      struct({ current: struct({ value: u128(1n << 127n), max_value: u128(U128_MAX) }) }),
    ),
    golden(
      "0x1::aptos_account::DirectTransferConfig",
      struct({
        allow_arbitrary_coin_transfers: bool(false),
        update_coin_transfer_events: eventHandle(owner, 4n, 0n),
      }),
    ),
    golden(
      "0x1::registry::Registry",
      struct({
        records: struct({ inner: table(other), length: u64(3n) }),
        set_events: eventHandle(owner, 5n, 4n),
        removed_events: eventHandle(owner, 6n, 1n),
      }),
    ),
    golden(
      "0x1::managed_fungible_asset::ManagedFungibleAsset",
      struct({
        mint_ref: struct({ metadata: object(other) }),
        transfer_ref: struct({ metadata: object(other) }),
        burn_ref: struct({ metadata: object(other) }),
        mutate_metadata_ref: struct({ metadata: object(other) }),
      }),
    ),
    golden("0x1::account::OriginatingAddress", struct({ address_map: table(other) })),
    golden("0x1::coin::PairedCoinType", struct({ type: typeInfo(owner, "moon", "Coin<u8>") })),
    golden(
      "0x1::resource_account::Container",
      struct({ store: simpleMap([entry(address(asset), struct({ account: address(asset) }))]) }),
    ),
    golden(
      "0x1::multisig_account::MultisigAccount",
      struct({
        owners: vector([address(owner), address(other)]),
        num_signatures_required: u64(2n),
        transactions: table(asset),
        last_executed_sequence_number: u64(0n),
        next_sequence_number: u64(1n),
        signer_cap: option(struct({ account: address(other) })),
        metadata: simpleMap([entry(string("purpose"), bytes(Buffer.from("treasury")))]),
        add_owners_events: eventHandle(other, 3n, 0n),
        remove_owners_events: eventHandle(other, 4n, 0n),
        update_signature_required_events: eventHandle(other, 5n, 0n),
        create_transaction_events: eventHandle(other, 6n, 2n),
        vote_events: eventHandle(other, 7n, 0n),
        execute_rejected_transaction_events: eventHandle(other, 8n, 0n),
        execute_transaction_events: eventHandle(other, 9n, 1n),
        transaction_execution_failed_events: eventHandle(other, 10n, 0n),
        metadata_updated_events: eventHandle(other, 11n, 0n),
      }),
    ),
    golden(
      "0x1::gas_schedule::GasScheduleV2",
      struct({
        feature_version: u64(1n),
        entries: vector([struct({ key: string("txn.large_transaction_cutoff"), val: u64(600n) })]),
      }),
    ),
    // Parts of resources and results of views.
    golden("0x1::event::EventHandle<0x1::coin::DepositEvent>", eventHandle(other, 2n, 9n)),
    golden("0x1::guid::ID", id(other, 77n)),
    golden(
      "0x1::simple_map::SimpleMap<0x1::string::String, vector<u8>>",
      simpleMap([entry(string("zebra"), bytes([])), entry(string("ant"), bytes([0, 255]))]),
    ),
    golden("0x1::option::Option<0x1::option::Option<address>>", option(option(address(framework)))),
    golden("0x1::type_info::TypeInfo", typeInfo(framework, "aptos_coin", "AptosCoin")),
  ];
}

/** Returns derived addresses, computed by the SDK. */
export function derivedAddresses() {
  const seeds = ["", "collection", "é", "s".repeat(100)];
  const named = [owner, asset].flatMap((source) =>
    seeds.map((seed) => ({
      source: source.toStringLong(),
      seed: hex(Buffer.from(seed)),
      object: createObjectAddress(source, seed).toStringLong(),
      resource_account: createResourceAddress(source, seed).toStringLong(),
    })),
  );
  const derived = [
    [owner, asset],
    [asset, owner],
    [other, other],
  ].map(([source, from]) => ({
    source: source.toStringLong(),
    derive_from: from.toStringLong(),
    user_derived_object: createUserDerivedObjectAddress(source, from).toStringLong(),
  }));
  return { named, derived };
}
