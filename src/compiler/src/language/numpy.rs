//! NumPy functions that create, reshape, select from or reduce arrays, and methods of arrays.

use super::{Row, MANY, NUMPY};

/// How a kernel accesses a function.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    /// As a function of the package.
    Function,
    /// As a method of an array.
    Method,
    Both,
}

/// `Variant = form "name", "parameters";` Parameters are in NumPy's order and with its names; `?`
/// follows an optional one, `*` one that takes all remaining arguments.
macro_rules! functions {
    ($($variant:ident = $form:ident $name:literal, $parameters:literal;)*) => {
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum NumPy {
            $($variant),*
        }

        impl NumPy {
            const ALL: &'static [NumPy] = &[$(NumPy::$variant),*];

            const fn entry(self) -> (Form, &'static str, &'static str) {
                match self {
                    $(NumPy::$variant => (Form::$form, concat!("numpy.", $name), $parameters)),*
                }
            }
        }
    };
}

functions! {
    Array = Function "array", "object dtype?";
    Zeros = Function "zeros", "shape dtype?";
    Ones = Function "ones", "shape dtype?";
    Empty = Function "empty", "shape dtype?";
    Full = Function "full", "shape fill_value dtype?";
    ZerosLike = Function "zeros_like", "a dtype?";
    OnesLike = Function "ones_like", "a dtype?";
    EmptyLike = Function "empty_like", "prototype dtype?";
    FullLike = Function "full_like", "a fill_value dtype?";
    Arange = Function "arange", "start stop? step? dtype?";
    Linspace = Function "linspace", "start stop num? endpoint?";
    Eye = Function "eye", "N M? k? dtype?";
    Identity = Function "identity", "n dtype?";
    Copy = Both "copy", "a";
    AsType = Method "astype", "a dtype";
    Transpose = Both "transpose", "a";
    Reshape = Both "reshape", "a shape*";
    Dot = Both "dot", "a b";
    MatMul = Function "matmul", "x1 x2";
    Sum = Both "sum", "a axis?";
    Prod = Both "prod", "a axis?";
    Mean = Both "mean", "a axis?";
    Min = Both "min", "a axis?";
    Max = Both "max", "a axis?";
    ArgMin = Both "argmin", "a axis?";
    ArgMax = Both "argmax", "a axis?";
    Any = Both "any", "a axis?";
    All = Both "all", "a axis?";
    Where = Function "where", "condition x y";
    Clip = Both "clip", "a a_min a_max";
    Maximum = Function "maximum", "x1 x2";
    Minimum = Function "minimum", "x1 x2";
    Absolute = Function "absolute", "x";
    LogicalAnd = Function "logical_and", "x1 x2";
    LogicalOr = Function "logical_or", "x1 x2";
    LogicalXor = Function "logical_xor", "x1 x2";
    LogicalNot = Function "logical_not", "x";
    IsNan = Function "isnan", "x";
    IsInf = Function "isinf", "x";
    IsFinite = Function "isfinite", "x";
    Cholesky = Function "linalg.cholesky", "a";
    Determinant = Function "linalg.det", "a";
    Inverse = Function "linalg.inv", "a";
    PseudoInverse = Function "linalg.pinv", "a";
    MatrixPower = Function "linalg.matrix_power", "a n";
    Qr = Function "linalg.qr", "a";
    Solve = Function "linalg.solve", "a b";
    Svd = Function "linalg.svd", "a";
}

/// A parameter of one of the functions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parameter {
    pub name: &'static str,
    pub optional: bool,
    /// Takes all remaining arguments.
    pub many: bool,
}

impl NumPy {
    pub(super) fn all() -> impl Iterator<Item = NumPy> {
        NumPy::ALL.iter().copied()
    }

    /// The array method of that name.
    pub fn method(name: &str) -> Option<NumPy> {
        NumPy::all().find(|function| {
            let (form, own, _) = function.entry();
            form != Form::Function && own.strip_prefix("numpy.") == Some(name)
        })
    }

    /// Whether it exists in the package, not only as an array method.
    pub fn is_function(self) -> bool {
        self.entry().0 != Form::Method
    }

    pub fn parameters(self) -> impl Iterator<Item = Parameter> {
        self.entry().2.split(' ').map(|text| Parameter {
            name: text.trim_end_matches(['?', '*']),
            optional: text.ends_with('?'),
            many: text.ends_with('*'),
        })
    }

    pub(super) fn row(self) -> Row {
        let least = self.parameters().filter(|parameter| !parameter.optional).count();
        let most = match self.parameters().any(|parameter| parameter.many) {
            true => MANY,
            false => self.parameters().count(),
        };
        Row {
            name: self.entry().1,
            module: NUMPY,
            arguments: least..=most,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_of_numpy_functions_are_parsed() {
        let full: Vec<_> = NumPy::Full.parameters().collect();
        assert_eq!(full.len(), 3);
        assert!(full[2].optional && full[2].name == "dtype" && !full[1].optional);
        assert_eq!(NumPy::Reshape.row().arguments, 2..=MANY);
        assert_eq!(NumPy::method("sum"), Some(NumPy::Sum));
        assert_eq!(NumPy::method("where"), None);
    }
}
