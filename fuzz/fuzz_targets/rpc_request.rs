//! Requests as a broken kernel might make them: arbitrary tag and memory.
#![no_main]

use kairos_proto::exception::Record;
use kairos_proto::rpc::{encode_request, Sink};
use libfuzzer_sys::fuzz_target;

mod memory;
use memory::{Bytes, BASE};

/// Bytes after which encoding stops: lists that contain themselves, or whose elements take no
/// memory, are endless.
const ENOUGH: usize = 1 << 20;

/// Counts bytes and ends the run at `ENOUGH`; without a panic, which would count as a finding.
struct Count(usize);

impl Sink for Count {
    fn write(&mut self, bytes: &[u8]) {
        self.0 += bytes.len();
        if self.0 > ENOUGH {
            std::panic::resume_unwind(Box::new("enough"));
        }
    }
}

fuzz_target!(|data: &[u8]| {
    let Some((&length, rest)) = data.split_first() else {
        return;
    };
    let (tag, content) = rest.split_at(usize::from(length).min(rest.len()));
    let memory = Bytes(content.to_vec());
    let _ = std::panic::catch_unwind(|| {
        let _ = encode_request(&mut Count(0), &memory, 1, tag, BASE);
    });
    let _ = Record::read(&memory, BASE);
});
