//! RTIO as kernels see it (kernel ABI, sections 2.3 and 5): outputs, inputs, counter, reset, log.
//!
//! Commands go through the kernel initiator ([`transaction`]); everything else through
//! [`registers`]. Without gateware every call raises RTIODestinationUnreachable. This module
//! contains boot, reset and restart.

mod clock;
mod counter;
pub mod cursor;
mod input;
mod log;
pub mod output;
mod playback;
mod registers;
mod ring;
mod transaction;

use kairos_contracts::registers::uplink;
use kairos_pl::Register;
use registers::{registers, registers_or_raise, Registers, POLLS};

pub use clock::{timer_count, UNITS as CYCLE};
pub use counter::{rtio_get_counter, rtio_wait_until_mu};
pub use cursor::{at_mu as set_now_mu, now_mu};
pub use input::{rtio_input_data, rtio_input_timestamp, rtio_input_timestamped_data};
pub use log::rtio_log;
pub use output::{posted_error_at_end, record, rtio_batch_end, rtio_batch_start, rtio_output, rtio_output_wide};
pub use playback::{fail, play, play_prepared, prepare};

/// `rtio_post_2`: the time cursor, followed by the data for kernels that post by themselves.
pub const POST: *const ring::Quick = &raw const ring::RING.quick;

/// After reset of this core: finds the registers, releases the PHYs, resets RTIO and starts the
/// initiator. On a satellite RTIO is not reset: its logic may have been running meanwhile and hold
/// events of the upstream board, which alone decides when they are dropped.
pub fn boot() {
    ring::boot();
    input::clear();
    let Ok(descriptor) = kairos_pl::descriptor() else {
        return;
    };
    let Some(registers) = registers::boot(&descriptor) else {
        return;
    };
    log::boot(&descriptor);
    playback::boot(&descriptor);
    registers.phy_reset.write(0);
    ring::RING.quick.channel.set(registers.outputs.read() as i32 - 1);
    if Register::find(&descriptor, uplink::STATE).is_some() {
        end_requests();
        clock::renew(&registers);
    } else {
        initialise(&registers);
    }
    clock::measure(&registers);
}

/// Resets the RTIO core and starts the initiator with empty rings.
fn initialise(registers: &Registers) {
    registers.enable.write(0);
    registers.reset.write(1);
    rest(registers);
    if let Some(ring) = registers.input_ring {
        input::clear();
        ring.write(input::address());
    }
    restart(registers);
    clock::renew(registers);
}

/// Waits until the disabled initiator is idle. Its pending port accesses complete within
/// microseconds, the reset of cards that speak DRTIO within milliseconds.
fn rest(registers: &Registers) {
    for _ in 0..100 * POLLS {
        if registers.busy.read() == 0 {
            break;
        }
    }
}

/// Restarts the initiator with an empty ring. It must not be waiting for an input. Input events
/// survive this, as do those in the gateware's FIFOs.
fn restart(registers: &Registers) {
    registers.enable.write(0);
    rest(registers);
    transaction::begin();
    registers.ring.write(transaction::address());
    registers.clear.write(1);
    registers.enable.write(1);
}

/// Separates kernels in a restart: pending requests of the previous kernel must not meet those of
/// the next one.
///
/// An output ends by itself. An input may wait for ever; only a reset of RTIO ends it, which also
/// drops the events that the kernel had queued.
pub fn end_requests() {
    output::reset();
    let Some(registers) = registers() else { return };
    playback::stop();
    // Longer than any output takes that finds room; one that waits for room waits for its lane's
    // next event.
    for _ in 0..POLLS {
        if registers.busy.read() == 0 {
            // The kernel may have been stopped between its request and the `sev` that announces it.
            restart(&registers);
            return;
        }
    }
    initialise(&registers);
}

/// `rtio_init`
extern "C" fn init() {
    if let Some(registers) = registers_or_raise() {
        initialise(&registers);
    }
}

/// Requests an output on a channel that does not exist, and waits for the answer; false without
/// gateware. For measuring its duration.
pub fn refused_output() -> bool {
    const MISSING_CHANNEL: u32 = 0x00ff_ff00;
    transaction::answers() && transaction::output_now(MISSING_CHANNEL, 0, &[0]) != 0
}

/// `rtio_get_destination_status`: this board is always up, others while all links on the way are
/// up.
pub extern "C" fn rtio_get_destination_status(destination: u32) -> u32 {
    u32::from(registers().is_some() && (destination == 0 || registers::reaches(destination)))
}

crate::raise::raising! {
    rtio_init => init;
}
