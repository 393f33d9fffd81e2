//! RTIO as kernels see it (kernel ABI, sections 2.3 and 5): outputs, inputs, counter, reset, log.
//!
//! Commands go through the kernel initiator ([`transaction`]); everything else through registers, which are found by name in
//! the gateware's descriptor. Without gateware every call raises RTIODestinationUnreachable.

mod clock;
mod counter;
mod input;
mod log;
mod playback;
pub mod transaction;

use core::ptr::addr_of_mut;

use kairos_board::pl::{self, Register, Register64};
use kairos_proto::exception::Id;
use kairos_proto::rpc::Memory;

use crate::calls::time::now_mu;
use crate::memory::KernelMemory;
use crate::{fault, raise};

pub use counter::{rtio_get_counter, rtio_wait_until_mu};
pub use input::{rtio_input_data, rtio_input_timestamp, rtio_input_timestamped_data};
pub use log::rtio_log;
pub use playback::play;
pub use transaction::submit_output as rtio_output;

/// The registers that this core uses.
#[derive(Clone, Copy)]
struct Registers {
    reset: Register,
    phy_reset: Register,
    counter_update: Register,
    counter: Register64,
    enable: Register,
    ring: Register,
    busy: Register,
    clear: Register,
    /// Only where the gateware pushes inputs.
    input_ring: Option<Register>,
}

static mut REGISTERS: Option<Registers> = None;
/// RTIO channel of the log, in place of a target; none if negative.
static mut LOG_CHANNEL: i32 = -1;

/// Takes the outputs of kernels while a DMA recording is made: target, time, 1 to 16 words. It may raise nothing.
pub type Recorder = fn(u32, i64, &[u32]);
static mut RECORDER: Option<Recorder> = None;

/// Status bits of an output (kernel ABI, section 5.3).
const OUTPUT_UNDERFLOW: u32 = 2;
const OUTPUT_UNREACHABLE: u32 = 4;
/// Status bits of an input (section 5.5).
const INPUT_TIMEOUT: u32 = 1;
const INPUT_OVERFLOW: u32 = 2;
const INPUT_UNREACHABLE: u32 = 8;

/// Reads of a register before something else is done.
const POLLS: u32 = 1000;

const NO_GATEWARE: &str = "RTIO destination unreachable: no gateware is loaded, or it has no clock (see the log)";

fn registers() -> Option<Registers> {
    // SAFETY: written once at boot.
    unsafe { addr_of_mut!(REGISTERS).read() }
}

/// The registers; raises if there are none.
#[track_caller]
fn registers_or_raise() -> Option<Registers> {
    let registers = registers();
    if registers.is_none() {
        raise::firmware(Id::RtioDestinationUnreachable, NO_GATEWARE, [0; 3]);
    }
    registers
}

