//! The store on a simulated card whose power can be cut after any number of sector writes.

extern crate std;
use super::*;
use crate::card::DeviceError;
use axfatfs::{format_volume, FatType, FormatVolumeOptions};
use proptest::prelude::*;
use std::boxed::Box;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::string::String;
use std::vec::Vec;

/// First sector of the partition.
const START: usize = 2048;

#[derive(Clone)]
struct Memory {
    /// Sectors as formatted, and those changed since.
    base: Rc<Vec<Sector>>,
    changed: BTreeMap<u32, Sector>,
    /// Writes until the power is cut.
    left: usize,
    dead: bool,
}

impl Memory {
    fn sector(&mut self, number: usize) -> &mut Sector {
        let base = &self.base;
        self.changed.entry(number as u32).or_insert_with(|| base[number])
    }
}

impl BlockDevice for Memory {
    fn reset(&mut self) -> Result<(), DeviceError> {
        (!self.dead).then_some(()).ok_or(DeviceError)
    }
    fn read(&mut self, sector: u32, data: &mut Sector) -> Result<(), DeviceError> {
        self.reset()?;
        *data = *self.changed.get(&sector).unwrap_or(&self.base[sector as usize]);
        Ok(())
    }
    fn write(&mut self, sector: u32, data: &Sector) -> Result<(), DeviceError> {
        self.dead |= self.left == 0;
        self.reset()?;
        self.left -= 1;
        self.changed.insert(sector, *data);
        Ok(())
    }
}

/// For formatting: the partition as the library sees it.
struct Disk<'a>(&'a mut [Sector], u64);
impl IoBase for Disk<'_> {
    type Error = ();
}
impl Read for Disk<'_> {
    fn read(&mut self, out: &mut [u8]) -> Result<usize, ()> {
        let bytes = self.0.as_flattened();
        let length = out.len().min(bytes.len() - self.1 as usize);
        out[..length].copy_from_slice(&bytes[self.1 as usize..][..length]);
        self.1 += length as u64;
        Ok(length)
    }
}
impl Write for Disk<'_> {
    fn write(&mut self, data: &[u8]) -> Result<usize, ()> {
        self.0.as_flattened_mut()[self.1 as usize..][..data.len()].copy_from_slice(data);
        self.1 += data.len() as u64;
        Ok(data.len())
    }
    fn flush(&mut self) -> Result<(), ()> {
        Ok(())
    }
}
impl Seek for Disk<'_> {
    fn seek(&mut self, to: SeekFrom) -> Result<u64, ()> {
        self.1 = match to {
            SeekFrom::Start(n) => n,
            SeekFrom::End(n) => (self.0.len() * SECTOR) as u64 + n as u64,
            SeekFrom::Current(n) => self.1.wrapping_add_signed(n),
        };
        Ok(self.1)
    }
}

fn card(kind: FatType) -> Memory {
    let (length, cluster) = if kind == FatType::Fat32 {
        (70_000, 512)
    } else {
        (10_000, 1024)
    };
    let mut sectors = std::vec![[0; SECTOR]; START + length];
    sectors[0][510..].copy_from_slice(&[0x55, 0xaa]);
    sectors[0][446 + 4] = 0xc;
    sectors[0][446 + 8..446 + 12].copy_from_slice(&(START as u32).to_le_bytes());
    sectors[0][446 + 12..446 + 16].copy_from_slice(&(length as u32).to_le_bytes());
    let options = FormatVolumeOptions::new().fat_type(kind).bytes_per_cluster(cluster);
    format_volume(&mut Disk(&mut sectors[START..], 0), options).unwrap();
    Memory {
        base: Rc::new(sectors),
        changed: BTreeMap::new(),
        left: usize::MAX,
        dead: false,
    }
}

fn room() -> Box<Workspace> {
    Box::new(Workspace::new())
}

fn get(store: &mut Store<Memory>, key: &str) -> Option<Vec<u8>> {
    let mut out = std::vec![0; 200_000];
    let length = store.read(key, &mut out).unwrap()?;
    out.truncate(length);
    Some(out)
}

fn text(store: &mut Store<Memory>, key: &str) -> Option<String> {
    get(store, key).map(|bytes| String::from_utf8(bytes).unwrap())
}

