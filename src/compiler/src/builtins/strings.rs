//! String types, and functions that write text to a log. With a host, `print` is a remote call,
//! which inference handles.

use super::{Call, Site};
use crate::diagnostic::{Diagnostic, Result};
use crate::emit::Emitter;
use crate::ir::Value;
use crate::language::Text;
use crate::types::{Kind, Ty, Types};

pub fn typing(types: &mut Types, call: &Call, text: Text) -> Result<Ty> {
    match text {
        Text::Str => Ok(types.new_type(Kind::Str)),
        Text::Bytes => bytes(types, call, Kind::Bytes),
        Text::ByteArray => bytes(types, call, Kind::ByteArray),
        Text::Print | Text::CoreLog => Ok(types.new_type(Kind::None)),
        Text::RtioLog => {
            let what = "the name of the log's channel";
            types.require_kind(Kind::Str, call.types[0], call.args[0].span, what)?;
            Ok(types.new_type(Kind::None))
        }
    }
}

pub fn code<'p>(emitter: &mut Emitter<'_, 'p>, text: Text, site: Site<'p>, values: Vec<Value>) -> Result<Value> {
    match text {
        Text::Print | Text::CoreLog => emitter.core_log(site.args, values),
        Text::RtioLog => emitter.rtio_log(site.args, values),
        Text::Bytes | Text::ByteArray => Ok(match values.into_iter().next() {
            Some(value) => emitter.bytes_of(value, emitter.type_of(&site.args[0])),
            None => emitter.module.string(b""),
        }),
        Text::Str => Ok(match values.into_iter().next() {
            Some(value) => {
                let text = emitter.text_of(value, emitter.type_of(&site.args[0]));
                emitter.text_joined(&[text])
            }
            None => emitter.module.string(b""),
        }),
    }
}

/// Whether a call allocates a new string or byte string.
pub fn makes_values(text: Text) -> bool {
    matches!(text, Text::Str | Text::Bytes | Text::ByteArray)
}

/// Types `bytes(x)` and `bytearray(x)`, where `x` is the number of zeros or an iterable of
/// integers.
fn bytes(types: &mut Types, call: &Call, kind: Kind) -> Result<Ty> {
    if let Some(&given) = call.types.first() {
        if !types.is_int(given) {
            let span = call.args[0].span;
            let element = types.iterated(given, span)?;
            if !types.is_int(element) && !types.is_var(element) {
                let text = format!("bytes are made of integers, not of {}", types.name(element));
                return Err(Diagnostic::new(span, text).help("make integers of them, from 0 to 255"));
            }
        }
    }
    Ok(types.new_type(kind))
}
