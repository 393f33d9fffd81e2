//! The card below the file system: sectors, and transactions on them that survive a power loss at
//! any sector.
//!
//! A FAT library writes sectors in an order of its own, and a change of one file touches several.
//! So all its writes are collected in memory, and [`Volume::commit`] writes them to the card as a
//! whole: first into a journal, then, after one sector has declared the journal valid, to their
//! destinations; finally the journal is declared empty. When the card is opened after a power loss,
//! there is either no valid journal, and everything is unchanged, or a valid one, which is
//! completed. If a sector has neither its old nor its new contents, somebody else has written to
//! the card since, and the journal is not applied.
//!
//! The journal lies between the partition table and the first partition, where partitioning tools
//! leave 1 MiB or more free. Sectors of clusters that are free in the file system on the card are
//! written directly: they are invisible before the commit. So only directories and tables take room
//! in the journal, and the length of values is limited by the card's free space only.
//!
//! A transaction's sectors are written to their destinations in the order in which they were first
//! written, also after a power loss. The chip's boot ROM, which ignores the journal, may see each
//! intermediate step; [`Volume::exchange_contents`] relies on this.

mod fat;
mod journal;

use fat::{u16_at, u32_at, Geometry, Root};
pub use journal::Recovery;
pub(crate) use journal::{Change, Changes};

/// Size of a sector in bytes.
pub const SECTOR: usize = 512;
pub type Sector = [u8; SECTOR];

/// Access to the card.
pub trait BlockDevice {
    /// Finds and initialises the card, which may have been exchanged. Called before anything else,
    /// and after an error.
    fn reset(&mut self) -> Result<(), DeviceError>;
    /// Reads a sector.
    fn read(&mut self, sector: u32, data: &mut Sector) -> Result<(), DeviceError>;
    /// Writes a sector; it is on the card when this returns.
    fn write(&mut self, sector: u32, data: &Sector) -> Result<(), DeviceError>;
}

/// The card does not answer, or reports a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeviceError;

/// Why a card cannot be used or modified.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    Device,
    /// No partition table, or no FAT partition in it.
    NoPartition,
    /// The boot sector of the partition is invalid.
    NotFat,
    /// Sector 1 contains foreign data, such as a GPT.
    JournalOccupied,
    /// The partition starts too early to leave room for a journal.
    NoRoomForJournal,
    /// More sectors change at once than the journal can hold.
    TooManyChanges,
}

impl From<DeviceError> for Error {
    fn from(_: DeviceError) -> Self {
        Error::Device
    }
}

/// Name of a file as in its directory entry: 8 and 3 capital letters, padded with spaces.
pub type EntryName = [u8; 11];

/// Place of a directory entry.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    sector: u32,
    at: usize,
}

/// Bytes of a directory entry.
const ENTRY: usize = 32;
/// Offsets in it of the first cluster (upper and lower half) and of the file's length.
const CONTENTS: [core::ops::Range<usize>; 2] = [20..22, 26..32];
/// Attributes: name of the volume; also set, with others, in parts of long names.
const VOLUME_NAME: u8 = 8;
const DELETED: u8 = 0xe5;

/// The first FAT partition of a card.
pub struct Volume<'a, D> {
    device: D,
    /// The card has been opened, and has not failed since.
    open: bool,
    geometry: Geometry,
    start: u32,
    length: u32,
    changes: &'a mut Changes,
    /// Number of changes that the journal can hold, or why there is none.
    capacity: Result<usize, Error>,
    /// The sector read last: the library reads a few bytes at a time.
    recent: Option<u32>,
    recent_data: Sector,
    /// The cached sector of the FAT on the card.
    fat: Option<u32>,
    fat_data: Sector,
}

impl<'a, D: BlockDevice> Volume<'a, D> {
    /// Creates a volume on a card that has not been opened yet.
    pub(crate) fn new(device: D, changes: &'a mut Changes) -> Self {
        Self {
            device,
            open: false,
            geometry: Geometry::default(),
            start: 0,
            length: 0,
            changes,
            capacity: Err(Error::NoPartition),
            recent: None,
            recent_data: [0; SECTOR],
            fat: None,
            fat_data: [0; SECTOR],
        }
    }

    /// The card itself.
    pub fn device(&mut self) -> &mut D {
        &mut self.device
    }

    /// Begins a transaction. If necessary, opens the first FAT partition, completes an interrupted
    /// transaction, and returns what was found.
    pub fn begin(&mut self) -> Result<Option<Recovery>, Error> {
        self.changes.clear();
        self.recent = None;
        if self.open {
            return Ok(None);
        }
        self.fat = None;
        self.device.reset()?;
        let mut sector = [0; SECTOR];
        self.device.read(0, &mut sector)?;
        if sector[510..] != [0x55, 0xaa] {
            return Err(Error::NoPartition);
        }
        let (start, length) = (0..4)
            .map(|n| &sector[446 + 16 * n..][..16])
            .find(|entry| matches!(entry[4], 1 | 4 | 6 | 0xb | 0xc | 0xe))
            .map(|entry| (u32_at(entry, 8), u32_at(entry, 12)))
            .filter(|(start, length)| *start > 0 && start.checked_add(*length).is_some())
            .ok_or(Error::NoPartition)?;
        let (capacity, recovery) = journal::recover(&mut self.device, start)?;
        self.device.read(start, &mut sector)?;
        self.geometry = fat::geometry(&sector, start, length).ok_or(Error::NotFat)?;
        (self.start, self.length, self.capacity) = (start, length, capacity);
        self.open = true;
        Ok(Some(recovery))
    }

