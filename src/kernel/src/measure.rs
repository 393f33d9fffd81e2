//! Measures the paths between this core, memory and the logic (`kairos device paths`), while no
//! library is loaded.
//! A time is measured as this core sees it, in cycles of the processor's own counter: from before
//! the first instruction until the last one has taken effect, minus the time of reading the
//! counter.

use core::arch::asm;

use kairos_chip::gic::barrier;
use kairos_chip::{cache, emio};
use kairos_contracts::registers::{dma, traffic};
use kairos_intercore::{Frame, Kind};
use kairos_pl::Register;
use kairos_proto::intercore::{Echoed, Status};
use kairos_proto::layout::Layout;
use kairos_proto::paths::{Measurement, Path, Refusal, Sample, SIZE_MAX, TRIALS_MAX};

use crate::comms::{self, receiving};
use crate::rtio;

/// Processor cycles within which the logic must complete a command: a tenth of a second.
const LIMIT: u32 = 80_000_000;
/// Most reads of a register until a handshake has failed.
const POLLS: u32 = 1000;
/// Ticks of the global timer between the arrival of a message and its answer, 10 us: until then the comms core, which
/// arms a timer when it begins to wait, does not take it.
const PAUSE: u32 = 4000;
/// Offset in the borrowed memory at which the logic or this core writes.
const TARGET: usize = SIZE_MAX as usize;
/// Offset of the samples until they are sent.
const SAMPLES: usize = 2 * TARGET;
const _: () = assert!(TARGET.is_multiple_of(128));

/// Answers a `Measure` or an `Echo` frame. `memory`: at least 3 MiB, aligned to 128 bytes, whose
/// contents are lost.
#[inline(never)]
pub fn serve(frame: Frame, memory: &mut [u8]) {
    let length = receiving(|receiver| comms::read_some(receiver, &mut memory[..frame.len]));
    let arrived = rtio::timer_count();
    let (kind, answer) = match frame.kind {
        Kind::Echo => {
            while rtio::timer_count().wrapping_sub(arrived) < PAUSE {}
            if let Some(place) = memory.first_chunk_mut() {
                let departed = rtio::timer_count();
                *place = Echoed { arrived, departed }.encode();
            }
            (Kind::Echoed, 0..length)
        }
        _ => (Kind::Measured, SAMPLES..SAMPLES + Status::LENGTH + answer(memory)),
    };
    comms::send(kind, &memory[answer]);
}

/// Executes the measurement specified at the start of `memory`. The answer is stored after the
/// streams; returns the number of bytes of samples.
fn answer(memory: &mut [u8]) -> usize {
    let measurement = memory
        .first_chunk()
        .map_or_else(Measurement::default, Measurement::from_bytes);
    let (streams, answer) = memory.split_at_mut(SAMPLES);
    let (status, samples) = answer.split_at_mut(Status::LENGTH);
    let samples = &mut samples[..Sample::LENGTH * TRIALS_MAX.min(measurement.trials) as usize];
    let refusal = measure(&measurement, streams, samples).err();
    let refused = refusal.map_or(0, |refusal| refusal as u32);
    status.copy_from_slice(&Status { refusal: refused }.encode());
    if refusal.is_none() {
        samples.len()
    } else {
        0
    }
}

fn measure(measurement: &Measurement, memory: &mut [u8], samples: &mut [u8]) -> Result<(), Refusal> {
    let path = measurement.path().ok_or(Refusal::Invalid)?;
    let size = measurement.size as usize;
    match path {
        Path::RegisterWrite | Path::RegisterRead | Path::RegisterHandshake => registers(path, samples),
        Path::LinesWrite | Path::LinesRead | Path::LinesHandshake => lines(path, samples),
        Path::Request => each(samples, &mut |_| request()),
        Path::StreamFromMemory | Path::CoherentFromMemory => read(path, &mut memory[..size], samples),
        Path::StreamToMemory | Path::CoherentToMemory => write(path, &mut memory[TARGET..][..size], samples),
        Path::Copy => {
            let (from, to) = memory.split_at_mut(TARGET);
            each(samples, &mut |_| {
                Ok(processor(|| to[..size].copy_from_slice(&from[..size])))
            })
        }
        Path::Clean => each(samples, &mut |n| {
            memory[..size].fill(n as u8);
            Ok(processor(|| cache::clean(memory.as_ptr() as usize, size)))
        }),
        // Measured by the comms core.
        Path::MessageToKernel | Path::MessageToComms => Err(Refusal::Invalid),
    }
}

