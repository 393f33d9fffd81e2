//! The boot sector of a FAT file system, which locates its tables, directories and clusters.

use kairos_proto::bytes;

use super::{Sector, SECTOR};

/// The layout of the partition, as far as needed to recognise free clusters.
#[derive(Clone, Copy, Debug, Default)]
pub struct Geometry {
    pub fat: u32,
    pub root: Root,
    pub data: u32,
    pub end: u32,
    pub cluster: u32,
    /// Size of a FAT entry in bytes: 2 or 4; 0 for FAT12, whose clusters are never written
    /// directly.
    pub entry: u32,
}

/// Location of the root directory.
#[derive(Clone, Copy, Debug)]
pub enum Root {
    /// Before the data, in this many sectors.
    Sectors(u32),
    /// In a chain of clusters that begins with this one (FAT32).
    Clusters(u32),
}

impl Default for Root {
    fn default() -> Self {
        Root::Sectors(0)
    }
}

/// The 16-bit number at offset `at` of a sector; 0 outside of it.
pub fn u16_at(sector: &[u8], at: usize) -> u32 {
    bytes::u16_at(sector, at).unwrap_or(0).into()
}

/// The 32-bit number at offset `at` of a sector; 0 outside of it.
pub fn u32_at(sector: &[u8], at: usize) -> u32 {
    bytes::u32_at(sector, at).unwrap_or(0)
}

/// Reads the boot sector of a partition of `length` sectors at `start`.
pub fn geometry(boot: &Sector, start: u32, length: u32) -> Option<Geometry> {
    let cluster = u32::from(boot[13]);
    let (reserved, fats) = (u16_at(boot, 14), u32::from(boot[16]));
    let root = (u16_at(boot, 17) * 32).div_ceil(SECTOR as u32);
    let total = if u16_at(boot, 19) != 0 {
        u16_at(boot, 19)
    } else {
        u32_at(boot, 32)
    };
    let fat_length = if u16_at(boot, 22) != 0 {
        u16_at(boot, 22)
    } else {
        u32_at(boot, 36)
    };
    let valid = u16_at(boot, 11) == SECTOR as u32
        && cluster.is_power_of_two()
        && reserved > 0
        && (1..=2).contains(&fats)
        && total <= length
        && boot[510..] == [0x55, 0xaa];
    let data = reserved.checked_add(fats.checked_mul(fat_length)?)?.checked_add(root)?;
    if !valid || data >= total {
        return None;
    }
    let clusters = (total - data) / cluster;
    let is_fat32 = clusters >= 65525;
    Some(Geometry {
        fat: start + reserved,
        root: if is_fat32 {
            Root::Clusters(u32_at(boot, 44))
        } else {
            Root::Sectors(root)
        },
        data: start + data,
        end: start + data + clusters * cluster,
        cluster,
        entry: match clusters {
            0..4085 => 0,
            _ if is_fat32 => 4,
            _ => 2,
        },
    })
}
