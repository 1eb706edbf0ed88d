//! The structs of `0x1::object`: what lies at an object's address, and the references that stand for
//! powers over it.

use super::{EOBJECT_DOES_NOT_EXIST, ERESOURCE_DOES_NOT_EXIST};
use ledger_types::{AccountAddress, TypeTag};
use ledger_vm::{
    Context, EventHandle, MoveStruct, MoveType, StructDeclaration, TypeSignature, VmError,
    move_structs,
};
use serde::{Deserialize, Serialize};
use std::marker::PhantomData;

move_structs! {
    module "object";

    /// An object changed its owner, in the form of a stream; the type of the handle in [`ObjectCore`],
    /// into which nothing is emitted any more.
    TransferEvent as "TransferEvent" has ["drop", "store"] {
        /// The object.
        object: AccountAddress,
        /// The owner until then.
        from: AccountAddress,
        /// The owner from then on.
        to: AccountAddress,
    }

    /// An object changed its owner.
    Transfer as "Transfer" has ["drop", "store"] event true {
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

    /// Marks an object that its owner does not want to see any more.
    TombStone as "TombStone" has ["key"] member true {
        /// Who burnt it.
        original_owner: AccountAddress,
    }

    /// Marks an object that can never be given away again.
    Untransferable as "Untransferable" has ["key"] member true {
        /// A struct without fields has one hidden byte.
        dummy_field: bool,
    }

    /// The resource group of all that lies at an object's address.
    ObjectGroup as "ObjectGroup" has [] {
        /// A struct without fields has one hidden byte.
        dummy_field: bool,
    }

    /// What the creation of an object gives: all powers over it follow from this.
    ConstructorRef as "ConstructorRef" has ["drop"] {
        /// The object.
        self_: AccountAddress,
        /// Whether it may ever be deleted.
        can_delete: bool,
    }

    /// The power to delete an object.
    DeleteRef as "DeleteRef" has ["drop", "store"] {
        /// The object.
        self_: AccountAddress,
    }

    /// The power to act as the object.
    ExtendRef as "ExtendRef" has ["drop", "store"] {
        /// The object.
        self_: AccountAddress,
    }

    /// The power to decide whether owners may give the object away.
    TransferRef as "TransferRef" has ["drop", "store"] {
        /// The object.
        self_: AccountAddress,
    }

    /// The power to make objects at addresses derived from the object's.
    DeriveRef as "DeriveRef" has ["drop", "store"] {
        /// The object.
        self_: AccountAddress,
    }
}

/// The declaration of `T` with the field `self`, a name that no Rust field can have.
fn with_self_field<T: MoveStruct>() -> StructDeclaration {
    let mut declaration = T::declaration();
    for (name, _) in &mut declaration.fields {
        if *name == "self_" {
            *name = "self";
        }
    }
    declaration
}

/// The declared structs of the module.
pub(super) fn declarations() -> Vec<StructDeclaration> {
    let object = StructDeclaration::new(
        "Object",
        &["copy", "drop", "store"],
        vec![("inner", AccountAddress::signature())],
    )
    .with_type_parameters(&[&[]]);
    vec![
        with_self_field::<ConstructorRef>(),
        with_self_field::<DeleteRef>(),
        with_self_field::<DeriveRef>(),
        with_self_field::<ExtendRef>(),
        object,
        ObjectCore::declaration(),
        ObjectGroup::declaration(),
        TombStone::declaration(),
        Transfer::declaration(),
        TransferEvent::declaration(),
        with_self_field::<TransferRef>(),
        Untransferable::declaration(),
    ]
}

/// The type parameter of this number, where a declaration leaves it open.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct TypeParameter<const NUMBER: usize>;

impl<const NUMBER: usize> MoveType for TypeParameter<NUMBER> {
    fn signature() -> TypeSignature {
        TypeSignature::Parameter(NUMBER)
    }
}

/// An object that has a resource `T`.
#[derive(Debug, Serialize, Deserialize)]
#[serde(bound = "")]
pub struct Object<T> {
    /// Where it is.
    pub inner: AccountAddress,
    #[serde(skip)]
    resource: PhantomData<fn() -> T>,
}

// Not derived: what an object is copied and compared by is its address, whatever `T` can do.
impl<T> Clone for Object<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Object<T> {}

impl<T> PartialEq for Object<T> {
    fn eq(&self, other: &Self) -> bool {
        self.inner == other.inner
    }
}

impl<T> Eq for Object<T> {}

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
    fn signature() -> TypeSignature {
        TypeSignature::Struct {
            module: "object",
            name: "Object",
            args: vec![T::signature()],
        }
    }

    fn check_argument(
        &self,
        context: &mut Context<'_>,
        type_args: &[TypeTag],
    ) -> Result<(), VmError> {
        if context
            .read_resource::<ObjectCore>(self.inner, &[])?
            .is_none()
        {
            return context.abort("object", &EOBJECT_DOES_NOT_EXIST);
        }
        let resource = T::signature().resolve(type_args, context.chain().vendor());
        if resource_is_there(context, self.inner, resource.as_ref())? {
            Ok(())
        } else {
            context.abort("object", &ERESOURCE_DOES_NOT_EXIST)
        }
    }
}

/// Whether a resource of the type `tag` lies at `address`; never where the type is no struct.
pub(super) fn resource_is_there(
    context: &mut Context<'_>,
    address: AccountAddress,
    tag: Option<&TypeTag>,
) -> Result<bool, VmError> {
    match tag {
        Some(TypeTag::Struct(tag)) => context.resource_exists(address, tag),
        _ => Ok(false),
    }
}
