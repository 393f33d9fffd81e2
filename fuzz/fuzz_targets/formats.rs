//! Data that the device reads from its own memory and the card: channel names, exception reports,
//! the analyzer's ring; recorded traces; kernel archives; packets from other boards and from cards; requests for
//! measurements; and records between the cores.
#![no_main]

use kairos_proto::analyzer::{expand, is_pair, parts, MESSAGE};
use kairos_proto::archive;
use kairos_proto::device_map::DeviceMap;
use kairos_proto::dma;
use kairos_proto::drtio;
use kairos_proto::intercore::{BusTransfer, Report, SubkernelRun, SubkernelSend, SubkernelWait, TracePart, TracePlay};
use kairos_proto::kernel_message::{Header, HEADER_LENGTH};
use kairos_proto::layout::Layout;
use kairos_proto::link::{Envelope, Packet, MESSAGE_MAX, PACKET_MAX};
use kairos_proto::paths::{Measurement, LENGTH, SIZE_MAX, TOTAL_MAX, TRIALS_MAX};
use kairos_proto::summary::Summary;
use libfuzzer_sys::fuzz_target;

fn names(bytes: &[u8]) {
    let Ok(map) = DeviceMap::new(bytes) else { return };
    let mut again = (map.entries().count() as u32).to_le_bytes().to_vec();
    for (channel, name) in map.entries() {
        assert!(map.name(channel).is_some());
        again.extend(channel.to_le_bytes());
        again.extend((name.len() as u32).to_le_bytes());
        again.extend(name.as_bytes());
    }
    assert_eq!(again, bytes);
    assert!(map.duplicate().is_none_or(|channel| map.name(channel).is_some()));
}

fn summary(report: &[u8]) {
    if let Some(summary) = Summary::read(report) {
        // Each placeholder has three bytes and is replaced by a number of at most 20.
        assert!(summary.to_string().len() <= 100 + 7 * report.len());
    }
}

fn analyzer(ring: &[u8]) {
    for unit in ring.as_chunks::<MESSAGE>().0 {
        let (first, second) = expand(unit);
        assert_eq!(second.is_some(), is_pair(unit));
        for message in [first].into_iter().chain(second).filter(|_| is_pair(unit)) {
            assert!(message[31] & 3 <= 1 && message[..4] == [0; 4]);
        }
    }
    if let Some((numbers, _)) = ring.split_first_chunk::<12>() {
        let (total, size) = numbers.split_at(8);
        let total = u64::from_le_bytes(total.try_into().unwrap());
        let size = u32::from_le_bytes(size.try_into().unwrap()).max(1) as usize;
        let [older, newer] = parts(total, size);
        assert!(older.end <= size && newer.end <= size);
        assert_eq!((older.len() + newer.len()) as u64, total.min(size as u64));
    }
}

fn trace(event: &[u8]) {
    let Some((head, data)) = event.split_first_chunk::<20>() else {
        return;
    };
    let number = |at: usize| i64::from_le_bytes(head[at..at + 8].try_into().unwrap());
    let target = u32::from_le_bytes(head[16..].try_into().unwrap());
    let words = data
        .as_chunks::<4>()
        .0
        .iter()
        .take(16)
        .map(|word| u32::from_le_bytes(*word));
    if words.len() > 0 {
        let mut written = Vec::new();
        dma::encode(number(0), target, number(8), words, |word| written.push(word));
        assert!(written.len() % 2 == 0 && written.len() <= 4 + 20);
        // Not what ends a trace.
        assert_ne!(written[..2], dma::END);
    }
}

fn link(bytes: &[u8]) {
    if let Ok(packet) = Packet::decode(bytes) {
        let mut out = [0; PACKET_MAX];
        let length = packet.encode(&mut out);
        assert_eq!(Packet::decode(&out[..length]), Ok(packet));
    }
    if let Ok(envelope) = Envelope::decode(bytes) {
        let mut out = [0; MESSAGE_MAX];
        let length = envelope.encode(&mut out);
        assert_eq!(out[..length], bytes[..length]);
    }
}

fn card(bytes: &[u8]) {
    if let Ok(packet) = drtio::Packet::decode(bytes) {
        let mut out = [0; drtio::CONTENT_MAX];
        let length = packet.encode(&mut out).expect("it came from a packet");
        assert_eq!(drtio::Packet::decode(&out[..length]), Ok(packet));
    }
    if let Ok(content) = drtio::open(bytes) {
        let mut packet = [0; drtio::AUXILIARY_MAX];
        packet[..content.len()].copy_from_slice(content);
        let length = drtio::seal(&mut packet, content.len());
        assert_eq!(packet[..length], *bytes);
    }
}

fn order(bytes: &[u8]) {
    let Some((bytes, _)) = bytes.split_first_chunk::<HEADER_LENGTH>() else {
        return;
    };
    if let Some(head) = Header::decode(bytes) {
        assert_eq!(Header::decode(&head.encode()), Some(head));
    }
}

fn measurement(bytes: &[u8]) {
    let Some((bytes, _)) = bytes.split_first_chunk::<LENGTH>() else {
        return;
    };
    let asked = Measurement::from_bytes(bytes);
    assert_eq!(asked.to_bytes(), *bytes);
    if asked.path().is_some() {
        assert!(asked.size <= SIZE_MAX && asked.trials <= TRIALS_MAX && asked.size * asked.trials <= TOTAL_MAX);
    }
}

fn kernels(bytes: &[u8]) {
    let mut end = 0;
    let mut wrong = false;
    for part in archive::parts(bytes) {
        assert!(!wrong, "after a mistake there are no more");
        wrong = part.is_err();
        if let Ok(part) = part {
            assert!(end < part.place.start && part.place.end <= bytes.len());
            end = part.place.end;
        }
    }
}

fn record<L: Layout + PartialEq + std::fmt::Debug>(bytes: &[u8]) {
    if let Ok(record) = L::decode(bytes) {
        assert_eq!(L::decode(record.encode().as_ref()), Ok(record));
    }
}

fn between_cores(bytes: &[u8]) {
    record::<SubkernelRun>(bytes);
    record::<SubkernelWait>(bytes);
    record::<SubkernelSend>(bytes);
    record::<TracePart>(bytes);
    record::<TracePlay>(bytes);
    record::<BusTransfer>(bytes);
    record::<Report>(bytes);
}

fuzz_target!(|data: &[u8]| {
    names(data);
    summary(data);
    analyzer(data);
    trace(data);
    link(data);
    card(data);
    order(data);
    measurement(data);
    kernels(data);
    between_cores(data);
});
