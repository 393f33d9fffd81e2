//! Names of RTIO channels for messages: those of the lab's device map, where it has one, else those
//! of the gateware.
//!
//! The runtime puts the map into memory once at boot, before it releases the kernel core; then both
//! cores read it.

use kairos_proto::device_map::{DeviceMap, Malformed};

use crate::{pl, Register};
use kairos_channel::memory::DEVICE_MAP;
use kairos_contracts::link::DESTINATION_MASTER;
use kairos_contracts::registers::uplink;

/// Bytes in front of the map: its length.
const HEAD: usize = 4;
/// Longest map in bytes.
pub const MAX: usize = DEVICE_MAP.end - DEVICE_MAP.start - HEAD;

/// Puts the map there that `read` writes to the memory it is given; it returns the length, 0 if
/// there is none.
///
/// # Errors
/// [`Malformed`]; then there is no map.
///
/// # Safety
/// Nobody may ask for names meanwhile: call it before the kernel core is released.
pub unsafe fn install(read: impl FnOnce(&mut [u8]) -> usize) -> Result<DeviceMap<'static>, Malformed> {
    // SAFETY: set apart for this, and nobody reads it meanwhile.
    let memory = unsafe { core::slice::from_raw_parts_mut(DEVICE_MAP.start as *mut u8, DEVICE_MAP.len()) };
    let (head, map) = memory.split_at_mut(HEAD);
    let length = read(map).min(map.len());
    let found = if length == 0 {
        Ok(DeviceMap::EMPTY)
    } else {
        DeviceMap::new(&map[..length])
    };
    let length = if found.is_ok() { length } else { 0 };
    head.copy_from_slice(&(length as u32).to_le_bytes());
    found
}

fn map() -> Option<DeviceMap<'static>> {
    // SAFETY: set apart for this; nobody writes it after `install`.
    let memory = unsafe { core::slice::from_raw_parts(DEVICE_MAP.start as *const u8, DEVICE_MAP.len()) };
    let (head, map) = memory.split_first_chunk::<HEAD>()?;
    DeviceMap::new(map.get(..u32::from_le_bytes(*head) as usize)?).ok()
}

/// The destination of this board, which a satellite has been told by the board above.
pub fn destination() -> u32 {
    let descriptor = pl::descriptor().ok();
    let uplink = descriptor.and_then(|descriptor| Register::find(&descriptor, uplink::DESTINATION));
    uplink.map_or(u32::from(DESTINATION_MASTER), |own| own.read())
}

/// A channel of this board as all boards know it, with its destination.
pub fn global(number: u32) -> u32 {
    match number >> 16 {
        0 => destination() << 16 | number,
        _ => number,
    }
}

/// A channel as the descriptor numbers it: those of this board have no destination there. None: it
/// is of the board with the network, and this is another one.
fn described(number: u32) -> Option<u32> {
    match number >> 16 {
        of if of == destination() => Some(number & 0xffff),
        0 => None,
        _ => Some(number),
    }
}

/// Name of an RTIO channel (destination << 16 | channel), if it has one.
pub fn channel(number: u32) -> Option<&'static str> {
    let given = map().and_then(|map| map.name(number));
    given.or_else(|| Some(pl::descriptor().ok()?.channel(described(number)?)?.name))
}
