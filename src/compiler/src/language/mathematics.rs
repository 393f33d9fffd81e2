//! Functions of floats: the firmware has them, host code knows them as functions of NumPy and
//! SciPy. They also map over arrays.

use kairos_contracts::mathematics::{Function, FUNCTIONS};

use super::{Row, NUMPY};

static TABLE: &[Function] = &FUNCTIONS;

/// One of the functions that host code can hand to a kernel. Small, since types hold it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mathematics(&'static Function);

impl Mathematics {
    pub(super) fn all() -> impl Iterator<Item = Mathematics> {
        TABLE.iter().filter(|function| function.host.is_some()).map(Mathematics)
    }

    /// The firmware's function.
    pub fn symbol(self) -> &'static str {
        self.0.symbol
    }

    pub(super) fn row(self) -> Row {
        let count = self.0.arguments;
        Row {
            // With that of the package.
            name: self.0.host.expect("only those are made"),
            module: NUMPY,
            arguments: count..=count,
        }
    }
}

/// Whether a function of the firmware only computes.
pub fn only_computes(symbol: &str) -> bool {
    // The power of an integer is of the compiler's runtime library.
    symbol == "__powidf2" || FUNCTIONS.iter().any(|function| function.symbol == symbol)
}
