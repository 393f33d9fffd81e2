//! How the bytes of a variable are to be read: a short text in the debug information, and values as texts.
//!
//! | Form | Value |
//! |---|---|
//! | `b` `i` `I` `f` | bool, int32, int64, float |
//! | `s` `y` | text, bytes: address and length |
//! | `l` FORM | list: address of its address and length |
//! | `a` or `v` DIMENSIONS FORM | array, strided array: address of the elements, lengths, of the latter distances |
//! | `(` FORMS `)` | tuple |
//! | `r` FORM | range |
//! | `{` NAME `@` OFFSET `:` FORM `,` … `}` | an object, by its address: attributes in its memory |
//! | `=` TEXT | a constant: its value, of which nothing is in memory |

use crate::host::HostValue;
use crate::types::{Kind, Ty, Types};

/// Most elements of a sequence, and characters of a text, that are shown.
const SHOWN: usize = 16;
const CHARACTERS: usize = 80;

/// Begins the form of a constant.
pub(crate) const CONSTANT: char = '=';

/// The value of a constant, as Python would write it; None if it is not shown.
pub(crate) fn constant_text(value: &HostValue) -> Option<String> {
    let joined = |values: &[HostValue]| {
        let texts: Option<Vec<String>> = values.iter().take(SHOWN).map(constant_text).collect();
        let more = match values.len() {
            0..=SHOWN => String::new(),
            length => format!(", … {length} in all"),
        };
        Some(texts?.join(", ") + &more)
    };
    Some(match value {
        HostValue::None => "None".into(),
        HostValue::Bool(value) => if *value { "True" } else { "False" }.into(),
        HostValue::Int(value) | HostValue::Int64(value) => value.to_string(),
        HostValue::Int32(value) => value.to_string(),
        HostValue::Float(value) => format!("{value:?}"),
        HostValue::Str(text) => {
            let shown: String = text.chars().take(CHARACTERS).collect();
            format!("{shown:?}{}", if shown.len() < text.len() { "…" } else { "" })
        }
        HostValue::Bytes(bytes) | HostValue::ByteArray(_, bytes) => {
            let shown = &bytes[..bytes.len().min(CHARACTERS)];
            let more = if shown.len() < bytes.len() { "…" } else { "" };
            format!("b\"{}\"{more}", shown.escape_ascii())
        }
        HostValue::Tuple(values, _) => {
            let comma = if values.len() == 1 { "," } else { "" };
            format!("({}{comma})", joined(values)?)
        }
        HostValue::List(_, values) => format!("[{}]", joined(values)?),
        HostValue::Range(parts) => format!("range({})", joined(&parts[..])?),
        _ => return None,
    })
}

/// The form of values of a type; None if they are not shown.
pub(crate) fn form_of(types: &Types, ty: Ty) -> Option<String> {
    Some(match types.kind(ty) {
        Kind::Bool => "b".into(),
        Kind::Int32 => "i".into(),
        Kind::Int64 => "I".into(),
        Kind::Float => "f".into(),
        Kind::Str => "s".into(),
        Kind::Bytes | Kind::ByteArray => "y".into(),
        Kind::List(element) => format!("l{}", form_of(types, *element)?),
        Kind::Array(element, dims) => format!("a{dims}{}", form_of(types, *element)?),
        Kind::View(element, dims) => format!("v{dims}{}", form_of(types, *element)?),
        Kind::Range(element) => format!("r{}", form_of(types, *element)?),
        Kind::Tuple(elements) => {
            let forms: Option<String> = elements.iter().map(|&element| form_of(types, element)).collect();
            format!("({})", forms?)
        }
        _ => return None,
    })
}

/// A parsed form.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Form {
    Bool,
    Int32,
    Int64,
    Float,
    Text,
    Bytes,
    List(Box<Form>),
    Array {
        element: Box<Form>,
        dims: usize,
        strided: bool,
    },
    Tuple(Vec<Form>),
    Range(Box<Form>),
    Object(Vec<(String, u32, Form)>),
    Constant(String),
}