#[test]
fn values_of_every_form_round_trip() {
    for kind in [FatType::Fat16, FatType::Fat32] {
        let room = &mut self::room();
        let mut store = Store::new(card(kind), room);
        assert_eq!(text(&mut store, "ip"), None);
        store.write("ip", b"192.168.1.52").unwrap();
        store.write("idle_kernel", &[7; 100_000]).unwrap();
        store.write("Mixed", b"Case Stays").unwrap();
        assert_eq!(text(&mut store, "IP").as_deref(), Some("192.168.1.52"));
        assert_eq!(text(&mut store, "mixed").as_deref(), Some("Case Stays"));
        assert_eq!(get(&mut store, "IDLE_kernel"), Some(std::vec![7; 100_000]));
        // From a line to a file and back.
        store.write("ip", &[b'x'; 101]).unwrap();
        assert_eq!(get(&mut store, "ip"), Some(std::vec![b'x'; 101]));
        store.write("ip", b"line\n").unwrap();
        assert_eq!(text(&mut store, "ip").as_deref(), Some("line\n"));
        store.write("ip", b"1").unwrap();
        assert_eq!(text(&mut store, "ip").as_deref(), Some("1"));
        store.remove("ip").unwrap();
        store.remove("ip").unwrap();
        store.write("mixed", b"").unwrap();
        assert_eq!((text(&mut store, "ip"), text(&mut store, "mixed")), (None, None));
        store.write("boot", b"image").unwrap();
        assert_eq!(get(&mut store, "boot"), None);
        store.erase().unwrap();
        assert_eq!(get(&mut store, "idle_kernel"), None);
    }
}

#[test]
fn invalid_keys_are_refused_by_every_operation() {
    let room = &mut self::room();
    let mut store = Store::new(card(FatType::Fat16), room);
    for key in ["", "a=b", "a/b", "..", "a b", "a*", "a\\b", "ä"] {
        assert_eq!(store.write(key, b"1"), Err(Error::Key), "{key}");
        assert_eq!(store.read(key, &mut []), Err(Error::Key), "{key}");
        assert_eq!(store.remove(key), Err(Error::Key), "{key}");
    }
}

#[test]
fn hand_written_text_is_parsed() {
    let room = &mut self::room();
    let mut store = Store::new(card(FatType::Fat32), room);
    let body = b"IP=10.0.0.1\r\n\n# note\nip=second\nlast=no line end";
    store
        .transaction(|root, _| replace(root, "config.txt", &[body]))
        .unwrap();
    assert_eq!(text(&mut store, "ip").as_deref(), Some("10.0.0.1"));
    assert_eq!(text(&mut store, "last").as_deref(), Some("no line end"));
    store.write("new", b"1").unwrap();
    store.remove("ip").unwrap();
    assert_eq!(text(&mut store, "ip"), None);
    let all = store.transaction(read_text).unwrap();
    assert_eq!(&store.text[..all], b"# note\nlast=no line end\nnew=1\n");
}

#[test]
fn unusable_cards_are_rejected_with_the_reason() {
    let good = card(FatType::Fat16);
    let fails = |change: &dyn Fn(&mut Memory)| {
        let mut card = good.clone();
        change(&mut card);
        Store::new(card, &mut room()).write("ip", b"1").unwrap_err()
    };
    assert_eq!(fails(&|c| c.dead = true), Error::Card(card::Error::Device));
    assert_eq!(fails(&|c| c.sector(0)[510] = 0), Error::Card(card::Error::NoPartition));
    assert_eq!(
        fails(&|c| c.sector(0)[450] = 0xee),
        Error::Card(card::Error::NoPartition)
    );
    assert_eq!(
        fails(&|c| *c.sector(START) = [0; SECTOR]),
        Error::Card(card::Error::NotFat)
    );
    assert_eq!(
        fails(&|c| c.sector(1)[..8].copy_from_slice(b"EFI PART")),
        Error::Card(card::Error::JournalOccupied)
    );
    let mut early = good.clone();
    let sectors = Rc::make_mut(&mut early.base);
    sectors[0][446 + 8..446 + 10].copy_from_slice(&[63, 0]);
    sectors.drain(63..START);
    let room = &mut self::room();
    let mut store = Store::new(early, room);
    store.write("ip", b"1").unwrap();
    assert_eq!(text(&mut store, "ip").as_deref(), Some("1"));
}

#[test]
fn full_card_refuses_and_keeps_old_value() {
    let room = &mut self::room();
    let mut store = Store::new(card(FatType::Fat16), room);
    store.write("idle_kernel", &[1; 2_000_000]).unwrap();
    assert_eq!(store.write("idle_kernel", &std::vec![2; 4_000_000]), Err(Error::Full));
    store.write("startup_kernel", &[3; 1_000_000]).unwrap();
    let mut out = std::vec![0; 2_000_000];
    assert_eq!(store.read("idle_kernel", &mut out), Ok(Some(2_000_000)));
    assert!(out.iter().all(|byte| *byte == 1));
    assert_eq!(store.read("idle_kernel", &mut out[..10]), Err(Error::TooLong));
}

