//! The analyzer of a board: the gateware records to a ring in memory from boot on.
//!
//! For a dump (wire protocols, section 4) the recording is stopped, the ring is copied, and the
//! recording is restarted at once, so that little is missed and a slow client does not delay it.
//! Without gateware, or if it has no analyzer, nothing is recorded.

use kairos_chip::gic::barrier;
use kairos_contracts::registers::analyzer;
use kairos_intercore::memory::ANALYZER;
use kairos_pl::{Register, Register64};
use kairos_proto::analyzer::{expand, is_pair, parts, DumpHeader, MESSAGE};
use kairos_proto::descriptor::{ChannelKind, Descriptor};

use crate::uncleared::uncleared;
use crate::wire::{Lost, Wire};

/// Size of the ring, in bytes.
pub const RING: usize = 512 * 1024;
/// Number of polls of `analyzer_busy` within which writes in flight must complete.
const POLLS: u32 = 10_000;
/// Units sent at a time.
const CHUNK: usize = 32;

const _: () = assert!(RING <= ANALYZER.end - ANALYZER.start && RING.is_multiple_of(MESSAGE));

struct Registers {
    enable: Register,
    busy: Register,
    base: Register,
    last: Register,
    pack: Register,
    lossless: Register,
    byte_count: Register64,
    message_count: Register64,
    overflow: Register,
    bus_error: Register,
}

impl Registers {
    fn find(descriptor: &Descriptor) -> Option<Self> {
        let find = |name| Register::find(descriptor, name);
        Some(Self {
            enable: find(analyzer::ENABLE)?,
            busy: find(analyzer::BUSY)?,
            base: find(analyzer::BASE)?,
            last: find(analyzer::LAST)?,
            pack: find(analyzer::PACK)?,
            lossless: find(analyzer::LOSSLESS)?,
            byte_count: Register64::find(descriptor, analyzer::BYTE_COUNT)?,
            message_count: Register64::find(descriptor, analyzer::MESSAGE_COUNT)?,
            overflow: find(analyzer::OVERFLOW)?,
            bus_error: find(analyzer::BUS_ERROR)?,
        })
    }

    /// Starts recording at the beginning of the ring.
    fn arm(&self) {
        self.base.write(ANALYZER.start as u32);
        self.last.write((ANALYZER.start + RING - 1) as u32);
        self.pack.write(1);
        self.lossless.write(0);
        self.enable.write(1);
    }

    /// Stops recording; false if the gateware stays busy.
    fn disarm(&self) -> bool {
        self.enable.write(0);
        let rests = (0..POLLS).any(|_| self.busy.read() == 0);
        barrier();
        rests
    }
}

/// The analyzer, and a copy of its ring.
pub struct Analyzer {
    registers: Option<Registers>,
    log_channel: u8,
    copy: &'static mut [u8; RING],
}

/// A recording.
pub struct Record<'a> {
    units: &'a [[u8; MESSAGE]],
    /// Messages since the recording started, including overwritten ones.
    messages: u64,
    error: bool,
    log_channel: u8,
}

impl Analyzer {
    /// Starts recording. Called once.
    pub fn start() -> Self {
        let descriptor = kairos_pl::descriptor().ok();
        let registers = descriptor.as_ref().and_then(Registers::find);
        let log_channel = descriptor.as_ref().and_then(|descriptor| {
            let log = descriptor.channels().find(|channel| channel.kind == ChannelKind::LOG)?;
            u8::try_from(log.number).ok().filter(|number| *number < 128)
        });
        if let Some(registers) = &registers {
            // After a reset of this core alone the gateware is still recording.
            registers.disarm();
            registers.arm();
        }
        Self {
            registers,
            log_channel: log_channel.unwrap_or(0),
            copy: uncleared!(RING),
        }
    }

    /// Copies the ring, oldest byte first, and restarts the recording.
    pub fn take(&mut self) -> Record<'_> {
        let mut record = Record {
            units: &[],
            messages: 0,
            error: false,
            log_channel: self.log_channel,
        };
        let Some(registers) = &self.registers else {
            return record;
        };
        if !registers.disarm() {
            log::error!("the analyzer does not stop");
            record.error = true;
            return record;
        }
        let mut length = 0;
        for part in parts(registers.byte_count.read(), RING) {
            // SAFETY: the ring's memory, which is not written now.
            let part = unsafe {
                core::slice::from_raw_parts((ANALYZER.start + part.start) as *const u8, part.end - part.start)
            };
            self.copy[length..length + part.len()].copy_from_slice(part);
            length += part.len();
        }
        record.messages = registers.message_count.read();
        record.error = registers.overflow.read() | registers.bus_error.read() != 0;
        registers.arm();
        record.units = self.copy[..length].as_chunks::<MESSAGE>().0;
        record
    }
}

impl Record<'_> {
    /// The header of a dump of the units that `is_included` selects.
    pub fn head(&self, is_included: impl Fn(&[u8; MESSAGE]) -> bool) -> DumpHeader {
        let bytes = |included: bool| {
            let units = self.units.iter().filter(|unit| is_included(unit) == included);
            units.map(|unit| MESSAGE << u32::from(is_pair(unit))).sum::<usize>()
        };
        DumpHeader {
            sent_bytes: bytes(true) as u32,
            total_bytes: (self.messages * MESSAGE as u64).saturating_sub(bytes(false) as u64),
            error: self.error,
            log_channel: self.log_channel,
        }
    }

    /// Sends the messages of the units that `is_included` selects.
    ///
    /// # Errors
    /// [`Lost`].
    pub async fn send(&self, wire: &mut impl Wire, is_included: impl Fn(&[u8; MESSAGE]) -> bool) -> Result<(), Lost> {
        for chunk in self.units.chunks(CHUNK) {
            let mut bytes = heapless::Vec::<u8, { 2 * CHUNK * MESSAGE }>::new();
            for unit in chunk.iter().filter(|unit| is_included(unit)) {
                let (first, second) = expand(unit);
                // Cannot fail: there is space for two messages of each unit.
                let _ = bytes.extend_from_slice(&first);
                if let Some(second) = second {
                    let _ = bytes.extend_from_slice(&second);
                }
            }
            wire.write_all(&bytes).await?;
        }
        Ok(())
    }
}
