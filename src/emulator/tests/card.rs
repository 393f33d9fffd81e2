//! The boot image on a card, replaced by the firmware's own code, as seen by the boot ROM after a
//! power failure at any sector.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::rc::Rc;

use axfatfs::{format_volume, FatType, FileSystem, FormatVolumeOptions, FsOptions, StdIoWrapper, Write};
use kairos_config::card::{BlockDevice, DeviceError, Sector, SECTOR};
use kairos_config::store::{Store, Workspace};
use kairos_emulator::machine::boot_rom::read_card;

/// First sector of the partition.
const START: usize = 2048;

/// A card in a file, which can be restored to its initial contents.
struct Card {
    file: File,
    base: Vec<u8>,
    changed: RefCell<BTreeSet<u32>>,
}

/// The card with a number of writes left before power fails.
struct Powered(Rc<Card>, usize);

impl BlockDevice for Powered {
    fn reset(&mut self) -> Result<(), DeviceError> {
        Ok(())
    }
    fn read(&mut self, sector: u32, data: &mut Sector) -> Result<(), DeviceError> {
        let at = u64::from(sector) * SECTOR as u64;
        self.0.file.read_exact_at(data, at).map_err(|_| DeviceError)
    }
    fn write(&mut self, sector: u32, data: &Sector) -> Result<(), DeviceError> {
        self.1 = self.1.checked_sub(1).ok_or(DeviceError)?;
        self.0.changed.borrow_mut().insert(sector);
        let at = u64::from(sector) * SECTOR as u64;
        self.0.file.write_all_at(data, at).map_err(|_| DeviceError)
    }
}

impl Card {
    /// Creates a card with `before` other files in its root directory, then the boot image, if any.
    fn new(kind: FatType, before: usize, image: Option<&[u8]>) -> Rc<Self> {
        let (length, cluster) = if kind == FatType::Fat32 {
            (70_000, 512)
        } else {
            (10_000, 1024)
        };
        let mut base = vec![0; (START + length) * SECTOR];
        base[510..512].copy_from_slice(&[0x55, 0xaa]);
        base[446 + 4] = 0xc;
        base[446 + 8..446 + 12].copy_from_slice(&(START as u32).to_le_bytes());
        base[446 + 12..446 + 16].copy_from_slice(&(length as u32).to_le_bytes());
        let mut volume = std::io::Cursor::new(base.split_off(START * SECTOR));
        let options = FormatVolumeOptions::new().fat_type(kind).bytes_per_cluster(cluster);
        format_volume(&mut StdIoWrapper::from(&mut volume), options).unwrap();
        {
            let system = FileSystem::new(StdIoWrapper::from(&mut volume), FsOptions::new()).unwrap();
            for n in 0..before {
                system.root_dir().create_file(&format!("FILE{n}.TXT")).unwrap();
            }
            if let Some(image) = image {
                let mut file = system.root_dir().create_file("BOOT.BIN").unwrap();
                file.write_all(image).unwrap();
            }
        }
        base.append(&mut volume.into_inner());
        let file = tempfile::tempfile().unwrap();
        file.write_all_at(&base, 0).unwrap();
        Rc::new(Self {
            file,
            base,
            changed: RefCell::default(),
        })
    }

    fn put_back(&self) {
        for sector in std::mem::take(&mut *self.changed.borrow_mut()) {
            let at = sector as usize * SECTOR;
            self.file.write_all_at(&self.base[at..at + SECTOR], at as u64).unwrap();
        }
    }
}

fn image(length: usize, byte: u8) -> Vec<u8> {
    (0..length).map(|n| (n / SECTOR) as u8 ^ byte).collect()
}

/// Changes the card with the power cut after each number of writes; each time, the ROM must find an
/// allowed image.
fn cut_everywhere(card: &Rc<Card>, change: impl Fn(&mut Store<Powered>) -> bool, check: impl Fn(&File, bool)) -> usize {
    let room = &mut Box::new(Workspace::new());
    for cut in 0.. {
        card.put_back();
        let done = change(&mut Store::new(Powered(card.clone(), cut), room));
        check(&card.file, done);
        // The loader completes an interrupted change, and may lose power as well.
        for second in 0.. {
            let mut store = Store::new(Powered(card.clone(), second), room);
            let completed = store.read("ip", &mut [0; 100]).is_ok();
            check(&card.file, done);
            if completed {
                break;
            }
        }
        if done {
            return cut;
        }
    }
    unreachable!()
}

#[test]
fn boot_rom_finds_an_image_after_power_loss_anywhere() {
    let old = image(9_000, 0x55);
    for kind in [FatType::Fat16, FatType::Fat32] {
        // Both directory entries in one sector, in different sectors, in different clusters.
        for before in [0, 6, 7, 14, 40] {
            let card = Card::new(kind, before, Some(&old));
            for new in [image(14_000, 0xaa), image(700, 0xaa)] {
                let cuts = cut_everywhere(
                    &card,
                    |store| store.write("boot", &new).is_ok(),
                    |file, done| {
                        let found = read_card(file).unwrap();
                        assert!(found == new || !done && found == old, "{kind:?}, {before}");
                    },
                );
                assert!(cuts > new.len() / SECTOR + 20, "{cuts}");
            }
        }
    }
}

#[test]
fn written_settings_leave_the_boot_image_unchanged() {
    let old = image(9_000, 0x55);
    let card = Card::new(FatType::Fat32, 3, Some(&old));
    cut_everywhere(
        &card,
        |store| store.write("ip", b"192.168.1.52").is_ok() && store.write("idle_kernel", &[7; 3000]).is_ok(),
        |file, _| assert_eq!(read_card(file).unwrap(), old),
    );
}

#[test]
fn full_root_directory_is_searched_to_its_end() {
    let mut room = Box::new(Workspace::new());
    for before in 12..20 {
        let card = Card::new(FatType::Fat32, before, None);
        let image = image(700, 0x55);
        let mut store = Store::new(Powered(card.clone(), usize::MAX), &mut room);
        store.write("boot", &image).unwrap();
        assert_eq!(read_card(&card.file).unwrap(), image);
    }
}

#[test]
fn image_is_written_to_an_empty_card_and_space_is_freed() {
    let card = Card::new(FatType::Fat16, 2, None);
    let mut store_room = Box::new(Workspace::new());
    let mut store = Store::new(Powered(card.clone(), usize::MAX), &mut store_room);
    // The card has 5 MB: ten images would not fit without reclaiming space.
    for byte in 0..10 {
        let image = image(2_000_000, byte);
        store.write("boot", &image).unwrap();
        assert_eq!(read_card(&card.file).unwrap(), image);
    }
}
