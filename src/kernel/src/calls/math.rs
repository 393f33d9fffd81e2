//! Mathematics for kernels, from the crate `libm` and from faster functions of our own. Doubles are
//! passed in d registers, this target's own convention.

use kairos_kernel::mathematics::divided;

/// The implementations.
mod library {
    // Named imports take precedence over those of the crate.
    pub use kairos_kernel::mathematics::{atan, cos, exp, log, sin, tan};
    pub use libm::*;

    /// Uses the processor's instruction.
    pub fn sqrt(x: f64) -> f64 {
        let root;
        // SAFETY: an instruction that only computes.
        unsafe { core::arch::asm!("vsqrt.f64 {}, {}", out(dreg) root, in(dreg) x, options(pure, nomem, nostack)) };
        root
    }

    /// The `acosh` of `libm` 0.2 uses the absolute values of large negative numbers.
    pub fn acosh(x: f64) -> f64 {
        if x < 1.0 {
            return f64::NAN;
        }
        libm::acosh(x)
    }
}

macro_rules! functions {
    ($($name:ident($($argument:ident: $kind:ty),*);)*) => {
        $(
            #[doc = concat!("C's `", stringify!($name), "`.")]
            pub extern "C" fn $name($($argument: $kind),*) -> f64 {
                library::$name($($argument),*)
            }
        )*
    };
}

kairos_contracts::mathematics!(functions);

/// The GNU `sincos(x, double *sin, double *cos)`.
///
/// # Safety
/// The pointers are the kernel's, valid for a double each.
pub unsafe extern "C" fn sincos(x: f64, sin: *mut f64, cos: *mut f64) {
    // SAFETY: by this function's contract.
    unsafe { (*sin, *cos) = (library::sin(x), library::cos(x)) };
}

/// The `__aeabi_idiv` of kernels. Unlike the firmware's own, it uses the processor's instruction for doubles.
pub extern "C" fn idiv(n: i32, d: i32) -> i32 {
    divided(n, d).0
}

/// `__aeabi_idivmod`: quotient and remainder in registers, as the halves of a 64-bit integer.
pub extern "C" fn idivmod(n: i32, d: i32) -> i64 {
    let (quotient, remainder) = divided(n, d);
    i64::from(quotient as u32) | i64::from(remainder) << 32
}

/// `__powidf2`: x to an integer power by squaring, like the compiler's own helper.
pub extern "C" fn powidf2(x: f64, n: i32) -> f64 {
    let mut result = 1.0;
    let mut factor = x;
    let mut left = n.unsigned_abs();
    while left > 0 {
        if left & 1 != 0 {
            result *= factor;
        }
        factor *= factor;
        left >>= 1;
    }
    if n < 0 {
        1.0 / result
    } else {
        result
    }
}

/// `strlen`
///
/// # Safety
/// The pointer must point to a terminated string.
pub unsafe extern "C" fn strlen(text: *const u8) -> u32 {
    let mut length = 0;
    // SAFETY: by this function's contract the string continues until its end is found.
    while unsafe { core::ptr::read_volatile(text.add(length)) } != 0 {
        length += 1;
    }
    length as u32
}
