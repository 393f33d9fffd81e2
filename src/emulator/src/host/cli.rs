//! The command line: which boards are built, and how the host connects to them.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io::Write;
use std::path::PathBuf;
use std::rc::Rc;
use std::time::{Duration, Instant};

use clap::{ArgGroup, Parser};
use kairos_bench::assemble::Wire;
use kairos_bench::cards::Card as BenchCard;

use super::boards::Boards;
use super::control::Control;
use super::description::Description;
use super::failure::Failure;
use super::forward::{Forwarder, Rule};
use super::image::Image;
use super::net::{Line, Net};
use super::run::{Host, Options};
use crate::machine::params::Params;
use crate::machine::time;
use crate::peripherals::{Board, Card};
use crate::pl::bench::{Bench, Wiring};
use crate::pl::fabric::Gateware;
use crate::pl::library::{Info, Library};
use crate::pl::Pl;

/// Virtual Zynq-7000 that runs the real firmware and the real gateware
#[derive(Parser)]
#[command(name = "kairos-emulator", version)]
#[command(group = ArgGroup::new("pins").args(["firmware", "system"]))]
#[command(group = ArgGroup::new("gateware").args(["pl", "system"]))]
pub struct Arguments {
    /// Emulate several linked boards: a description file, see docs/emulator.md, or `pair`, `chain`,
    /// `star` or `tree`
    #[arg(long, value_name = "FILE", conflicts_with_all = ["firmware", "pl", "sd", "qspi", "memory"])]
    system: Option<PathBuf>,
    /// Folder with the gateware and firmware for --system
    #[arg(long, value_name = "FOLDER", default_value = "build", requires = "system")]
    build: PathBuf,
    /// Firmware, an ELF file for core 0. Without it, the boot ROM boots from --qspi or --sd
    #[arg(long, value_name = "ELF", required_unless_present_any = ["qspi", "sd", "system"])]
    firmware: Option<PathBuf>,
    /// Gateware, libkairos_pl.so. Without it, the PL reads as zeros. If the boot ROM boots, the PL is
    /// present only once its bitstream has been loaded; the option may then be repeated
    #[arg(long, value_name = "LIBRARY")]
    pl: Vec<PathBuf>,
    /// Size of the DDR in MiB
    #[arg(long, value_name = "MIB", default_value_t = 256, value_parser = clap::value_parser!(u32).range(1..=1023))]
    memory: u32,
    /// Forward a TCP port of 127.0.0.1 to the guest; host port 0 selects a free port
    #[arg(long, value_name = "HOST_PORT:[ADDRESS:]GUEST_PORT")]
    forward: Vec<Rule>,
    /// Unix socket for control connections, see docs/interfaces.md
    #[arg(long, value_name = "SOCKET")]
    control: Option<PathBuf>,
    /// Exit when the first control client disconnects
    #[arg(long, requires = "control")]
    exit_with_control: bool,
    /// Write the output of the UARTs to this file ("-": standard error)
    #[arg(long, value_name = "FILE")]
    uart: Option<PathBuf>,
    /// Image of the SD card in slot 0, opened for writing. Without it, the slot is empty
    #[arg(long, value_name = "FILE")]
    sd: Option<PathBuf>,
    /// Image of the QSPI flash, from which the boot ROM boots
    #[arg(long, value_name = "FILE", conflicts_with = "firmware")]
    qspi: Option<PathBuf>,
    /// Wiring of the device's pins, a file, see docs/bench.md. Without it, the chips of its cards are connected
    #[arg(long, value_name = "FILE", requires = "pins")]
    bench: Option<PathBuf>,
    /// Additional source of an input: another pin, a generator with this frequency, or a constant level
    #[arg(long, value_name = "PIN=PIN|HZ|high", requires = "pins")]
    wire: Vec<Wire>,
    /// Leave the pins unconnected
    #[arg(long, conflicts_with_all = ["bench", "wire"])]
    no_bench: bool,
    /// Cards of the device, from its device database: a list, see docs/bench.md
    #[arg(long, value_name = "JSON", value_parser = cards)]
    cards: Option<Cards>,
    /// Names and channels of the pins, from the device database: an object
    #[arg(long, value_name = "JSON", value_parser = names)]
    names: Option<BTreeMap<String, u32>>,
    /// Print the parts and wires of the bench as JSON and exit
    #[arg(long, requires = "gateware", conflicts_with = "no_bench")]
    plan: bool,
    /// Simulate every PL cycle instead of skipping idle time
    #[arg(long)]
    no_skip: bool,
    /// Set a parameter of the timing model
    #[arg(long, value_name = "NAME=VALUE")]
    set: Vec<String>,
}

