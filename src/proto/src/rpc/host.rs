//! Values on the host's side: reads tagged ones sent by a device, and writes untagged ones for it.
//!
//! The host's language defines its values: it supplies a [`Builder`] that creates values, and an
//! [`Encodable`] that takes one apart.

use core::fmt;

use kairos_contracts::rpc::{tag, word, END};

use super::decode::Source;
use super::encode::Sink;
use super::tag::MAX_DEPTH;

/// A violation of the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Malformed {
    /// A tag string ends within a type.
    Truncated,
    /// An invalid tag byte.
    Unknown(u8),
    /// An end mark in place of a value.
    End,
    /// More than [`MAX_DEPTH`] nested values.
    TooDeep,
    /// More than one return value is requested.
    Trailing,
}

impl fmt::Display for Malformed {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Self::Truncated => out.write_str("the device sent an incomplete type tag"),
            Self::Unknown(byte) => write!(out, "unknown RPC tag {byte:#04x} from the device"),
            Self::End => out.write_str("a value was expected where the device sent the end of arguments"),
            Self::TooDeep => write!(out, "the device nests more than {MAX_DEPTH} values"),
            Self::Trailing => out.write_str("the device asks for more than one return value"),
        }
    }
}

/// A value of fixed size.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Plain {
    None,
    Bool(bool),
    Int32(i32),
    Int64(i64),
    Float(f64),
    /// Numerator and denominator.
    Fraction(i64, i64),
    /// Id of a host object.
    Object(u32),
}

/// Kinds of composite values in the host's language.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Row<'a> {
    Tuple,
    List,
    /// With its shape.
    Array(&'a [u32]),
    /// Start, stop, step.
    Range,
    /// A keyword argument: name and value.
    Keyword,
}

/// Returns the next value of a row to a maker.
pub type Next<'a, M, V, E> = dyn FnMut(&mut M) -> Result<V, E> + 'a;

/// Creates the host's values from what a device sends.
pub trait Builder<S: Source>: Sized {
    type Value;
    type Error: From<Malformed> + From<S::Error>;

    /// Creates a value of fixed size.
    fn plain(&mut self, value: Plain) -> Result<Self::Value, Self::Error>;

    /// Creates a text, bytes or a byte array, according to `tag`, from the next `length` bytes.
    fn bytes(&mut self, tag: u8, length: u32, source: &mut S) -> Result<Self::Value, Self::Error>;

    /// Creates a list or an array of `count` numbers or truth values of type `tag` from the next
    /// bytes, [`width`] for each.
    fn block(&mut self, row: Row, tag: u8, count: u64, source: &mut S) -> Result<Self::Value, Self::Error>;

    /// Creates another composite value from those that `next` returns.
    fn row(
        &mut self,
        row: Row,
        count: u64,
        next: &mut Next<'_, Self, Self::Value, Self::Error>,
    ) -> Result<Self::Value, Self::Error>;
}

/// Bytes per element of a block; `None` if such values are not sent in blocks.
pub const fn width(element: u8) -> Option<usize> {
    match element {
        tag::BOOL => Some(1),
        tag::INT32 => Some(4),
        tag::INT64 | tag::FLOAT => Some(8),
        _ => None,
    }
}

/// Reads a tagged value; `None` for the mark after the last argument.
///
/// # Errors
/// [`Malformed`], or errors of the source or maker.
pub fn read<S: Source, M: Builder<S>>(source: &mut S, builder: &mut M) -> Result<Option<M::Value>, M::Error> {
    match fixed::<1, S>(source)? {
        [END] => Ok(None),
        [tag] => read_as(tag, source, builder, 0).map(Some),
    }
}

fn fixed<const N: usize, S: Source>(source: &mut S) -> Result<[u8; N], S::Error> {
    let mut bytes = [0; N];
    source.read(&mut bytes)?;
    Ok(bytes)
}

/// Reads a nested value, which must be present.
fn inner<S: Source, M: Builder<S>>(source: &mut S, builder: &mut M, depth: usize) -> Result<M::Value, M::Error> {
    match fixed::<1, S>(source)? {
        [END] => Err(Malformed::End.into()),
        [tag] => read_as(tag, source, builder, depth),
    }
}

