//! Mathematics for kernels, by the crate `libm`. Doubles travel in d registers, which is this target's own convention.

macro_rules! functions {
    ($($name:ident($($argument:ident: $kind:ty),*) = $target:ident;)*) => {
        $(
            #[doc = concat!("C's `", stringify!($name), "`.")]
            pub extern "C" fn $name($($argument: $kind),*) -> f64 {
                libm::$target($($argument),*)
            }
        )*
    };
}

functions! {
    acos(x: f64) = acos; asin(x: f64) = asin; asinh(x: f64) = asinh;
    atan(x: f64) = atan; atanh(x: f64) = atanh; cbrt(x: f64) = cbrt; ceil(x: f64) = ceil;
    cos(x: f64) = cos; cosh(x: f64) = cosh; erf(x: f64) = erf; erfc(x: f64) = erfc;
    exp(x: f64) = exp; exp2(x: f64) = exp2; exp10(x: f64) = exp10; expm1(x: f64) = expm1;
    fabs(x: f64) = fabs; floor(x: f64) = floor; j0(x: f64) = j0; j1(x: f64) = j1;
    lgamma(x: f64) = lgamma; log(x: f64) = log; log2(x: f64) = log2; log10(x: f64) = log10;
    log1p(x: f64) = log1p; round(x: f64) = round; rint(x: f64) = rint; sin(x: f64) = sin;
    sinh(x: f64) = sinh; sqrt(x: f64) = sqrt; tan(x: f64) = tan; tanh(x: f64) = tanh;
    tgamma(x: f64) = tgamma; trunc(x: f64) = trunc; y0(x: f64) = y0; y1(x: f64) = y1;
    atan2(y: f64, x: f64) = atan2; copysign(x: f64, y: f64) = copysign; fmax(x: f64, y: f64) = fmax;
    fmin(x: f64, y: f64) = fmin; fmod(x: f64, y: f64) = fmod; hypot(x: f64, y: f64) = hypot;
    nextafter(x: f64, y: f64) = nextafter; pow(x: f64, y: f64) = pow;
    fma(x: f64, y: f64, z: f64) = fma; jn(n: i32, x: f64) = jn; yn(n: i32, x: f64) = yn;
    ldexp(x: f64, n: i32) = ldexp;
}

/// C's `acosh`. That of `libm` 0.2 takes large negative numbers for their absolute values.
pub extern "C" fn acosh(x: f64) -> f64 {
    if x < 1.0 {
        return f64::NAN;
    }
    libm::acosh(x)
}

/// The GNU `sincos(x, double *sin, double *cos)`.
///
/// # Safety
/// The pointers are the kernel's, valid for a double each.
pub unsafe extern "C" fn sincos(x: f64, sin: *mut f64, cos: *mut f64) {
    // SAFETY: by this function's condition.
    unsafe { (*sin, *cos) = libm::sincos(x) };
}

/// `__powidf2`: x to an integer power, by squaring, as the compiler's own helper.
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
/// The pointer leads to a terminated string.
pub unsafe extern "C" fn strlen(text: *const u8) -> u32 {
    let mut length = 0;
    // SAFETY: by this function's condition the string goes on until its end is found.
    while unsafe { core::ptr::read_volatile(text.add(length)) } != 0 {
        length += 1;
    }
    length as u32
}
