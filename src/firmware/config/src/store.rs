//! Configuration on the first FAT partition of the SD card (wire protocols, section 6.2).
//!
//! A value of at most 100 ASCII bytes is a line `key=value` of `/CONFIG.TXT`, any other the file
//! `/CONFIG/<key>.BIN`; the boot image is `/BOOT.BIN`. Each change is one transaction of
//! [`crate::card`], so a power loss leaves the old value or the new one. Three transactions replace
//! the boot image, so that this also holds for the chip's boot ROM, which ignores the journal
//! ([`Store::write`]). Nothing is cached: the card may be exchanged at any time.

use core::fmt;

use axfatfs::{
    Dir, FileSystem, FsOptions, IoBase, IoError, LossyOemCpConverter, NullTimeProvider, Read, Seek, SeekFrom, Write,
};

use kairos_contracts::configuration::Key;

use crate::card::{self, BlockDevice, Changes, EntryName, Recovery, Sector, Volume, SECTOR};

/// Longest value kept in `CONFIG.TXT`, in bytes.
pub const LINE_VALUE_MAX: usize = 100;
/// Longest `CONFIG.TXT` that is read or modified, in bytes.
const TEXT_MAX: usize = 64 * 1024;
/// The key that represents the boot image. It is write-only.
const BOOT_KEY: &str = Key::Boot.name();
const BOOT: &str = "BOOT.BIN";
const TEXT: &str = "CONFIG.TXT";
const DIRECTORY: &str = "CONFIG";
/// Name of a file while it is being written.
const NEW: &str = "KAIROS.NEW";
/// The two names as in directory entries.
const BOOT_ENTRY: &EntryName = b"BOOT    BIN";
const NEW_ENTRY: &EntryName = b"KAIROS  NEW";

/// Why an access has failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    Card(card::Error),
    /// The key cannot be part of a file name, or contains `=`.
    Key,
    /// The value does not fit into the buffer.
    TooLong,
    /// The card has no space left.
    Full,
    /// Names or tables of the file system are invalid.
    FileSystem,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Error::Card(card::Error::Device) => "no SD card, or it does not answer",
            Error::Card(card::Error::NoPartition) => "the SD card has no FAT partition in an MBR partition table",
            Error::Card(card::Error::NotFat) => "the file system of the SD card is not FAT with sectors of 512 bytes",
            Error::Card(card::Error::JournalOccupied) => {
                "sector 1 of the SD card is in use, so nothing can be written safely: partition the card with an MBR"
            }
            Error::Card(card::Error::NoRoomForJournal) => {
                "the first partition of the SD card starts too early for safe writes: start it at 1 MiB"
            }
            Error::Card(card::Error::TooManyChanges) => "too many sectors of the SD card would change at once",
            Error::Key => "the key has a character that is not allowed in file names or CONFIG.TXT",
            Error::TooLong => "the value is too long",
            Error::Full => "the SD card is full",
            Error::FileSystem => "the file system of the SD card is damaged",
        })
    }
}

impl From<card::Error> for Error {
    fn from(error: card::Error) -> Self {
        Error::Card(error)
    }
}

impl From<axfatfs::Error<StreamError>> for Error {
    fn from(error: axfatfs::Error<StreamError>) -> Self {
        match error {
            axfatfs::Error::Io(StreamError(Some(error))) => Error::Card(error),
            axfatfs::Error::NotEnoughSpace => Error::Full,
            axfatfs::Error::UnsupportedFileNameCharacter | axfatfs::Error::InvalidFileNameLength => Error::Key,
            _ => Error::FileSystem,
        }
    }
}

/// Working memory of a [`Store`], 198 kB. Initially zero, so a static takes no space in an image.
pub struct Workspace {
    changes: Changes,
    text: [u8; TEXT_MAX],
}

impl Default for Workspace {
    fn default() -> Self {
        Self::new()
    }
}

impl Workspace {
    /// Creates unused working memory.
    pub const fn new() -> Self {
        Self {
            changes: Changes::new(),
            text: [0; TEXT_MAX],
        }
    }
}

/// The configuration on a card.
pub struct Store<'a, D> {
    volume: Volume<'a, D>,
    text: &'a mut [u8; TEXT_MAX],
    /// The result of opening the card, until it is taken.
    found: Option<Recovery>,
}

impl<'a, D: BlockDevice> Store<'a, D> {
    /// The configuration on the card in `device`.
    pub fn new(device: D, workspace: &'a mut Workspace) -> Self {
        Self {
            volume: Volume::new(device, &mut workspace.changes),
            text: &mut workspace.text,
            found: None,
        }
    }

