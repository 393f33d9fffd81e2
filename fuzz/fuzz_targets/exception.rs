//! Exceptions sent by the host, and reports of exceptions whose records were written by a broken
//! kernel: arbitrary bytes.
#![no_main]

use kairos_proto::exception::{write_report, Extent, Frame, Record, RECORD_SIZE};
use kairos_proto::rpc::Sink;
use libfuzzer_sys::fuzz_target;

mod memory;
use memory::{Bytes, BASE};

/// The report as the host would receive it.
struct Report(Vec<u8>);

impl Sink for Report {
    fn write(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }
}

fuzz_target!(|data: &[u8]| {
    if let Some(message) = data.first_chunk() {
        let _ = Record::from_host(message);
    }
    let memory = Bytes(data.to_vec());
    let records: Vec<Record> = (0..3)
        .filter_map(|index| Record::read(&memory, BASE + index * RECORD_SIZE).ok())
        .collect();
    let exceptions = records.iter().map(|record| (record, Extent::default()));
    let mut report = Report(Vec::new());
    let channel = |number: u32| (number < 4).then_some("ttl0");
    write_report(&mut report, &memory, exceptions, &[Frame::default()], channel);
    // The size of the report is bounded by that of the memory.
    assert!(report.0.len() <= 4096 + 12 * data.len());
    assert_eq!(report.0[..4], (records.len() as u32).to_le_bytes());
});
