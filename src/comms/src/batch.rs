//! Batches of register accesses: a client's program is checked, and executed beside whatever else this core does. It shares no
//! register with a kernel, and between steps everybody else has the core.

use embassy_futures::yield_now;
use embassy_sync::once_lock::OnceLock;
use embassy_time::{Duration, Instant, Timer};
use kairos_batch::{Batch, Registers, Run, Step};
use kairos_contracts::batch::{REPLY, RESULTS_MAX};
use kairos_pl::exports::Exports;
use kairos_pl::{descriptor, Register};
use kairos_proto::batch::{Ending, Outcome};

/// Steps at a time, before others have the core: some tens of microseconds.
const STRETCH: usize = 64;
/// Bytes of the longest answer.
const ANSWER_MAX: usize = REPLY + 4 * RESULTS_MAX as usize;

/// The registers of this gateware, which stays as long as the firmware does.
static EXPORTS: OnceLock<Exports> = OnceLock::new();

/// Executes a batch, and puts the answer into `room`; how long it is. `None` if there is not room enough for any answer.
pub async fn answer(program: &[u8], room: &mut [u8]) -> Option<usize> {
    let (head, results) = room.get_mut(..ANSWER_MAX)?.split_at_mut(REPLY);
    let (mut places, _) = results.as_chunks_mut::<4>();
    let before = places.len();
    let ending = match descriptor() {
        Err(_) => refused(Outcome::NoGateware),
        Ok(descriptor) => {
            let exports = EXPORTS.get_or_init(|| Exports::new(&descriptor));
            match Batch::new(program, |address| exports.permission(address)) {
                Ok(batch) => execute(batch, &mut places).await,
                Err(refusal) => refusal,
            }
        }
    };
    head.copy_from_slice(&ending.to_bytes());
    Some(REPLY + 4 * (before - places.len()))
}

fn refused(outcome: Outcome) -> Ending {
    Ending {
        outcome,
        instruction: 0,
        steps: 0,
    }
}

async fn execute(batch: Batch<'_>, places: &mut &mut [[u8; 4]]) -> Ending {
    let mut run = Run::new(batch);
    let mut logic = Logic;
    // When a poll that waits has begun.
    let mut since = None;
    for turn in 1.. {
        if turn % STRETCH == 0 {
            yield_now().await;
        }
        let step = run.step(&mut logic);
        if !matches!(step, Step::Again(_)) {
            since = None;
        }
        match step {
            Step::Next(None) => {}
            Step::Next(Some(word)) => {
                // The check has counted them.
                if let Some(place) = places.split_off_first_mut() {
                    *place = word.to_le_bytes();
                }
            }
            Step::Wait(us) => Timer::after(Duration::from_micros(us.into())).await,
            Step::Again(us) => {
                let begun = *since.get_or_insert_with(Instant::now);
                if begun.elapsed() >= Duration::from_micros(us.into()) {
                    return run.give_up();
                }
                yield_now().await;
            }
            Step::Ended(ending) => return ending,
        }
    }
    // There are not so many numbers that the loop would end.
    refused(Outcome::TooLong)
}

/// The registers of the logic. The check has asked whether a batch may use them.
struct Logic;

impl Registers for Logic {
    fn read(&mut self, address: u32) -> u32 {
        Register::at(address).map_or(0, Register::read)
    }

    fn write(&mut self, address: u32, value: u32) {
        if let Some(register) = Register::at(address) {
            register.write(value);
        }
    }
}
