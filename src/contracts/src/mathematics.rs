//! Mathematics: functions of doubles in the firmware, and their names on the host.
//!
//! Generated from `src/contracts/mathematics.toml` by `src/contracts/generate.py`: do not edit.

/// A function of doubles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Function {
    /// C's name, by which kernels import it.
    pub symbol: &'static str,
    /// Number of its arguments.
    pub arguments: usize,
    /// The host's function that stands for it in kernels.
    pub host: Option<&'static str>,
}

const fn function(symbol: &'static str, arguments: usize, host: Option<&'static str>) -> Function {
    Function {
        symbol,
        arguments,
        host,
    }
}

/// All of them.
pub const FUNCTIONS: [Function; 48] = [
    function("acos", 1, Some("numpy.arccos")),
    function("acosh", 1, Some("numpy.arccosh")),
    function("asin", 1, Some("numpy.arcsin")),
    function("asinh", 1, Some("numpy.arcsinh")),
    function("atan", 1, Some("numpy.arctan")),
    function("atan2", 2, Some("numpy.arctan2")),
    function("atanh", 1, Some("numpy.arctanh")),
    function("cbrt", 1, Some("numpy.cbrt")),
    function("ceil", 1, Some("numpy.ceil")),
    function("copysign", 2, Some("numpy.copysign")),
    function("cos", 1, Some("numpy.cos")),
    function("cosh", 1, Some("numpy.cosh")),
    function("erf", 1, Some("scipy.special.erf")),
    function("erfc", 1, Some("scipy.special.erfc")),
    function("exp", 1, Some("numpy.exp")),
    function("exp10", 1, None),
    function("exp2", 1, Some("numpy.exp2")),
    function("expm1", 1, Some("numpy.expm1")),
    function("fabs", 1, Some("numpy.fabs")),
    function("floor", 1, Some("numpy.floor")),
    function("fma", 3, None),
    function("fmax", 2, Some("numpy.fmax")),
    function("fmin", 2, Some("numpy.fmin")),
    function("fmod", 2, None),
    function("hypot", 2, Some("numpy.hypot")),
    function("j0", 1, Some("scipy.special.j0")),
    function("j1", 1, Some("scipy.special.j1")),
    function("jn", 2, None),
    function("ldexp", 2, None),
    function("lgamma", 1, Some("scipy.special.gammaln")),
    function("log", 1, Some("numpy.log")),
    function("log10", 1, Some("numpy.log10")),
    function("log1p", 1, None),
    function("log2", 1, Some("numpy.log2")),
    function("nextafter", 2, Some("numpy.nextafter")),
    function("pow", 2, None),
    function("rint", 1, Some("numpy.rint")),
    function("round", 1, None),
    function("sin", 1, Some("numpy.sin")),
    function("sinh", 1, Some("numpy.sinh")),
    function("sqrt", 1, Some("numpy.sqrt")),
    function("tan", 1, Some("numpy.tan")),
    function("tanh", 1, Some("numpy.tanh")),
    function("tgamma", 1, Some("scipy.special.gamma")),
    function("trunc", 1, Some("numpy.trunc")),
    function("y0", 1, Some("scipy.special.y0")),
    function("y1", 1, Some("scipy.special.y1")),
    function("yn", 2, None),
];

/// Calls the macro `$table` with name, arguments and their types of each function.
#[macro_export]
macro_rules! mathematics {
    ($table:ident) => {
        $table! {
            acos(x: f64);
            acosh(x: f64);
            asin(x: f64);
            asinh(x: f64);
            atan(x: f64);
            atan2(y: f64, x: f64);
            atanh(x: f64);
            cbrt(x: f64);
            ceil(x: f64);
            copysign(x: f64, y: f64);
            cos(x: f64);
            cosh(x: f64);
            erf(x: f64);
            erfc(x: f64);
            exp(x: f64);
            exp10(x: f64);
            exp2(x: f64);
            expm1(x: f64);
            fabs(x: f64);
            floor(x: f64);
            fma(x: f64, y: f64, z: f64);
            fmax(x: f64, y: f64);
            fmin(x: f64, y: f64);
            fmod(x: f64, y: f64);
            hypot(x: f64, y: f64);
            j0(x: f64);
            j1(x: f64);
            jn(n: i32, x: f64);
            ldexp(x: f64, n: i32);
            lgamma(x: f64);
            log(x: f64);
            log10(x: f64);
            log1p(x: f64);
            log2(x: f64);
            nextafter(x: f64, y: f64);
            pow(x: f64, y: f64);
            rint(x: f64);
            round(x: f64);
            sin(x: f64);
            sinh(x: f64);
            sqrt(x: f64);
            tan(x: f64);
            tanh(x: f64);
            tgamma(x: f64);
            trunc(x: f64);
            y0(x: f64);
            y1(x: f64);
            yn(n: i32, x: f64);
        }
    };
}
