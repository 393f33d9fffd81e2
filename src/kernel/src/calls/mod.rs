//! The functions that kernels call, by subject; [`crate::symbols`] gives them their names.
//!
//! Functions that may raise are entered through a thunk: it calls the Rust function, whose return restores the
//! kernel's registers, and raises from there when an exception was noted ([`crate::raise`]).

pub mod cache;
pub mod dma;
pub mod i2c;
pub mod log;
pub mod math;
pub mod rpc;
pub mod time;
pub mod unavailable;

/// Defines thunks. `name => function` for any result, which stays untouched; `name => function, stack 1` for a function
/// with one argument on the stack.
macro_rules! raising {
    ($($name:ident => $target:path $(, stack $count:tt)?;)*) => {
        $($crate::calls::raising!(@one $name, $target $(, $count)?);)*
    };
    (@one $name:ident, $target:path) => { $crate::calls::raising!(@define $name, $target, "push {{r12, lr}}"); };
    (@one $name:ident, $target:path, 1) => {
        $crate::calls::raising!(@define $name, $target, "ldr r12, [sp]", "push {{r12, lr}}");
    };
    (@define $name:ident, $target:path, $($enter:literal),*) => {
        #[doc = concat!("Thunk of [`", stringify!($target), "`].")]
        #[unsafe(naked)]
        pub unsafe extern "C" fn $name() {
            core::arch::naked_asm!(
                $($enter,)*
                "bl {target}",
                "pop {{r12, lr}}",
                "movw r12, #:lower16:{raised}",
                "movt r12, #:upper16:{raised}",
                "ldr r12, [r12]",
                "cmp r12, #0",
                "bxeq lr",
                "b {raise}",
                target = sym $target,
                raised = sym $crate::raise::RAISED,
                raise = sym $crate::raise::raise_from_firmware,
            )
        }
    };
}
pub(crate) use raising;
