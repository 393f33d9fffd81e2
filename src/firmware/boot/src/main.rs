//! Second stage of the loader (`docs/boot.md`): loads firmware and gateware from SD card, flash or
//! network, configures the PL, and starts the firmware.
#![no_std]
#![no_main]

mod chip;
mod config;
mod console;
mod faults;
mod gateware;
mod medium;
mod network;
mod server;
mod start;

use kairos_boot::netboot::{File, Files};
use kairos_chip::boards;
use kairos_chip::reset::{self, Mark};
use kairos_config::keys::NETBOOT_WAIT;
use kairos_intercore::memory::{BOOT_FIRMWARE, BOOT_GATEWARE, BOOT_IMAGE};
use medium::Medium;

/// Seconds to wait for the network on request, before booting from the medium.
const REQUESTED_WAIT: u32 = 60;

/// Entered by the start-up code of `zynq7000-rt`, with caches and MMU off.
#[no_mangle]
extern "C" fn kmain() -> ! {
    let chip = chip::init();
    console::init(chip.console);
    log::info!("Kairos loader {}, {}", env!("CARGO_PKG_VERSION"), chip::name());
    let requested = reset::take(Mark::Netboot);
    let mut medium = Medium::open(chip.boot_device, chip.sd, &chip.clocks);
    let wait = match requested {
        true => Some(REQUESTED_WAIT),
        false => medium.config.setting(&NETBOOT_WAIT).filter(|seconds| *seconds > 0),
    };
    let wait = wait.filter(|_| boards::has_ethernet());
    // SAFETY: memory reserved for this while booting; taken once.
    let [firmware, gateware, image] = unsafe { [BOOT_FIRMWARE, BOOT_GATEWARE, BOOT_IMAGE].map(|r| region(&r)) };
    let mut files = Files {
        firmware: File::new(firmware),
        gateware: File::new(gateware),
    };
    let mut network = network::Hardware::new(chip.ethernet, chip.clocks);

    if let Some(seconds) = wait {
        log::info!("waiting for the network for {seconds} s");
        server::serve(&mut network, &mut medium.config, &mut files, Some(seconds));
        boot_received(&mut network, &mut files);
        log::info!("nothing arrived from the network");
    }
    let Err(reason) = medium.boot(image, &mut network);
    log::error!("{}: {reason}", medium.name());
    if !boards::has_ethernet() {
        log::error!("this board has Ethernet only through the PL: it cannot boot from the network");
        loop {
            kairos_chip::gic::wait_for_interrupt();
        }
    }
    loop {
        log::info!("waiting for the network");
        server::serve(&mut network, &mut medium.config, &mut files, None);
        boot_received(&mut network, &mut files);
    }
}

/// Starts the files received from the network. Returns if they are incomplete or cannot be started.
fn boot_received(network: &mut network::Hardware, files: &mut Files) {
    if files.firmware.content().is_none() {
        return;
    }
    if let Some(gateware) = files.gateware.content() {
        if let Err(reason) = gateware::configure(gateware) {
            log::error!("gateware: {reason}");
            files.gateware.clear();
            return;
        }
    } else {
        log::info!("no gateware has been sent: the PL stays as it is");
    }
    if let Some(firmware) = files.firmware.content() {
        // Checked on reception, so starting it fails only if the file has changed since.
        let Err(reason) = start::elf(firmware, network);
        log::error!("firmware: {reason}");
        files.firmware.clear();
    }
}

/// # Safety
/// The region must be memory that nobody else uses, and may be taken only once.
unsafe fn region(region: &kairos_intercore::memory::Region) -> &'static mut [u8] {
    // SAFETY: promised by the caller; any bytes are valid.
    unsafe { core::slice::from_raw_parts_mut(region.start as *mut u8, region.len()) }
}
