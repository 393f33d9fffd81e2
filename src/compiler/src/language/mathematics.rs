//! Functions of floats: the firmware has them, host code knows them as functions of NumPy and SciPy. They also map over arrays.

use super::{Row, NUMPY};

/// The host's name, the firmware's function, number of arguments.
const FUNCTIONS: &[(&str, &str, usize)] = &[
    ("numpy.sin", "sin", 1),
    ("numpy.cos", "cos", 1),
    ("numpy.tan", "tan", 1),
    ("numpy.arcsin", "asin", 1),
    ("numpy.arccos", "acos", 1),
    ("numpy.arctan", "atan", 1),
    ("numpy.sinh", "sinh", 1),
    ("numpy.cosh", "cosh", 1),
    ("numpy.tanh", "tanh", 1),
    ("numpy.arcsinh", "asinh", 1),
    ("numpy.arccosh", "acosh", 1),
    ("numpy.arctanh", "atanh", 1),
    ("numpy.exp", "exp", 1),
    ("numpy.exp2", "exp2", 1),
    ("numpy.expm1", "expm1", 1),
    ("numpy.log", "log", 1),
    ("numpy.log10", "log10", 1),
    ("numpy.log2", "log2", 1),
    ("numpy.sqrt", "sqrt", 1),
    ("numpy.cbrt", "cbrt", 1),
    ("numpy.fabs", "fabs", 1),
    ("numpy.floor", "floor", 1),
    ("numpy.ceil", "ceil", 1),
    ("numpy.trunc", "trunc", 1),
    // Half away from zero, as the reference has it.
    ("numpy.rint", "round", 1),
    ("numpy.arctan2", "atan2", 2),
    ("numpy.copysign", "copysign", 2),
    ("numpy.fmax", "fmax", 2),
    ("numpy.fmin", "fmin", 2),
    ("numpy.hypot", "hypot", 2),
    ("numpy.nextafter", "nextafter", 2),
    ("scipy.special.erf", "erf", 1),
    ("scipy.special.erfc", "erfc", 1),
    ("scipy.special.gamma", "tgamma", 1),
    ("scipy.special.gammaln", "lgamma", 1),
    ("scipy.special.j0", "j0", 1),
    ("scipy.special.j1", "j1", 1),
    ("scipy.special.y0", "y0", 1),
    ("scipy.special.y1", "y1", 1),
];

/// Functions of the firmware that only compute, besides those above.
const OPERATORS: [&str; 3] = ["fmod", "pow", "__powidf2"];

/// One of the functions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mathematics(&'static (&'static str, &'static str, usize));

impl Mathematics {
    pub(super) fn all() -> impl Iterator<Item = Mathematics> {
        FUNCTIONS.iter().map(Mathematics)
    }

    /// The firmware's function.
    pub fn symbol(self) -> &'static str {
        self.0 .1
    }

    pub(super) fn row(self) -> Row {
        let &(name, _, arguments) = self.0;
        Row {
            name,
            module: NUMPY,
            arguments: arguments..=arguments,
        }
    }
}

/// Whether a function of the firmware only computes.
pub fn only_computes(symbol: &str) -> bool {
    OPERATORS.contains(&symbol) || Mathematics::all().any(|function| function.symbol() == symbol)
}
