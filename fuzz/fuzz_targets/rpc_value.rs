//! Values of replies: arbitrary tag and bytes, and a kernel that provides memory as long as it has any.
#![no_main]

use kairos_proto::rpc::{Decoder, Signature, Source, Step};
use libfuzzer_sys::fuzz_target;

mod memory;
use memory::{Bytes, BASE};

struct Stream<'a>(&'a [u8]);

impl Source for Stream<'_> {
    type Error = ();
    fn read(&mut self, buffer: &mut [u8]) -> Result<(), ()> {
        if buffer.len() > self.0.len() {
            return Err(());
        }
        let (taken, rest) = self.0.split_at(buffer.len());
        buffer.copy_from_slice(taken);
        self.0 = rest;
        Ok(())
    }
}

const ROOM: u32 = 1 << 16;

fuzz_target!(|data: &[u8]| {
    let Some((&length, rest)) = data.split_first() else {
        return;
    };
    let (tag, value) = rest.split_at(usize::from(length).min(rest.len()));
    // As on the device, only tags that were checked as part of a call are decoded.
    let call = [b":", tag].concat();
    let Ok(signature) = Signature::parse(&call) else { return };
    let mut memory = Bytes(vec![0; ROOM as usize]);
    let mut decoder = Decoder::new(signature.result);
    let mut source = Stream(value);
    let (mut slot, mut next) = (BASE, BASE + 4096);
    // Each iteration consumes memory, so the loop terminates.
    while let Ok(Step::Allocate(bytes)) = decoder.resume(slot, &mut source, &mut memory) {
        assert!(bytes > 0 && bytes < 1 << 31);
        slot = next;
        next = match next.checked_add((bytes + 7) & !7) {
            Some(end) if end <= BASE + ROOM => end,
            _ => return,
        };
    }
});
