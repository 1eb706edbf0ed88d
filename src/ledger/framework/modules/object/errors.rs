//! Abort codes of `0x1::object`.

use ledger_vm::abort_codes;

abort_codes! {
    pub(super) const ERRORS;
    pub EOBJECT_EXISTS = AlreadyExists 1 "there is an object at this address";
    pub EOBJECT_DOES_NOT_EXIST = NotFound 2 "there is no object at this address";
    pub ENO_UNGATED_TRANSFERS = PermissionDenied 3
        "owners may not give this object away, or not one of the objects that own it";
    pub ENOT_OBJECT_OWNER = PermissionDenied 4 "the sender does not own this object";
    pub ECANNOT_DELETE = PermissionDenied 5 "this object was made to stay";
    pub EMAXIMUM_NESTING = OutOfRange 6 "the chain of objects that own each other is too long";
    pub ERESOURCE_DOES_NOT_EXIST = NotFound 7 "the object has no resource of this type";
    pub EOBJECT_NOT_BURNT = InvalidArgument 8 "this object is not burnt";
    pub EOBJECT_NOT_TRANSFERRABLE = PermissionDenied 9 "this object is bound to its owner for ever";
    pub EOBJECT_ALREADY_BURNT = None 10 "this object is burnt already";
}
