//! `0x1::aggregator_v2`: a number with a maximum, stored in place. It holds the supply of a
//! fungible asset.

use ledger_vm::{ModuleDeclaration, MoveType, StructDeclaration, TypeSignature};
use serde::{Deserialize, Serialize};

/// A number of type `I` with a maximum.
///
/// On the reference node, transactions of one block can update an aggregator in parallel. Here
/// transactions run sequentially, and only the layout is the same.
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
    let number = || TypeSignature::Parameter(0);
    let aggregator = StructDeclaration::new(
        "Aggregator",
        &["store", "drop"],
        vec![("value", number()), ("max_value", number())],
    )
    .with_type_parameters(&[&[]]);
    ModuleDeclaration {
        name: "aggregator_v2",
        structs: vec![aggregator],
        functions: vec![],
        errors: &[],
    }
}
