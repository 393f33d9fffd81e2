//! `kairos-emulator`: the virtual Zynq-7000 as a program. See docs/emulator.md.

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use clap::Parser;
use kairos_emulator::host::control::{Control, Host, Options};
use kairos_emulator::host::forward::{Forwarder, Rule};
use kairos_emulator::host::image::Image;
use kairos_emulator::machine::params::Params;
use kairos_emulator::machine::schedule::Machine;
use kairos_emulator::peripherals::sd::Card;
use kairos_emulator::peripherals::si5324::Si5324;
use kairos_emulator::pl::library::Library;
use kairos_emulator::pl::{Gateware, Pl};

/// A virtual Zynq-7000 that runs the real firmware on the real gateware.
#[derive(Parser)]
#[command(name = "kairos-emulator", version)]
struct Arguments {
    /// Firmware: an ELF file for core 0. Without it the boot ROM boots from --qspi or --sd
    #[arg(long, value_name = "ELF", required_unless_present_any = ["qspi", "sd"])]
    firmware: Option<PathBuf>,
    /// Gateware: libkairos_pl.so. Without it the PL reads as zeros. When the boot ROM boots, the PL is there only after a
    /// bitstream of it has been loaded; then the option may be repeated
    #[arg(long, value_name = "LIBRARY")]
    pl: Vec<PathBuf>,
    /// DDR in MiB
    #[arg(long, value_name = "MIB", default_value_t = 256, value_parser = clap::value_parser!(u32).range(1..=1023))]
    memory: u32,
    /// Forward a TCP port of 127.0.0.1 to the guest; host port 0 lets the system choose
    #[arg(long, value_name = "HOST_PORT:[ADDRESS:]GUEST_PORT")]
    forward: Vec<Rule>,
    /// Unix socket for control, see docs/interfaces.md
    #[arg(long, value_name = "SOCKET")]
    control: Option<PathBuf>,
    /// End when the first control client disconnects
    #[arg(long, requires = "control")]
    exit_with_control: bool,
    /// Write what the UARTs send to this file ("-": standard error)
    #[arg(long, value_name = "FILE")]
    uart: Option<PathBuf>,
    /// Image of the SD card in slot 0; it is written to. Without it the slot is empty
    #[arg(long, value_name = "FILE")]
    sd: Option<PathBuf>,
    /// Contents of the QSPI flash; the boot ROM boots from it
    #[arg(long, value_name = "FILE", conflicts_with = "firmware")]
    qspi: Option<PathBuf>,
    /// Run every PL cycle instead of moving the RTIO counter
    #[arg(long)]
    no_skip: bool,
    /// Set a parameter of the timing model
    #[arg(long, value_name = "NAME=VALUE")]
    set: Vec<String>,
}

/// Everything that can be wrong with the arguments.
fn build(arguments: Arguments, started: Instant) -> Result<Host, String> {
    let mut params = Params::default();
    for assignment in &arguments.set {
        params.set(assignment)?;
    }
    let uart: Option<Box<dyn Write>> = match &arguments.uart {
        Some(path) if path.as_os_str() == "-" => Some(Box::new(std::io::stderr())),
        Some(path) => Some(Box::new(
            std::fs::File::create(path).map_err(|e| format!("uart file {}: {e}", path.display()))?,
        )),
        None => None,
    };
    let forwarder = Forwarder::new(&arguments.forward)?;
    let control = arguments.control.as_deref().map(Control::new).transpose()?;
    let host_wait = Duration::from_millis(params.host_wait_ms);
    let sd = match &arguments.sd {
        Some(path) => {
            let cut = Some(params.sd_cut_after).filter(|sectors| *sectors > 0);
            let image = std::fs::File::options().read(true).write(true).open(path);
            let card = image.and_then(|image| Card::new(image, cut));
            Some(card.map_err(|e| format!("SD card image {}: {e}", path.display()))?)
        }
        None => None,
    };
    let clock = (params.si5324 != 0).then(|| Si5324::new(params.clock_input));
    let (memory, skip) = (arguments.memory as usize, !arguments.no_skip);
    let machine = match &arguments.firmware {
        Some(firmware) => {
            let image = Image::load(firmware)?;
            let pl = match &arguments.pl[..] {
                [] => None,
                [path] => Some(Pl::new(Library::load(path)?, &params, skip)),
                _ => return Err("one --pl at most with --firmware: nothing would choose between them".into()),
            };
            let machine = Machine::new(image, memory, params, pl)?;
            machine.bus.borrow_mut().sd.card = sd;
            machine
        }
        None => {
            let gateware = Gateware::new(&arguments.pl, &params, skip)?;
            let read = |path: &PathBuf| std::fs::read(path).map_err(|e| format!("QSPI flash {}: {e}", path.display()));
            let flash = arguments.qspi.as_ref().map(read).transpose()?;
            Machine::with_boot_rom(memory, params, gateware, sd, flash)?
        }
    };
    machine.bus.borrow_mut().gpio.set_clock(clock);
    let options = Options {
        exit_with_control: arguments.exit_with_control,
        uart,
        host_wait,
    };
    Ok(Host::new(machine, forwarder, control, options).started_at(started))
}

fn main() -> ExitCode {
    let started = Instant::now();
    env_logger::Builder::from_env(env_logger::Env::default().default_filter_or("warn"))
        .format_timestamp(None)
        .init();
    let arguments = Arguments::parse(); // exits with status 2 and a message if they are wrong
    let fail = |message: String, code: u8| {
        eprintln!("kairos-emulator: {message}");
        ExitCode::from(code)
    };
    match build(arguments, started) {
        Err(message) => fail(message, 2),
        Ok(mut host) => match host.run() {
            Err(message) => fail(message, 1),
            Ok(()) => ExitCode::SUCCESS,
        },
    }
}
