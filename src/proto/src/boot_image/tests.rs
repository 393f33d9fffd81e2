//! Written images are parsed again, and compared by offset; damage is detected.

extern crate std;
use super::*;
use proptest::prelude::*;
use std::string::String;
use std::vec::Vec;

fn image(partitions: &[[u32; FIELDS]]) -> Vec<u8> {
    let mut file = std::vec![0; 0xc0];
    file[0x24..0x28].copy_from_slice(SIGNATURE);
    file[TABLE..TABLE + 4].copy_from_slice(&0xc0u32.to_le_bytes());
    for fields in partitions.iter().chain([&[0; FIELDS]]) {
        let sum = fields.iter().fold(0u32, |sum, word| sum.wrapping_add(*word));
        file.extend(fields.iter().chain([&!sum]).flat_map(|word| word.to_le_bytes()));
    }
    file
}

#[test]
fn partitions_are_listed_up_to_the_empty_one() {
    let mut logic = [0; FIELDS];
    [logic[0], logic[1], logic[2], logic[5], logic[6]] = [2, 2, 2, 9, 0x20];
    let mut program = logic;
    [program[3], program[4], program[6]] = [0x10_0000, 0x10_0040, 0x10];
    let file = image(&[logic, program]);
    let parsed = BootImage::parse(&file).unwrap();
    assert_eq!(parsed.partition(0).unwrap().unwrap().destination, Destination::Logic);
    let program = parsed.partition(1).unwrap().unwrap();
    assert_eq!(
        (program.load, program.entry, program.data),
        (0x10_0000, 0x10_0040, &file[36..44])
    );
    assert_eq!(parsed.partition(2), Ok(None));
}

#[test]
fn damaged_image_is_refused_with_its_reason() {
    let mut entry = [0; FIELDS];
    [entry[0], entry[1], entry[5]] = [2, 2, 1 << 20];
    let first = |file: &[u8]| BootImage::parse(file)?.partition(0).map(|_| ());
    assert_eq!(first(&image(&[entry])), Err(Error::Truncated));
    let mut file = image(&[entry]);
    file[0xc4] ^= 1;
    assert_eq!(first(&file), Err(Error::Checksum(0)));
    entry[0] = 1;
    assert_eq!(first(&image(&[entry])), Err(Error::Secure(0)));
    assert_eq!(first(&[0; 100]), Err(Error::NotImage));
}

fn memory(load: u32, entry: u32, data: &[u8]) -> Partition<'_> {
    let destination = Destination::Memory;
    Partition {
        destination,
        load,
        entry,
        data,
    }
}

const fn named<'a>(name: &'a str, partition: Partition<'a>) -> Named<'a> {
    Named { name, partition }
}

/// The offsets read by the boot ROM and the vendor's tools.
#[test]
fn written_image_has_the_documented_offsets() {
    let mut file = Vec::new();
    let logic = Partition {
        destination: Destination::Logic,
        ..memory(0, 0, &[7; 8])
    };
    encode(
        &mut file,
        &[named("boot.elf", memory(0, 0x20, b"12345")), named("pl", logic)],
    )
    .unwrap();
    let word = |at: usize| u32_at(&file, at).unwrap();
    assert_eq!(
        (word(0), word(0x1c), word(0x20)),
        (0xeaff_fffe, 0xeaff_fffe, 0xaa99_5566)
    );
    assert_eq!(
        (&file[0x24..0x28], word(0x28), word(0x2c)),
        (&b"XNLX"[..], 0, 0x0101_0000)
    );
    let (offset, length, load, entry) = (word(0x30), word(0x34), word(0x38), word(0x3c));
    assert_eq!((offset, length, load, entry, word(0x40)), (0xe80, 8, 0, 0x20, 8));
    let sum = (0x20..0x48).step_by(4).fold(0u32, |sum, at| sum.wrapping_add(word(at)));
    assert_eq!(word(0x48), !sum);
    assert_eq!((word(0x98), word(0x9c)), (0x8c0, 0x980));
    assert_eq!((word(0xa0), word(0xa4), word(0x898), word(0x8a0)), (!0, 0, !0, 0));
    assert_eq!(
        [0x8c0, 0x8c4, 0x8c8, 0x8cc].map(word),
        [0x0102_0000, 2, 0x980 / 4, 0x900 / 4]
    );
    assert_eq!([0x900, 0x904, 0x908, 0x90c].map(word), [0x940 / 4, 0x980 / 4, 0, 1]);
    assert_eq!(&file[0x910..0x91c], b"toobfle.\0\0\0\0");
    assert_eq!([0x940, 0x944].map(word), [0, 0x9c0 / 4]);
    assert_eq!([0x9c0, 0x9c4, 0x9c8].map(word), [2; 3]);
    assert_eq!([0x9d4, 0x9d8, 0x9dc, 0x9e4].map(word), [0xec0 / 4, 0x20, 1, 0x940 / 4]);
    assert_eq!(
        (&file[0xe80..0xe88], &file[0xec0..]),
        (&b"12345\0\0\0"[..], &[7; 8][..])
    );
}

