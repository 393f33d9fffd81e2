//! The card under the file system: sectors, and transactions on them that survive a loss of power
//! at any sector.
//!
//! A FAT library writes sectors in an order of its own, and a change of one file touches several.
//! So everything it writes is collected in memory, and [`Volume::commit`] puts it on the card as a
//! whole: first into a journal, then, after one sector has declared the journal valid, to its
//! places; last the journal is declared empty. Whoever opens the card after a loss of power finds
//! either no valid journal, and everything as it was, or a valid one, and finishes the work. A
//! sector that is neither as it was nor as it should become shows that somebody else has written to
//! the card since: then nothing is done.
//!
//! The journal lies between the partition table and the first partition, where partitioning tools
//! leave 1 MiB or more free. Sectors of clusters that are free in the file system on the card are
//! written directly: nobody can see them before the commit. So only directories and tables take
//! room in the journal, and values may be as long as the card has space.
//!
//! A transaction's sectors reach their places in the order in which they were first written, also
//! after a loss of power. The chip's boot ROM, which does not look into the journal, sees each such
//! step; [`Volume::exchange_contents`] relies on it.

mod fat;
mod journal;

use fat::{u16_at, u32_at, Geometry, Root};
pub use journal::Recovery;
pub(crate) use journal::{Change, Changes};

/// Bytes of a sector.
pub const SECTOR: usize = 512;
pub type Sector = [u8; SECTOR];

/// What the card is reached through.
pub trait BlockDevice {
    /// Finds and initialises the card, which may have been changed. Called before anything else,
    /// and after an error.
    fn reset(&mut self) -> Result<(), DeviceError>;
    /// Reads a sector.
    fn read(&mut self, sector: u32, data: &mut Sector) -> Result<(), DeviceError>;
    /// Writes a sector; it is on the card when this returns.
    fn write(&mut self, sector: u32, data: &Sector) -> Result<(), DeviceError>;
}

/// The card does not answer, or says that it has failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeviceError;

/// Why a card cannot be used, or not be changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    Device,
    /// No partition table, or no FAT partition in it.
    NoPartition,
    /// The boot sector of the partition makes no sense.
    NotFat,
    /// Sector 1 holds something that is not ours, such as a GPT.
    JournalOccupied,
    /// The partition starts so early that there is no room for a journal.
    NoRoomForJournal,
    /// More sectors change at once than the journal can hold.
    TooManyChanges,
}

impl From<DeviceError> for Error {
    fn from(_: DeviceError) -> Self {
        Error::Device
    }
}

/// Name of a file as its directory entry has it: 8 and 3 capital letters, filled with spaces.
pub type EntryName = [u8; 11];

/// Place of a directory entry.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    sector: u32,
    at: usize,
}

/// Bytes of a directory entry.
const ENTRY: usize = 32;
/// Where in it the first cluster (upper and lower half) and the length of the file are.
const CONTENTS: [core::ops::Range<usize>; 2] = [20..22, 26..32];
/// Attributes: name of the volume; also set, with others, in pieces of long names.
const VOLUME_NAME: u8 = 8;
const DELETED: u8 = 0xe5;

/// The first FAT partition of a card.
pub struct Volume<'a, D> {
    device: D,
    /// The card has been looked at, and has not failed since.
    open: bool,
    geometry: Geometry,
    start: u32,
    length: u32,
    changes: &'a mut Changes,
    /// Number of changes the journal can hold, or why there is none.
    capacity: Result<usize, Error>,
    /// The sector read last: the library reads a few bytes at a time.
    recent: Option<u32>,
    recent_data: Sector,
    /// A sector of the FAT on the card.
    fat: Option<u32>,
    fat_data: Sector,
}

impl<'a, D: BlockDevice> Volume<'a, D> {
    /// A card that nobody has looked at yet.
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

    /// Begins a transaction. Opens the first FAT partition if need be, and completes what a loss of
    /// power has interrupted; says what it found then.
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

    /// Sectors of the partition.
    pub fn length(&self) -> u32 {
        self.length
    }

    /// Reads a sector of the partition as the transaction has left it.
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

    /// After an error of the card it is opened anew.
    fn note(&mut self, result: Result<(), DeviceError>) -> Result<(), Error> {
        self.open &= result.is_ok();
        Ok(result?)
    }

    /// Writes a sector of the partition; it counts when the transaction is committed.
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

    /// Forgets the transaction.
    pub fn abandon(&mut self) {
        self.changes.clear();
    }

    /// Makes the transaction lasting. After a device error it is either lasting or forgotten.
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

    /// What the table on the card has for a cluster: 0 if it is free, else the next one, or a
    /// number that none has.
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

    /// The entry of a file in the root directory on the card.
    pub fn find_in_root(&mut self, name: &EntryName) -> Result<Option<Entry>, Error> {
        let g = self.geometry;
        let (mut cluster, mut first, count) = match g.root {
            Root::Sectors(count) => (None, g.data - count, count),
            Root::Clusters(cluster) => (Some(cluster), 0, g.cluster),
        };
        let clusters = (g.end - g.data) / g.cluster;
        // A chain that does not end is a loop.
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

    /// Exchanges the contents of two files, as a part of the transaction: their names stay where
    /// they are. `first` changes in one sector, and that first.
    pub fn exchange_contents(&mut self, first: Entry, second: Entry) -> Result<(), Error> {
        let mut data = [0; SECTOR];
        let mut contents = [[0; ENTRY]; 2];
        for (place, contents) in [first, second].into_iter().zip(&mut contents) {
            self.read(place.sector - self.start, &mut data)?;
            contents.copy_from_slice(&data[place.at..][..ENTRY]);
        }
        for (place, contents) in [first, second].into_iter().zip(contents.iter().rev()) {
            // Both may be in one sector.
            self.read(place.sector - self.start, &mut data)?;
            for part in CONTENTS {
                data[place.at..][part.clone()].copy_from_slice(&contents[part]);
            }
            self.write(place.sector - self.start, &data)?;
        }
        Ok(())
    }
}
