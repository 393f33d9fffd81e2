//! Functions of floats: the firmware has them, host code knows them as functions of NumPy and SciPy. They also map over arrays.

use kairos_contracts::mathematics::{Function, FUNCTIONS};

use super::{Row, NUMPY};

/// One of the functions that host code can hand to a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mathematics {
    /// The host's name, with that of the package.
    name: &'static str,
    function: Function,
}

impl Mathematics {
    pub(super) fn all() -> impl Iterator<Item = Mathematics> {
        FUNCTIONS.into_iter().filter_map(|function| {
            let name = function.host?;
            Some(Mathematics { name, function })
        })
    }

    /// The firmware's function.
    pub fn symbol(self) -> &'static str {
        self.function.symbol
    }

    pub(super) fn row(self) -> Row {
        let count = self.function.arguments;
        Row {
            name: self.name,
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
