//! Inputs of a loader: boot images, firmware, bitstreams, and requests from the network.
#![no_main]

use kairos_proto::bitstream::Bitstream;
use kairos_proto::boards::Boards;
use kairos_proto::boot_image::{check, encode, BootImage, Destination, Machine, Named, Partition};
use kairos_proto::firmware::Firmware;
use kairos_proto::netboot::Request;
use kairos_proto::rpc::Sink;
use libfuzzer_sys::fuzz_target;

struct Out(Vec<u8>);

impl Sink for Out {
    fn write(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }
}

/// Checks that an image built from partitions reads back the same partitions.
fn images(data: &[u8]) {
    let (mut rest, mut list) = (data, Vec::new());
    while let Some(([kind, length, load, entry], behind)) = rest.split_first_chunk::<4>() {
        let (data, behind) = behind.split_at((*length as usize).min(behind.len()));
        let (load, entry) = (u32::from(*load), u32::from(*entry));
        let destination = match kind % 3 {
            0 => Destination::Memory,
            1 => Destination::Logic,
            _ => Destination::Other,
        };
        let name = &"a partition's name of a length that is too long for images"[..usize::from(kind % 53)];
        list.push(Named {
            name,
            partition: Partition {
                destination,
                load,
                entry,
                data,
            },
        });
        rest = behind;
    }
    let mut out = Out(Vec::new());
    if encode(&mut out, &list).is_ok() {
        let image = BootImage::parse(&out.0).unwrap();
        for (n, Named { partition, .. }) in list.iter().enumerate() {
            let read = image.partition(n).unwrap().unwrap();
            let (data, filler) = read.data.split_at(partition.data.len());
            assert_eq!(Partition { data, ..read }, *partition);
            assert!(filler.len() < 4);
        }
        assert_eq!(image.partition(list.len()), Ok(None));
    } else {
        assert!(out.0.is_empty());
    }
}

fuzz_target!(|data: &[u8]| {
    images(data);
    let _ = check(data, Machine::default());
    if let Some(boards) = Boards::find(data) {
        assert!(boards.chosen() < boards.iter().count());
        assert!(boards
            .choose(boards.chosen())
            .is_some_and(|(at, index)| data[at..at + 4] == index));
    }
    if let Ok(image) = BootImage::parse(data) {
        for n in 0.. {
            let Ok(Some(partition)) = image.partition(n) else { break };
            assert!(partition.data.len() <= data.len());
        }
    }
    let region = 0x10_0000..0x600_0000;
    if let Ok(firmware) = Firmware::parse(data, region.clone()) {
        for segment in firmware.segments() {
            assert!(region.contains(&(segment.address as usize)));
            assert!(segment.address as usize + segment.size as usize <= region.end);
            assert!(segment.data.len() <= segment.size as usize);
        }
    }
    if let Ok(found) = Bitstream::find(data, 0x0373_1093) {
        assert!(found.start + found.length <= data.len());
    }
    if let Ok((request, proof)) = Request::decode(data) {
        let (bytes, length) = request.encode();
        assert_eq!([&bytes[..length], &proof].concat(), data);
    }
});