/// Reads memory of the device.
pub(crate) trait Memory {
    /// `length` bytes at an address; None if they are not known.
    fn read(&self, address: u32, length: usize) -> Option<Vec<u8>>;

    fn word(&self, address: u32) -> Option<u32> {
        Some(u32::from_le_bytes(self.read(address, 4)?.try_into().ok()?))
    }
}

impl Form {
    /// Parses a form; None if it is none.
    pub(crate) fn parse(text: &str) -> Option<Form> {
        if let Some(value) = text.strip_prefix(CONSTANT) {
            return Some(Form::Constant(value.into()));
        }
        let mut rest = text;
        let form = Form::next(&mut rest)?;
        rest.is_empty().then_some(form)
    }

    fn next(rest: &mut &str) -> Option<Form> {
        let first = rest.chars().next()?;
        *rest = &rest[first.len_utf8()..];
        Some(match first {
            'b' => Form::Bool,
            'i' => Form::Int32,
            'I' => Form::Int64,
            'f' => Form::Float,
            's' => Form::Text,
            'y' => Form::Bytes,
            'l' => Form::List(Form::next(rest)?.into()),
            'r' => Form::Range(Form::next(rest)?.into()),
            'a' | 'v' => {
                let dims = taken(rest, |one| one.is_ascii_digit()).parse().ok()?;
                Form::Array {
                    element: Form::next(rest)?.into(),
                    dims,
                    strided: first == 'v',
                }
            }
            '(' => {
                let mut elements = vec![];
                while !rest.starts_with(')') {
                    elements.push(Form::next(rest)?);
                }
                *rest = &rest[1..];
                Form::Tuple(elements)
            }
            '{' => {
                let mut attributes = vec![];
                while !rest.starts_with('}') {
                    let name = taken(rest, |one| one != '@').to_string();
                    *rest = rest.strip_prefix('@')?;
                    let offset = taken(rest, |one| one.is_ascii_digit()).parse().ok()?;
                    *rest = rest.strip_prefix(':')?;
                    attributes.push((name, offset, Form::next(rest)?));
                    *rest = rest.strip_prefix(',')?;
                }
                *rest = &rest[1..];
                Form::Object(attributes)
            }
            _ => return None,
        })
    }

    /// Size and alignment in bytes.
    fn layout(&self) -> (usize, usize) {
        match self {
            Form::Bool => (1, 1),
            Form::Int32 | Form::List(_) | Form::Object(_) | Form::Constant(_) => (4, 4),
            Form::Int64 | Form::Float => (8, 8),
            Form::Text | Form::Bytes => (8, 4),
            Form::Array { dims, strided, .. } => (4 + 4 * dims * (1 + usize::from(*strided)), 4),
            Form::Range(element) => (3 * element.layout().0, element.layout().1),
            Form::Tuple(elements) => {
                let (mut end, mut most) = (0usize, 1);
                for element in elements {
                    let (size, align) = element.layout();
                    end = end.next_multiple_of(align) + size;
                    most = most.max(align);
                }
                (end.next_multiple_of(most), most)
            }
        }
    }

    /// Number of bytes of a value.
    pub(crate) fn size(&self) -> usize {
        self.layout().0
    }

    /// Whether a byte of a value belongs to a part of it, and not to padding.
    pub(crate) fn has(&self, at: usize) -> bool {
        let Form::Tuple(elements) = self else {
            return at < self.size();
        };
        let mut end = 0usize;
        elements.iter().any(|element| {
            let (size, align) = element.layout();
            let start = end.next_multiple_of(align);
            end = start + size;
            (start..end).contains(&at) && element.has(at - start)
        })
    }

