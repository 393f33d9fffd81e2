//! Float functions: implemented by the firmware, known to host code as functions of NumPy and
//! SciPy. They also map over arrays.

use kairos_contracts::mathematics::{Function, FUNCTIONS};

use super::{Row, NUMPY};

static TABLE: &[Function] = &FUNCTIONS;

/// A function that host code can pass to a kernel. Small, since types contain it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mathematics(&'static Function);

impl Mathematics {
    pub(super) fn all() -> impl Iterator<Item = Mathematics> {
        TABLE.iter().filter(|function| function.host.is_some()).map(Mathematics)
    }

    /// Symbol of the firmware function.
    pub fn symbol(self) -> &'static str {
        self.0.symbol
    }

    pub(super) fn row(self) -> Row {
        let count = self.0.arguments;
        Row {
            // Includes the package.
            name: self.0.host.expect("only those are made"),
            module: NUMPY,
            arguments: count..=count,
        }
    }
}

/// Whether a firmware function is pure.
pub fn only_computes(symbol: &str) -> bool {
    // The power with integer exponent is part of the compiler's runtime library.
    symbol == "__powidf2" || FUNCTIONS.iter().any(|function| function.symbol == symbol)
}
