//! The newest events of a core device. A device sends each event only once, to the first client
//! that asks; the hub is this client and keeps the events for its own clients.

use std::collections::VecDeque;
use std::future::Future;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use kairos_proto::analyzer::{DumpHeader, Event, HEAD, MESSAGE};
use tokio::io::AsyncReadExt;
use tokio::net::TcpStream;
use tokio::sync::Mutex as AsyncMutex;
use tokio::time::{timeout, Instant};
use tonic::Status;

/// Maximum number of events kept: 8 MiB in encoded form.
pub const EVENTS_MAX: usize = 1 << 18;
/// Maximum length of a dump: larger than the rings of all boards that a device can have.
const DUMP_MAX: usize = 64 << 20;
/// Boards finish their parts of a dump one after the other, so events of the next dump may precede
/// the newest ones of this dump by up to this many machine units, which are at least 10 s.
const SKEW_MAX: u64 = 10_000_000_000;
/// Time limit for the next bytes of a dump.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(15);

/// A message of a dump in its encoded form.
pub type Unit = [u8; MESSAGE];

/// The record of a device.
pub struct Record {
    /// Host and port of the analyzer's service.
    address: String,
    /// When the newest dump was requested. The lock serialises requests.
    asked: AsyncMutex<Option<Instant>>,
    kept: Mutex<Kept>,
}

/// The events kept. They are numbered from 0 since the start of the hub.
#[derive(Default)]
struct Kept {
    units: VecDeque<Unit>,
    /// Number of the first one.
    first: u64,
    log_channel: u8,
    /// Numbers of events before which the analyzer has lost some.
    gaps: VecDeque<u64>,
}

/// A range of events.
#[derive(Debug, Default, PartialEq)]
pub struct Part {
    pub units: Vec<Unit>,
    /// Number of the first one.
    pub first: u64,
    /// Whether the analyzer has lost events before one of these.
    pub incomplete: bool,
}

impl Part {
    /// The number after the last event.
    pub fn end(&self) -> u64 {
        self.first + self.units.len() as u64
    }
}

impl Record {
    pub fn new(address: String) -> Self {
        Self {
            address,
            asked: AsyncMutex::default(),
            kept: Mutex::default(),
        }
    }

    fn kept(&self) -> std::sync::MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Fetches new events from the device, unless they were requested at most `age` ago.
    /// UNAVAILABLE on failure.
    pub async fn refresh(&self, age: Duration) -> Result<(), Status> {
        let wanted = Instant::now();
        let mut asked = self.asked.lock().await;
        if asked.is_some_and(|asked| asked + age >= wanted) {
            return Ok(());
        }
        let now = Instant::now();
        let (head, units) = dump(&self.address)
            .await
            .map_err(|why| Status::unavailable(format!("the analyzer at {} does not answer: {why}", self.address)))?;
        *asked = Some(now);
        self.kept().add(&head, units);
        Ok(())
    }

    /// The number after the newest event.
    pub fn end(&self) -> u64 {
        let kept = self.kept();
        kept.first + kept.units.len() as u64
    }

    /// At most `count` events starting at number `from`, or at the oldest one kept.
    pub fn part(&self, from: u64, count: usize) -> Part {
        let kept = self.kept();
        let first = from.max(kept.first);
        let skipped = usize::try_from(first - kept.first).unwrap_or(usize::MAX);
        let units: Vec<_> = kept.units.iter().skip(skipped).take(count).copied().collect();
        let end = first + units.len() as u64;
        Part {
            incomplete: kept.gaps.iter().any(|at| (first..end).contains(at)),
            units,
            first,
        }
    }

    /// The number of the oldest among the newest `count` events for which `wanted` holds.
    pub fn newest(&self, count: usize, wanted: impl Fn(&Event) -> bool) -> u64 {
        let kept = self.kept();
        let found = kept.units.iter().enumerate().rev();
        let mut found = found.filter(|(_, unit)| wanted(&Event::decode(unit))).take(count);
        kept.first + found.by_ref().last().map_or(kept.units.len(), |(at, _)| at) as u64
    }

    /// The head of a dump with these events.
    pub fn head(&self, part: &Part) -> DumpHeader {
        let bytes = MESSAGE * part.units.len();
        DumpHeader {
            sent_bytes: bytes as u32,
            total_bytes: bytes as u64,
            error: part.incomplete,
            log_channel: self.kept().log_channel,
        }
    }
}

impl Kept {
    fn add(&mut self, head: &DumpHeader, mut units: Vec<Unit>) {
        self.log_channel = head.log_channel;
        // A dump contains the events of one board after those of another.
        units.sort_by_key(|unit| Event::decode(unit).counter);
        let counter = |unit: Option<&Unit>| unit.map(|unit| Event::decode(unit).counter);
        if let (Some(from), Some(before)) = (counter(units.first()), counter(self.units.back())) {
            if from.saturating_add(SKEW_MAX) < before || counter(units.last()) < Some(before) {
                // The device has restarted, so earlier times are not comparable.
                self.first += self.units.len() as u64;
                self.units.clear();
            }
        }
        let end = self.first + self.units.len() as u64;
        if head.error || is_overwritten(head, &units) {
            self.gaps.push_back(end);
        }
        self.units.extend(units);
        let excess = self.units.len().saturating_sub(EVENTS_MAX);
        self.units.drain(..excess);
        self.first += excess as u64;
        self.gaps.retain(|at| *at >= self.first);
    }
}

/// Whether the ring overflowed. A unit of the ring may yield two messages, so more messages than
/// bytes is no sign of loss, but fewer is.
fn is_overwritten(head: &DumpHeader, units: &[Unit]) -> bool {
    head.total_bytes > (MESSAGE * units.len()) as u64
}

