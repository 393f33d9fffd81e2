//! Tags of remote procedure calls: the types of values, on the wire and in a kernel's memory.
//!
//! Generated from `src/contracts/rpc.toml` by `src/contracts/generate.py`: do not edit.

/// End mark after the last argument of a request.
pub const END: u8 = 0;

/// Separator between arguments and result in the tag string of a call, `:`.
pub const RETURNS: u8 = 58;

/// Maximum nesting of types. The grammar has no limit, but the stack of the kernel core does.
pub const MAX_DEPTH: usize = 32;

/// Tag bytes.
pub mod tag {
    /// None.
    pub const NONE: u8 = b'n';

    /// Bool.
    pub const BOOL: u8 = b'b';

    /// 32-bit integer.
    pub const INT32: u8 = b'i';

    /// 64-bit integer.
    pub const INT64: u8 = b'I';

    /// Double.
    pub const FLOAT: u8 = b'f';

    /// Text.
    pub const STR: u8 = b's';

    /// Bytes.
    pub const BYTES: u8 = b'B';

    /// Mutable bytes.
    pub const BYTE_ARRAY: u8 = b'A';

    /// Fraction of two 64-bit integers.
    pub const FRACTION: u8 = b'F';

    /// Host object, by its id.
    pub const OBJECT: u8 = b'O';

    /// Tuple: number of members, their types.
    pub const TUPLE: u8 = b't';

    /// List: type of the elements.
    pub const LIST: u8 = b'l';

    /// NumPy array: number of dimensions, type of the elements.
    pub const ARRAY: u8 = b'a';

    /// Range: type of start, stop and step.
    pub const RANGE: u8 = b'r';

    /// Keyword argument: type of its value.
    pub const KEYWORD: u8 = b'k';
}

/// The type in messages to the user, for a tag byte that stands alone or begins a type.
pub const fn word(byte: u8) -> Option<&'static str> {
    Some(match byte {
        tag::NONE => "None",
        tag::BOOL => "bool",
        tag::INT32 => "int32",
        tag::INT64 => "int64",
        tag::FLOAT => "float",
        tag::STR => "str",
        tag::BYTES => "bytes",
        tag::BYTE_ARRAY => "bytearray",
        tag::FRACTION => "Fraction",
        tag::OBJECT => "host object",
        tag::TUPLE => "tuple",
        tag::LIST => "list",
        tag::ARRAY => "array",
        tag::RANGE => "range",
        tag::KEYWORD => "keyword argument",
        _ => return None,
    })
}
