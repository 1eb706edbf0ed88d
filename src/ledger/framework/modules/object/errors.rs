//! Why functions of `0x1::object` abort.

use crate::framework::abort::{Category, ErrorConstant};

/// An object is to be made where there is one.
pub const EOBJECT_EXISTS: ErrorConstant = ErrorConstant::new(
    "EOBJECT_EXISTS",
    Category::AlreadyExists,
    1,
    "there is an object at this address",
);
/// There is no object at the address.
pub const EOBJECT_DOES_NOT_EXIST: ErrorConstant = ErrorConstant::new(
    "EOBJECT_DOES_NOT_EXIST",
    Category::NotFound,
    2,
    "there is no object at this address",
);
/// The object, or one that owns it, may not be given away by owners.
pub const ENO_UNGATED_TRANSFERS: ErrorConstant = ErrorConstant::new(
    "ENO_UNGATED_TRANSFERS",
    Category::PermissionDenied,
    3,
    "owners may not give this object away, or not one of the objects that own it",
);
/// Who calls does not own the object.
pub const ENOT_OBJECT_OWNER: ErrorConstant = ErrorConstant::new(
    "ENOT_OBJECT_OWNER",
    Category::PermissionDenied,
    4,
    "the sender does not own this object",
);
/// The object cannot be deleted.
pub const ECANNOT_DELETE: ErrorConstant = ErrorConstant::new(
    "ECANNOT_DELETE",
    Category::PermissionDenied,
    5,
    "this object was made to stay",
);
/// The chain of owners is too long.
pub const EMAXIMUM_NESTING: ErrorConstant = ErrorConstant::new(
    "EMAXIMUM_NESTING",
    Category::OutOfRange,
    6,
    "the chain of objects that own each other is too long",
);
/// The object has no resource of the type that it is taken for.
pub const ERESOURCE_DOES_NOT_EXIST: ErrorConstant = ErrorConstant::new(
    "ERESOURCE_DOES_NOT_EXIST",
    Category::NotFound,
    7,
    "the object has no resource of this type",
);
/// An object is to be restored that is not burnt.
pub const EOBJECT_NOT_BURNT: ErrorConstant = ErrorConstant::new(
    "EOBJECT_NOT_BURNT",
    Category::InvalidArgument,
    8,
    "this object is not burnt",
);
/// The object is bound to its owner for ever.
pub const EOBJECT_NOT_TRANSFERRABLE: ErrorConstant = ErrorConstant::new(
    "EOBJECT_NOT_TRANSFERRABLE",
    Category::PermissionDenied,
    9,
    "this object is bound to its owner for ever",
);
/// The object is burnt already. The reference raises it without a category.
pub const EOBJECT_ALREADY_BURNT: ErrorConstant = ErrorConstant::new(
    "EOBJECT_ALREADY_BURNT",
    Category::None,
    10,
    "this object is burnt already",
);

/// All of them.
pub(super) const ERRORS: &[ErrorConstant] = &[
    EOBJECT_EXISTS,
    EOBJECT_DOES_NOT_EXIST,
    ENO_UNGATED_TRANSFERS,
    ENOT_OBJECT_OWNER,
    ECANNOT_DELETE,
    EMAXIMUM_NESTING,
    ERESOURCE_DOES_NOT_EXIST,
    EOBJECT_NOT_BURNT,
    EOBJECT_NOT_TRANSFERRABLE,
    EOBJECT_ALREADY_BURNT,
];
