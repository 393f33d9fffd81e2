//! What a loader reads: boot images, firmware, bitstreams, and requests from the network.
#![no_main]

use kairos_proto::bitstream::Bitstream;
use kairos_proto::boot_image::BootImage;
use kairos_proto::firmware::Firmware;
use kairos_proto::netboot::Request;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
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
