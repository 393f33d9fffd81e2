//! The journal: a persistent record of batches that change a device, which survives a sudden end of
//! the hub.
//!
//! Each device has a file with one line of fixed length, written in place before such a batch
//! begins and after it has ended. A hub that finds a batch begun but not ended, or loses a device
//! during one, reports this in its log, and among the device's subsystems until the next batch on
//! the device is complete. Written data in the page cache outlives the process; a crash of the
//! computer is not covered.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use kairos_contracts::batch::INSTRUCTION;
use kairos_proto::batch::Operation;

use crate::health::{Condition, Subsystem};

/// Length of the line in bytes, including trailing spaces and the line feed.
const LINE: usize = 64;
/// Start of the line for a batch that has not ended; followed by seconds since 1970 and the number
/// of its instructions.
const BEGUN: &str = "begun";
/// Start of the line for a batch that has ended.
const ENDED: &str = "ended";
/// Start of the line for a batch during which the device was lost.
const LOST: &str = "lost";
/// Name of the subsystem.
const NAME: &str = "batch";

/// The journal of a device.
#[derive(Debug, Default)]
pub struct Journal {
    device: String,
    path: PathBuf,
    /// None if the file cannot be opened.
    file: Option<File>,
    /// The report of an interrupted batch; initially that of the previous hub.
    left: Mutex<Option<String>>,
    /// Why the last write failed, if it did.
    unwritable: Mutex<Option<String>>,
}

impl Journal {
    /// Opens the journal in a folder, which is created if it is missing. If that fails, the log and
    /// the subsystem report it.
    pub fn open(folder: &Path, device: &str) -> Self {
        let mut journal = Self {
            device: device.into(),
            path: folder.join(format!("{device}.batch")),
            ..Self::default()
        };
        let opened = std::fs::create_dir_all(folder).and_then(|()| {
            let mut options = OpenOptions::new();
            let mut file = options
                .read(true)
                .write(true)
                .create(true)
                .truncate(false)
                .open(&journal.path)?;
            // One byte more than a line shows that there is more.
            let mut bytes = Vec::new();
            (&mut file).take(LINE as u64 + 1).read_to_end(&mut bytes)?;
            Ok((file, bytes))
        });
        match opened {
            Ok((file, bytes)) => {
                let left = left_over(&journal.path, &bytes);
                if let Some(left) = &left {
                    tracing::error!(device, "{left}");
                }
                journal.left = Mutex::new(left);
                journal.file = Some(file);
                if bytes.len() != LINE {
                    // Reserves the space, in case the disk is full later.
                    journal.write(ENDED);
                    if let Some(file) = &journal.file {
                        journal.note(file.set_len(LINE as u64));
                    }
                }
            }
            Err(error) => journal.note(Err(error)),
        }
        journal
    }

    /// Marks a batch as begun. Batches that change nothing, or have a single instruction, cannot be
    /// interrupted halfway and are not marked.
    pub fn begin(&self, program: &[u8]) -> OpenBatch<'_> {
        let instructions = program.len() / INSTRUCTION;
        if instructions < 2 || !changes(program) {
            return OpenBatch(None);
        }
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let about = format!("{:.3} {instructions}", since.as_secs_f64());
        self.write(&format!("{BEGUN} {about}"));
        OpenBatch(Some((self, about)))
    }

    fn write(&self, text: &str) {
        let line = format!("{text:<width$}\n", width = LINE - 1);
        if let Some(file) = &self.file {
            self.note(file.write_all_at(line.as_bytes(), 0));
        }
    }

    /// Records the result of a write; logs it if it changed.
    fn note(&self, written: io::Result<()>) {
        let why = written.err().map(|error| {
            let path = self.path.display();
            format!(
                "{path} cannot be written, {error}: a batch interrupted by the end of the hub could not be reported"
            )
        });
        let mut before = self.unwritable.lock().unwrap_or_else(PoisonError::into_inner);
        match &why {
            Some(why) if before.as_ref() != Some(why) => tracing::warn!(device = self.device, "{why}"),
            None if before.is_some() => {
                tracing::info!(device = self.device, "{} is written again", self.path.display())
            }
            _ => {}
        }
        *before = why;
    }

    /// The subsystem that reports interrupted batches and write errors, if any.
    pub fn subsystem(&self) -> Option<Subsystem> {
        let texts =
            [&self.left, &self.unwritable].map(|text| text.lock().unwrap_or_else(PoisonError::into_inner).clone());
        let texts: Vec<_> = texts.into_iter().flatten().collect();
        (!texts.is_empty()).then(|| Subsystem {
            name: NAME.into(),
            condition: Condition::Warning,
            text: texts.join("; "),
            values: BTreeMap::new(),
        })
    }
}

