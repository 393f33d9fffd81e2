//! Playback of DMA traces: the gateware reads them and submits their events (`docs/interfaces.md`,
//! sections 4 and 10).

use kairos_contracts::registers::dma;
use kairos_intercore::{Shared, KERNEL};
use kairos_pl::player::{Failed, Player};
use kairos_proto::descriptor::Descriptor;
use kairos_proto::exception::Id;

use super::output::posted_error;
use super::registers::{registers_or_raise, POLLS};
use super::transaction;
use crate::owned::Owned;
use crate::{raise, timer};

/// Found at boot, before any kernel.
static PLAYER: Owned<Option<Player>> = Owned::new(None);

/// Polls of `dma_busy` before this core sleeps between them, and timer ticks of each sleep: 5 us.
const QUICK_POLLS: u32 = 100;
const INTERVAL: u32 = 2000;

/// Finds the registers, after reset of this core.
pub fn boot(descriptor: &Descriptor) {
    PLAYER.set(Player::find(descriptor));
}

/// Stops the previous kernel's playback in a restart. Events already submitted are executed.
pub fn stop() {
    let Some(player) = PLAYER.get() else { return };
    if !Shared::get().release_player(KERNEL) {
        return;
    }
    player.stop();
    for _ in 0..POLLS {
        if !player.is_busy() {
            return;
        }
    }
}

/// Plays the trace at `address`, with its times relative to `time`; returns when every event has
/// been submitted. Raises any error.
pub fn play(address: u32, time: i64) {
    if prepare() {
        if let Some(failed) = play_prepared(Some(address), time) {
            fail(failed);
        }
    }
}

/// Prepares for [`play_prepared`]; false if an exception has been raised.
pub fn prepare() -> bool {
    if registers_or_raise().is_none() {
        return false;
    }
    if PLAYER.get().is_none() {
        raise::firmware(Id::DmaError, "this gateware has no DMA", [0; 3]);
        return false;
    }
    // Outputs that the kernel has submitted before come first.
    transaction::wait_until_idle();
    if posted_error() {
        return false;
    }
    if !Shared::get().take_player(KERNEL) {
        raise::firmware(Id::DmaError, "DMA is playing a trace of another board", [0; 3]);
        return false;
    }
    true
}

/// Like [`play`], after [`prepare`], but returns an error without raising it. Without an address
/// there is nothing to play.
pub fn play_prepared(address: Option<u32>, time: i64) -> Option<Failed> {
    let player = PLAYER.get()?;
    if let Some(address) = address {
        player.start(address, time);
    }
    let mut polls = 0;
    while player.is_busy() {
        polls += 1;
        // Events that wait for room in their lane take as long as the experiment.
        if polls > QUICK_POLLS {
            timer::sleep_ticks(INTERVAL);
        }
    }
    Shared::get().release_player(KERNEL);
    transaction::assume_lanes_full();
    address.and_then(|_| player.take_error())
}

/// Raises an error of playback, on this or another board.
#[cold]
pub fn fail(Failed { bits, channel, time }: Failed) {
    let parameters = [i64::from(channel), time, 0];
    let (id, message) = if bits & dma::ERROR_UNDERFLOW_BIT != 0 {
        (
            Id::RtioUnderflow,
            "RTIO underflow at {1} mu, channel {rtio_channel_info:0}",
        )
    } else if bits & dma::ERROR_UNREACHABLE_BIT != 0 {
        (
            Id::RtioDestinationUnreachable,
            "RTIO destination unreachable, output, at {1} mu, channel {rtio_channel_info:0}",
        )
    } else if bits & dma::ERROR_BUS_BIT != 0 {
        (
            Id::DmaError,
            "bus error while a DMA trace was read, after the event at {1} mu",
        )
    } else {
        (Id::DmaError, "malformed DMA trace, after the event at {1} mu")
    };
    raise::firmware(id, message, parameters);
}
