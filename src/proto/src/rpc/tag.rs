//! Tag strings: the grammar, and the memory layout of the values they describe. Tag bytes:
//! `src/contracts/rpc.toml`.
//!
//! ```text
//! value := 'n' | 'b' | 'i' | 'I' | 'f' | 's' | 'B' | 'A' | 'O'
//!        | 't' count:u8 value{count} | 'l' value | 'a' num_dims:u8 value | 'r' value | 'k' value
//! call  := value* ':' value
//! ```
//!
//! `count` and `num_dims` are raw bytes and may be 0x3a, the code of `:`. So the colon must be
//! found by parsing, not by searching for the byte.

use core::fmt;

use kairos_contracts::rpc::tag as byte;
pub use kairos_contracts::rpc::MAX_DEPTH;
use kairos_contracts::rpc::RETURNS;

/// Errors in a tag string.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TagError {
    /// It ends within a type.
    Truncated,
    /// An invalid tag byte, or one that is not allowed here.
    Unknown(u8),
    /// More than [`MAX_DEPTH`] nested types.
    TooDeep,
    /// Bytes after the return type.
    Trailing,
}

impl fmt::Display for TagError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Truncated => f.write_str("RPC tag ends within a type"),
            Self::Unknown(byte) => write!(f, "RPC tag has an unexpected byte {byte:#04x}"),
            Self::TooDeep => write!(f, "RPC tag nests more than {MAX_DEPTH} types"),
            Self::Trailing => f.write_str("RPC tag has bytes behind the return type"),
        }
    }
}

/// The outermost type of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `n`
    None,
    /// `b`
    Bool,
    /// `i`
    Int32,
    /// `I`
    Int64,
    /// `f`
    Float,
    /// `s`
    Str,
    /// `B`
    Bytes,
    /// `A`
    ByteArray,
    /// `O`: a host object, by id.
    Object,
    /// `t`, with the number of members.
    Tuple(u8),
    /// `l`
    List,
    /// `a`, with the number of dimensions.
    Array(u8),
    /// `r`
    Range,
    /// `k`: only as an argument.
    Keyword,
}

impl Kind {
    /// Whether its values are blocks of bytes that are the same on the wire and in memory.
    #[inline]
    pub const fn is_number(self) -> bool {
        matches!(self, Self::Bool | Self::Int32 | Self::Int64 | Self::Float)
    }

    /// The layout of a type without parts.
    #[inline]
    const fn alone(self) -> Option<Layout> {
        let (size, align) = match self {
            Self::None => (0, 1),
            Self::Bool => (1, 1),
            Self::Int32 | Self::Object => (4, 4),
            Self::Int64 | Self::Float => (8, 8),
            Self::Str | Self::Bytes | Self::ByteArray => (8, 4),
            Self::Tuple(_) | Self::List | Self::Array(_) | Self::Range | Self::Keyword => return None,
        };
        Some(Layout { size, align })
    }
}

/// Size and alignment of a value in memory, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// Bytes, with padding at the end, so that this is also the stride in a list.
    pub size: u32,
    /// A power of two, at most 8.
    pub align: u32,
}

/// The first value of a tag string.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Value<'a> {
    /// Its type.
    pub kind: Kind,
    /// The tag byte itself.
    pub byte: u8,
    /// The tags after the head of this value, starting with those of its members or elements.
    pub inner: &'a [u8],
}

impl<'a> Value<'a> {
    /// Reads the head of the first value in `tags`; its parts are not checked.
    ///
    /// # Errors
    /// [`TagError::Truncated`], [`TagError::Unknown`].
    pub fn head(tags: &'a [u8]) -> Result<Self, TagError> {
        let (&tag, inner) = tags.split_first().ok_or(TagError::Truncated)?;
        let counted = || inner.split_first().ok_or(TagError::Truncated);
        let (kind, inner) = match tag {
            byte::NONE => (Kind::None, inner),
            byte::BOOL => (Kind::Bool, inner),
            byte::INT32 => (Kind::Int32, inner),
            byte::INT64 => (Kind::Int64, inner),
            byte::FLOAT => (Kind::Float, inner),
            byte::STR => (Kind::Str, inner),
            byte::BYTES => (Kind::Bytes, inner),
            byte::BYTE_ARRAY => (Kind::ByteArray, inner),
            byte::OBJECT => (Kind::Object, inner),
            byte::TUPLE => counted().map(|(&count, rest)| (Kind::Tuple(count), rest))?,
            byte::LIST => (Kind::List, inner),
            byte::ARRAY => counted().map(|(&dims, rest)| (Kind::Array(dims), rest))?,
            byte::RANGE => (Kind::Range, inner),
            byte::KEYWORD => (Kind::Keyword, inner),
            other => return Err(TagError::Unknown(other)),
        };
        Ok(Self { kind, byte: tag, inner })
    }

    /// Number of types nested directly in this one: members of a tuple, or the one element type.
    pub fn parts(&self) -> usize {
        match self.kind {
            Kind::Tuple(count) => usize::from(count),
            Kind::List | Kind::Array(_) | Kind::Range | Kind::Keyword => 1,
            _ => 0,
        }
    }

