//! Playing DMA traces: the gateware reads them and submits their events (`docs/interfaces.md`, sections 4 and 10).

use kairos_chip::gic::barrier;
use kairos_contracts::registers::dma;
use kairos_pl::{Register, Register64};
use kairos_proto::descriptor::Descriptor;
use kairos_proto::dma::COMPACT;
use kairos_proto::exception::Id;

use super::output::posted_error;
use super::registers::{registers_or_raise, POLLS};
use super::transaction;
use crate::owned::Owned;
use crate::{raise, timer};

#[derive(Clone, Copy)]
struct Engine {
    enable: Register,
    busy: Register,
    base: Register,
    time_offset: Register64,
    format: Register,
    error: Register,
    error_channel: Register,
    error_timestamp: Register64,
}

/// Found at boot, before any kernel.
static ENGINE: Owned<Option<Engine>> = Owned::new(None);

/// Looks at `dma_busy` before this core sleeps between them, and ticks of the timer for which it does then: 5 us.
const QUICK_POLLS: u32 = 100;
const INTERVAL: u32 = 2000;

/// Finds the registers, after reset of this core.
pub fn boot(descriptor: &Descriptor) {
    let find = |name| Register::find(descriptor, name);
    let engine = (|| {
        Some(Engine {
            enable: find(dma::ENABLE)?,
            busy: find(dma::BUSY)?,
            base: find(dma::BASE)?,
            time_offset: Register64::find(descriptor, dma::TIME_OFFSET)?,
            format: find(dma::FORMAT)?,
            error: find(dma::ERROR)?,
            error_channel: find(dma::ERROR_CHANNEL)?,
            error_timestamp: Register64::find(descriptor, dma::ERROR_TIMESTAMP)?,
        })
    })();
    ENGINE.set(engine);
}

/// In a restart: ends what the kernel before was playing. Events that have been submitted happen.
pub fn stop() {
    let Some(engine) = ENGINE.get() else { return };
    engine.enable.write(0);
    for _ in 0..POLLS {
        if engine.busy.read() == 0 {
            return;
        }
    }
}

/// Plays the trace at `address`, its times counted from `time`; returns when every event has been submitted. Raises what
/// went wrong.
pub fn play(address: u32, time: i64) {
    if registers_or_raise().is_none() {
        return;
    }
    let Some(engine) = ENGINE.get() else {
        return raise::firmware(Id::DmaError, "this gateware has no DMA", [0; 3]);
    };
    // What the kernel has submitted before comes before.
    transaction::wait_until_idle();
    if posted_error() {
        return;
    }
    engine.base.write(address);
    engine.time_offset.write(time as u64);
    engine.format.write(COMPACT);
    barrier();
    engine.enable.write(1);
    let mut polls = 0;
    while engine.busy.read() != 0 {
        polls += 1;
        // Events that wait for room in their lane take as long as the experiment.
        if polls > QUICK_POLLS {
            timer::sleep_ticks(INTERVAL);
        }
    }
    transaction::distrust();
    let error = engine.error.read();
    if error != 0 {
        fail(&engine, error);
    }
}

#[cold]
fn fail(engine: &Engine, error: u32) {
    let parameters = [
        i64::from(engine.error_channel.read()),
        engine.error_timestamp.read() as i64,
        0,
    ];
    engine.error.write(0);
    let (id, message) = if error & dma::ERROR_UNDERFLOW_BIT != 0 {
        (
            Id::RtioUnderflow,
            "RTIO underflow at {1} mu, channel {rtio_channel_info:0}",
        )
    } else if error & dma::ERROR_UNREACHABLE_BIT != 0 {
        (
            Id::RtioDestinationUnreachable,
            "RTIO destination unreachable, output, at {1} mu, channel {rtio_channel_info:0}",
        )
    } else if error & dma::ERROR_BUS_BIT != 0 {
        (
            Id::DmaError,
            "bus error while a DMA trace was read, after the event at {1} mu",
        )
    } else {
        (Id::DmaError, "malformed DMA trace, after the event at {1} mu")
    };
    raise::firmware(id, message, parameters);
}
