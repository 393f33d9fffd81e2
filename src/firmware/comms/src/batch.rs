//! Batches of register accesses: a client's program is checked, then executed alongside the other
//! work of this core. It shares no register with a kernel, and yields to other tasks after each
//! stretch of steps.

use embassy_futures::yield_now;
use embassy_sync::once_lock::OnceLock;
use embassy_time::{Duration, Instant, Timer};
use kairos_batch::{Batch, Device, Pause, Run};
use kairos_contracts::batch::{I2C_READ_MAX, REPLY, RESULTS_MAX};
use kairos_pl::exports::Exports;
use kairos_pl::{descriptor, Register};
use kairos_proto::batch::{Ending, Outcome, Transfer};

use crate::i2c;
use crate::moninj::Pins;

/// Steps executed before yielding: some tens of microseconds.
const STRETCH: usize = 256;
/// Length of the longest answer, in bytes.
const ANSWER_MAX: usize = REPLY + 4 * RESULTS_MAX as usize;

/// What this gateware offers to batches. It stays valid while the firmware runs.
static GATEWARE: OnceLock<(Exports, Pins)> = OnceLock::new();

/// Executes a batch, writes the answer to `buffer`, and returns its length; `None` if the longest
/// answer would not fit.
pub async fn answer(program: &[u8], buffer: &mut [u8]) -> Option<usize> {
    let (head, results) = buffer.get_mut(..ANSWER_MAX)?.split_at_mut(REPLY);
    let mut results = Results::new(results);
    let ending = match descriptor() {
        Err(_) => Ending {
            outcome: Outcome::NoGateware,
            instruction: 0,
            steps: 0,
        },
        Ok(descriptor) => {
            let (exports, pins) = GATEWARE.get_or_init(|| (Exports::new(&descriptor), Pins::find()));
            match Batch::new(program, exports) {
                Ok(batch) => execute(batch, *pins, &mut results).await,
                Err(refusal) => refusal,
            }
        }
    };
    head.copy_from_slice(&ending.to_bytes());
    Some(REPLY + 4 * results.count)
}

/// Result words, in order.
struct Results<'a> {
    words: core::slice::IterMut<'a, [u8; 4]>,
    count: usize,
}

impl<'a> Results<'a> {
    fn new(buffer: &'a mut [u8]) -> Self {
        Self {
            words: buffer.as_chunks_mut().0.iter_mut(),
            count: 0,
        }
    }

    fn add(&mut self, word: u32) {
        // Cannot overflow: the check has counted the results.
        if let Some(next) = self.words.next() {
            *next = word.to_le_bytes();
            self.count += 1;
        }
    }
}

async fn execute(batch: Batch<'_>, pins: Pins, results: &mut Results<'_>) -> Ending {
    let mut run = Run::new(batch);
    let mut logic = Logic(pins);
    // The waiting poll, identified by the number of steps before it, and when it began.
    let mut waiting = (u32::MAX, Instant::MIN);
    loop {
        match run.go(STRETCH, &mut logic, |word| results.add(word)) {
            Pause::Long => yield_now().await,
            Pause::Wait(us) => Timer::after(Duration::from_micros(us.into())).await,
            Pause::Again(us) => {
                if waiting.0 != run.steps() {
                    waiting = (run.steps(), Instant::now());
                } else if waiting.1.elapsed() >= Duration::from_micros(us.into()) {
                    return run.end(Outcome::Timeout);
                }
                yield_now().await;
            }
            Pause::Bus(wanted) => match on_the_bus(&wanted, results).await {
                Ok(()) => run.pass(),
                Err(outcome) => return run.end(outcome),
            },
            Pause::Ended(ending) => return ending,
        }
    }
}

/// Executes an I2C transaction. Bytes read are packed into words, most significant byte first.
async fn on_the_bus(wanted: &Transfer, results: &mut Results<'_>) -> Result<(), Outcome> {
    let mut bytes = [0; I2C_READ_MAX];
    let read = i2c::transfer(wanted, &mut bytes).await?;
    for piece in bytes[..read].chunks(4) {
        results.add(piece.iter().fold(0, |word, &byte| word << 8 | u32::from(byte)));
    }
    Ok(())
}

/// The registers of this board. The check has verified that the batch may access them.
struct Logic(Pins);

impl Device for Logic {
    fn read(&mut self, address: u32) -> u32 {
        Register::at(address).map_or(0, Register::read)
    }

    fn write(&mut self, address: u32, value: u32) {
        if let Some(register) = Register::at(address) {
            register.write(value);
        }
    }

    fn probe(&mut self, channel: u32, number: u8) -> u64 {
        self.0.probe_local(channel, number)
    }

    fn inject(&mut self, channel: u32, number: u8, value: u8) {
        self.0.inject_local(channel, number, value);
    }
}
