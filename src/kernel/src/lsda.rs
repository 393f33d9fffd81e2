//! Language-specific data: the landing pad, if any, that a function has for an exception at a call
//! (kernel ABI, section 4.5).

use kairos_proto::rpc::Memory;

use crate::unwind::Stop;

/// Reads a table byte by byte.
struct Reader<'m, M: Memory> {
    memory: &'m M,
    at: u32,
}

impl<M: Memory> Reader<'_, M> {
    fn byte(&mut self) -> Result<u8, Stop> {
        let byte = self.memory.bytes(self.at, 1)?[0];
        self.at = self.at.wrapping_add(1);
        Ok(byte)
    }

    /// Reads a LEB128 number; returns its value and number of bits.
    fn leb(&mut self) -> Result<(u32, u32), Stop> {
        let mut value = 0u32;
        for shift in (0..35).step_by(7) {
            let byte = self.byte()?;
            value |= u32::from(byte & 0x7f).wrapping_shl(shift);
            if byte & 0x80 == 0 {
                return Ok((value, shift + 7));
            }
        }
        Err(Stop::Corrupt)
    }

    fn uleb(&mut self) -> Result<u32, Stop> {
        Ok(self.leb()?.0)
    }

    fn sleb(&mut self) -> Result<i32, Stop> {
        let (value, bits) = self.leb()?;
        let unused = 32u32.saturating_sub(bits);
        Ok((value << unused) as i32 >> unused)
    }
}

/// The landing pad that exception `id` enters in the function at `function`, whose call returns to
/// `pc`; `None` to continue with the caller. Handlers and cleanup code are entered alike.
///
/// # Errors
/// [`Stop::Corrupt`] if the table is invalid.
pub fn landing_pad(memory: &impl Memory, lsda: u32, function: u32, pc: u32, id: u32) -> Result<Option<u32>, Stop> {
    let mut reader = Reader { memory, at: lsda };
    // Landing pads relative to the function, call sites as ULEB128: the only form that compilers
    // emit here.
    if reader.byte()? != 0xff {
        return Err(Stop::Corrupt);
    }
    let types = match reader.byte()? {
        0xff => None,
        _ => {
            let distance = reader.uleb()?;
            Some(reader.at.wrapping_add(distance))
        }
    };
    if reader.byte()? != 0x01 {
        return Err(Stop::Corrupt);
    }
    let length = reader.uleb()?;
    let actions = reader.at.wrapping_add(length);
    let call = pc.wrapping_sub(1).wrapping_sub(function);
    while reader.at < actions {
        let (start, length) = (reader.uleb()?, reader.uleb()?);
        let (pad, action) = (reader.uleb()?, reader.uleb()?);
        if call < start {
            break;
        }
        if call - start < length {
            let enter =
                pad != 0 && (action == 0 || matches(memory, types, actions.wrapping_add(action).wrapping_sub(1), id)?);
            return Ok(enter.then(|| function.wrapping_add(pad)));
        }
    }
    Ok(None)
}

/// Whether the chain of actions at `at` has a clause for `id`, or a cleanup.
fn matches(memory: &impl Memory, types: Option<u32>, at: u32, id: u32) -> Result<bool, Stop> {
    let mut reader = Reader { memory, at };
    let mut cleanup = false;
    // A chain visits each clause once; a longer one is a loop in a corrupt table.
    for _ in 0..1024 {
        let filter = reader.sleb()?;
        let link = reader.at;
        let next = reader.sleb()?;
        match filter {
            0 => cleanup = true,
            1.. => {
                let place = types
                    .ok_or(Stop::Corrupt)?
                    .wrapping_sub((filter as u32).wrapping_mul(4));
                let value = memory.word(place)?;
                // Self-relative, whatever the encoding byte specifies; 0 catches everything.
                if value == 0 || memory.word(place.wrapping_add(value))? == id {
                    return Ok(true);
                }
            }
            _ => {}
        }
        if next == 0 {
            return Ok(cleanup);
        }
        reader.at = link.wrapping_add(next as u32);
    }
    Err(Stop::Corrupt)
}
