//! Types, symbols and values as text.

use std::fmt::Write;

use crate::ir::*;

/// A type as an argument of a firmware function: a bool is zero-extended.
pub(super) fn passed(ty: &Ty) -> String {
    match ty {
        Ty::I1 | Ty::I8 => format!("{ty} zeroext"),
        ty => ty.to_string(),
    }
}

pub(super) fn result(ty: &Ty) -> String {
    if ty.is_unit() {
        return "void".into();
    }
    ty.to_string()
}

/// A symbol, quoted if necessary.
pub(super) fn quoted(name: &str) -> String {
    // A name that starts with a digit would be taken for a number.
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._$".contains(&byte);
    if name.bytes().all(plain) && !name.starts_with(|first: char| first.is_ascii_digit()) {
        return name.into();
    }
    format!("\"{}\"", escaped(name.as_bytes()))
}

pub(super) fn escaped(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for &byte in bytes {
        match byte {
            b'"' | b'\\' | 0..=31 | 127.. => write!(text, "\\{byte:02X}").expect("writing to a string"),
            _ => text.push(byte as char),
        }
    }
    text
}

pub(super) fn typed(value: &Value) -> String {
    format!("{} {}", value.ty, operand(value))
}

pub(super) fn operand(value: &Value) -> String {
    match &value.kind {
        ValueKind::Temp(number) => format!("%t{number}"),
        ValueKind::Int(known) if value.ty == Ty::I1 => (*known != 0).to_string(),
        ValueKind::Int(known) => known.to_string(),
        ValueKind::Float(known) => format!("0x{:016X}", known.to_bits()),
        ValueKind::Global(name) => format!("@{}", quoted(name)),
        ValueKind::Within(name, offset) => format!("getelementptr (i8, ptr @{}, i32 {offset})", quoted(name)),
        ValueKind::Struct(members) if members.is_empty() => "zeroinitializer".into(),
        ValueKind::Struct(members) => {
            let members: Vec<_> = members.iter().map(typed).collect();
            format!("{{ {} }}", members.join(", "))
        }
        ValueKind::Zero if value.ty == Ty::Ptr => "null".into(),
        ValueKind::Zero => "zeroinitializer".into(),
    }
}
