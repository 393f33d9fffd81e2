//! The tables of the host's sequences, by which a kernel recognises one from the address of its elements.

use super::int;
use crate::ir::*;
use crate::types::{self, Kind, Types};

/// Finds a sequence in a table.
pub(super) const FIND: &str = "kairos.find";
/// The list without elements.
pub(super) const NOTHING: &str = "kairos.nothing";

/// Host sequences that a pointer of one type may refer to.
pub(super) type Group = String;

/// The group of a type of sequence.
pub(super) fn group(types: &Types, ty: types::Ty) -> Option<Group> {
    Some(match *types.kind(ty) {
        Kind::List(_) => types.name(ty),
        Kind::Array(elt, _) | Kind::View(elt, _) => format!("array {}", types.name(elt)),
        Kind::ByteArray => "bytearray".into(),
        _ => return None,
    })
}

/// Whether values of the type contain host sequences.
pub(super) fn has_sequence(types: &Types, ty: types::Ty) -> bool {
    match types.kind(ty) {
        Kind::Tuple(members) => members.iter().any(|&member| has_sequence(types, member)),
        _ => group(types, ty).is_some(),
    }
}

/// An entry of a table of sequences: number, address, bytes.
pub(super) fn entry() -> Ty {
    Ty::Struct([Ty::I32, Ty::Ptr, Ty::I32].into())
}

/// `find(table, count, address)`: the index of the entry that contains an address, or -1.
pub(super) fn find_function() -> Function {
    let mut function = Function::new(FIND, vec![Ty::Ptr, Ty::I32, Ty::Ptr], Ty::I32, None);
    function.attributes = "cold noinline nounwind";
    let mut build = super::Builder::new(function);
    let param = |number, ty| Value {
        ty,
        kind: ValueKind::Temp(number),
    };
    let (table, count, address) = (param(0, Ty::Ptr), param(1, Ty::I32), param(2, Ty::Ptr));
    let (head, inside) = (build.new_block("each entry"), build.new_block("entry"));
    let (next, same, none) = (
        build.new_block("next"),
        build.new_block("same"),
        build.new_block("none"),
    );
    let behind = build.new_block("behind");
    let counter = build.slot(Ty::I32);
    build.store(int(0), &counter);
    build.jump(head);
    build.block = head;
    let index = build.load(Ty::I32, &counter);
    let more = build.compare(Compare::Slt, index.clone(), count);
    build.branch(more, inside, none);
    build.block = inside;
    let one = build.element(&table, &entry(), index.clone());
    let start = build.field(&one, &entry(), 1);
    let start = build.load(Ty::Ptr, &start);
    let bytes = build.field(&one, &entry(), 2);
    let bytes = build.load(Ty::I32, &bytes);
    let equal = build.compare(Compare::Eq, address.clone(), start.clone());
    build.branch(equal, same, behind);
    build.block = behind;
    let before = build.compare(Compare::Ult, address.clone(), start.clone());
    let end = build.element(&start, &Ty::I8, bytes);
    let inner = build.compare(Compare::Ult, address, end);
    let disjoint = build.not(inner);
    let disjoint = build.binary(Binary::Or, before, disjoint);
    build.branch(disjoint, next, same);
    build.block = next;
    let following = build.binary(Binary::Add, index.clone(), int(1));
    build.store(following, &counter);
    build.jump(head);
    build.block = same;
    build.end(Terminator::Return(index));
    build.block = none;
    build.end(Terminator::Return(int(-1)));
    build.finish()
}
