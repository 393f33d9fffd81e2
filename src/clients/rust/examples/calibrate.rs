//! 1,000 register accesses beside the hardware, in one round trip:
//!
//!     calibrate localhost:1390 zc706
//!
//! A token is taken from KAIROS_HUB_TOKEN, the certificate of a hub with TLS from KAIROS_HUB_CERTIFICATE.

use std::env;
use std::process::ExitCode;
use std::time::Instant;

use kairos_hub_client::v1::RunRequest;
use kairos_hub_client::{connect, step, Options};

const ROUNDS: u32 = 250;
/// What each round looks at: all are 0 where nothing is wrong and nothing under way.
const LOOKS: [&str; 4] = ["rtio/async_error", "initiator/lost", "initiator/busy", "dma/busy"];

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
            // What the hub says, without gRPC's name of it.
            let said = error.downcast_ref::<tonic::Status>().map(tonic::Status::message);
            eprintln!("calibrate: {}", said.map_or_else(|| root(&*error), str::to_string));
            ExitCode::FAILURE
        }
    }
}

/// What an error comes from.
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
    let program = RunRequest {
        device: device.into(),
        steps: vec![step::repeat(ROUNDS, LOOKS.map(step::read))],
    };
    let started = Instant::now();
    let answer = lab.registers.run(program).await?.into_inner();
    let took = started.elapsed();
    if !answer.done {
        return Err(answer.error.into());
    }
    let rounds = answer.results.chunks(LOOKS.len());
    let at_rest = rounds.filter(|values| values.iter().all(|&value| value == 0)).count();
    println!("{at_rest} of {ROUNDS} rounds found everything at rest");
    let accesses = answer.results.len();
    let each = took.as_secs_f64() * 1e6 / accesses as f64;
    println!("{accesses} accesses as one batch: {each:.1} us each");
    Ok(())
}