#[test]
fn invalid_content_is_refused_and_writes_no_byte() {
    let loader = named("loader", memory(0, 0, b""));
    let refused = |partitions: &[Named]| {
        let mut file = Vec::new();
        let error = encode(&mut file, partitions).unwrap_err();
        assert!(file.is_empty());
        error
    };
    assert_eq!(refused(&[]), Unfit::Partitions(0));
    assert_eq!(refused(&[loader; 15]), Unfit::Partitions(15));
    let long = ["x"; 48].concat();
    assert_eq!(refused(&[loader, named(&long, loader.partition)]), Unfit::Name(1));
    assert_eq!(refused(&[named("a\0b", loader.partition)]), Unfit::Name(0));
    assert_eq!(refused(&[named("far", memory(64, 0, b""))]), Unfit::Loader);
}

/// A partition's name, destination, load address, entry point and data.
type OwnedPartition = (String, Destination, u32, u32, Vec<u8>);

fn partitions() -> impl Strategy<Value = Vec<OwnedPartition>> {
    let destination = prop_oneof![
        Just(Destination::Memory),
        Just(Destination::Logic),
        Just(Destination::Other)
    ];
    let data = proptest::collection::vec(any::<u8>(), 0..300);
    let one = ("[a-z.0-9]{0,47}", destination, any::<u32>(), any::<u32>(), data);
    proptest::collection::vec(one, 1..=PARTITIONS).prop_map(|mut all| {
        (all[0].1, all[0].2) = (Destination::Memory, 0);
        all
    })
}

proptest! {
    #[test]
    fn written_partitions_are_read_back(made in partitions()) {
        let list: Vec<Named> = made
            .iter()
            .map(|(name, destination, load, entry, data)| {
                let partition = Partition { destination: *destination, ..memory(*load, *entry, data) };
                named(name, partition)
            })
            .collect();
        let mut file = Vec::new();
        encode(&mut file, &list).unwrap();
        let image = BootImage::parse(&file).unwrap();
        for (n, Named { partition, .. }) in list.iter().enumerate() {
            let read = image.partition(n).unwrap().unwrap();
            let (data, filler) = read.data.split_at(partition.data.len());
            prop_assert_eq!(Partition { data, ..read }, *partition);
            prop_assert!(filler.len() < 4 && filler.iter().all(|byte| *byte == 0));
        }
        prop_assert_eq!(image.partition(list.len()), Ok(None));
    }

    #[test]
    fn arbitrary_partition_header_never_panics(fields in any::<[u32; FIELDS]>(), cut in 0usize..400) {
        let file = image(&[fields]);
        if let Ok(image) = BootImage::parse(&file[..cut.min(file.len())]) {
            let _ = image.partition(0);
        }
    }
}