/// Fetches a dump from the analyzer. The error explains why there is none.
async fn dump(address: &str) -> Result<(DumpHeader, Vec<Unit>), String> {
    let mut stream = in_time(TcpStream::connect(address)).await?;
    let mut head = [0; HEAD];
    in_time(stream.read_exact(&mut head)).await?;
    let head = DumpHeader::decode(&head).ok_or("it did not send a dump")?;
    let length = head.sent_bytes as usize;
    if length > DUMP_MAX || !length.is_multiple_of(MESSAGE) {
        return Err(format!("it announces {length} bytes, which is not a valid dump"));
    }
    let mut units = Vec::new();
    let mut unit = [0; MESSAGE];
    let mut reader = tokio::io::BufReader::with_capacity(1 << 16, stream);
    for _ in 0..length / MESSAGE {
        in_time(reader.read_exact(&mut unit)).await?;
        units.push(unit);
    }
    Ok((head, units))
}

async fn in_time<T>(work: impl Future<Output = std::io::Result<T>>) -> Result<T, String> {
    match timeout(ANSWER_TIMEOUT, work).await {
        Ok(Ok(done)) => Ok(done),
        Ok(Err(error)) => Err(error.to_string()),
        Err(_) => Err(format!("no data for {} s", ANSWER_TIMEOUT.as_secs())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::AsyncWriteExt;
    use tokio::net::TcpListener;

    fn unit(counter: u64) -> Unit {
        let mut unit = [0; MESSAGE];
        unit[12..20].copy_from_slice(&counter.to_be_bytes());
        unit
    }

    fn head(units: &[Unit], lost: u64) -> DumpHeader {
        let sent_bytes = (MESSAGE * units.len()) as u32;
        DumpHeader {
            sent_bytes,
            total_bytes: u64::from(sent_bytes) + MESSAGE as u64 * lost,
            ..DumpHeader::default()
        }
    }

    fn add(record: &Record, counters: impl IntoIterator<Item = u64>, lost: u64) {
        let units: Vec<_> = counters.into_iter().map(unit).collect();
        record.kept().add(&head(&units, lost), units);
    }

    fn counters(part: &Part) -> Vec<u64> {
        part.units.iter().map(|unit| Event::decode(unit).counter).collect()
    }

    #[test]
    fn full_record_keeps_the_newest_events() {
        let record = Record::new(String::new());
        add(&record, [3, 1, 2], 0);
        assert_eq!(counters(&record.part(0, 2)), [1, 2]);
        add(&record, [4], 0);
        let part = record.part(2, 9);
        assert_eq!((counters(&part), part.first, part.end()), (vec![3, 4], 2, 4));
        add(&record, 5..5 + EVENTS_MAX as u64, 0);
        let part = record.part(0, usize::MAX);
        assert_eq!((part.first, part.units.len(), counters(&part)[0]), (4, EVENTS_MAX, 5));
        assert_eq!(record.part(record.end(), 9).units, Vec::<Unit>::new());
    }

    #[test]
    fn missing_messages_mark_the_part_incomplete() {
        let record = Record::new(String::new());
        add(&record, [1], 0);
        add(&record, [2, 3], 7);
        assert!(!record.part(0, 1).incomplete && record.part(0, 2).incomplete && !record.part(2, 1).incomplete);
    }

    #[test]
    fn restarted_device_starts_a_new_record() {
        let record = Record::new(String::new());
        add(&record, [1000, 2000], 0);
        add(&record, [5, 6], 0);
        let part = record.part(0, 9);
        assert_eq!((counters(&part), part.first), (vec![5, 6], 2));
        add(&record, [], 0);
        assert_eq!(counters(&record.part(0, 9)), [5, 6]);
        add(&record, [4, 7], 0);
        assert_eq!(counters(&record.part(0, 9)), [5, 6, 4, 7]);
        assert_eq!(record.newest(2, |event| event.counter > 4), 3);
        assert_eq!(
            (record.newest(9, |_| true), record.newest(0, |_| true)),
            (2, record.end())
        );
    }

    #[tokio::test]
    async fn invalid_dump_is_refused_and_record_stays_empty() {
        for (bytes, text) in [
            (&b""[..], "eof"),
            (b"HTTP/1.1 400 Bad", "not send a dump"),
            (
                &DumpHeader {
                    sent_bytes: 33,
                    ..DumpHeader::default()
                }
                .encode(),
                "33 bytes",
            ),
            (
                &DumpHeader {
                    sent_bytes: u32::MAX - 31,
                    ..DumpHeader::default()
                }
                .encode(),
                "not a valid dump",
            ),
            (
                &DumpHeader {
                    sent_bytes: 32,
                    ..DumpHeader::default()
                }
                .encode(),
                "eof",
            ),
        ] {
            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            let record = Record::new(listener.local_addr().unwrap().to_string());
            let serve = async {
                let mut stream = listener.accept().await.unwrap().0;
                stream.write_all(bytes).await.unwrap();
            };
            let (failed, ()) = tokio::join!(record.refresh(Duration::ZERO), serve);
            let failed = failed.unwrap_err();
            assert!(failed.message().contains(text), "{failed}");
            assert_eq!(record.end(), 0);
        }
    }

    #[tokio::test]
    async fn simultaneous_requests_share_one_dump() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let record = Record::new(listener.local_addr().unwrap().to_string());
        let serve = async {
            let mut stream = listener.accept().await.unwrap().0;
            stream.write_all(&head(&[unit(1)], 0).encode()).await.unwrap();
            stream.write_all(&unit(1)).await.unwrap();
        };
        let minute = Duration::from_secs(60);
        let (one, other, ()) = tokio::join!(record.refresh(minute), record.refresh(minute), serve);
        assert!(one.is_ok() && other.is_ok() && record.end() == 1);
    }
}
