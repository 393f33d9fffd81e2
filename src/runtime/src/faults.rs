//! What happens when the comms core itself fails: a plain message on the UART, then standstill.
//!
//! Such a failure is a bug in this image. It cannot be caused by a kernel or a client; faults of the kernel core are handled
//! by [`crate::kernel_core`].

use core::panic::PanicInfo;

use aarch32_cpu::register::{Dfar, Dfsr, Ifar, Ifsr};

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
    // SAFETY: nothing else runs on this core any more, so interrupts stay off.
    unsafe { critical_section::acquire() };
    crate::logger::last_words(reason);
    loop {
        kairos_board::gic::wait_for_interrupt();
    }
}
