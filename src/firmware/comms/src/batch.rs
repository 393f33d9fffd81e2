//! Batches of register accesses: a client's program is checked, then executed alongside the other
//! work of this core. It shares no register with a kernel, and yields to other tasks after each
//! stretch of steps.

use embassy_futures::yield_now;
use embassy_sync::once_lock::OnceLock;
use embassy_time::{Duration, Instant, Timer};
use kairos_batch::{Batch, Device, Pause, Run};
use kairos_contracts::batch::{I2C_READ_MAX, REPLY, RESULTS_MAX};
use kairos_contracts::registers::remote;
use kairos_pl::exports::Exports;
use kairos_pl::{descriptor, Register};
use kairos_proto::batch::{Ending, Outcome, Transfer};
use kairos_proto::descriptor::Descriptor;

use crate::i2c;
use crate::link::LINKS;
use crate::moninj::Pins;

/// Steps executed before yielding: some tens of microseconds.
const STRETCH: usize = 256;
/// Length of the longest answer, in bytes.
const ANSWER_MAX: usize = REPLY + 4 * RESULTS_MAX as usize;

/// Longer than a load or store takes until it has failed, however often it is sent (docs/gateware/remote.md).
const STORED: Duration = Duration::from_micros(300);

/// What this gateware offers to batches. It stays valid while the firmware runs.
static GATEWARE: OnceLock<(Exports, Pins, Links)> = OnceLock::new();

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
            let (exports, pins, links) =
                GATEWARE.get_or_init(|| (Exports::new(&descriptor), Pins::find(), links(&descriptor)));
            match Batch::new(program, exports) {
                Ok(batch) => {
                    let mut logic = Logic {
                        pins: *pins,
                        links,
                        stored: [false; LINKS],
                    };
                    let ending = execute(batch, &mut logic, &mut results).await;
                    logic.completed(ending).await
                }
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

async fn execute(batch: Batch<'_>, logic: &mut Logic<'_>, results: &mut Results<'_>) -> Ending {
    let mut run = Run::new(batch);
    // The waiting poll, identified by the number of steps before it, and when it began.
    let mut waiting = (u32::MAX, Instant::MIN);
    loop {
        match run.go(STRETCH, logic, |word| results.add(word)) {
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

/// The links with remote memory, before the places for more.
type Links = [Option<Stores>; LINKS];

fn links(descriptor: &Descriptor) -> Links {
    let mut found = (0..LINKS).filter_map(|link| Stores::find(descriptor, link));
    core::array::from_fn(|_| found.next())
}

/// Registers of a link by which batches store in other boards' memory.
#[derive(Clone, Copy)]
struct Stores {
    store: Register,
    state: Register,
    late: Register,
    clear: Register,
}

impl Stores {
    fn find(descriptor: &Descriptor, link: usize) -> Option<Self> {
        let find = |name| Register::find_numbered(descriptor, name, link);
        Some(Self {
            store: find(remote::STORE)?,
            state: find(remote::STATE)?,
            late: find(remote::LATE)?,
            clear: find(remote::LATE_CLEAR)?,
        })
    }

    /// Waits until no store is in flight that began before. Returns whether one has failed after its acknowledgement,
    /// which is then known, so that the next batch can store.
    async fn has_failed(&self) -> bool {
        let begun = Instant::now();
        loop {
            // Kernels, whose loads and stores take turns with these, may leave the link no pause.
            let over = self.state.read() & remote::STATE_IDLE_BIT != 0 || begun.elapsed() >= STORED;
            if self.late.read() & remote::LATE_FAILED_BIT != 0 {
                self.clear.write(1);
                return true;
            }
            if over {
                return false;
            }
            yield_now().await;
        }
    }
}

/// The registers of this board. The check has verified that the batch may access them.
struct Logic<'a> {
    pins: Pins,
    links: &'a Links,
    /// By which of them the batch has stored.
    stored: [bool; LINKS],
}

impl Logic<'_> {
    /// How a batch that has come to this end has ended once its stores have.
    async fn completed(&self, ending: Ending) -> Ending {
        for (link, stored) in self.links.iter().map_while(Option::as_ref).zip(self.stored) {
            if stored && ending.outcome == Outcome::Done && link.has_failed().await {
                return Ending {
                    outcome: Outcome::StoreFailed,
                    instruction: ending.instruction.saturating_sub(1),
                    ..ending
                };
            }
        }
        ending
    }
}

impl Device for Logic<'_> {
    fn read(&mut self, address: u32) -> u32 {
        Register::at(address).map_or(0, Register::read)
    }

    fn write(&mut self, address: u32, value: u32) {
        if let Some(register) = Register::at(address) {
            register.write(value);
            for (stored, link) in self.stored.iter_mut().zip(self.links.iter().map_while(Option::as_ref)) {
                *stored |= link.store == register;
            }
        }
    }

    fn probe(&mut self, channel: u32, number: u8) -> u64 {
        self.pins.probe_local(channel, number)
    }

    fn inject(&mut self, channel: u32, number: u8, value: u8) {
        self.pins.inject_local(channel, number, value);
    }
}