    /// A value as Python would write it; None if a part of it is not known.
    pub(crate) fn text(&self, bytes: &[u8], memory: &dyn Memory) -> Option<String> {
        let word = |index: usize| {
            Some(u32::from_le_bytes(
                bytes.get(4 * index..4 * index + 4)?.try_into().ok()?,
            ))
        };
        let long = |index: usize| {
            Some(u64::from_le_bytes(
                bytes.get(8 * index..8 * index + 8)?.try_into().ok()?,
            ))
        };
        Some(match self {
            Form::Bool => if bytes.first()? & 1 != 0 { "True" } else { "False" }.into(),
            Form::Int32 => (word(0)? as i32).to_string(),
            Form::Int64 => (long(0)? as i64).to_string(),
            Form::Float => format!("{:?}", f64::from_bits(long(0)?)),
            Form::Text => {
                let length = word(1)? as usize;
                let data = memory.read(word(0)?, length.min(CHARACTERS))?;
                let more = if length > CHARACTERS { "…" } else { "" };
                format!("{:?}{more}", String::from_utf8_lossy(&data))
            }
            Form::Bytes => {
                let length = word(1)? as usize;
                let data = memory.read(word(0)?, length.min(CHARACTERS))?;
                let more = if length > CHARACTERS { "…" } else { "" };
                format!("b\"{}\"{more}", data.escape_ascii())
            }
            Form::List(element) => {
                let header = word(0)?;
                let (data, length) = (memory.word(header)?, memory.word(header.checked_add(4)?)?);
                sequence(element, data, length as usize, 1, memory)?
            }
            Form::Array { element, dims, strided } => {
                let lengths: Option<Vec<usize>> = (0..*dims).map(|dim| Some(word(1 + dim)? as usize)).collect();
                let distances: Option<Vec<i32>> = match strided {
                    true => (0..*dims).map(|dim| Some(word(1 + dims + dim)? as i32)).collect(),
                    false => Some(row_major(lengths.as_deref()?)),
                };
                block(element, word(0)?, &lengths?, &distances?, memory)?
            }
            Form::Tuple(elements) => {
                let (mut texts, mut end) = (vec![], 0usize);
                for element in elements {
                    let (size, align) = element.layout();
                    let start = end.next_multiple_of(align);
                    end = start + size;
                    texts.push(element.text(bytes.get(start..end)?, memory)?);
                }
                let comma = if texts.len() == 1 { "," } else { "" };
                format!("({}{comma})", texts.join(", "))
            }
            Form::Range(element) => {
                let size = element.size();
                let part = |index: usize| element.text(bytes.get(index * size..(index + 1) * size)?, memory);
                format!("range({}, {}, {})", part(0)?, part(1)?, part(2)?)
            }
            Form::Object(_) => format!("object at {:#x}", word(0)?),
            Form::Constant(text) => text.clone(),
        })
    }

    /// Of an object, at its address: names and values of its attributes.
    pub(crate) fn attributes(&self, address: u32, memory: &dyn Memory) -> Vec<(String, String)> {
        let Form::Object(attributes) = self else { return vec![] };
        let shown = |(name, offset, form): &(String, u32, Form)| {
            let bytes = memory.read(address.checked_add(*offset)?, form.size())?;
            Some((name.clone(), form.text(&bytes, memory)?))
        };
        attributes.iter().filter_map(shown).collect()
    }
}

/// Takes the beginning of a text.
fn taken<'a>(rest: &mut &'a str, wanted: impl Fn(char) -> bool) -> &'a str {
    let end = rest.find(|one| !wanted(one)).unwrap_or(rest.len());
    let (taken, left) = rest.split_at(end);
    *rest = left;
    taken
}

/// Distances of neighbours in each dimension, in elements.
fn row_major(lengths: &[usize]) -> Vec<i32> {
    let mut distance = 1i64;
    let mut found: Vec<i32> = lengths
        .iter()
        .rev()
        .map(|&length| {
            let own = distance as i32;
            distance = distance.saturating_mul(length as i64);
            own
        })
        .collect();
    found.reverse();
    found
}

