//! The journal between partition table and first partition: a record that makes it valid,
//! descriptors, and the sectors.

use crc::{Crc, CRC_32_ISO_HDLC};
use heapless::Vec;

use super::fat::u32_at;
use super::{BlockDevice, Error, Sector, SECTOR};

/// What was found when the card was opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recovery {
    /// Nothing to do.
    Clean,
    /// An interrupted write has been completed, with this many sectors.
    Completed(u32),
    /// The journal does not match the card, to which somebody else has written; it was dropped.
    Dropped,
}

/// Most sectors in a transaction.
const CHANGES: usize = 256;
/// Sector of the journal's record; descriptors and data follow.
const RECORD: u32 = 1;
const MAGIC: &[u8; 8] = b"KAIRJNL1";
/// Size of a descriptor in bytes: sector number, CRC of the old contents.
const DESCRIPTOR: usize = 8;
const PER_SECTOR: usize = SECTOR / DESCRIPTOR;
const CRC: Crc<u32> = Crc::<u32>::new(&CRC_32_ISO_HDLC);

/// The sectors that a transaction changes. Large: see [`crate::store::Workspace`].
pub(crate) type Changes = Vec<Change, CHANGES>;

pub(crate) struct Change {
    pub sector: u32,
    pub data: Sector,
}

/// Writes a transaction to the card: into the journal, then to its destinations.
pub fn write<D: BlockDevice>(device: &mut D, changes: &Changes) -> Result<(), Error> {
    let count = changes.len();
    if count == 0 {
        return Ok(());
    }
    let mut digest = CRC.digest();
    let mut old = [0; SECTOR];
    for (n, changes) in changes.chunks(PER_SECTOR).enumerate() {
        let mut descriptors = [0; SECTOR];
        for (change, place) in changes.iter().zip(descriptors.chunks_exact_mut(DESCRIPTOR)) {
            device.read(change.sector, &mut old)?;
            place[..4].copy_from_slice(&change.sector.to_le_bytes());
            place[4..].copy_from_slice(&CRC.checksum(&old).to_le_bytes());
        }
        digest.update(&descriptors);
        device.write(RECORD + 1 + n as u32, &descriptors)?;
    }
    let data = data_start(count);
    for (n, change) in changes.iter().enumerate() {
        digest.update(&change.data);
        device.write(data + n as u32, &change.data)?;
    }
    device.write(RECORD, &record(count as u32, digest.finalize()))?;
    for change in changes.iter() {
        device.write(change.sector, &change.data)?;
    }
    Ok(device.write(RECORD, &[0; SECTOR])?)
}

/// Start of the data in a journal with `count` changes.
fn data_start(count: usize) -> u32 {
    RECORD + 1 + count.div_ceil(PER_SECTOR) as u32
}

/// The sector that makes a journal valid.
fn record(count: u32, crc: u32) -> Sector {
    let mut sector = [0; SECTOR];
    sector[..8].copy_from_slice(MAGIC);
    sector[8..12].copy_from_slice(&count.to_le_bytes());
    sector[12..16].copy_from_slice(&crc.to_le_bytes());
    let own = CRC.checksum(&sector[..16]);
    sector[16..20].copy_from_slice(&own.to_le_bytes());
    sector
}

/// Completes a valid journal. Also returns the number of changes that fit into a journal before
/// sector `start`.
pub fn recover<D: BlockDevice>(device: &mut D, start: u32) -> Result<(Result<usize, Error>, Recovery), Error> {
    let capacity = (start as usize)
        .saturating_sub(data_start(CHANGES) as usize)
        .min(CHANGES);
    if capacity < 16 {
        return Ok((Err(Error::NoRoomForJournal), Recovery::Clean));
    }
    let mut sector = [0; SECTOR];
    device.read(RECORD, &mut sector)?;
    if sector == [0; SECTOR] {
        return Ok((Ok(capacity), Recovery::Clean));
    }
    let (count, crc) = (u32_at(&sector, 8) as usize, u32_at(&sector, 12));
    if sector != record(count as u32, crc) || count > capacity {
        return Ok((Err(Error::JournalOccupied), Recovery::Clean));
    }
    let recovery = if is_complete(device, count, crc)? {
        for n in 0..count {
            let (target, _) = descriptor(device, n)?;
            device.read(data_start(count) + n as u32, &mut sector)?;
            device.write(target, &sector)?;
        }
        Recovery::Completed(count as u32)
    } else {
        Recovery::Dropped
    };
    device.write(RECORD, &[0; SECTOR])?;
    Ok((Ok(capacity), recovery))
}

fn descriptor<D: BlockDevice>(device: &mut D, n: usize) -> Result<(u32, u32), Error> {
    let mut sector = [0; SECTOR];
    device.read(RECORD + 1 + (n / PER_SECTOR) as u32, &mut sector)?;
    let at = n % PER_SECTOR * DESCRIPTOR;
    Ok((u32_at(&sector, at), u32_at(&sector, at + 4)))
}

/// Whether the journal is intact, and each target has its old or new contents.
fn is_complete<D: BlockDevice>(device: &mut D, count: usize, crc: u32) -> Result<bool, Error> {
    let mut digest = CRC.digest();
    let mut sector = [0; SECTOR];
    for place in RECORD + 1..data_start(count) + count as u32 {
        device.read(place, &mut sector)?;
        digest.update(&sector);
    }
    if digest.finalize() != crc {
        return Ok(false);
    }
    for n in 0..count {
        let (target, before) = descriptor(device, n)?;
        device.read(target, &mut sector)?;
        let there = CRC.checksum(&sector);
        device.read(data_start(count) + n as u32, &mut sector)?;
        if there != before && there != CRC.checksum(&sector) {
            return Ok(false);
        }
    }
    Ok(true)
}