#[test]
fn journal_of_another_card_is_dropped() {
    let mut before = card(FatType::Fat16);
    before.left = usize::MAX;
    let room = &mut self::room();
    let mut count = Store::new(before.clone(), room);
    count.write("ip", b"1").unwrap();
    let writes = usize::MAX - count.device().left;
    // All but the last write: the journal is valid. Then somebody modifies one of its target
    // sectors.
    before.left = writes - 1;
    let room = &mut self::room();
    let mut store = Store::new(before, room);
    assert_eq!(store.write("ip", b"1"), Err(Error::Card(card::Error::Device)));
    let mut after = store.device().clone();
    (after.left, after.dead) = (usize::MAX, false);
    let changed = u32::from_le_bytes(after.sector(2)[..4].try_into().unwrap()) as usize;
    after.sector(changed)[100] ^= 1;
    let room = &mut self::room();
    let mut store = Store::new(after, room);
    let _ = store.read("ip", &mut [0; 100]);
    assert_eq!(store.take_recovery(), Some(Recovery::Dropped));
}

/// Executes `change` with the power cut after each number of writes, and checks the card each time.
fn cut_everywhere(
    before: &Memory,
    change: impl Fn(&mut Store<Memory>) -> Result<(), Error>,
    check: impl Fn(&mut Store<Memory>, bool),
) -> usize {
    for cut in 0.. {
        let mut card = before.clone();
        card.left = cut;
        let room = &mut self::room();
        let mut store = Store::new(card, room);
        let done = change(&mut store).is_ok();
        let mut after = store.device().clone();
        (after.left, after.dead) = (usize::MAX, false);
        // The power may be cut again during recovery.
        for second in [0, 1, 3, usize::MAX] {
            after.left = second;
            let room = &mut self::room();
            let mut again = Store::new(after.clone(), room);
            let _ = again.read("other", &mut [0; 100]);
            after = again.device().clone();
            (after.left, after.dead) = (usize::MAX, false);
        }
        let room = &mut self::room();
        let mut store = Store::new(after, room);
        check(&mut store, done);
        store.write("later", b"works").unwrap();
        assert_eq!(text(&mut store, "later").as_deref(), Some("works"));
        if done {
            return cut;
        }
    }
    unreachable!()
}

#[test]
fn write_survives_power_loss_at_any_sector() {
    let small: &[u8] = b"192.168.1.1";
    let long: &[u8] = &[0xa5; 5000];
    for kind in [FatType::Fat16, FatType::Fat32] {
        for (old, new) in [
            (None, small),
            (None, long),
            (Some(small), long),
            (Some(long), small),
            (Some(long), &[1; 7000]),
        ] {
            let room = &mut self::room();
            let mut store = Store::new(card(kind), room);
            store.write("other", b"untouched").unwrap();
            if let Some(old) = old {
                store.write("key", old).unwrap();
            }
            let before = store.device().clone();
            let cuts = cut_everywhere(
                &before,
                |store| store.write("key", new),
                |store, done| {
                    let value = get(store, "key");
                    assert!(
                        value.as_deref() == Some(new) || !done && value.as_deref() == old,
                        "{done}"
                    );
                    assert_eq!(text(store, "other").as_deref(), Some("untouched"));
                },
            );
            assert!(cuts > 5);
        }
    }
}

#[test]
fn removal_and_erasure_survive_a_loss_of_power_at_any_sector() {
    let room = &mut self::room();
    let mut store = Store::new(card(FatType::Fat32), room);
    store.write("a", b"1").unwrap();
    store.write("b", &[2; 3000]).unwrap();
    store.write("c", &[3; 200]).unwrap();
    let before = store.device().clone();
    let all = |store: &mut Store<Memory>| ["a", "b", "c"].map(|key| get(store, key).is_some());
    let erased = |store: &mut Store<Memory>, done: bool| match all(store) {
        [false, false, false] => {}
        [true, true, true] => assert!(!done),
        other => panic!("{other:?}"),
    };
    cut_everywhere(&before, |store| store.erase(), erased);
    let removed = |store: &mut Store<Memory>, done: bool| match all(store) {
        [true, false, true] => {}
        [true, true, true] => assert!(!done),
        other => panic!("{other:?}"),
    };
    cut_everywhere(&before, |store| store.remove("b"), removed);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]
    #[test]
    fn store_behaves_like_a_map(steps in proptest::collection::vec((0usize..4, 0usize..300, any::<u8>()), 1..25)) {
        let room = &mut self::room();
        let mut store = Store::new(card(FatType::Fat16), room);
        let mut model = BTreeMap::new();
        for (key, length, byte) in steps {
            let key = ["ip", "idle_kernel", "a", "a.b"][key];
            let value = std::vec![byte; length];
            store.write(key, &value).unwrap();
            model.remove(key);
            if length > 0 {
                model.insert(key, value);
            }
            for key in ["ip", "idle_kernel", "a", "a.b"] {
                prop_assert_eq!(get(&mut store, key), model.get(key).cloned());
            }
        }
    }
}
