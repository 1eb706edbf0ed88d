//! The structs of `0x1::object`: the resources at an object's address, and the references that
//! grant permissions over it.

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

    /// Stream event of a change of ownership.
    ///
    /// It is the type of the handle in [`ObjectCore`]. Nothing is emitted to that stream any more.
    TransferEvent as "TransferEvent" has ["drop", "store"] {
        /// Address of the object.
        object: AccountAddress,
        /// Owner before the transfer.
        from: AccountAddress,
        /// Owner after the transfer.
        to: AccountAddress,
    }

    /// Module event of a change of ownership.
    Transfer as "Transfer" has ["drop", "store"] event true {
        /// Address of the object.
        object: AccountAddress,
        /// Owner before the transfer.
        from: AccountAddress,
        /// Owner after the transfer.
        to: AccountAddress,
    }

    /// The resource that makes an address an object.
    ObjectCore as "ObjectCore" has ["key"] member true {
        /// Creation number of the object's next event stream.
        guid_creation_num: u64,
        /// Direct owner of the object.
        owner: AccountAddress,
        /// Whether owners may transfer the object.
        allow_ungated_transfer: bool,
        /// Stream of the object's transfers.
        transfer_events: EventHandle<TransferEvent>,
    }

    /// Marker of a burned object, which its owner has declared as unwanted.
    TombStone as "TombStone" has ["key"] member true {
        /// Owner that burned the object.
        original_owner: AccountAddress,
    }

    /// Marker of an object that is bound to its owner permanently.
    Untransferable as "Untransferable" has ["key"] member true {
        /// Placeholder: a struct without fields encodes as one byte.
        dummy_field: bool,
    }

    /// The resource group at an object's address.
    ObjectGroup as "ObjectGroup" has [] {
        /// Placeholder: a struct without fields encodes as one byte.
        dummy_field: bool,
    }

    /// The result of an object's creation, from which all permissions over it derive.
    ConstructorRef as "ConstructorRef" has ["drop"] {
        /// Address of the object.
        self_: AccountAddress,
        /// Whether the object can be deleted.
        can_delete: bool,
    }

    /// Permission to delete an object.
    DeleteRef as "DeleteRef" has ["drop", "store"] {
        /// Address of the object.
        self_: AccountAddress,
    }

    /// Permission to act as an object.
    ExtendRef as "ExtendRef" has ["drop", "store"] {
        /// Address of the object.
        self_: AccountAddress,
    }

    /// Permission to enable and disable transfers of an object by its owners.
    TransferRef as "TransferRef" has ["drop", "store"] {
        /// Address of the object.
        self_: AccountAddress,
    }

    /// Permission to create objects at addresses derived from the object's.
    DeriveRef as "DeriveRef" has ["drop", "store"] {
        /// Address of the object.
        self_: AccountAddress,
    }
}

/// Returns the declaration of `T` with its field `self_` renamed to `self`, which is not a valid
/// name of a Rust field.
fn with_self_field<T: MoveStruct>() -> StructDeclaration {
    let mut declaration = T::declaration();
    for (name, _) in &mut declaration.fields {
        if *name == "self_" {
            *name = "self";
        }
    }
    declaration
}

/// Returns the declared structs of the module.
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

/// The open type parameter with index `NUMBER` of a declaration.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct TypeParameter<const NUMBER: usize>;

impl<const NUMBER: usize> MoveType for TypeParameter<NUMBER> {
    fn signature() -> TypeSignature {
        TypeSignature::Parameter(NUMBER)
    }
}

/// The address of an object that has a resource `T`.
#[derive(Debug, Serialize, Deserialize)]
#[serde(bound = "")]
pub struct Object<T> {
    /// Address of the object.
    pub inner: AccountAddress,
    #[serde(skip)]
    resource: PhantomData<fn() -> T>,
}

// Not derived, because `derive` would require `T` to implement the traits. Only the address is
// copied and compared.
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
    /// Creates a reference to the object at `inner`, without checking that it has a resource `T`.
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
        if !context.has_resource::<ObjectCore>(self.inner, &[])? {
            return context.abort("object", &EOBJECT_DOES_NOT_EXIST);
        }
        let resource = T::signature().resolve(type_args, context.chain().vendor());
        if resource_exists_at(context, self.inner, resource.as_ref())? {
            Ok(())
        } else {
            context.abort("object", &ERESOURCE_DOES_NOT_EXIST)
        }
    }
}

/// Returns whether `address` has a resource of type `tag`, which is false for a type that is not a
/// struct.
///
/// # Errors
///
/// Returns [`VmError::State`] if the state cannot be read, and [`VmError::OutOfGas`] if the gas
/// limit is exceeded.
pub(super) fn resource_exists_at(
    context: &mut Context<'_>,
    address: AccountAddress,
    tag: Option<&TypeTag>,
) -> Result<bool, VmError> {
    match tag {
        Some(TypeTag::Struct(tag)) => context.resource_exists(address, tag),
        _ => Ok(false),
    }
}
