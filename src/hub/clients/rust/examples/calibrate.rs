//! Searches for the setting at which a phase-locked loop locks: 1,000 steps executed next to the
//! hardware, in one round trip:
//!
//!     calibrate localhost:1390 zc706
//!
//! The registers are `scratch`, which every gateware provides for experiments: they keep what is
//! written, as if the loop locked with every setting. Replace them by those of your own block.
//!
//! The token is taken from KAIROS_HUB_TOKEN, the certificate of a hub with TLS from
//! KAIROS_HUB_CERTIFICATE.

use std::env;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use kairos_hub_client::v1::{RunRequest, Step};
use kairos_hub_client::{connect, step, Lab, Options};

const SETTINGS: u32 = 250;
const CONTROL: &str = "scratch/word";
const STATUS: &str = CONTROL;
const FREQUENCY: &str = "scratch/wide";
/// Starts the loop; the lower bits contain the setting.
const START: u32 = 1 << 31;
/// Status of a locked loop; the lower bits contain the setting.
const LOCKED: u32 = START;
/// 10 MHz from 125 MHz, in units of 2^-64.
const TUNING: u64 = 0x147a_e147_ae14_7ae1;

type Result<T> = std::result::Result<T, Box<dyn std::error::Error + Send + Sync>>;

#[tokio::main]
async fn main() -> ExitCode {
    let words: Vec<String> = env::args().skip(1).collect();
    let [address, device] = words.as_slice() else {
        eprintln!("usage: calibrate HOST:PORT DEVICE");
        return ExitCode::from(2);
    };
    match calibrate(address, device).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // The hub's message, without the gRPC prefix.
            let said = error.downcast_ref::<tonic::Status>().map(tonic::Status::message);
            eprintln!("calibrate: {}", said.map_or_else(|| root(&*error), str::to_string));
            ExitCode::FAILURE
        }
    }
}

/// Text of the root cause of an error.
fn root(error: &(dyn std::error::Error + 'static)) -> String {
    error.source().map_or_else(|| error.to_string(), root)
}

async fn calibrate(address: &str, device: &str) -> Result<()> {
    let certificate = env::var("KAIROS_HUB_CERTIFICATE").ok().map(std::fs::read);
    let options = Options {
        token: env::var("KAIROS_HUB_TOKEN").ok(),
        certificate: certificate.transpose()?,
    };
    let mut lab = connect(address, options).await?;
    let attempt = [
        step::write(CONTROL, 0, 1),
        step::modify(CONTROL, START, START),
        step::poll(CONTROL, START, START, Duration::from_millis(1)),
        step::read(STATUS),
    ];
    let steps = SETTINGS as usize * attempt.len();
    let started = Instant::now();
    let results = run(&mut lab, device, vec![step::repeat(SETTINGS, attempt)]).await?;
    let took = started.elapsed();
    // Each status is preceded by the value read by the poll.
    let statuses: Vec<u32> = results.iter().skip(1).step_by(2).copied().collect();
    let (count, setting) = middle(&statuses);

    let chosen = vec![
        step::write(CONTROL, (START | setting).into(), 0),
        step::write(FREQUENCY, TUNING, 0),
        step::read(STATUS),
        step::read(FREQUENCY),
    ];
    let expected = [LOCKED | setting, (TUNING >> 32) as u32, TUNING as u32];
    if run(&mut lab, device, chosen).await? != expected {
        return Err(format!("it does not lock with setting {setting}").into());
    }
    println!("{count} of {SETTINGS} settings lock; {setting}, in their middle, is set");
    let each = took.as_secs_f64() * 1e6 / steps as f64;
    println!("{steps} steps as one batch: {each:.1} us each");
    Ok(())
}

/// Runs a program; returns its results.
async fn run(lab: &mut Lab, device: &str, steps: Vec<Step>) -> Result<Vec<u32>> {
    let device = device.into();
    let answer = lab.registers.run(RunRequest { device, steps }).await?.into_inner();
    match answer.done {
        true => Ok(answer.results),
        false => Err(answer.error.into()),
    }
}

/// The number of settings that lock, and the middle of the longest run of them.
fn middle(statuses: &[u32]) -> (usize, u32) {
    let (mut count, mut begin, mut best) = (0, 0, 0..0);
    for (setting, &status) in (0..).zip(statuses) {
        if status != LOCKED | setting {
            begin = setting + 1;
            continue;
        }
        count += 1;
        if setting + 1 - begin > best.end - best.start {
            best = begin..setting + 1;
        }
    }
    (count, best.start + (best.end - best.start) / 2)
}
