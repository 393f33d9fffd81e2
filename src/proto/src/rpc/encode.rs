//! Encodes a request with its tagged arguments from the kernel's memory.

use kairos_contracts::rpc::END;

use super::tag::{align_up, Kind, Signature, Value};
use super::{EncodeError, Memory, HOST_STRING};

/// Takes the bytes of a message in order, waiting if necessary. Cannot fail.
pub trait Sink {
    /// Appends `bytes` to the message.
    fn write(&mut self, bytes: &[u8]);
}

/// Writes a request from the service id through the return tag (wire protocols, section 1.5).
///
/// `data` is the address of an array of pointers, one for each argument, to the arguments' values.
///
/// # Errors
/// [`EncodeError`]. The tag is checked before anything is written, a pointer only when it is
/// reached.
pub fn encode_request<'t>(
    sink: &mut impl Sink,
    memory: &impl Memory,
    service: u32,
    tag: &'t [u8],
    data: u32,
) -> Result<Signature<'t>, EncodeError> {
    let signature = Signature::parse(tag)?;
    sink.write(&service.to_le_bytes());
    let mut arguments = signature.arguments;
    let mut pointer = data;
    while !arguments.is_empty() {
        arguments = encode_value(sink, memory, Form::Tagged, arguments, memory.word(pointer)?)?;
        pointer = pointer.wrapping_add(4);
    }
    sink.write(&[END]);
    sink.write(&(signature.result.len() as u32).to_le_bytes());
    sink.write(signature.result);
    Ok(signature)
}

/// Writes values without tags, like the reply to an RPC, to be read by a [`super::Decoder`] for
/// each of their types. Returns their number. `tag`, `data`: as in [`encode_request`].
///
/// # Errors
/// [`EncodeError`].
pub fn encode_values(sink: &mut impl Sink, memory: &impl Memory, tag: &[u8], data: u32) -> Result<u32, EncodeError> {
    let mut values = super::values(tag)?;
    let mut count = 0;
    while !values.is_empty() {
        let pointer = memory.word(data.wrapping_add(4 * count))?;
        values = encode_value(sink, memory, Form::Plain, values, pointer)?;
        count += 1;
    }
    Ok(count)
}

/// Whether values are preceded by tags.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    Tagged,
    Plain,
}

impl Form {
    fn write_tag(self, sink: &mut impl Sink, byte: u8) {
        if self == Form::Tagged {
            sink.write(&[byte]);
        }
    }
}

/// Writes one value with its tag. `tags` starts with a checked value; returns the tags after it.
///
/// The recursion is bounded, since tags nested deeper than [`super::MAX_DEPTH`] have been rejected.
fn encode_value<'t>(
    sink: &mut impl Sink,
    memory: &impl Memory,
    form: Form,
    tags: &'t [u8],
    address: u32,
) -> Result<&'t [u8], EncodeError> {
    let value = Value::head(tags)?;
    form.write_tag(sink, value.byte);
    match value.kind {
        Kind::None => {}
        Kind::Bool => sink.write(&[memory.bytes(address, 1)?[0] & 1]),
        Kind::Int32 => sink.write(memory.bytes(address, 4)?),
        Kind::Int64 | Kind::Float => sink.write(memory.bytes(address, 8)?),
        Kind::Str | Kind::Bytes | Kind::ByteArray => encode_string(sink, memory, address)?,
        Kind::Object => {
            let object = memory.word(address)?;
            sink.write(memory.bytes(object, 4)?);
        }
        Kind::Tuple(count) => {
            form.write_tag(sink, count);
            let mut member = value.inner;
            let mut at = address;
            for _ in 0..count {
                let (layout, _) = Value::head(member)?.layout()?;
                at = align_up(at, layout.align);
                member = encode_value(sink, memory, form, member, at)?;
                at = at.wrapping_add(layout.size);
            }
            return Ok(member);
        }
        Kind::List => {
            let list = memory.word(address)?;
            let (elements, length) = (memory.word(list)?, memory.word(list.wrapping_add(4))?);
            sink.write(&length.to_le_bytes());
            return encode_elements(sink, memory, form, value.inner, elements, length);
        }
        Kind::Array(dims) => {
            form.write_tag(sink, dims);
            let mut total = 1u32;
            for dim in 0..u32::from(dims) {
                let extent = memory.word(address.wrapping_add(4 + 4 * dim))?;
                sink.write(&extent.to_le_bytes());
                // An absurd total causes a bad address later, since no memory is that large.
                total = total.saturating_mul(extent);
            }
            return encode_elements(sink, memory, form, value.inner, memory.word(address)?, total);
        }
        Kind::Range => {
            let (layout, rest) = Value::head(value.inner)?.layout()?;
            for index in 0..3 {
                encode_value(
                    sink,
                    memory,
                    form,
                    value.inner,
                    address.wrapping_add(layout.size.wrapping_mul(index)),
                )?;
            }
            return Ok(rest);
        }
        Kind::Keyword => {
            encode_string(sink, memory, address)?;
            let (layout, _) = Value::head(value.inner)?.layout()?;
            return encode_value(
                sink,
                memory,
                form,
                value.inner,
                align_up(address.wrapping_add(8), layout.align),
            );
        }
    }
    Ok(value.inner)
}

/// Writes the element tag and the elements of a list or array: one block for plain numbers, else
/// value by value.
fn encode_elements<'t>(
    sink: &mut impl Sink,
    memory: &impl Memory,
    form: Form,
    tags: &'t [u8],
    elements: u32,
    count: u32,
) -> Result<&'t [u8], EncodeError> {
    let element = Value::head(tags)?;
    let (layout, rest) = element.layout()?;
    form.write_tag(sink, element.byte);
    if matches!(element.kind, Kind::Bool | Kind::Int32 | Kind::Int64 | Kind::Float) {
        if count > 0 {
            sink.write(memory.bytes(elements, count.saturating_mul(layout.size))?);
        }
        return Ok(rest);
    }
    // Elements without size (None, empty tuples) take no memory, so only `count` limits their
    // number.
    for index in 0..count {
        encode_value(
            sink,
            memory,
            form,
            tags,
            elements.wrapping_add(index.wrapping_mul(layout.size)),
        )?;
    }
    Ok(rest)
}

/// Writes length and bytes of {pointer, length}. A host string, which cannot be read here, is
/// represented by its key.
fn encode_string(sink: &mut impl Sink, memory: &impl Memory, address: u32) -> Result<(), EncodeError> {
    let (pointer, length) = (memory.word(address)?, memory.word(address.wrapping_add(4))?);
    if length == HOST_STRING {
        let mut text = *b"<host string 0x00000000>";
        for (place, shift) in text[15..23].iter_mut().zip((0..8).rev()) {
            *place = b"0123456789abcdef"[(pointer >> (4 * shift)) as usize & 15];
        }
        sink.write(&(text.len() as u32).to_le_bytes());
        sink.write(&text);
        return Ok(());
    }
    let bytes = if length == 0 {
        &[]
    } else {
        memory.bytes(pointer, length)?
    };
    sink.write(&length.to_le_bytes());
    sink.write(bytes);
    Ok(())
}