    /// Layout in memory (kernel ABI, sections 3.1 and 3.5), and the tags after this value.
    ///
    /// # Errors
    /// Any [`TagError`].
    #[inline]
    pub fn layout(&self) -> Result<(Layout, &'a [u8]), TagError> {
        match self.kind.alone() {
            Some(layout) => Ok((layout, self.inner)),
            None => self.layout_within(0),
        }
    }

    fn layout_within(&self, depth: usize) -> Result<(Layout, &'a [u8]), TagError> {
        if depth >= MAX_DEPTH {
            return Err(TagError::TooDeep);
        }
        if let Some(layout) = self.kind.alone() {
            return Ok((layout, self.inner));
        }
        let mut rest = self.inner;
        let mut members = Layout { size: 0, align: 1 };
        let mut last = members;
        for _ in 0..self.parts() {
            let (part, behind) = Value::head(rest)?.layout_within(depth + 1)?;
            members.size = align_up(members.size, part.align).saturating_add(part.size);
            members.align = members.align.max(part.align);
            last = part;
            rest = behind;
        }
        let of = |size, align| Layout { size, align };
        let layout = match self.kind {
            Kind::List => of(4, 4),
            Kind::Array(dims) => of(4 + 4 * u32::from(dims), 4),
            Kind::Tuple(_) => of(align_up(members.size, members.align), members.align),
            Kind::Range => of(last.size.saturating_mul(3), last.align),
            Kind::Keyword => {
                let align = last.align.max(4);
                of(align_up(last.size.saturating_add(8), align), align)
            }
            // Handled above.
            Kind::None | Kind::Bool | Kind::Int32 | Kind::Object => members,
            Kind::Int64 | Kind::Float | Kind::Str | Kind::Bytes | Kind::ByteArray => members,
        };
        Ok((layout, rest))
    }
}

/// Rounds up to a multiple of `align`, a power of two.
pub(super) const fn align_up(value: u32, align: u32) -> u32 {
    // Saturated sizes (absurd tags only) must not wrap to small ones.
    value.saturating_add(align - 1) & !(align - 1)
}

/// Splits the first complete value off a tag string.
///
/// # Errors
/// Any [`TagError`].
pub fn split_value(tags: &[u8]) -> Result<(&[u8], &[u8]), TagError> {
    let (_, rest) = Value::head(tags)?.layout()?;
    Ok((&tags[..tags.len() - rest.len()], rest))
}

/// The tag string of a call, checked as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Signature<'a> {
    /// The consecutive tags of the arguments.
    pub arguments: &'a [u8],
    /// The tag of the result.
    pub result: &'a [u8],
}

impl<'a> Signature<'a> {
    /// Checks a call's tag string and splits it at its colon.
    ///
    /// # Errors
    /// Any [`TagError`]; a keyword within another type, and objects or keywords in the result, are
    /// [`TagError::Unknown`].
    pub fn parse(tags: &'a [u8]) -> Result<Self, TagError> {
        let mut rest = tags;
        while rest.first() != Some(&RETURNS) {
            rest = match rest {
                [tag, behind @ ..] if complete_in_itself(*tag) => behind,
                _ => {
                    let (value, behind) = split_value(rest)?;
                    let inner = if value[0] == byte::KEYWORD { &value[1..] } else { value };
                    check_plain(inner, true)?;
                    behind
                }
            };
        }
        let arguments = &tags[..tags.len() - rest.len()];
        let result = &rest[1..];
        if matches!(result, [tag] if complete_in_itself(*tag)) {
            return Ok(Self { arguments, result });
        }
        let (value, behind) = split_value(result)?;
        check_plain(value, false)?;
        if !behind.is_empty() {
            return Err(TagError::Trailing);
        }
        Ok(Self { arguments, result })
    }
}

/// Checks the tags of values that one kernel sends to another; a colon may follow them.
///
/// # Errors
/// Any [`TagError`]; objects, which exist only on the host, are [`TagError::Unknown`].
pub fn values(tags: &[u8]) -> Result<&[u8], TagError> {
    let tags = tags.strip_suffix(&[RETURNS]).unwrap_or(tags);
    let mut rest = tags;
    while !rest.is_empty() {
        let (value, behind) = split_value(rest)?;
        check_plain(value, false)?;
        rest = behind;
    }
    Ok(tags)
}

/// Whether this is the tag of a type without parts that is allowed everywhere.
#[inline]
fn complete_in_itself(tag: u8) -> bool {
    use byte::{BOOL, BYTES, BYTE_ARRAY, FLOAT, INT32, INT64, NONE, STR};
    matches!(tag, NONE | BOOL | INT32 | INT64 | FLOAT | STR | BYTES | BYTE_ARRAY)
}

/// Checks the heads in a (complete) value: no keyword, no object unless allowed, ranges of plain
/// numbers only.
fn check_plain(mut tags: &[u8], objects: bool) -> Result<(), TagError> {
    while !tags.is_empty() {
        let value = Value::head(tags)?;
        if value.kind == Kind::Keyword || (value.kind == Kind::Object && !objects) {
            return Err(TagError::Unknown(value.byte));
        }
        // Nested ranges would grow by a factor of three with each level.
        if let (Kind::Range, Some(&part)) = (value.kind, value.inner.first()) {
            if !matches!(part, byte::INT32 | byte::INT64 | byte::FLOAT | byte::BOOL) {
                return Err(TagError::Unknown(part));
            }
        }
        tags = value.inner;
    }
    Ok(())
}
