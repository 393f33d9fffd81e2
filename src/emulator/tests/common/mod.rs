//! Builds test guests and the test PL with the C compilers of the system.
#![allow(dead_code)] // not every test uses everything

use std::cell::{Ref, RefCell};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::rc::Rc;

use kairos_emulator::host::image::Image;
use kairos_emulator::host::net::{Line, Net};
use kairos_emulator::machine::params::Params;
use kairos_emulator::machine::schedule::Machine;
use kairos_emulator::machine::time;
use kairos_emulator::peripherals::Board;
use kairos_emulator::pl::library::Library;
use kairos_emulator::pl::{fabric, Pl};

pub fn guests() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/guests")
}

fn run(command: &mut Command) {
    let output = command.output().unwrap_or_else(|e| panic!("{command:?}: {e}"));
    assert!(
        output.status.success(),
        "{command:?}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
}

/// Compiles a C guest; `None` (with a message) when there is no cross compiler.
pub fn build(name: &str, directory: &Path) -> Option<PathBuf> {
    if Command::new("arm-none-eabi-gcc").arg("--version").output().is_err() {
        eprintln!("SKIPPED: arm-none-eabi-gcc is missing (Debian: apt-get install gcc-arm-none-eabi)");
        return None;
    }
    let out = directory.join(format!("{name}.elf"));
    run(Command::new("arm-none-eabi-gcc")
        .args([
            "-mcpu=cortex-a9",
            "-marm",
            "-mfloat-abi=soft",
            "-Wno-main",
            "-O1",
            "-nostdlib",
            "-ffreestanding",
            "-fno-builtin",
        ])
        .args(["-Wl,-Ttext=0x100000", "-Wl,-e,_start", "-Wl,--build-id=none", "-o"])
        .arg(&out)
        .args([guests().join("start.S"), guests().join(format!("{name}.c"))])
        .arg("-lgcc"));
    Some(out)
}

/// Compiles the test PL; `flags` go to the compiler.
pub fn build_pl(directory: &Path, flags: &[&str]) -> PathBuf {
    let out = directory.join(format!("libtest_pl{}.so", flags.len()));
    let header = Path::new(env!("CARGO_MANIFEST_DIR")).join("../gateware/kairos_gateware/verilated");
    run(Command::new("cc")
        .args(["-O2", "-fPIC", "-shared", "-I"])
        .arg(header)
        .args(flags)
        .arg("-o")
        .arg(&out)
        .arg(guests().join("test_pl.c")));
    out
}

/// Creates a machine of 64 MiB with a guest, the gateway on its cable, and optionally the test PL.
pub fn machine(elf: &Path, pl: Option<(&Path, bool)>) -> Machine {
    let params = Params::default();
    let net = Rc::new(RefCell::new(Net::new(time::from_ns(params.net_latency_ns))));
    let image = Image::load(elf).unwrap();
    let board = Board {
        mib: 64,
        pl: pl.map(|(path, skip)| Pl::new(Library::load(path).unwrap(), &params, skip)),
        params,
        cable: Some(Box::new(Line(net))),
        ..Board::default()
    };
    board.with_firmware(move |memory| image.copy_to(memory)).unwrap()
}

/// The gateware of a machine, which must have one.
pub fn pl(machine: &Machine) -> Ref<'_, Pl> {
    Ref::map(machine.bus.borrow(), |bus| fabric::of(bus).unwrap())
}

/// A hash of everything that a run did.
pub fn digest(machine: &Machine) -> (u64, Option<u64>) {
    (machine.digest(), fabric::of(&machine.bus.borrow()).map(Pl::digest))
}

/// Word `n` of the results of a guest.
pub fn result(machine: &Machine, n: u32) -> u32 {
    machine.bus.borrow().memory.word(0x0078_0000 + 4 * n)
}
