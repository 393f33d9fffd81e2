//! Names of RTIO channels for messages: those of the lab's device map where present, else those of
//! the gateware.
//!
//! The runtime writes the map to memory once at boot, before it releases the kernel core;
//! afterwards both cores read it.

use kairos_proto::device_map::{DeviceMap, Malformed};

use crate::{pl, Register};
use kairos_contracts::link::DESTINATION_MASTER;
use kairos_contracts::registers::{card, satellite, uplink};
use kairos_contracts::rtio::BOARDS;
use kairos_intercore::memory::DEVICE_MAP;

/// Length of the header before the map, which contains the map's length.
const HEAD: usize = 4;
/// Longest map, in bytes.
pub const MAX: usize = DEVICE_MAP.end - DEVICE_MAP.start - HEAD;

/// Installs the map that `read` writes to the memory passed to it. `read` returns the map's length,
/// 0 if there is none.
///
/// # Errors
/// [`Malformed`]; there is no map then.
///
/// # Safety
/// No names may be looked up meanwhile: call it before the kernel core is released.
pub unsafe fn install(read: impl FnOnce(&mut [u8]) -> usize) -> Result<DeviceMap<'static>, Malformed> {
    // SAFETY: the region is reserved for this, and nobody reads it meanwhile.
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
    // SAFETY: the region is reserved for this; nobody writes it after `install`.
    let memory = unsafe { core::slice::from_raw_parts(DEVICE_MAP.start as *const u8, DEVICE_MAP.len()) };
    let (head, map) = memory.split_first_chunk::<HEAD>()?;
    DeviceMap::new(map.get(..u32::from_le_bytes(*head) as usize)?).ok()
}

/// The destination of this board, which the upstream board has assigned to a satellite.
pub fn destination() -> u32 {
    let descriptor = pl::descriptor().ok();
    let uplink = descriptor.and_then(|descriptor| Register::find(&descriptor, uplink::DESTINATION));
    uplink.map_or(u32::from(DESTINATION_MASTER), |own| own.read())
}

/// A bit for the destination of each card that speaks DRTIO.
pub fn cards() -> u32 {
    let Ok(descriptor) = pl::descriptor() else {
        return 0;
    };
    let find = |name, number| Register::find_numbered(&descriptor, name, number);
    (0..BOARDS)
        .filter(|number| find(card::STATE, *number).is_some())
        .filter_map(|number| 1_u32.checked_shl(find(satellite::DESTINATION, number)?.read()))
        .fold(0, |all, one| all | one)
}

/// The system-wide number of a channel of this board, including its destination.
pub fn global(number: u32) -> u32 {
    match number >> 16 {
        0 => destination() << 16 | number,
        _ => number,
    }
}

/// The number of a channel in the descriptor, where this board's channels have no destination.
/// `None` if this board is a satellite and the channel is the master's.
fn described(number: u32) -> Option<u32> {
    match number >> 16 {
        of if of == destination() => Some(number & 0xffff),
        0 => None,
        _ => Some(number),
    }
}

/// The name of an RTIO channel (destination << 16 | channel), if it has one.
pub fn channel(number: u32) -> Option<&'static str> {
    let given = map().and_then(|map| map.name(number));
    given.or_else(|| Some(pl::descriptor().ok()?.channel(described(number)?)?.name))
}
