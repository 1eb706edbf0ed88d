//! Printed forms are read back as the same value: types with each leaf and nested arguments,
//! structs, modules, names, addresses in both forms, and hashes. Types are also read back from BCS.

use ledger_crypto::HashValue;
use ledger_types::{AccountAddress, Identifier, ModuleId, StructTag, TYPE_DEPTH_MAX, TypeTag};
use proptest::{prelude::*, sample::select, test_runner::RngSeed};

fn any_address() -> impl Strategy<Value = AccountAddress> {
    prop_oneof![
        // Small addresses print without leading zeros.
        (0..300_u64).prop_map(AccountAddress::from_low_u64),
        any::<[u8; 32]>().prop_map(AccountAddress::new),
    ]
}

fn any_name() -> impl Strategy<Value = Identifier> {
    "([a-zA-Z][a-zA-Z0-9_]{0,9}|_[a-zA-Z0-9_]{1,9})".prop_map(|text| text.parse().unwrap())
}

fn any_leaf() -> impl Strategy<Value = TypeTag> {
    select(vec![
        TypeTag::Bool,
        TypeTag::U8,
        TypeTag::U16,
        TypeTag::U32,
        TypeTag::U64,
        TypeTag::U128,
        TypeTag::U256,
        TypeTag::I8,
        TypeTag::I16,
        TypeTag::I32,
        TypeTag::I64,
        TypeTag::I128,
        TypeTag::I256,
        TypeTag::Address,
        TypeTag::Signer,
    ])
}

fn any_struct(inner: impl Strategy<Value = TypeTag>) -> impl Strategy<Value = StructTag> {
    let parts = (
        any_address(),
        any_name(),
        any_name(),
        prop::collection::vec(inner, 0..4),
    );
    parts.prop_map(|(address, module, name, type_args)| StructTag {
        address,
        module,
        name,
        type_args,
    })
}

/// Returns types up to the maximum nesting depth.
fn any_type() -> impl Strategy<Value = TypeTag> {
    any_leaf().prop_recursive(TYPE_DEPTH_MAX as u32 - 1, 24, 3, |inner| {
        prop_oneof![
            inner
                .clone()
                .prop_map(|item| TypeTag::Vector(Box::new(item))),
            any_struct(inner).prop_map(TypeTag::from),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { rng_seed: RngSeed::Fixed(0x7072_696e), ..ProptestConfig::default() })]

    #[test]
    fn round_trips_types(tag in any_type()) {
        prop_assert!(tag.depth() <= TYPE_DEPTH_MAX);
        prop_assert_eq!(tag.to_string().parse::<TypeTag>(), Ok(tag.clone()));
        let bytes = bcs::to_bytes(&tag).unwrap();
        prop_assert_eq!(bcs::from_bytes::<TypeTag>(&bytes).unwrap(), tag);
    }

    #[test]
    fn round_trips_structs_and_modules(tag in any_struct(any_leaf())) {
        prop_assert_eq!(tag.to_string().parse::<StructTag>(), Ok(tag.clone()));
        let module = tag.module_id();
        prop_assert_eq!(module.to_string().parse::<ModuleId>(), Ok(module.clone()));
        // The text of a type is not a module, and the text of a module is not a type.
        prop_assert!(tag.to_string().parse::<ModuleId>().is_err());
        prop_assert!(module.to_string().parse::<StructTag>().is_err());
    }

    #[test]
    fn round_trips_names(name in any_name()) {
        prop_assert_eq!(name.to_string().parse::<Identifier>(), Ok(name));
    }

    #[test]
    fn round_trips_addresses_in_both_forms(address in any_address()) {
        prop_assert_eq!(address.to_string().parse(), Ok(address));
        prop_assert_eq!(address.to_long_hex().parse(), Ok(address));
        prop_assert_eq!(address.to_long_hex().len(), 66);
    }

    #[test]
    fn round_trips_hashes(bytes: [u8; 32]) {
        let hash = HashValue::new(bytes);
        prop_assert_eq!(hash.to_string().parse(), Ok(hash));
        prop_assert_eq!(hash.to_string()[2..].parse(), Ok(hash));
        prop_assert!(hash.to_string()[..65].parse::<HashValue>().is_err());
    }
}
