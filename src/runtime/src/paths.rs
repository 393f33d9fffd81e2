//! Measures the paths between processors, memory and logic for a host (`kairos device paths`).
//!
//! The kernel core measures its own accesses. Messages between the cores are measured here, with
//! the global timer, which both share. The kernel core is reserved, and nothing is measured
//! while a kernel may run.

use embassy_time::{with_timeout, Duration};
use kairos_chip::setup::timer_count;
use kairos_intercore::Kind;
use kairos_proto::intercore::{Echoed, Status};
use kairos_proto::layout::Layout;
use kairos_proto::paths::{Frequencies, Measurement, Path, Refusal, Sample, LENGTH};

use kairos_comms::kernel_core::{Failure, KernelCore};
use kairos_comms::management::{Measures, Refused};

use crate::session::KernelAccess;

/// Time limit of one measurement; the longest take a tenth of it.
const LIMIT: Duration = Duration::from_secs(5);
/// Processor cycles per tick of the global timer.
const TICK: u32 = 2;

const BUSY: Refused = (
    Refusal::Busy,
    "a session is open, or there is an idle kernel: kernels are not interrupted",
);
const INVALID: Refused = (Refusal::Invalid, "no such path, size or number of trials");
const ABSENT: Refused = (Refusal::Absent, "this gateware does not support it");
const FAILED: Refused = (Refusal::Failed, "data were lost or changed");
const BROKEN: Refused = (Refusal::Failed, "the kernel core does not answer");

impl From<Failure> for MeasureError {
    fn from(_: Failure) -> Self {
        MeasureError(BROKEN)
    }
}

/// [`Refused`], for `?`.
struct MeasureError(Refused);

/// Measures with the kernel core while it is reserved. `processor`: its clock in Hz.
pub struct Instrument {
    pub kernel: KernelAccess,
    pub processor: u32,
}

impl Measures for Instrument {
    async fn measure(&self, measurement: &Measurement, buffer: &mut [u8]) -> Result<usize, Refused> {
        let path = measurement.path().ok_or(INVALID)?;
        let mut core = self.kernel.acquire().await.ok_or(BUSY)?;
        let logic = kairos_pl::descriptor().ok().and_then(|descriptor| descriptor.clock());
        let frequencies = Frequencies {
            processor: self.processor,
            logic: logic.map_or(0, |clock| clock.frequency),
        };
        let (head, rest) = buffer.split_at_mut(Frequencies::LENGTH);
        head.copy_from_slice(&frequencies.encode());
        let (samples, rest) = rest.split_at_mut(Sample::LENGTH * measurement.trials as usize);
        let kernel = core.kernel();
        // A core that has failed does not answer: it is restarted below.
        let result = with_timeout(LIMIT, series(kernel, path, measurement, samples, rest)).await;
        kernel.stop().await;
        match result {
            Ok(Ok(())) => Ok(Frequencies::LENGTH + samples.len()),
            Ok(Err(MeasureError(refused))) => Err(refused),
            Err(_) => Err(BROKEN),
        }
    }
}

/// Takes the samples: those of messages here, all others on the kernel core in one request.
async fn series(
    kernel: &mut KernelCore,
    path: Path,
    measurement: &Measurement,
    samples: &mut [u8],
    buffer: &mut [u8],
) -> Result<(), MeasureError> {
    let (message, answer) = buffer.split_at_mut(buffer.len() / 2);
    let messages = matches!(path, Path::MessageToKernel | Path::MessageToComms);
    let (kind, reply, length) = match messages {
        true => (Kind::Echo, Kind::Echoed, measurement.size as usize),
        false => (Kind::Measure, Kind::Measured, LENGTH),
    };
    message[..LENGTH].copy_from_slice(&measurement.to_bytes());
    // The first message is discarded: its instructions are not cached yet.
    let rounds = if messages { measurement.trials as usize } else { 0 };
    for round in 0..=rounds {
        if messages {
            let mut bytes = round as u8;
            message[..length].fill_with(|| {
                bytes = bytes.wrapping_add(1);
                bytes
            });
        }
        let sent = timer_count();
        kernel.send(kind, &message[..length], false).await?;
        let frame = kernel.next_frame().await?;
        let read = kernel.read(answer)?;
        let back = timer_count();
        if frame.kind != reply {
            return Err(MeasureError(BROKEN));
        }
        if !messages {
            return copy_samples(&answer[..read], samples);
        }
        if answer.get(Echoed::LENGTH..read) != message.get(Echoed::LENGTH..length) {
            return Err(MeasureError(FAILED));
        }
        if let Some(sample) = round.checked_sub(1).and_then(|n| samples.as_chunks_mut().0.get_mut(n)) {
            let Echoed { arrived, departed } = Echoed::decode(answer).unwrap_or_default();
            let time = match path {
                Path::MessageToKernel => arrived.wrapping_sub(sent),
                _ => back.wrapping_sub(departed),
            };
            // In an emulator one core may be slightly ahead of the other: clamp negative times to
            // 0.
            let ticks = if time as i32 > 0 { time } else { 0 };
            let time = ticks.wrapping_mul(TICK);
            *sample = Sample {
                time,
                first: 0,
                last: 0,
            }
            .encode();
        }
    }
    Ok(())
}

/// Extracts the samples from the kernel core's answer.
fn copy_samples(answer: &[u8], samples: &mut [u8]) -> Result<(), MeasureError> {
    let Ok(Status { refusal }) = Status::decode(answer) else {
        return Err(MeasureError(FAILED));
    };
    let found = &answer[Status::LENGTH..];
    match Refusal::try_from(refusal as u8) {
        Ok(Refusal::Absent) => return Err(MeasureError(ABSENT)),
        Ok(Refusal::Invalid) => return Err(MeasureError(INVALID)),
        Ok(_) => return Err(MeasureError(FAILED)),
        Err(_) if found.len() != samples.len() => return Err(MeasureError(BROKEN)),
        Err(_) => samples.copy_from_slice(found),
    }
    Ok(())
}
