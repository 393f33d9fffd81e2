//! Failure of the comms core itself: a message on the UART, which the next start repeats, and a
//! reset.
//!
//! Such a failure is a bug in this image. It cannot be caused by a kernel or a client; faults of
//! the kernel core are handled by [`crate::kernel_core`].

use core::panic::PanicInfo;
use core::sync::atomic::{AtomicBool, Ordering};

use aarch32_cpu::register::{Dfar, Dfsr, Ifar, Ifsr};

use kairos_chip::reset::{self, Mark};

use crate::report;

#[panic_handler]
fn panic(info: &PanicInfo) -> ! {
    die(format_args!("panic: {info}"))
}

#[zynq7000_rt::exception(DataAbort)]
fn data_abort(addr: usize) -> ! {
    let (address, status) = (Dfar::read().0, Dfsr::read().raw_value());
    die(format_args!(
        "data abort at {addr:#010x}, address {address:#010x}, status {status:#x}"
    ))
}

#[zynq7000_rt::exception(PrefetchAbort)]
fn prefetch_abort(addr: usize) -> ! {
    let (address, status) = (Ifar::read().0, Ifsr::read().raw_value());
    die(format_args!(
        "prefetch abort at {addr:#010x}, address {address:#010x}, status {status:#x}"
    ))
}

#[zynq7000_rt::exception(Undefined)]
fn undefined(addr: usize) -> ! {
    die(format_args!("undefined instruction at {addr:#010x}"))
}

fn die(reason: core::fmt::Arguments) -> ! {
    static DYING: AtomicBool = AtomicBool::new(false);
    // SAFETY: nothing else runs on this core any more, so interrupts stay off.
    unsafe { critical_section::acquire() };
    // If reporting fails too, only the reset remains.
    if !DYING.swap(true, Ordering::Relaxed) {
        report::keep(report::Core::Comms, reason);
        crate::logger::write_final(reason);
    }
    reset::reset(Mark::Failure)
}