/// A batch that has begun. If dropped, it remains marked as begun.
#[must_use]
pub struct OpenBatch<'a>(Option<(&'a Journal, String)>);

impl OpenBatch<'_> {
    /// Marks the batch as ended; it may not have been executed.
    pub fn end(self) {
        if let Some((journal, _)) = self.0 {
            journal.write(ENDED);
            *journal.left.lock().unwrap_or_else(PoisonError::into_inner) = None;
        }
    }

    /// Marks that the device was lost during the batch, and reports it, since the client that
    /// requested the batch may be gone.
    pub fn lose(self, device: &str) {
        if let Some((journal, about)) = self.0 {
            let line = format!("{LOST} {about}");
            journal.write(&line);
            let left = interrupted(&line);
            if let Some(left) = &left {
                tracing::error!(device, "{left}");
            }
            *journal.left.lock().unwrap_or_else(PoisonError::into_inner) = left;
        }
    }
}

/// Whether a program may change anything; invalid instructions count as changes.
pub fn changes(program: &[u8]) -> bool {
    program.chunks(INSTRUCTION).any(|instruction| {
        let operation = instruction.first().map(|number| Operation::try_from(*number));
        !matches!(
            operation,
            Some(Ok(Operation::Read
                | Operation::Poll
                | Operation::Delay
                | Operation::Loop))
        )
    })
}

/// The report for the content of a file left by a previous hub.
fn left_over(path: &Path, content: &[u8]) -> Option<String> {
    let line = std::str::from_utf8(content).unwrap_or_default();
    if let Some(left) = interrupted(line) {
        return Some(left);
    }
    let is_known = content.is_empty() || line.split_whitespace().next() == Some(ENDED);
    (!is_known).then(|| {
        let path = path.display();
        format!("{path} is damaged: it is unknown whether the end of the previous hub interrupted a batch")
    })
}

/// The report for a line, if its batch has not ended.
pub fn interrupted(line: &str) -> Option<String> {
    let mut words = line.split_whitespace();
    let what = match words.next()? {
        BEGUN => "the hub ended",
        LOST => "the device was lost",
        _ => return None,
    };
    let when = words.next().and_then(date).unwrap_or_else(|| "?".into());
    // Only a number: it is shown, and the file may have any content.
    let count = words.next().and_then(|count| count.parse::<usize>().ok());
    let count = count.map_or_else(|| "?".into(), |count| count.to_string());
    Some(format!(
        "{what} during a batch of {count} instructions started {when}: it is unknown how much of it was executed"
    ))
}