/// After reset of this core: finds the registers, releases the PHYs, resets RTIO and starts the initiator.
pub fn boot() {
    let Ok(descriptor) = pl::descriptor() else { return };
    let find = |name| Register::find(&descriptor, name);
    let found = (|| {
        Some(Registers {
            reset: find("rtio_reset")?,
            phy_reset: find("rtio_phy_reset")?,
            counter_update: find("rtio_counter_update")?,
            counter: Register64::find(&descriptor, "rtio_counter")?,
            enable: find("initiator_enable")?,
            ring: find("initiator_ring")?,
            busy: find("initiator_busy")?,
            clear: find("initiator_clear")?,
            input_ring: find("initiator_input_ring"),
        })
    })();
    let Some(registers) = found else { return };
    let log = descriptor
        .channels()
        .find(|channel| channel.kind == kairos_proto::descriptor::ChannelKind::LOG);
    // SAFETY: the only writes, before any kernel.
    unsafe {
        addr_of_mut!(REGISTERS).write(Some(registers));
        addr_of_mut!(LOG_CHANNEL).write(log.map_or(-1, |channel| channel.number as i32));
    }
    playback::boot(&descriptor);
    registers.phy_reset.write(0);
    initialise(&registers);
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

/// Waits until the initiator, which is disabled, has nothing under way. What it has asked of the port arrives within
/// microseconds.
fn rest(registers: &Registers) {
    for _ in 0..POLLS {
        if registers.busy.read() == 0 {
            break;
        }
    }
}

/// Starts the initiator with an empty ring. It must not wait for an input. Input events outlive this, as those in the
/// gateware's FIFOs do.
fn restart(registers: &Registers) {
    registers.enable.write(0);
    rest(registers);
    transaction::begin();
    registers.ring.write(transaction::address());
    registers.clear.write(1);
    registers.enable.write(1);
}

/// In a restart: requests that the kernel before had begun must not meet those of the next one.
///
/// An output ends by itself. An input may wait for ever; then only a reset of RTIO ends it, which also drops the events
/// that the kernel had queued.
pub fn settle() {
    record(None);
    let Some(registers) = registers() else { return };
    playback::stop();
    // Longer than any output takes that finds room; an output that waits for room waits for its lane's next event.
    for _ in 0..POLLS {
        if registers.busy.read() == 0 {
            // The kernel may have been stopped between its request and the event that announces it.
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

/// `rtio_get_destination_status`: without a link to other boards, only this one is there.
pub extern "C" fn rtio_get_destination_status(destination: u32) -> u32 {
    u32::from(destination == 0 && registers().is_some())
}

/// Name of an RTIO channel, for messages.
pub fn channel_name(channel: u32) -> Option<&'static str> {
    pl::descriptor().ok()?.channel(channel).map(|channel| channel.name)
}

/// Raises what an output's status says; out of the way of outputs that succeed.
#[cold]
#[inline(never)]
fn output_error(target: u32, cursor: i64, status: u32) {
    let channel = i64::from(target >> 8);
    match registers() {
        None => raise::firmware(Id::RtioDestinationUnreachable, NO_GATEWARE, [channel, cursor, 0]),
        Some(registers) if status & OUTPUT_UNDERFLOW != 0 => raise::firmware(
            Id::RtioUnderflow,
            "RTIO underflow at {1} mu, channel {rtio_channel_info:0}, slack {2} mu",
            [channel, cursor, cursor.wrapping_sub(counter::read(&registers))],
        ),
        Some(_) => raise::firmware(
            Id::RtioDestinationUnreachable,
            "RTIO destination unreachable, output, at {1} mu, channel {rtio_channel_info:0}",
            [channel, cursor, 0],
        ),
    }
}

/// Raises what a posted output left behind, if anything; true if so.
fn posted_error() -> bool {
    let Some(registers) = registers() else { return false };
    match transaction::take_error(|| registers.clear.write(1)) {
        Some(failure) => {
            output_error(failure.target, failure.time, failure.status);
            true
        }
        None => false,
    }
}

/// As `posted_error`, at the end of a kernel: waits until every posted output is delivered.
pub fn posted_error_at_end() -> bool {
    transaction::wait_until_idle();
    posted_error()
}

/// From now on the outputs of kernels go to `recorder`, or to the gateware if there is none. A restart drops the recorder.
pub fn record(recorder: Option<Recorder>) {
    // SAFETY: this core only, outside of interrupts; so below.
    unsafe { addr_of_mut!(RECORDER).write(recorder) };
    transaction::forbid_posting(recorder.is_some());
}

/// Hands an output to the recorder, if there is one.
fn recorded(target: u32, words: impl ExactSizeIterator<Item = u32>) -> bool {
    // SAFETY: as above.
    let Some(recorder) = (unsafe { addr_of_mut!(RECORDER).read() }) else {
        return false;
    };
    let mut buffer = [0; transaction::MAX_WORDS];
    let count = words.len();
    for (place, word) in buffer.iter_mut().zip(words) {
        *place = word;
    }
    recorder(target, now_mu(), &buffer[..count]);
    true
}

/// Submits an event at the time cursor.
fn submit(target: u32, words: impl ExactSizeIterator<Item = u32>) {
    if posted_error() {
        return;
    }
    let time = now_mu();
    let status = transaction::output(target, time, words);
    if status & (OUTPUT_UNDERFLOW | OUTPUT_UNREACHABLE) != 0 {
        output_error(target, time, status);
    }
}

/// `rtio_output`, when it is not simply posted.
extern "C" fn output(target: u32, data: u32) {
    if !recorded(target, core::iter::once(data)) {
        submit(target, core::iter::once(data));
    }
}

/// `rtio_output_wide`: up to 16 words.
extern "C" fn output_wide(target: u32, list: u32) {
    let memory = KernelMemory;
    let data = memory.word(list).and_then(|elements| {
        let count = memory.word(list.wrapping_add(4))?;
        Ok((
            count,
            memory.bytes(elements, count.min(transaction::MAX_WORDS as u32) * 4)?,
        ))
    });
    match data {
        Err(error) => fault::broken(format_args!("data of a wide output: {error}")),
        Ok((0, _)) => {}
        Ok((count, _)) if count > transaction::MAX_WORDS as u32 => raise::firmware(
            Id::ValueError,
            "a wide output takes at most 16 words, not {0}",
            [i64::from(count), 0, 0],
        ),
        Ok((_, bytes)) => {
            let words = bytes
                .chunks_exact(4)
                .map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]]));
            if !recorded(target, words.clone()) {
                submit(target, words);
            }
        }
    }
}

crate::calls::raising! {
    rtio_init => init;
    rtio_output_checked => output;
    rtio_output_wide => output_wide;
}
