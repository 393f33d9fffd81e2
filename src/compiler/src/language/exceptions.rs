//! Exception classes that the compiler raises itself, or that kernels know by name.

use super::{Row, KERNELS, MANY};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exception {
    AssertionError,
    IndexError,
    RuntimeError,
    ValueError,
    ZeroDivisionError,
}

impl Exception {
    /// Those that every kernel knows by name.
    pub fn prelude() -> impl Iterator<Item = Exception> {
        [
            Exception::IndexError,
            Exception::RuntimeError,
            Exception::ValueError,
            Exception::ZeroDivisionError,
        ]
        .into_iter()
    }

    pub const fn name(self) -> &'static str {
        match self {
            Exception::AssertionError => "AssertionError",
            Exception::IndexError => "IndexError",
            Exception::RuntimeError => "RuntimeError",
            Exception::ValueError => "ValueError",
            Exception::ZeroDivisionError => "ZeroDivisionError",
        }
    }

    /// The id by which host, firmware and compiler know the class.
    pub const fn id(self) -> i32 {
        match self {
            Exception::AssertionError => 8,
            Exception::IndexError => 10,
            Exception::RuntimeError => 15,
            Exception::ValueError => 18,
            Exception::ZeroDivisionError => 19,
        }
    }

    pub(super) const fn row(self) -> Row {
        Row {
            name: self.name(),
            // The host's class of that name is one as those of the user are.
            module: KERNELS,
            arguments: 0..=MANY,
        }
    }
}
