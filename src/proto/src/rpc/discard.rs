//! Discards the rest of a reply for which there is no memory, so that the following messages can be
//! decoded.

use super::decode::{read_word, DecodeError, Decoder, Pending, Source};
use super::tag::{Kind, TagError, Value, MAX_DEPTH};

/// Bytes read at a time.
const PIECE: usize = 256;

impl Decoder<'_> {
    /// Discards the rest of the value, instead of calling [`Self::resume`] with the requested
    /// memory. The decoder cannot be used afterwards.
    ///
    /// # Errors
    /// [`DecodeError`]
    pub fn discard<S: Source>(&mut self, source: &mut S) -> Result<(), DecodeError<S::Error>> {
        match core::mem::replace(&mut self.pending, Pending::Nothing) {
            Pending::Nothing => {}
            Pending::Slot => drop_values(self.tag, 1, source, 0)?,
            Pending::Text { length, .. } => drop_bytes(u64::from(length), source)?,
            Pending::List { length, element, .. } => drop_values(element, length, source, 0)?,
            Pending::Array { total, element, .. } => drop_values(element, total, source, 0)?,
        }
        while let Some(above) = self.depth.checked_sub(1) {
            self.depth = above;
            let row = self.rows[above];
            match row.uniform {
                true => drop_values(row.tags, row.remaining, source, 0)?,
                false => drop_members(row.tags, row.remaining, source, 0)?,
            }
        }
        Ok(())
    }
}

/// Drops `count` values of the type that `tags` starts with.
fn drop_values<S: Source>(tags: &[u8], count: u32, source: &mut S, depth: usize) -> Result<(), DecodeError<S::Error>> {
    if depth >= MAX_DEPTH {
        return Err(TagError::TooDeep.into());
    }
    let value = Value::head(tags)?;
    let (layout, _) = value.layout()?;
    if value.kind.is_number() {
        return drop_bytes(u64::from(count) * u64::from(layout.size), source);
    }
    if layout.size == 0 {
        return Ok(()); // no bytes on the wire either, whatever the count
    }
    for _ in 0..count {
        drop_value(value, source, depth)?;
    }
    Ok(())
}

/// Drops a value that is not a number.
fn drop_value<S: Source>(value: Value<'_>, source: &mut S, depth: usize) -> Result<(), DecodeError<S::Error>> {
    match value.kind {
        Kind::Str | Kind::Bytes | Kind::ByteArray => {
            let length = read_word(source)?;
            drop_bytes(u64::from(length), source)
        }
        Kind::Tuple(count) => drop_members(value.inner, u32::from(count), source, depth + 1),
        Kind::Range => drop_values(value.inner, 3, source, depth + 1),
        Kind::List => {
            let length = read_word(source)?;
            drop_values(value.inner, length, source, depth + 1)
        }
        Kind::Array(dims) => {
            let mut total = 1u32;
            for _ in 0..dims {
                total = total.checked_mul(read_word(source)?).ok_or(DecodeError::TooLarge)?;
            }
            drop_values(value.inner, total, source, depth + 1)
        }
        // Without bytes, or dropped as a block.
        Kind::None | Kind::Bool | Kind::Int32 | Kind::Int64 | Kind::Float => Ok(()),
        Kind::Object | Kind::Keyword => Err(TagError::Unknown(value.byte).into()),
    }
}

/// Drops one value of each of the next `count` types.
fn drop_members<S: Source>(
    mut tags: &[u8],
    count: u32,
    source: &mut S,
    depth: usize,
) -> Result<(), DecodeError<S::Error>> {
    for _ in 0..count {
        drop_values(tags, 1, source, depth)?;
        tags = Value::head(tags)?.layout()?.1;
    }
    Ok(())
}

fn drop_bytes<S: Source>(mut count: u64, source: &mut S) -> Result<(), DecodeError<S::Error>> {
    let mut piece = [0; PIECE];
    while count > 0 {
        let length = count.min(PIECE as u64) as usize;
        source.read(&mut piece[..length]).map_err(DecodeError::Source)?;
        count -= length as u64;
    }
    Ok(())
}
