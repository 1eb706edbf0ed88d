//! `0x1::object`: things at addresses of their own, with an owner.

use crate::{
    AccountAddress, TypeTag,
    execute::{Context, Failure},
    framework::{
        abort::{Category, ErrorConstant},
        declare::{ModuleDeclaration, MoveStruct, MoveType, StructDeclaration, move_structs},
        signature::Signature,
    },
};
use serde::{Deserialize, Serialize};
use std::marker::PhantomData;

use super::event::EventHandle;

/// There is no object at the address.
pub const EOBJECT_DOES_NOT_EXIST: ErrorConstant = ErrorConstant::new(
    "EOBJECT_DOES_NOT_EXIST",
    Category::NotFound,
    2,
    "there is no object at this address",
);
/// The object has no resource of the type that it is taken for.
pub const ERESOURCE_DOES_NOT_EXIST: ErrorConstant = ErrorConstant::new(
    "ERESOURCE_DOES_NOT_EXIST",
    Category::NotFound,
    7,
    "the object has no resource of this type",
);

move_structs! {
    module "object";

    /// An object changed its owner, in the form of a stream.
    TransferEvent as "TransferEvent" has ["drop", "store"] {
        /// The object.
        object: AccountAddress,
        /// The owner until then.
        from: AccountAddress,
        /// The owner from then on.
        to: AccountAddress,
    }

    /// What makes an address an object.
    ObjectCore as "ObjectCore" has ["key"] member true {
        /// The creation number of its next stream.
        guid_creation_num: u64,
        /// Who owns it.
        owner: AccountAddress,
        /// Whether an owner may give it away.
        allow_ungated_transfer: bool,
        /// The stream of its transfers.
        transfer_events: EventHandle<TransferEvent>,
    }
}

/// The type parameter of this number, where a declaration leaves it open.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct TypeParameter<const NUMBER: usize>;

impl<const NUMBER: usize> MoveType for TypeParameter<NUMBER> {
    fn signature() -> Signature {
        Signature::Parameter(NUMBER)
    }
}

/// An object that has a resource `T`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(bound = "")]
pub struct Object<T> {
    /// Where it is.
    pub inner: AccountAddress,
    #[serde(skip)]
    resource: PhantomData<fn() -> T>,
}

impl<T> Object<T> {
    /// The object at an address, which the caller knows to have a `T`.
    pub fn at(inner: AccountAddress) -> Self {
        Self {
            inner,
            resource: PhantomData,
        }
    }
}

impl<T: MoveType> MoveType for Object<T> {
    fn signature() -> Signature {
        Signature::Struct {
            module: "object",
            name: "Object",
            args: vec![T::signature()],
        }
    }

    fn check_argument(&self, context: &mut Context<'_>, type_args: &[TypeTag]) -> Result<(), Failure> {
        if context.read_resource::<ObjectCore>(self.inner, &[])?.is_none() {
            return context.abort("object", &EOBJECT_DOES_NOT_EXIST);
        }
        let resource = T::signature().resolve(type_args, context.chain().vendor());
        let is_there = match resource {
            Some(TypeTag::Struct(tag)) => context.resource_exists(self.inner, &tag)?,
            _ => false,
        };
        if is_there {
            Ok(())
        } else {
            context.abort("object", &ERESOURCE_DOES_NOT_EXIST)
        }
    }
}

pub(super) fn module() -> ModuleDeclaration {
    let object = StructDeclaration::new(
        "Object",
        &["copy", "drop", "store"],
        vec![("inner", AccountAddress::signature())],
    )
    .with_type_parameters(&[&[]]);
    ModuleDeclaration {
        name: "object",
        structs: vec![object, ObjectCore::declaration(), TransferEvent::declaration()],
        functions: vec![],
        errors: &[EOBJECT_DOES_NOT_EXIST, ERESOURCE_DOES_NOT_EXIST],
    }
}