    /// The result of the last opening of the card, once.
    pub fn take_recovery(&mut self) -> Option<Recovery> {
        self.found.take()
    }

    /// The card itself.
    pub fn device(&mut self) -> &mut D {
        self.volume.device()
    }

    /// Reads a value into `out`; returns its length, or `None` if it is missing or empty.
    pub fn read(&mut self, key: &str, out: &mut [u8]) -> Result<Option<usize>, Error> {
        check(key)?;
        if key.eq_ignore_ascii_case(BOOT_KEY) {
            return Ok(None);
        }
        let length = self.transaction(|root, text| {
            if let Some(directory) = found(root.open_dir(DIRECTORY))? {
                if let Some(mut file) = found(directory.open_file(&file_name(key)?))? {
                    let length = file.seek(SeekFrom::End(0))? as usize;
                    file.seek(SeekFrom::Start(0))?;
                    file.read_exact(out.get_mut(..length).ok_or(Error::TooLong)?)?;
                    return Ok(length);
                }
            }
            let length = read_text(root, text)?;
            let Some(value) = lines(&text[..length]).find_map(|line| value_of(line, key)) else {
                return Ok(0);
            };
            out.get_mut(..value.len()).ok_or(Error::TooLong)?.copy_from_slice(value);
            Ok(value.len())
        })?;
        Ok((length > 0).then_some(length))
    }

    /// Reads the boot image into `out`; returns its length, or `None` if there is none.
    pub fn read_boot_image(&mut self, out: &mut [u8]) -> Result<Option<usize>, Error> {
        self.transaction(|root, _| {
            let Some(mut file) = found(root.open_file(BOOT))? else {
                return Ok(None);
            };
            let length = file.seek(SeekFrom::End(0))? as usize;
            file.seek(SeekFrom::Start(0))?;
            file.read_exact(out.get_mut(..length).ok_or(Error::TooLong)?)?;
            Ok(Some(length))
        })
    }

    /// Writes a value; an empty one removes the key.
    pub fn write(&mut self, key: &str, value: &[u8]) -> Result<(), Error> {
        check(key)?;
        if key.eq_ignore_ascii_case(BOOT_KEY) {
            return self.write_boot_image(value);
        }
        if value.is_empty() {
            return self.remove(key);
        }
        let as_line =
            value.len() <= LINE_VALUE_MAX && value.is_ascii() && !value.contains(&b'\n') && !value.ends_with(b"\r");
        self.transaction(|root, text| {
            if as_line {
                remove_file(root, key)?;
                let parts = [key.as_bytes(), b"=", value, b"\n"];
                return change_text(root, text, key, &parts);
            }
            change_text(root, text, key, &[])?;
            let directory = root.create_dir(DIRECTORY)?;
            replace(&directory, &file_name(key)?, &[value])
        })
    }

    /// Replaces the boot image such that a reader that ignores the journal always finds the old or
    /// the new one: writes the new one to a file of its own, exchanges the directory entries of
    /// both, that of `BOOT.BIN` in one sector, and removes the old one.
    fn write_boot_image(&mut self, image: &[u8]) -> Result<(), Error> {
        self.transaction(|root, _| create_new(root, &[image]))?;
        if !self.exchange_with_new()? {
            // There is no old one.
            return self.transaction(|root, _| rename_new(root, BOOT));
        }
        self.transaction(|root, _| Ok(root.remove(NEW)?))
    }

    /// Exchanges the contents of `BOOT.BIN` and the new file; false if there is no `BOOT.BIN`.
    fn exchange_with_new(&mut self) -> Result<bool, Error> {
        self.begin()?;
        let Some(old) = self.volume.find_in_root(BOOT_ENTRY)? else {
            return Ok(false);
        };
        let new = self.volume.find_in_root(NEW_ENTRY)?.ok_or(Error::FileSystem)?;
        self.volume.exchange_contents(old, new)?;
        self.volume.commit()?;
        Ok(true)
    }

    /// Removes a key, wherever it is stored. A missing key is not an error.
    pub fn remove(&mut self, key: &str) -> Result<(), Error> {
        check(key)?;
        if key.eq_ignore_ascii_case(BOOT_KEY) {
            return Err(Error::Key);
        }
        self.transaction(|root, text| {
            remove_file(root, key)?;
            change_text(root, text, key, &[])
        })
    }

