//! Decodes the untagged value of a reply into the kernel's memory.
//!
//! Strings, lists and arrays need memory that only the kernel can allocate (on its stack). So
//! decoding is a coroutine: [`Decoder::resume`] runs until it needs memory, returns how much, and
//! is called again with the address.

use core::fmt;

use super::tag::{align_up, Kind, TagError, Value, MAX_DEPTH};
use super::{BadAddress, MemoryMut, EMPTY};

/// Supplies the bytes of the reply in order.
pub trait Source {
    /// The error at the end of the bytes.
    type Error;
    /// Fills `buffer`, waiting for bytes if necessary.
    ///
    /// # Errors
    /// If no more bytes of this reply will arrive.
    fn read(&mut self, buffer: &mut [u8]) -> Result<(), Self::Error>;

    /// Reads a 32-bit number.
    ///
    /// # Errors
    /// As [`Source::read`].
    #[inline]
    fn read_word(&mut self) -> Result<u32, Self::Error> {
        let mut bytes = [0; 4];
        self.read(&mut bytes)?;
        Ok(u32::from_le_bytes(bytes))
    }
}

/// Why a reply could not be decoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DecodeError<E> {
    /// The return tag is invalid, or describes a value that the host cannot send.
    Tag(TagError),
    /// The address that the kernel supplied is not in its memory.
    Address(BadAddress),
    /// The value needs more than 2 GiB.
    TooLarge,
    /// The source ended.
    Source(E),
}

impl<E> From<TagError> for DecodeError<E> {
    fn from(error: TagError) -> Self {
        Self::Tag(error)
    }
}

impl<E> From<BadAddress> for DecodeError<E> {
    fn from(error: BadAddress) -> Self {
        Self::Address(error)
    }
}

impl<E: fmt::Display> fmt::Display for DecodeError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tag(error) => error.fmt(f),
            Self::Address(error) => error.fmt(f),
            Self::TooLarge => f.write_str("RPC reply is larger than the memory"),
            Self::Source(error) => error.fmt(f),
        }
    }
}

/// The decoder's next need.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// This many bytes (never 0) of memory aligned to 8; resume with their address, or discard the
    /// rest.
    Allocate(u32),
    /// The value is complete.
    Done,
}

/// A sequence of values to be decoded.
#[derive(Clone, Copy)]
pub(super) struct Row<'a> {
    pub(super) tags: &'a [u8],
    pub(super) remaining: u32,
    address: u32,
    /// Whether all values are of the first type in `tags` (a list), or each of the next type (a
    /// tuple).
    pub(super) uniform: bool,
}