/// Cards of a device.
#[derive(Clone)]
struct Cards(Vec<BenchCard>);

fn cards(text: &str) -> Result<Cards, serde_json::Error> {
    serde_json::from_str(text).map(Cards)
}

fn names(text: &str) -> Result<BTreeMap<String, u32>, serde_json::Error> {
    serde_json::from_str(text)
}

impl Arguments {
    /// The wiring of the pins.
    fn wiring(&self) -> Wiring {
        Wiring {
            file: self.bench.clone(),
            cards: self.cards.as_ref().map_or(Vec::new(), |cards| cards.0.clone()),
            names: self.names.clone().unwrap_or_default(),
            wires: self.wire.clone(),
        }
    }

    /// The gateware of all boards that have pins. The error is a one-line message for the user.
    fn libraries(&self) -> Result<Vec<Library>, String> {
        match (&self.system, &self.pl[..]) {
            (Some(system), _) => Description::load(system)?.libraries(&self.build),
            (None, [library]) => Ok(vec![Library::load(library)?]),
            _ => Err("--plan needs the gateware whose pins the bench is wired to (--pl)".into()),
        }
    }
}

/// Returns the bench described by the arguments as JSON if `--plan` is given. The error is a
/// one-line message for the user.
pub fn plan(arguments: &Arguments) -> Option<Result<String, String>> {
    if !arguments.plan {
        return None;
    }
    let plan = arguments.libraries().and_then(|libraries| {
        let infos: Vec<&Info> = libraries.iter().map(|library| &library.info).collect();
        Bench::load(&arguments.wiring(), &infos)
    });
    Some(plan.map(|(bench, _)| bench.plan().to_string()))
}

/// Builds the machine described by the arguments, with its connections. `started`: start time of
/// the process.
pub fn build(arguments: Arguments, started: Instant) -> Result<Host, Failure> {
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
    let options = Options {
        exit_with_control: arguments.exit_with_control,
        uart,
        host_wait: Duration::from_millis(params.host_wait_ms),
    };
    let card = match &arguments.sd {
        Some(path) => Some(Card::open(path, &params)?),
        None => None,
    };
    let net = Rc::new(RefCell::new(Net::new(time::from_ns(params.net_latency_ns))));
    let skip = !arguments.no_skip;
    if let Some(system) = &arguments.system {
        let cable = Box::new(Line(net.clone()));
        let mut boards = Description::load(system)?.build(&arguments.build, &params, skip, cable)?;
        if !arguments.no_bench {
            boards.wire(&arguments.wiring())?;
        }
        return Ok(Host::new(boards, net, forwarder, control, options).started_at(started));
    }
    let mut board = Board {
        mib: arguments.memory as usize,
        params,
        card,
        cable: Some(Box::new(Line(net.clone()))),
        ..Board::default()
    };
    let machine = match &arguments.firmware {
        Some(firmware) => {
            board.pl = match &arguments.pl[..] {
                [] => None,
                [path] => Some(Pl::new(Library::load(path)?, &board.params, skip)),
                _ => return Err("with --firmware, --pl can be given only once".into()),
            };
            let image = Image::load(firmware)?;
            board.with_firmware(move |memory| image.copy_to(memory))?
        }
        None => {
            board.gateware = Gateware::new(&arguments.pl, &board.params, skip)?;
            let read = |path: &PathBuf| std::fs::read(path).map_err(|e| format!("QSPI flash {}: {e}", path.display()));
            board.flash = arguments.qspi.as_ref().map(read).transpose()?;
            board.with_boot_rom()?
        }
    };
    let mut boards = Boards::alone(machine);
    if arguments.firmware.is_some() && !arguments.no_bench {
        boards.wire(&arguments.wiring())?;
    }
    Ok(Host::new(boards, net, forwarder, control, options).started_at(started))
}