fn read_as<S: Source, M: Builder<S>>(
    byte: u8,
    source: &mut S,
    builder: &mut M,
    depth: usize,
) -> Result<M::Value, M::Error> {
    if depth >= MAX_DEPTH {
        return Err(Malformed::TooDeep.into());
    }
    let long = |bytes: [u8; 8]| i64::from_le_bytes(bytes);
    let within = |source: &mut S, builder: &mut M, row: Row, count: u64| {
        builder.row(row, count, &mut |builder| inner(source, builder, depth + 1))
    };
    let plain = match byte {
        tag::NONE => Plain::None,
        tag::BOOL => Plain::Bool(fixed(source)? != [0]),
        tag::INT32 => Plain::Int32(i32::from_le_bytes(fixed(source)?)),
        tag::INT64 => Plain::Int64(long(fixed(source)?)),
        tag::FLOAT => Plain::Float(f64::from_le_bytes(fixed(source)?)),
        tag::FRACTION => Plain::Fraction(long(fixed(source)?), long(fixed(source)?)),
        tag::OBJECT => Plain::Object(source.read_word()?),
        tag::STR | tag::BYTES | tag::BYTE_ARRAY => {
            let length = source.read_word()?;
            return builder.bytes(byte, length, source);
        }
        tag::TUPLE => {
            let [count] = fixed(source)?;
            return within(source, builder, Row::Tuple, count.into());
        }
        tag::RANGE => return within(source, builder, Row::Range, 3),
        tag::LIST => {
            let count = source.read_word()?.into();
            return elements(Row::List, count, source, builder, depth);
        }
        tag::ARRAY => {
            let [dimensions] = fixed(source)?;
            let mut shape = [0; 255];
            let shape = &mut shape[..dimensions.into()];
            for extent in shape.iter_mut() {
                *extent = source.read_word()?;
            }
            let count = shape
                .iter()
                .fold(1u64, |count, extent| count.saturating_mul((*extent).into()));
            return elements(Row::Array(shape), count, source, builder, depth);
        }
        tag::KEYWORD => {
            let length = source.read_word()?;
            let mut name = Some(builder.bytes(tag::STR, length, source)?);
            return builder.row(Row::Keyword, 2, &mut |builder| match name.take() {
                Some(name) => Ok(name),
                None => inner(source, builder, depth + 1),
            });
        }
        other => return Err(Malformed::Unknown(other).into()),
    };
    builder.plain(plain)
}

/// Reads the elements of a list or array after their tag: a block, or each with its own tag.
fn elements<S: Source, M: Builder<S>>(
    row: Row,
    count: u64,
    source: &mut S,
    builder: &mut M,
    depth: usize,
) -> Result<M::Value, M::Error> {
    let [element] = fixed(source)?;
    if width(element).is_some() {
        return builder.block(row, element, count, source);
    }
    builder.row(row, count, &mut |builder| inner(source, builder, depth + 1))
}

/// A value that the host sends to a device.
pub trait Encodable: Sized {
    type Error: From<Malformed>;
    type Parts: ExactSizeIterator<Item = Self>;

    /// The value, if of fixed size, converted to the first type in `tags`.
    fn plain(&self, tags: &[u8]) -> Result<Plain, Self::Error>;

    /// Passes text or bytes to `take`.
    fn bytes(&self, tags: &[u8], take: impl FnOnce(&[u8])) -> Result<(), Self::Error>;

    /// The members of a tuple, elements of a list or array, or start, stop and step of a range.
    fn parts(&self, tags: &[u8]) -> Result<Self::Parts, Self::Error>;

    /// Passes the extents of an array to `take` one by one.
    fn shape(&self, tags: &[u8], take: impl FnMut(u32)) -> Result<(), Self::Error>;

    /// Passes the elements of a list or array to `take` as one block in wire format; returns false
    /// if they are not sent as a block.
    fn block(&self, tags: &[u8], take: impl FnMut(&[u8])) -> Result<bool, Self::Error>;

    /// The error for too many elements or bytes.
    fn too_long(&self, tags: &[u8]) -> Self::Error;

    /// The error for a type of value that cannot be sent.
    fn refused(&self, tags: &[u8]) -> Self::Error;
}

/// Writes a value without its tag. `tags` must be exactly its type.
///
/// # Errors
/// [`Malformed`] tags, or errors of the value.
pub fn write<V: Encodable>(sink: &mut impl Sink, tags: &[u8], value: &V) -> Result<(), V::Error> {
    let (one, rest) = split(tags)?;
    if !rest.is_empty() {
        return Err(Malformed::Trailing.into());
    }
    write_as(sink, one, value)
}

