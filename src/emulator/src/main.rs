//! `kairos-emulator`: the virtual Zynq-7000 as a program. See docs/emulator.md.

use std::process::ExitCode;
use std::time::Instant;

use clap::Parser;
use kairos_emulator::host::cli::{build, plan, Arguments};
use kairos_emulator::host::failure::report;

fn main() -> ExitCode {
    let started = Instant::now();
    // Exceeding the file size limit must fail the write, as a full disk does, instead of
    // terminating the process. SAFETY: no handler is set.
    unsafe { libc::signal(libc::SIGXFSZ, libc::SIG_IGN) };
    env_logger::Builder::from_env(env_logger::Env::default().default_filter_or("warn"))
        .format_timestamp(None)
        .init();
    let arguments = Arguments::parse(); // exits with status 2 and a message if they are wrong
    let fail = |message: String, code: u8| {
        report(message);
        ExitCode::from(code)
    };
    match plan(&arguments) {
        Some(Ok(text)) => {
            println!("{text}");
            return ExitCode::SUCCESS;
        }
        Some(Err(message)) => return fail(message, 2),
        None => {}
    }
    match build(arguments, started) {
        Err(failure) => {
            if let Some(event) = failure.event() {
                println!("{event}");
            }
            fail(failure.to_string(), 2)
        }
        Ok(mut host) => match host.run() {
            Err(message) => fail(message, 1),
            Ok(()) => ExitCode::SUCCESS,
        },
    }
}