    /// Length of the partition in sectors.
    pub fn length(&self) -> u32 {
        self.length
    }

    /// Reads a sector of the partition as seen within the transaction.
    pub fn read(&mut self, sector: u32, data: &mut Sector) -> Result<(), Error> {
        let sector = self.start + sector;
        match self.changes.iter().find(|change| change.sector == sector) {
            Some(change) => *data = change.data,
            None => {
                if self.recent != Some(sector) {
                    self.recent = None;
                    let result = self.device.read(sector, &mut self.recent_data);
                    self.note(result)?;
                    self.recent = Some(sector);
                }
                *data = self.recent_data;
            }
        }
        Ok(())
    }

    /// Marks the card to be reopened after an error.
    fn note(&mut self, result: Result<(), DeviceError>) -> Result<(), Error> {
        self.open &= result.is_ok();
        Ok(result?)
    }

    /// Writes a sector of the partition; takes effect when the transaction is committed.
    pub fn write(&mut self, sector: u32, data: &Sector) -> Result<(), Error> {
        let sector = self.start + sector;
        if let Some(change) = self.changes.iter_mut().find(|change| change.sector == sector) {
            change.data = *data;
            return Ok(());
        }
        let capacity = self.capacity?;
        if self.is_free(sector)? {
            self.recent = None;
            let result = self.device.write(sector, data);
            return self.note(result);
        }
        if self.changes.len() == capacity {
            return Err(Error::TooManyChanges);
        }
        let change = Change { sector, data: *data };
        self.changes.push(change).map_err(|_| Error::TooManyChanges)
    }

    /// Discards the transaction.
    pub fn abandon(&mut self) {
        self.changes.clear();
    }

    /// Commits the transaction. After a device error it is either committed or discarded.
    pub fn commit(&mut self) -> Result<(), Error> {
        let result = journal::write(&mut self.device, self.changes);
        self.open &= result != Err(Error::Device);
        self.changes.clear();
        self.fat = None;
        result
    }

    /// Whether the sector belongs to a cluster that is free in the file system on the card.
    fn is_free(&mut self, sector: u32) -> Result<bool, Error> {
        let g = self.geometry;
        if g.entry == 0 || !(g.data..g.end).contains(&sector) {
            return Ok(false);
        }
        Ok(self.table(2 + (sector - g.data) / g.cluster)? == 0)
    }

    /// The FAT entry of a cluster: 0 if it is free, else the next one, or a number that no cluster
    /// has.
    fn table(&mut self, cluster: u32) -> Result<u32, Error> {
        let g = self.geometry;
        let place = cluster * g.entry;
        let (fat, at) = (g.fat + place / SECTOR as u32, place as usize % SECTOR);
        if self.fat != Some(fat) {
            self.fat = None;
            let result = self.device.read(fat, &mut self.fat_data);
            self.note(result)?;
            self.fat = Some(fat);
        }
        Ok(match g.entry {
            2 => u16_at(&self.fat_data, at),
            _ => u32_at(&self.fat_data, at) & 0x0fff_ffff,
        })
    }

    /// Finds the entry of a file in the root directory on the card.
    pub fn find_in_root(&mut self, name: &EntryName) -> Result<Option<Entry>, Error> {
        let g = self.geometry;
        let (mut cluster, mut first, count) = match g.root {
            Root::Sectors(count) => (None, g.data - count, count),
            Root::Clusters(cluster) => (Some(cluster), 0, g.cluster),
        };
        let clusters = (g.end - g.data) / g.cluster;
        // An endless chain is a loop.
        for _ in 0..clusters {
            if let Some(cluster) = cluster {
                match cluster.checked_sub(2) {
                    Some(n) if n < clusters => first = g.data + n * g.cluster,
                    _ => return Ok(None),
                }
            }
            for sector in first..first + count {
                let mut data = [0; SECTOR];
                self.read(sector - self.start, &mut data)?;
                for (n, entry) in data.chunks_exact(ENTRY).enumerate() {
                    match entry[0] {
                        0 => return Ok(None),
                        DELETED => {}
                        _ if entry[11] & VOLUME_NAME != 0 || entry[..11] != name[..] => {}
                        _ => return Ok(Some(Entry { sector, at: n * ENTRY })),
                    }
                }
            }
            match cluster {
                Some(this) => cluster = Some(self.table(this)?),
                None => break,
            }
        }
        Ok(None)
    }

    /// Exchanges the contents of two files within the transaction; their names stay in place.
    /// `first` changes first, in a single sector.
    pub fn exchange_contents(&mut self, first: Entry, second: Entry) -> Result<(), Error> {
        let mut data = [0; SECTOR];
        let mut contents = [[0; ENTRY]; 2];
        for (place, contents) in [first, second].into_iter().zip(&mut contents) {
            self.read(place.sector - self.start, &mut data)?;
            contents.copy_from_slice(&data[place.at..][..ENTRY]);
        }
        for (place, contents) in [first, second].into_iter().zip(contents.iter().rev()) {
            // Both may be in the same sector.
            self.read(place.sector - self.start, &mut data)?;
            for part in CONTENTS {
                data[place.at..][part.clone()].copy_from_slice(&contents[part]);
            }
            self.write(place.sector - self.start, &data)?;
        }
        Ok(())
    }
}