fn write_as<V: Encodable>(sink: &mut impl Sink, tags: &[u8], value: &V) -> Result<(), V::Error> {
    match tags[0] {
        tag::NONE | tag::BOOL | tag::INT32 | tag::INT64 | tag::FLOAT | tag::FRACTION => {
            match value.plain(tags)? {
                Plain::None => {}
                Plain::Bool(value) => sink.write(&[value.into()]),
                Plain::Int32(value) => sink.write(&value.to_le_bytes()),
                Plain::Int64(value) => sink.write(&value.to_le_bytes()),
                Plain::Float(value) => sink.write(&value.to_le_bytes()),
                Plain::Object(value) => sink.write(&value.to_le_bytes()),
                Plain::Fraction(numerator, denominator) => {
                    sink.write(&numerator.to_le_bytes());
                    sink.write(&denominator.to_le_bytes());
                }
            }
            Ok(())
        }
        tag::STR | tag::BYTES | tag::BYTE_ARRAY => {
            let mut fits = true;
            value.bytes(tags, |bytes| match length(bytes.len()) {
                Some(length) => {
                    sink.write(&length);
                    sink.write(bytes);
                }
                None => fits = false,
            })?;
            fits.then_some(()).ok_or_else(|| value.too_long(tags))
        }
        tag::TUPLE => {
            let mut rest = &tags[2..];
            for member in value.parts(tags)? {
                let (one, behind) = split(rest)?;
                write_as(sink, one, &member)?;
                rest = behind;
            }
            Ok(())
        }
        tag::LIST => {
            let parts = value.parts(tags)?;
            sink.write(&length(parts.len()).ok_or_else(|| value.too_long(tags))?);
            parts
                .into_iter()
                .try_for_each(|element| write_as(sink, &tags[1..], &element))
        }
        tag::ARRAY => {
            value.shape(tags, |extent| sink.write(&extent.to_le_bytes()))?;
            if value.block(tags, |bytes| sink.write(bytes))? {
                return Ok(());
            }
            value
                .parts(tags)?
                .try_for_each(|element| write_as(sink, &tags[2..], &element))
        }
        tag::RANGE => value
            .parts(tags)?
            .try_for_each(|part| write_as(sink, &tags[1..], &part)),
        _ => Err(value.refused(tags)),
    }
}

/// Encodes a length; `None` if it has more than 31 bits.
pub fn length(count: usize) -> Option<[u8; 4]> {
    i32::try_from(count).ok().map(i32::to_le_bytes)
}

/// Splits off the tag string of the first value.
///
/// # Errors
/// [`Malformed`].
pub fn split(tags: &[u8]) -> Result<(&[u8], &[u8]), Malformed> {
    tags.split_at_checked(extent(tags, 0)?).ok_or(Malformed::Truncated)
}

/// Length of the first value's tag string in bytes.
fn extent(tags: &[u8], depth: usize) -> Result<usize, Malformed> {
    if depth >= MAX_DEPTH {
        return Err(Malformed::TooDeep);
    }
    let (&first, rest) = tags.split_first().ok_or(Malformed::Truncated)?;
    let count = || rest.first().copied().ok_or(Malformed::Truncated);
    let (head, parts) = match first {
        tag::TUPLE => (2, count()?),
        tag::ARRAY => {
            count()?;
            (2, 1)
        }
        tag::LIST | tag::RANGE | tag::KEYWORD => (1, 1),
        other if word(other).is_some() => (1, 0),
        other => return Err(Malformed::Unknown(other)),
    };
    (0..parts).try_fold(head, |end, _| Ok(end + extent(&tags[end..], depth + 1)?))
}

/// A type displayed in words, such as `list(int32)`.
pub struct Described<'a>(pub &'a [u8]);

impl fmt::Display for Described<'_> {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        let tags = self.0;
        let parts = |from: usize| Described(tags.get(from..).unwrap_or_default());
        match tags {
            [tag::TUPLE, count, members @ ..] => {
                let mut rest = members;
                out.write_str("(")?;
                for index in 0..*count {
                    let Ok((one, behind)) = split(rest) else { break };
                    write!(out, "{}{}", if index == 0 { "" } else { ", " }, Described(one))?;
                    rest = behind;
                }
                out.write_str(if *count == 1 { ",)" } else { ")" })
            }
            [tag::ARRAY, dimensions, ..] => write!(out, "array({}, {dimensions} dimensions)", parts(2)),
            [byte @ (tag::LIST | tag::RANGE), ..] => write!(out, "{}({})", word(*byte).unwrap_or_default(), parts(1)),
            [byte, ..] => out.write_str(word(*byte).unwrap_or("something unknown")),
            [] => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use std::string::ToString;

    use super::*;

    #[test]
    fn tags_are_described_as_types() {
        let words = |tags: &[u8]| Described(tags).to_string();
        assert_eq!(words(b"li"), "list(int32)");
        assert_eq!(words(b"t\x02iI"), "(int32, int64)");
        assert_eq!(words(b"t\x01a\x02f"), "(array(float, 2 dimensions),)");
        assert_eq!(words(b"ri"), "range(int32)");
        assert_eq!(words(b"ks"), "keyword argument");
    }

    #[test]
    fn a_tag_string_is_split_at_its_end() {
        for one in [&b"i"[..], b"li", b"t\x02ila\x01f", b"a\x3ai", b"ks", b"t\0", b"F"] {
            let both = [one, b"xyz"].concat();
            assert_eq!(split(&both), Ok((one, &b"xyz"[..])));
            for cut in 0..one.len() {
                assert_eq!(split(&one[..cut]), Err(Malformed::Truncated));
            }
        }
        assert_eq!(split(b"z"), Err(Malformed::Unknown(b'z')));
        assert_eq!(split(&[b'l'; 40]), Err(Malformed::TooDeep));
    }
}