/// Elements `distance` elements apart, from `data` on.
fn sequence(element: &Form, data: u32, length: usize, distance: i32, memory: &dyn Memory) -> Option<String> {
    let size = element.size();
    let shown = |index: usize| {
        let offset = (index as i64) * i64::from(distance) * size as i64;
        let at = u32::try_from(i64::from(data) + offset).ok()?;
        element.text(&memory.read(at, size)?, memory)
    };
    let texts: Option<Vec<String>> = (0..length.min(SHOWN)).map(shown).collect();
    let more = if length > SHOWN {
        format!(", … {length} in all")
    } else {
        String::new()
    };
    Some(format!("[{}{more}]", texts?.join(", ")))
}

/// The elements of an array.
fn block(element: &Form, data: u32, lengths: &[usize], distances: &[i32], memory: &dyn Memory) -> Option<String> {
    let (length, distance) = (*lengths.first()?, *distances.first()?);
    if lengths.len() == 1 {
        return sequence(element, data, length, distance, memory);
    }
    let row = |index: usize| {
        let offset = (index as i64) * i64::from(distance) * element.size() as i64;
        let at = u32::try_from(i64::from(data) + offset).ok()?;
        block(element, at, &lengths[1..], &distances[1..], memory)
    };
    let rows: Option<Vec<String>> = (0..length.min(SHOWN)).map(row).collect();
    let more = if length > SHOWN {
        format!(", … {length} in all")
    } else {
        String::new()
    };
    Some(format!("[{}{more}]", rows?.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Nothing;

    impl Memory for Nothing {
        fn read(&self, address: u32, length: usize) -> Option<Vec<u8>> {
            (address == 0x100).then(|| (0..length).map(|byte| (byte % 4 == 0) as u8).collect())
        }
    }

    #[test]
    fn forms_are_read_as_they_are_written() {
        for text in [
            "b",
            "lI",
            "a2f",
            "v1i",
            "(i(bf)s)",
            "ri",
            "{count@4:i,limits@8:lf,}",
            "=(1, q",
        ] {
            assert!(Form::parse(text).is_some(), "{text}");
        }
        for text in ["", "q", "l", "(i", "bb", "{count@4:i", "a"] {
            assert_eq!(Form::parse(text), None, "{text}");
        }
    }

    #[test]
    fn values_are_shown_as_in_python() {
        let shown = |form: &str, bytes: &[u8]| Form::parse(form).and_then(|form| form.text(bytes, &Nothing));
        assert_eq!(shown("b", &[1]), Some("True".into()));
        assert_eq!(shown("i", &(-7i32).to_le_bytes()), Some("-7".into()));
        assert_eq!(shown("f", &1e-6f64.to_le_bytes()), Some("1e-6".into()));
        assert_eq!(shown("i", &[1, 2]), None, "a part of it is not known");
        assert_eq!(shown("=1e-6", &[]), Some("1e-6".into()));
        let tuple = [&[1u8, 0, 0, 0, 0, 0, 0, 0][..], &2i64.to_le_bytes()].concat();
        assert_eq!(shown("(bI)", &tuple), Some("(True, 2)".into()));
        let parts = Form::parse("(bI)").expect("a form");
        assert_eq!(
            [0, 1, 7, 8, 15, 16].map(|at| parts.has(at)),
            [true, false, false, true, true, false]
        );
        let array: Vec<u8> = [0x100u32, 3].iter().flat_map(|word| word.to_le_bytes()).collect();
        assert_eq!(shown("a1i", &array), None, "elements behind the first are not known");
        let array: Vec<u8> = [0x100u32, 1].iter().flat_map(|word| word.to_le_bytes()).collect();
        assert_eq!(shown("a1i", &array), Some("[1]".into()));
    }
}
