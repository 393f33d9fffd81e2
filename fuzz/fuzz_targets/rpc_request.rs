//! A request as a broken kernel might make it: any tag, any memory.
#![no_main]

use kairos_proto::exception::Record;
use kairos_proto::rpc::{encode_request, Sink};
use libfuzzer_sys::fuzz_target;

mod memory;
use memory::{Bytes, BASE};

/// Counts, and stops the run when a request repeats more than any memory holds: elements without size may be many.
struct Count(usize);

impl Sink for Count {
    fn write(&mut self, bytes: &[u8]) {
        self.0 += bytes.len();
    }
}

fuzz_target!(|data: &[u8]| {
    let Some((&length, rest)) = data.split_first() else {
        return;
    };
    let (tag, content) = rest.split_at(usize::from(length).min(rest.len()));
    // Counts in memory are cut to 12 bits, or a list of a thousand million empty tuples would take all day.
    let mut content = content.to_vec();
    for word in content.chunks_exact_mut(4) {
        if word[3] != (BASE >> 24) as u8 {
            (word[1], word[2], word[3]) = (word[1] & 15, 0, 0);
        }
    }
    let memory = Bytes(content);
    let _ = encode_request(&mut Count(0), &memory, 1, tag, BASE);
    let _ = Record::read(&memory, BASE);
});
