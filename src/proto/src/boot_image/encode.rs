//! Writes a boot image. The partitions, each at a multiple of 64 bytes, are preceded by:
//!
//! | Offset | Contents |
//! |---|---|
//! | 0 | eight vectors, branches to themselves |
//! | 0x20 | the checksummed words: the loader's offset, its length and entry point |
//! | 0x98 | offsets of the image headers and of the table of partitions |
//! | 0xA0 | 256 registers to be initialised: none |
//! | 0x8C0 | head of the image headers, and a header with a name for each partition |
//! | after them | the partition table, terminated by an empty entry |

use core::fmt;

use super::{
    checksum, Destination, Partition, CHECKED, CHECKED_WORDS, ENTRY, FIELDS, IMAGES, PARTITIONS, SIGNATURE, WIDTH,
};
use crate::rpc::Sink;

const ALIGNMENT: usize = 64;
/// Size of the header, and the first possible offset of partitions, as in the vendor's tools.
const HEADER: usize = 0x8c0;
const TABLES_END: usize = 0xe80;
const REGISTERS: usize = 0xa0;
const REGISTERS_END: usize = 0x8a0;
const IMAGE_HEADERS: usize = HEADER + ALIGNMENT;

const BRANCH_TO_ITSELF: u32 = 0xeaff_fffe;
const HEADER_VERSION: u32 = 0x0101_0000;
const IMAGES_VERSION: u32 = 0x0102_0000;
const NO_REGISTER: u32 = 0xffff_ffff;
/// Space for a name with at least one terminating zero.
const NAME: usize = 48;

/// A partition, and the name that the vendor's tools show for it.
#[derive(Clone, Copy, Debug)]
pub struct Named<'a> {
    pub name: &'a str,
    /// Data that are not a whole number of words are padded with zeros.
    pub partition: Partition<'a>,
}

/// Why an image cannot be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unfit {
    /// The number of partitions is 0 or too large.
    Partitions(usize),
    /// The name of this partition is too long, or contains a zero.
    Name(usize),
    /// With this partition the image exceeds 4 GiB.
    Long(usize),
    /// The first partition is not to be loaded into memory at 0.
    Loader,
}

impl fmt::Display for Unfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unfit::Partitions(count) => write!(f, "a boot image has 1 to {PARTITIONS} partitions, not {count}"),
            Unfit::Name(n) => write!(f, "the name of partition {n} does not fit into {} bytes", NAME - 1),
            Unfit::Long(n) => write!(f, "with partition {n} the boot image is too long"),
            Unfit::Loader => write!(f, "the first partition must be the loader, in memory at address 0"),
        }
    }
}

impl Destination {
    /// Attributes of a partition with this destination.
    const fn attributes(self) -> u32 {
        match self {
            Destination::Memory => 1 << 4,
            Destination::Logic => 2 << 4,
            Destination::Other => 0,
        }
    }
}

/// The layout of an image.
struct Layout {
    count: usize,
    table: usize,
    /// Offset and length of each partition, in bytes.
    places: [(u32, u32); PARTITIONS],
}

impl Layout {
    fn new(partitions: &[Named]) -> Result<Self, Unfit> {
        let count = partitions.len();
        if !(1..=PARTITIONS).contains(&count) {
            return Err(Unfit::Partitions(count));
        }
        let table = (IMAGE_HEADERS + ENTRY * count).next_multiple_of(ALIGNMENT);
        let mut places = [(0, 0); PARTITIONS];
        let mut end = TABLES_END.max(table + ENTRY * (count + 1)) as u64;
        for (n, part) in partitions.iter().enumerate() {
            if part.name.len() >= NAME || part.name.contains('\0') {
                return Err(Unfit::Name(n));
            }
            let start = end.next_multiple_of(ALIGNMENT as u64);
            let length = (part.partition.data.len() as u64).next_multiple_of(4);
            end = start + length;
            let fits = u32::try_from(end).map_err(|_| Unfit::Long(n))?;
            places[n] = (fits - length as u32, length as u32);
        }
        Ok(Self { count, table, places })
    }

    fn image_header(n: usize) -> u32 {
        (IMAGE_HEADERS + ENTRY * n) as u32
    }

