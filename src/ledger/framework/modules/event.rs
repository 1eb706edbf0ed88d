//! `0x1::event` and `0x1::guid`: handles of event streams with numbered events.

use ledger_vm::{Guid, GuidId, ModuleDeclaration, MoveStruct, MoveType, StructDeclaration};

pub(super) fn module() -> ModuleDeclaration {
    let handle = StructDeclaration {
        name: "EventHandle",
        abilities: &["store"],
        is_event: false,
        type_parameters: vec![&["drop", "store"]],
        is_group_member: false,
        fields: vec![("counter", u64::signature()), ("guid", Guid::signature())],
    };
    ModuleDeclaration {
        name: "event",
        structs: vec![handle],
        functions: vec![],
        errors: &[],
    }
}

pub(super) fn guid_module() -> ModuleDeclaration {
    ModuleDeclaration {
        name: "guid",
        structs: vec![Guid::declaration(), GuidId::declaration()],
        functions: vec![],
        errors: &[],
    }
}