/// The use of the requested memory.
#[derive(Clone, Copy)]
pub(super) enum Pending<'a> {
    /// The slot of the result, passed to the first call.
    Slot,
    /// Bytes of a string whose {pointer, length} is at `at`.
    Text { at: u32, length: u32 },
    /// A list whose pointer is at `at`: header and elements.
    List { at: u32, length: u32, element: &'a [u8] },
    /// The buffer of an array whose pointer is at `at`.
    Array { at: u32, total: u32, element: &'a [u8] },
    /// None: the value is complete.
    Nothing,
}

/// Decodes one reply.
pub struct Decoder<'a> {
    pub(super) tag: &'a [u8],
    pub(super) rows: [Row<'a>; MAX_DEPTH],
    pub(super) depth: usize,
    pub(super) pending: Pending<'a>,
}

impl<'a> Decoder<'a> {
    /// Creates a decoder for a value of type `tag` (checked by [`super::Signature::parse`]).
    pub const fn new(tag: &'a [u8]) -> Self {
        let empty = Row {
            tags: &[],
            remaining: 0,
            address: 0,
            uniform: true,
        };
        Self {
            tag,
            rows: [empty; MAX_DEPTH],
            depth: 0,
            pending: Pending::Slot,
        }
    }

    /// Restarts with a value of type `tag`, which is cheaper than creating a new decoder, a large
    /// object.
    pub fn restart(&mut self, tag: &'a [u8]) {
        (self.tag, self.depth, self.pending) = (tag, 0, Pending::Slot);
    }

    /// The type of the value.
    pub const fn tag(&self) -> &'a [u8] {
        self.tag
    }

    /// Continues with the memory at `address`: the result's slot at first, then the requested
    /// memory.
    ///
    /// # Errors
    /// [`DecodeError`], after which the decoder cannot be used.
    pub fn resume<S: Source>(
        &mut self,
        address: u32,
        source: &mut S,
        memory: &mut impl MemoryMut,
    ) -> Result<Step, DecodeError<S::Error>> {
        match core::mem::replace(&mut self.pending, Pending::Nothing) {
            Pending::Nothing => return Ok(Step::Done),
            Pending::Slot => match Value::head(self.tag)? {
                // Most replies are a number or None.
                Value { kind: Kind::None, .. } => return Ok(Step::Done),
                Value { kind, .. } if kind.is_number() => {
                    self.block(kind, 1, address, source, memory)?;
                    return Ok(Step::Done);
                }
                _ => self.push(self.tag, 1, address, true)?,
            },
            Pending::Text { at, length } => {
                memory.set_word(at, address)?;
                memory.set_word(at.wrapping_add(4), length)?;
                source
                    .read(memory.bytes_mut(address, length)?)
                    .map_err(DecodeError::Source)?;
            }
            Pending::List { at, length, element } => {
                let (layout, _) = Value::head(element)?.layout()?;
                let elements = address.wrapping_add(align_up(8, layout.align));
                memory.set_word(at, address)?;
                memory.set_word(address, elements)?;
                memory.set_word(address.wrapping_add(4), length)?;
                self.elements(element, length, elements, source, memory)?;
            }
            Pending::Array { at, total, element } => {
                memory.set_word(at, address)?;
                self.elements(element, total, address, source, memory)?;
            }
        }
        while self.depth > 0 {
            let row = &mut self.rows[self.depth - 1];
            if row.remaining == 0 {
                self.depth -= 1;
                continue;
            }
            let value = Value::head(row.tags)?;
            let (layout, rest) = value.layout()?;
            let at = align_up(row.address, layout.align);
            row.address = at.wrapping_add(layout.size);
            row.remaining -= 1;
            if !row.uniform {
                row.tags = rest;
            }
            if let Some(bytes) = self.value(value, at, source, memory)? {
                return Ok(Step::Allocate(bytes));
            }
        }
        Ok(Step::Done)
    }

    /// Decodes a value as far as possible; returns `Some(n)` if it needs memory, as noted in
    /// `pending`.
    fn value<S: Source>(
        &mut self,
        value: Value<'a>,
        at: u32,
        source: &mut S,
        memory: &mut impl MemoryMut,
    ) -> Result<Option<u32>, DecodeError<S::Error>> {
        match value.kind {
            Kind::None => {}
            Kind::Bool | Kind::Int32 | Kind::Int64 | Kind::Float => {
                self.block(value.kind, 1, at, source, memory)?;
            }
            Kind::Str | Kind::Bytes | Kind::ByteArray => {
                let length = read_word(source)?;
                if length == 0 {
                    memory.set_word(at, EMPTY)?;
                    memory.set_word(at.wrapping_add(4), 0)?;
                } else {
                    self.pending = Pending::Text { at, length };
                    return bounded(u64::from(length)).map(Some);
                }
            }
            Kind::Tuple(count) => self.push(value.inner, u32::from(count), at, false)?,
            Kind::Range => self.push(value.inner, 3, at, true)?,
            Kind::List => {
                let length = read_word(source)?;
                let (layout, _) = Value::head(value.inner)?.layout()?;
                self.pending = Pending::List {
                    at,
                    length,
                    element: value.inner,
                };
                let bytes = u64::from(align_up(8, layout.align)) + u64::from(length) * u64::from(layout.size);
                return bounded(bytes).map(Some);
            }
            Kind::Array(dims) => {
                let mut total = 1u64;
                for dim in 0..u32::from(dims) {
                    let extent = read_word(source)?;
                    memory.set_word(at.wrapping_add(4 + 4 * dim), extent)?;
                    total = total.saturating_mul(u64::from(extent));
                }
                let (layout, _) = Value::head(value.inner)?.layout()?;
                let bytes = bounded(total.saturating_mul(u64::from(layout.size)))?;
                let total = u32::try_from(total).map_err(|_| DecodeError::TooLarge)?;
                if bytes == 0 {
                    memory.set_word(at, 0)?;
                    self.elements(value.inner, total, 0, source, memory)?;
                } else {
                    self.pending = Pending::Array {
                        at,
                        total,
                        element: value.inner,
                    };
                    return Ok(Some(bytes));
                }
            }
            Kind::Object | Kind::Keyword => return Err(TagError::Unknown(value.byte).into()),
        }
        Ok(None)
    }

    /// Decodes the elements of a list or array: plain numbers as one block, others as a row.
    fn elements<S: Source>(
        &mut self,
        element: &'a [u8],
        count: u32,
        address: u32,
        source: &mut S,
        memory: &mut impl MemoryMut,
    ) -> Result<(), DecodeError<S::Error>> {
        let value = Value::head(element)?;
        let (layout, _) = value.layout()?;
        match value.kind {
            // Elements without size (None, empty tuples) have no bytes on the wire either.
            _ if count == 0 || layout.size == 0 => Ok(()),
            Kind::Bool | Kind::Int32 | Kind::Int64 | Kind::Float => {
                self.block(value.kind, count, address, source, memory)
            }
            _ => self.push(element, count, address, true),
        }
    }

    /// Decodes `count` plain values at once.
    fn block<S: Source>(
        &self,
        kind: Kind,
        count: u32,
        at: u32,
        source: &mut S,
        memory: &mut impl MemoryMut,
    ) -> Result<(), DecodeError<S::Error>> {
        let size = match kind {
            Kind::Bool => 1,
            Kind::Int32 => 4,
            _ => 8,
        };
        let length = count.checked_mul(size).ok_or(DecodeError::TooLarge)?;
        let bytes = memory.bytes_mut(at, length)?;
        source.read(bytes).map_err(DecodeError::Source)?;
        if kind == Kind::Bool {
            // Any non-zero byte is true on the wire; kernels check bit 0 only.
            bytes.iter_mut().for_each(|byte| *byte = u8::from(*byte != 0));
        }
        Ok(())
    }

    fn push<E>(&mut self, tags: &'a [u8], count: u32, address: u32, uniform: bool) -> Result<(), DecodeError<E>> {
        let row = self.rows.get_mut(self.depth).ok_or(TagError::TooDeep)?;
        *row = Row {
            tags,
            remaining: count,
            address,
            uniform,
        };
        self.depth += 1;
        Ok(())
    }
}

pub(super) fn read_word<S: Source>(source: &mut S) -> Result<u32, DecodeError<S::Error>> {
    source.read_word().map_err(DecodeError::Source)
}

/// Limits sizes to less than 2^31, the limit of lengths on the wire.
fn bounded<E>(bytes: u64) -> Result<u32, DecodeError<E>> {
    match u32::try_from(bytes) {
        Ok(bytes) if bytes < 1 << 31 => Ok(bytes),
        _ => Err(DecodeError::TooLarge),
    }
}
