//! `0x1::aggregator_v2`: a number with a bound, laid out in place. It holds the supply of a fungible
//! asset.

use ledger_vm::{ModuleDeclaration, MoveType, StructDeclaration, TypeSignature};
use serde::{Deserialize, Serialize};

/// A number of the type `I` with a bound. The reference lets transactions of one block change it side
/// by side; here they run one after the other, and the layout is all that is left of that.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Aggregator<I> {
    /// The number.
    pub value: I,
    /// The most that it may be.
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
