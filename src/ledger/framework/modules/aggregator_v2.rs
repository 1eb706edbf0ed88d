//! `0x1::aggregator_v2`: an integer with a maximum, stored inside the resource that declares it.
//! `0x1::fungible_asset` uses it for the supply of an asset.

use ledger_vm::{ModuleDeclaration, MoveType, StructDeclaration, TypeSignature};
use serde::{Deserialize, Serialize};

/// An integer of type `I` with a maximum.
///
/// On the reference node, transactions of one block can update an aggregator in parallel. On this
/// node they run sequentially, and only the layout of the struct is the same.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Aggregator<I> {
    /// Current value.
    pub value: I,
    /// Maximum value.
    pub max_value: I,
}

impl<I: MoveType> MoveType for Aggregator<I> {
    fn signature() -> TypeSignature {
        TypeSignature::Struct {
            module: "aggregator_v2",
            name: "Aggregator",
            args: vec![I::signature()],
        }
    }
}

pub(super) fn module() -> ModuleDeclaration {
    let integer = || TypeSignature::Parameter(0);
    let aggregator = StructDeclaration::new(
        "Aggregator",
        &["store", "drop"],
        vec![("value", integer()), ("max_value", integer())],
    )
    .with_type_parameters(&[&[]]);
    ModuleDeclaration {
        name: "aggregator_v2",
        structs: vec![aggregator],
        functions: vec![],
        errors: &[],
    }
}
