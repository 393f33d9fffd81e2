//! The gateware's DMA player (`docs/gateware/dma.md`).

use kairos_contracts::registers::dma;
use kairos_contracts::rtio::DmaFormat;
use kairos_proto::descriptor::Descriptor;

use crate::{Register, Register64};

/// The player's registers.
#[derive(Clone, Copy)]
pub struct Player {
    enable: Register,
    busy: Register,
    base: Register,
    time_offset: Register64,
    format: Register,
    error: Register,
    error_channel: Register,
    error_timestamp: Register64,
}

/// Why a trace ended early: bits of `dma_error`, and the channel and time of the event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Failed {
    pub bits: u32,
    pub channel: u32,
    pub time: i64,
}

impl Player {
    /// Finds the player; `None` if this gateware has no DMA.
    pub fn find(descriptor: &Descriptor) -> Option<Self> {
        let find = |name| Register::find(descriptor, name);
        Some(Self {
            enable: find(dma::ENABLE)?,
            busy: find(dma::BUSY)?,
            base: find(dma::BASE)?,
            time_offset: Register64::find(descriptor, dma::TIME_OFFSET)?,
            format: find(dma::FORMAT)?,
            error: find(dma::ERROR)?,
            error_channel: find(dma::ERROR_CHANNEL)?,
            error_timestamp: Register64::find(descriptor, dma::ERROR_TIMESTAMP)?,
        })
    }

    /// Starts playing a trace in the compact format, already in memory, with its times relative to
    /// `time`.
    pub fn start(&self, address: u32, time: i64) {
        self.base.write(address);
        self.time_offset.write(time as u64);
        self.format.write(DmaFormat::Compact as u32);
        kairos_chip::gic::barrier();
        self.enable.write(1);
    }

    /// Stops playback; the player stays busy for a moment.
    pub fn stop(&self) {
        self.enable.write(0);
    }

    pub fn is_busy(&self) -> bool {
        self.busy.read() != 0
    }

    /// Reads and clears the error of the last playback.
    pub fn take_error(&self) -> Option<Failed> {
        let bits = self.error.read();
        if bits == 0 {
            return None;
        }
        let failed = Failed {
            bits,
            channel: self.error_channel.read(),
            time: self.error_timestamp.read() as i64,
        };
        self.error.write(0);
        Some(failed)
    }
}
