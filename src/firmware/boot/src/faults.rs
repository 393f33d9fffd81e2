//! Failure of the loader itself: prints a plain message and stops. Such a failure is a bug in this
//! image.

use core::panic::PanicInfo;

use aarch32_cpu::register::{Dfar, Ifar};

#[panic_handler]
fn panic(info: &PanicInfo) -> ! {
    die(format_args!("{info}"))
}

#[zynq7000_rt::exception(DataAbort)]
fn data_abort(addr: usize) -> ! {
    die(format_args!(
        "data abort at {addr:#010x}, address {:#010x}",
        Dfar::read().0
    ))
}

#[zynq7000_rt::exception(PrefetchAbort)]
fn prefetch_abort(addr: usize) -> ! {
    die(format_args!(
        "prefetch abort at {addr:#010x}, address {:#010x}",
        Ifar::read().0
    ))
}

#[zynq7000_rt::exception(Undefined)]
fn undefined(addr: usize) -> ! {
    die(format_args!("undefined instruction at {addr:#010x}"))
}

fn die(reason: core::fmt::Arguments) -> ! {
    log::error!("{reason}");
    loop {
        kairos_chip::gic::wait_for_interrupt();
    }
}