    /// Removes all keys. The boot image stays.
    pub fn erase(&mut self) -> Result<(), Error> {
        self.transaction(|root, _| {
            if let Some(directory) = found(root.open_dir(DIRECTORY))? {
                // The iterator is invalidated by changes of the directory.
                while let Some(entry) = directory.iter().find(|entry| match entry {
                    Ok(entry) => entry.is_file(),
                    Err(_) => true,
                }) {
                    let entry = entry?;
                    // Each file also has an ASCII name.
                    let name = core::str::from_utf8(entry.short_file_name_as_bytes()).map_err(|_| Error::FileSystem)?;
                    directory.remove(name)?;
                }
            }
            match found(root.open_file(TEXT))? {
                Some(mut file) => Ok(file.truncate()?),
                None => Ok(()),
            }
        })
    }

    /// Begins a transaction.
    fn begin(&mut self) -> Result<(), Error> {
        if let Some(recovery) = self.volume.begin()? {
            self.found = Some(recovery);
        }
        Ok(())
    }

    /// Modifies the root directory in one transaction.
    fn transaction<T>(
        &mut self,
        change: impl FnOnce(&Directory<'_, '_, '_, D>, &mut [u8; TEXT_MAX]) -> Result<T, Error>,
    ) -> Result<T, Error> {
        self.begin()?;
        let stream = Stream {
            volume: &mut self.volume,
            position: 0,
        };
        let options = FsOptions::new().time_provider(NullTimeProvider::new()).strict(false);
        let result = (|| {
            let system = FileSystem::new(stream, options)?;
            let result = change(&system.root_dir(), self.text)?;
            system.unmount()?;
            Ok(result)
        })();
        match result {
            Ok(result) => {
                self.volume.commit()?;
                Ok(result)
            }
            Err(error) => {
                self.volume.abandon();
                Err(error)
            }
        }
    }
}

type Directory<'a, 'v, 'r, D> = Dir<'a, Stream<'v, 'r, D>, NullTimeProvider, LossyOemCpConverter>;
type Name = heapless::String<255>;

fn check(key: &str) -> Result<(), Error> {
    let fits = |c: char| c.is_ascii_graphic() && !"=/\\:*?\"<>|".contains(c);
    // `.` and `..` are directories.
    let valid =
        !key.is_empty() && key.len() <= 200 && key.chars().all(fits) && !key.starts_with('.') && !key.ends_with('.');
    valid.then_some(()).ok_or(Error::Key)
}

fn file_name(key: &str) -> Result<Name, Error> {
    let mut name = Name::new();
    name.push_str(key)
        .and_then(|()| name.push_str(".BIN"))
        .map_err(|_| Error::Key)?;
    Ok(name)
}

/// Maps "not found" to `None`.
fn found<T>(result: Result<T, axfatfs::Error<StreamError>>) -> Result<Option<T>, Error> {
    match result {
        Ok(found) => Ok(Some(found)),
        Err(axfatfs::Error::NotFound) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Removes `/CONFIG/<key>.BIN` if there is one.
fn remove_file<D: BlockDevice>(root: &Directory<'_, '_, '_, D>, key: &str) -> Result<(), Error> {
    if let Some(directory) = found(root.open_dir(DIRECTORY))? {
        found(directory.remove(&file_name(key)?))?;
    }
    Ok(())
}

/// Writes a file under another name, and so into free clusters, then replaces the old one.
fn replace<D: BlockDevice>(directory: &Directory<'_, '_, '_, D>, name: &str, parts: &[&[u8]]) -> Result<(), Error> {
    create_new(directory, parts)?;
    rename_new(directory, name)
}

/// Writes the file under its temporary name.
fn create_new<D: BlockDevice>(directory: &Directory<'_, '_, '_, D>, parts: &[&[u8]]) -> Result<(), Error> {
    found(directory.remove(NEW))?;
    let mut file = directory.create_file(NEW)?;
    for part in parts {
        file.write_all(part)?;
    }
    Ok(file.flush()?)
}

/// Renames the new file to `name`, replacing any old one.
fn rename_new<D: BlockDevice>(directory: &Directory<'_, '_, '_, D>, name: &str) -> Result<(), Error> {
    found(directory.remove(name))?;
    Ok(directory.rename(NEW, directory, name)?)
}

/// Reads `CONFIG.TXT`; returns its length, 0 if there is none.
fn read_text<D: BlockDevice>(root: &Directory<'_, '_, '_, D>, text: &mut [u8; TEXT_MAX]) -> Result<usize, Error> {
    let Some(mut file) = found(root.open_file(TEXT))? else {
        return Ok(0);
    };
    let mut length = 0;
    loop {
        match file.read(&mut text[length..])? {
            0 if length == TEXT_MAX => return Err(Error::TooLong),
            0 => return Ok(length),
            more => length += more,
        }
    }
}

/// Rewrites `CONFIG.TXT` without the lines of `key` and with `line` at the end, if that changes it.
fn change_text<D: BlockDevice>(
    root: &Directory<'_, '_, '_, D>,
    text: &mut [u8; TEXT_MAX],
    key: &str,
    line: &[&[u8]],
) -> Result<(), Error> {
    let length = read_text(root, text)?;
    let mut kept = 0;
    let mut at = 0;
    let mut removed = false;
    while at < length {
        let end = text[at..length]
            .iter()
            .position(|b| *b == b'\n')
            .map_or(length, |n| at + n);
        if value_of(&text[at..end], key).is_some() {
            removed = true;
        } else if end > at {
            text.copy_within(at..end, kept);
            kept += end - at;
            // The last line may not have been terminated.
            if kept < TEXT_MAX {
                text[kept] = b'\n';
                kept += 1;
            }
        }
        at = end + 1;
    }
    if !removed && line.is_empty() {
        return Ok(());
    }
    let [key, equals, value, end] = line else {
        return replace(root, TEXT, &[&text[..kept]]);
    };
    replace(root, TEXT, &[&text[..kept], key, equals, value, end])
}

fn lines(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.split(|byte| *byte == b'\n')
}

/// The value of a line, if its key is `key`, ignoring case. Strips an editor's carriage return.
fn value_of<'a>(line: &'a [u8], key: &str) -> Option<&'a [u8]> {
    let (name, value) = line.split_at_checked(key.len())?;
    let value = value.strip_prefix(b"=")?;
    let value = value.strip_suffix(b"\r").unwrap_or(value);
    name.eq_ignore_ascii_case(key.as_bytes()).then_some(value)
}

/// The partition as a byte stream.
struct Stream<'v, 'r, D> {
    volume: &'v mut Volume<'r, D>,
    position: u64,
}

/// An error of the card; `None` for errors that the library itself reports.
#[derive(Debug)]
struct StreamError(Option<card::Error>);

impl IoError for StreamError {
    fn is_interrupted(&self) -> bool {
        false
    }
    fn new_unexpected_eof_error() -> Self {
        Self(None)
    }
    fn new_write_zero_error() -> Self {
        Self(None)
    }
}

impl<D> IoBase for Stream<'_, '_, D> {
    type Error = StreamError;
}

impl<D: BlockDevice> Stream<'_, '_, D> {
    /// The sector at the position, the offset in it, and how many of `length` bytes are in it.
    fn place(&self, length: usize) -> Option<(u32, usize, usize)> {
        let sector = u32::try_from(self.position / SECTOR as u64).ok()?;
        let at = (self.position % SECTOR as u64) as usize;
        (sector < self.volume.length()).then_some((sector, at, length.min(SECTOR - at)))
    }
}

impl<D: BlockDevice> Read for Stream<'_, '_, D> {
    fn read(&mut self, out: &mut [u8]) -> Result<usize, StreamError> {
        let Some((sector, at, length)) = self.place(out.len()) else {
            return Ok(0);
        };
        let mut data: Sector = [0; SECTOR];
        self.volume.read(sector, &mut data).map_err(|e| StreamError(Some(e)))?;
        out[..length].copy_from_slice(&data[at..at + length]);
        self.position += length as u64;
        Ok(length)
    }
}

impl<D: BlockDevice> Write for Stream<'_, '_, D> {
    fn write(&mut self, bytes: &[u8]) -> Result<usize, StreamError> {
        let Some((sector, at, length)) = self.place(bytes.len()) else {
            return Ok(0);
        };
        let mut data: Sector = [0; SECTOR];
        if length < SECTOR {
            self.volume.read(sector, &mut data).map_err(|e| StreamError(Some(e)))?;
        }
        data[at..at + length].copy_from_slice(&bytes[..length]);
        self.volume.write(sector, &data).map_err(|e| StreamError(Some(e)))?;
        self.position += length as u64;
        Ok(length)
    }

    fn flush(&mut self) -> Result<(), StreamError> {
        Ok(())
    }
}

impl<D: BlockDevice> Seek for Stream<'_, '_, D> {
    fn seek(&mut self, to: SeekFrom) -> Result<u64, StreamError> {
        let end = u64::from(self.volume.length()) * SECTOR as u64;
        let position = match to {
            SeekFrom::Start(position) => Some(position),
            SeekFrom::End(offset) => end.checked_add_signed(offset),
            SeekFrom::Current(offset) => self.position.checked_add_signed(offset),
        };
        self.position = position.ok_or(StreamError(None))?;
        Ok(self.position)
    }
}

#[cfg(test)]
mod tests;