/// Takes a sample for each place. The first one is taken twice, since its instructions are not
/// cached the first time.
#[inline(never)]
fn each(samples: &mut [u8], trial: &mut dyn FnMut(u32) -> Result<Sample, Refusal>) -> Result<(), Refusal> {
    count_cycles();
    trial(0)?;
    let mut number = 0;
    for place in samples.as_chunks_mut().0 {
        number += 1;
        *place = trial(number)?.encode();
    }
    Ok(())
}

/// Starts the processor's cycle counter (Cortex-A9 TRM, section 11.4).
fn count_cycles() {
    // SAFETY: counters of this core that nobody else here uses; kernels read no time but the global
    // timer's.
    unsafe {
        asm!(
            "mcr p15, 0, {enable}, c9, c12, 0",
            "mcr p15, 0, {cycles}, c9, c12, 1",
            "isb",
            enable = in(reg) 1,
            cycles = in(reg) 1u32 << 31,
            options(nostack)
        );
    }
}

/// Reads the cycle counter, after everything before has taken effect.
#[inline(always)]
fn cycles() -> u32 {
    let cycles: u32;
    // SAFETY: barriers, and a counter.
    unsafe { asm!("dsb", "isb", "mrc p15, 0, {}, c9, c13, 0", out(reg) cycles, options(nostack)) };
    cycles
}

/// Measures the time that `action` takes.
#[inline(always)]
fn timed<R>(action: impl FnOnce() -> R) -> (u32, R) {
    let nothing = cycles();
    let start = cycles();
    let result = action();
    let end = cycles();
    let taken = end.wrapping_sub(start);
    (taken.saturating_sub(start.wrapping_sub(nothing)), result)
}

/// A sample on a path that the logic does not measure.
#[inline(always)]
fn taken(time: u32) -> Sample {
    Sample {
        time,
        first: 0,
        last: 0,
    }
}

#[inline(always)]
fn processor(action: impl FnOnce()) -> Sample {
    taken(timed(action).0)
}

#[inline(never)]
fn find(name: &str) -> Result<Register, Refusal> {
    let descriptor = kairos_pl::descriptor().map_err(|_| Refusal::Absent)?;
    Register::find(&descriptor, name).ok_or(Refusal::Absent)
}

/// Measures accesses to a register that all gateware has, and that has no effect until a trace is
/// played, which sets it first.
fn registers(path: Path, samples: &mut [u8]) -> Result<(), Refusal> {
    let register = find(dma::BASE)?;
    each(samples, &mut |number| {
        let value = number << 7;
        match path {
            Path::RegisterWrite => Ok(processor(|| register.write(value))),
            Path::RegisterRead => Ok(taken(timed(|| register.read()).0)),
            _ => {
                let (time, back) = timed(|| {
                    register.write(value);
                    (0..POLLS).any(|_| register.read() == value)
                });
                back.then_some(taken(time)).ok_or(Refusal::Failed)
            }
        }
    })
}

/// Measures EMIO lines, which the logic loops back.
fn lines(path: Path, samples: &mut [u8]) -> Result<(), Refusal> {
    let seen = find(traffic::LINES)?;
    emio::open();
    each(samples, &mut |number| {
        let value = number.wrapping_mul(0x9e37_79b9);
        let (time, done) = match path {
            Path::LinesWrite => {
                let (time, ()) = timed(|| emio::write(value));
                (time, (0..POLLS).any(|_| seen.read() == value))
            }
            Path::LinesRead => {
                emio::write(value);
                let settled = (0..POLLS).any(|_| seen.read() == value);
                let (time, read) = timed(emio::read);
                (time, settled && read == value)
            }
            _ => timed(|| {
                emio::write(value);
                (0..POLLS).any(|_| emio::read() == value)
            }),
        };
        done.then_some(taken(time)).ok_or(Refusal::Failed)
    })
}