/// The date for a number of seconds since 1970.
fn date(seconds: &str) -> Option<String> {
    let seconds: f64 = seconds.parse().ok()?;
    // Years with four digits.
    let since = (0.0..253_402_300_800.0)
        .contains(&seconds)
        .then(|| Duration::from_secs_f64(seconds))?;
    Some(httpdate::fmt_http_date(UNIX_EPOCH + since))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use kairos_proto::batch::Instruction;

    fn program(operations: &[Operation]) -> Vec<u8> {
        let bytes = operations.iter().map(|&operation| {
            let (a, b, c, d) = (0, 0, 0, 0);
            Instruction { operation, a, b, c, d }.to_bytes()
        });
        bytes.flatten().collect()
    }

    #[test]
    fn unfinished_batch_is_reported_until_the_next_has_ended() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path().join("state");
        let writes = program(&[Operation::Write, Operation::Write]);
        let first = Journal::open(&folder, "rack");
        assert!(first.subsystem().is_none());
        drop(first.begin(&writes));
        let second = Journal::open(&folder, "rack");
        assert!(second.subsystem().unwrap().text.contains("a batch of 2 instructions"));
        second.begin(&program(&[Operation::Read, Operation::Loop])).end();
        assert!(second.subsystem().is_some() && Journal::open(&folder, "rack").subsystem().is_some());
        second.begin(&writes).end();
        assert!(second.subsystem().is_none() && Journal::open(&folder, "rack").subsystem().is_none());
        assert!(Journal::open(&folder, "other").subsystem().is_none());
    }

    #[test]
    fn lost_device_is_reported_by_this_hub_and_the_next() {
        let folder = tempfile::tempdir().unwrap();
        let writes = program(&[Operation::Write, Operation::Write]);
        let first = Journal::open(folder.path(), "rack");
        first.begin(&writes).lose("rack");
        for journal in [&first, &Journal::open(folder.path(), "rack")] {
            assert!(journal
                .subsystem()
                .unwrap()
                .text
                .contains("the device was lost during a batch of 2"));
        }
        first.begin(&program(&[Operation::Read])).lose("rack");
        assert!(first.subsystem().is_some());
        first.begin(&writes).end();
        assert!(first.subsystem().is_none());
    }

    #[test]
    fn atomic_batch_is_not_marked() {
        let folder = tempfile::tempdir().unwrap();
        for operations in [
            &[Operation::Write][..],
            &[Operation::Read, Operation::Poll, Operation::Delay],
            &[],
        ] {
            drop(Journal::open(folder.path(), "rack").begin(&program(operations)));
            assert!(
                Journal::open(folder.path(), "rack").subsystem().is_none(),
                "{operations:?}"
            );
        }
        drop(Journal::open(folder.path(), "rack").begin(&program(&[Operation::Read, Operation::Modify])));
        assert!(Journal::open(folder.path(), "rack").subsystem().is_some());
    }

    #[test]
    fn damaged_journal_is_reported_until_a_batch_has_ended() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("rack.batch");
        let zeros = [0; LINE];
        let large = b"x".repeat(1 << 20);
        for content in [&b"\xff\xfe\x80"[..], b"\n\n", b"bogus 3 4\n", &zeros, &large] {
            fs::write(&path, content).unwrap();
            let journal = Journal::open(folder.path(), "rack");
            let text = journal.subsystem().unwrap().text;
            assert!(
                text.contains("rack.batch is damaged") && !text.contains("written"),
                "{text}"
            );
            journal.begin(&program(&[Operation::Write, Operation::Write])).end();
            assert!(journal.subsystem().is_none());
            assert_eq!(fs::read(&path).unwrap().len(), LINE);
        }
        fs::write(&path, "begun 1795447641.806 4").unwrap();
        assert!(Journal::open(folder.path(), "rack")
            .subsystem()
            .unwrap()
            .text
            .contains("4 instructions"));
    }

    proptest::proptest! {
        #[test]
        fn journal_with_any_content_is_opened(content: Vec<u8>) {
            let folder = tempfile::tempdir().unwrap();
            fs::write(folder.path().join("rack.batch"), &content).unwrap();
            let journal = Journal::open(folder.path(), "rack");
            journal.begin(&program(&[Operation::Write, Operation::Write])).end();
            proptest::prop_assert!(journal.subsystem().is_none());
        }
    }

    #[test]
    fn start_time_is_shown_as_date() {
        let texts = |line| interrupted(line).unwrap();
        assert!(texts("begun 1795447641.806 4").contains("4 instructions started Mon, 23 Nov 2026 15:27:21 GMT"));
        for line in ["begun", "begun x 4", "begun -1 4", "begun 1e30 4", "lost nan 4"] {
            assert!(texts(line).contains("started ?"), "{line}");
        }
        assert!(texts("begun 1 \u{1b}[2J").contains("a batch of ? instructions"));
    }

    #[test]
    fn unwritable_journal_is_reported() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let journal = Journal::open(file.path(), "rack");
        journal.begin(&program(&[Operation::Write, Operation::Write])).end();
        let text = journal.subsystem().unwrap().text;
        assert!(text.contains("rack.batch cannot be written"), "{text}");
    }

    #[test]
    fn full_disk_is_reported_while_it_is_full() {
        let folder = tempfile::tempdir().unwrap();
        let mut journal = Journal::open(folder.path(), "rack");
        assert_eq!(fs::read(folder.path().join("rack.batch")).unwrap().len(), LINE);
        let good = journal
            .file
            .replace(File::options().write(true).open("/dev/full").unwrap());
        let writes = program(&[Operation::Write, Operation::Write]);
        journal.begin(&writes).end();
        assert!(journal.subsystem().unwrap().text.contains("No space left on device"));
        journal.file = good;
        journal.begin(&writes).end();
        assert!(journal.subsystem().is_none());
    }
}
