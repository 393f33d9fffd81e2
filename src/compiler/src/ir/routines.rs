//! Loops over whole arrays that are functions of their own: element-wise operations, products of
//! vectors and of matrices.

use super::{Binary, Ty};

/// Element types supported by routines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Element {
    I32,
    I64,
    F64,
}

/// A routine. Lengths are i32, and not negative; arrays are contiguous and aligned to their elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Routine {
    /// `(to, a, b, count)`: `to[k] = a[k] op b[k]`. Operands flagged in `numbers` are numbers
    /// passed by value.
    Each {
        op: Binary,
        element: Element,
        numbers: [bool; 2],
    },
    /// `(a, b, count)`: the sum of products.
    Dot(Element),
    /// `(to, a, b, rows, inner, columns)`: `to = a @ b`.
    MatMul(Element),
}

impl Element {
    /// The element type for values of this type, if routines support it.
    pub fn of(ty: &Ty) -> Option<Element> {
        match ty {
            Ty::I32 => Some(Element::I32),
            Ty::I64 => Some(Element::I64),
            Ty::F64 => Some(Element::F64),
            _ => None,
        }
    }

    pub const fn name(self) -> &'static str {
        match self {
            Element::I32 => "i32",
            Element::I64 => "i64",
            Element::F64 => "double",
        }
    }

    /// Size in bytes.
    pub fn size(self) -> u32 {
        if self == Element::I32 {
            4
        } else {
            8
        }
    }

    /// The vector type that fills a 16-byte register, in LLVM syntax and as in names of intrinsics.
    pub fn vector(self) -> (&'static str, &'static str) {
        match self {
            Element::I32 => ("<4 x i32>", "v4i32"),
            Element::I64 => ("<2 x i64>", "v2i64"),
            Element::F64 => ("<2 x double>", "v2f64"),
        }
    }

    /// The LLVM instructions for multiplication and addition.
    pub fn multiply_and_add(self) -> [&'static str; 2] {
        if self == Element::F64 {
            ["fmul", "fadd"]
        } else {
            ["mul", "add"]
        }
    }
}

impl Routine {
    /// A routine for the operation, if there is one. NEON cannot multiply vectors of 64-bit
    /// integers elementwise.
    pub fn each(op: Binary, element: Element, numbers: [bool; 2]) -> Option<Routine> {
        let known = match element {
            Element::F64 => matches!(op, Binary::FAdd | Binary::FSub | Binary::FMul | Binary::FDiv),
            Element::I32 => matches!(op, Binary::Add | Binary::Sub | Binary::Mul),
            Element::I64 => matches!(op, Binary::Add | Binary::Sub),
        };
        known.then_some(Routine::Each { op, element, numbers })
    }

    pub fn symbol(&self) -> String {
        match self {
            Routine::Each { op, element, numbers } => {
                let sides = numbers.map(|number| if number { "number" } else { "array" });
                format!("kairos.{}.{}.{}.{}", op.name(), element.name(), sides[0], sides[1])
            }
            Routine::Dot(element) => format!("kairos.dot.{}", element.name()),
            Routine::MatMul(element) => format!("kairos.matmul.{}", element.name()),
        }
    }
}
