//! The configuration on a damaged or malicious card: whatever its sectors contain, each access
//! terminates with a value or an error.
#![no_main]

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use axfatfs::{format_volume, FatType, FormatVolumeOptions, StdIoWrapper};
use kairos_config::card::{BlockDevice, DeviceError, Sector, SECTOR};
use kairos_config::store::{Store, Workspace};
use libfuzzer_sys::fuzz_target;

/// First sector of the partition, and its number of sectors.
const START: usize = 2048;
const LENGTH: usize = 6000;

/// A card in memory: the initial sectors, and those changed since.
#[derive(Clone)]
struct Card {
    base: Rc<Vec<Sector>>,
    changed: BTreeMap<u32, Sector>,
}

impl Card {
    fn sector(&mut self, number: u32) -> &mut Sector {
        let base = &self.base;
        self.changed.entry(number).or_insert_with(|| base[number as usize])
    }
}

impl BlockDevice for Card {
    fn reset(&mut self) -> Result<(), DeviceError> {
        Ok(())
    }
    fn read(&mut self, sector: u32, data: &mut Sector) -> Result<(), DeviceError> {
        let base = self.base.get(sector as usize).ok_or(DeviceError)?;
        *data = *self.changed.get(&sector).unwrap_or(base);
        Ok(())
    }
    fn write(&mut self, sector: u32, data: &Sector) -> Result<(), DeviceError> {
        self.base.get(sector as usize).ok_or(DeviceError)?;
        self.changed.insert(sector, *data);
        Ok(())
    }
}

/// Creates a card with some values.
fn card() -> Card {
    let mut partition = vec![0; LENGTH * SECTOR];
    let options = FormatVolumeOptions::new()
        .fat_type(FatType::Fat16)
        .bytes_per_cluster(512);
    let cursor = std::io::Cursor::new(&mut partition[..]);
    format_volume(&mut StdIoWrapper::from(cursor), options).unwrap();
    let mut base = vec![[0; SECTOR]; START];
    base[0][510..].copy_from_slice(&[0x55, 0xaa]);
    base[0][446 + 4] = 0xc;
    base[0][446 + 8..446 + 12].copy_from_slice(&(START as u32).to_le_bytes());
    base[0][446 + 12..446 + 16].copy_from_slice(&(LENGTH as u32).to_le_bytes());
    base.extend(
        partition
            .chunks_exact(SECTOR)
            .map(|sector| Sector::try_from(sector).unwrap()),
    );
    let card = Card {
        base: Rc::new(base),
        changed: BTreeMap::new(),
    };
    let mut work = Box::new(Workspace::new());
    let mut store = Store::new(card, &mut work);
    store.write("ip", b"192.168.1.70").unwrap();
    store.write("startup_kernel", &[7; 3000]).unwrap();
    let Card { base, changed } = store.device();
    let mut sectors = base.to_vec();
    for (&number, sector) in &*changed {
        sectors[number as usize] = *sector;
    }
    Card {
        base: Rc::new(sectors),
        changed: BTreeMap::new(),
    }
}

thread_local! {
    static CARD: Card = card();
    static ROOM: RefCell<(Box<Workspace>, Box<[u8]>)> = RefCell::new((Default::default(), vec![0; 1 << 16].into()));
}

fuzz_target!(|data: &[u8]| {
    // Modifications of four bytes (sector, offset, two values), then accesses of one byte.
    let Some((&changes, rest)) = data.split_first() else {
        return;
    };
    let mut card = CARD.with(Card::clone);
    let (damage, accesses) = rest.split_at((usize::from(changes) * 4).min(rest.len() & !3));
    for change in damage.chunks_exact(4) {
        // The partition table, the journal, and the partition's first sectors, which contain tables
        // and directories.
        let sector = match change[0] {
            sector @ 0..=3 => u32::from(sector),
            sector => (START as u32) + u32::from(sector) - 4,
        };
        let place = usize::from(change[1]) * 2;
        card.sector(sector)[place..place + 2].copy_from_slice(&change[2..]);
    }
    ROOM.with_borrow_mut(|(work, room)| {
        let mut store = Store::new(card, work);
        for access in accesses.iter().take(8) {
            let key = ["ip", "startup_kernel", "mac", "a_long_key_of_some_length"][usize::from(access & 3)];
            match access >> 2 & 3 {
                0 => drop(store.read(key, room)),
                1 => drop(store.write(key, &room[..usize::from(*access) * 8])),
                2 => drop(store.remove(key)),
                _ => drop(store.erase()),
            }
        }
    });
});