    fn partition_header(&self, n: usize) -> u32 {
        (self.table + ENTRY * n) as u32
    }
}

/// Counts the bytes written through it.
struct Writer<'s, S> {
    sink: &'s mut S,
    at: usize,
}

impl<S: Sink> Writer<'_, S> {
    fn bytes(&mut self, bytes: &[u8]) {
        self.sink.write(bytes);
        self.at += bytes.len();
    }

    fn words(&mut self, words: &[u32]) {
        words.iter().for_each(|word| self.bytes(&word.to_le_bytes()));
    }

    /// Writes zeros up to an offset.
    fn zeros(&mut self, end: usize) {
        while self.at < end {
            self.bytes(&[0; ALIGNMENT][..(end - self.at).min(ALIGNMENT)]);
        }
    }

    fn checked(&mut self, words: &[u32]) {
        self.words(words);
        self.words(&[checksum(words)]);
    }
}

/// Writes an image of these partitions, the loader first.
///
/// # Errors
/// If they do not fit; nothing has been written then.
pub fn encode<S: Sink>(out: &mut S, partitions: &[Named]) -> Result<(), Unfit> {
    let layout = Layout::new(partitions)?;
    let loader = partitions[0].partition;
    if loader.destination != Destination::Memory || loader.load != 0 {
        return Err(Unfit::Loader);
    }
    let out = &mut Writer { sink: out, at: 0 };
    header(out, &layout, loader.entry);
    for (n, part) in partitions.iter().enumerate() {
        image_header(out, &layout, n, part.name);
    }
    out.zeros(layout.table);
    for (n, part) in partitions.iter().enumerate() {
        partition_header(out, &layout, n, &part.partition);
    }
    out.checked(&[0; FIELDS]);
    for (part, (start, length)) in partitions.iter().zip(layout.places) {
        out.zeros(start as usize);
        out.bytes(part.partition.data);
        out.zeros((start + length) as usize);
    }
    Ok(())
}

fn header<S: Sink>(out: &mut Writer<S>, layout: &Layout, entry: u32) {
    let (start, length) = layout.places[0];
    out.words(&[BRANCH_TO_ITSELF; CHECKED / 4]);
    let signature = u32::from_le_bytes(*SIGNATURE);
    let checked: [u32; CHECKED_WORDS] = [WIDTH, signature, 0, HEADER_VERSION, start, length, 0, entry, length, 1];
    out.checked(&checked);
    out.zeros(IMAGES);
    out.words(&[HEADER as u32, layout.table as u32]);
    out.zeros(REGISTERS);
    while out.at < REGISTERS_END {
        out.words(&[NO_REGISTER, 0]);
    }
    out.zeros(HEADER);
    let (table, images) = (layout.partition_header(0), Layout::image_header(0));
    out.words(&[IMAGES_VERSION, layout.count as u32, table / 4, images / 4]);
    out.zeros(IMAGE_HEADERS);
}

/// Writes the header of an image of one partition: the next image, its partition, and its name,
/// whose words have the first letter in the most significant byte.
fn image_header<S: Sink>(out: &mut Writer<S>, layout: &Layout, n: usize, name: &str) {
    let next = if n + 1 == layout.count {
        0
    } else {
        Layout::image_header(n + 1) / 4
    };
    let mut bytes = [0; NAME];
    bytes[..name.len()].copy_from_slice(name.as_bytes());
    bytes.chunks_exact_mut(4).for_each(<[u8]>::reverse);
    out.words(&[next, layout.partition_header(n) / 4, 0, 1]);
    out.bytes(&bytes);
}

fn partition_header<S: Sink>(out: &mut Writer<S>, layout: &Layout, n: usize, partition: &Partition) {
    let (start, length) = layout.places[n];
    let mut fields = [0; FIELDS];
    fields[..3].fill(length / 4);
    (fields[3], fields[4], fields[5]) = (partition.load, partition.entry, start / 4);
    (fields[6], fields[7]) = (partition.destination.attributes(), 1);
    fields[9] = Layout::image_header(n) / 4;
    out.checked(&fields);
}