/// Measures an output to a channel that does not exist, which is refused and has no effect.
fn request() -> Result<Sample, Refusal> {
    match timed(rtio::refused_output) {
        (time, true) => Ok(taken(time)),
        (_, false) => Err(Refusal::Absent),
    }
}

/// The logic's traffic generator for memory reads and writes.
struct Traffic {
    start: Register,
    busy: Register,
    seed: Register,
    results: [Register; 4],
}

impl Traffic {
    fn find(memory: &[u8]) -> Result<Self, Refusal> {
        let traffic = Self {
            start: find(traffic::START)?,
            busy: find(traffic::BUSY)?,
            seed: find(traffic::SEED)?,
            results: [
                find(traffic::FIRST)?,
                find(traffic::LAST)?,
                find(traffic::SUM)?,
                find(traffic::ERROR)?,
            ],
        };
        find(traffic::ADDRESS)?.write(memory.as_ptr() as u32);
        find(traffic::SIZE)?.write(memory.len() as u32);
        Ok(traffic)
    }

    /// Measures from the write that starts it to the read that shows its end. Also returns the sum.
    fn run(&self, how: u32) -> Result<(Sample, u32), Refusal> {
        let (time, ended) = timed(|| {
            let begin = cycles();
            self.start.write(how);
            while self.busy.read() != 0 {
                if cycles().wrapping_sub(begin) > LIMIT {
                    return false;
                }
            }
            true
        });
        let [first, last, sum, error] = self.results.map(Register::read);
        match ended && error == 0 {
            true => Ok((Sample { time, first, last }, sum)),
            false => Err(Refusal::Failed),
        }
    }
}

fn code(path: Path) -> u32 {
    let write = matches!(path, Path::StreamToMemory | Path::CoherentToMemory);
    let coherent = matches!(path, Path::CoherentFromMemory | Path::CoherentToMemory);
    let bits = [
        (write, traffic::START_WRITE_BIT),
        (coherent, traffic::START_COHERENT_BIT),
    ];
    bits.iter().map(|(set, bit)| u32::from(*set) * bit).sum()
}

fn read(path: Path, memory: &mut [u8], samples: &mut [u8]) -> Result<(), Refusal> {
    let traffic = Traffic::find(memory)?;
    let mut expected = 0u32;
    for (n, word) in memory.chunks_exact_mut(4).enumerate() {
        let value = (n as u32).wrapping_mul(0x9e37_79b9);
        word.copy_from_slice(&value.to_le_bytes());
        expected = expected.wrapping_add(value);
    }
    match path {
        // The port does not see the caches.
        Path::StreamFromMemory => cache::clean(memory.as_ptr() as usize, memory.len()),
        _ => barrier(),
    }
    each(samples, &mut |_| {
        let (sample, sum) = traffic.run(code(path))?;
        (sum == expected).then_some(sample).ok_or(Refusal::Failed)
    })
}

fn write(path: Path, memory: &mut [u8], samples: &mut [u8]) -> Result<(), Refusal> {
    let traffic = Traffic::find(memory)?;
    let (start, length) = (memory.as_ptr() as usize, memory.len());
    each(samples, &mut |number| {
        traffic.seed.write(number << 20);
        if path == Path::StreamToMemory {
            cache::release(start, length);
        }
        let (sample, _) = traffic.run(code(path))?;
        if path == Path::StreamToMemory {
            // SAFETY: nothing has been written there since.
            unsafe { cache::refetch(start, length) };
        }
        let beat = |n: usize| {
            let low = (number << 20).wrapping_add(n as u32);
            u64::from(!low) << 32 | u64::from(low)
        };
        // Checks all of it the first time, later only its end, where a short transfer would show.
        let least = if number == 0 { 0 } else { length / 8 - 1 };
        let written = (least..length / 8).all(|n| {
            // SAFETY: within the memory, which is aligned; volatile, as the logic has changed it.
            unsafe { memory.as_ptr().cast::<u64>().add(n).read_volatile() == beat(n) }
        });
        written.then_some(sample).ok_or(Refusal::Failed)
    })
}
