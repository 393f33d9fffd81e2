//! The built-in names of the kernel language: where host code finds them, and how many arguments
//! they take.
//!
//! Typing and code generation of calls are in the file of each family in `builtins/`.

mod mathematics;
mod numpy;

use std::collections::HashMap;
use std::ops::RangeInclusive;
use std::sync::LazyLock;

/// Exception classes with the same ids on host, compiler and firmware.
pub use kairos_contracts::exceptions::Id as Exception;
use kairos_contracts::exceptions::PRELUDE;
pub use mathematics::{only_computes, Mathematics};
pub use numpy::{NumPy, Parameter};

/// Any number of arguments, or any beyond those counted.
const MANY: usize = usize::MAX;

/// Keyword that marks calls of `sorted` on pairs of keys and elements, to which the parser rewrites
/// the argument `key` (`syntax/comprehensions.rs`). It is not a valid identifier, so programs cannot
/// use it.
pub const KEYED: &str = "key, element";

/// Host modules.
const PYTHON: Option<&str> = Some("builtins");
const LANGUAGE: Option<&str> = Some("kairos.language");
const NUMPY: Option<&str> = Some("numpy");
/// Not available from host code.
const KERNELS: Option<&str> = None;

/// Properties of a name in the tables below.
struct Row {
    name: &'static str,
    /// Host module with an attribute of that name, which can be passed to kernels.
    module: Option<&'static str>,
    arguments: RangeInclusive<usize>,
}

/// A family of names: `Variant = "name", module, arguments;`
macro_rules! family {
    ($(#[$doc:meta])* $family:ident { $($variant:ident = $name:literal, $module:expr, $arguments:expr;)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum $family {
            $($variant),*
        }

        impl $family {
            const ALL: &'static [$family] = &[$($family::$variant),*];

            const fn row(self) -> Row {
                match self {
                    $($family::$variant => Row {
                        name: $name,
                        module: $module,
                        arguments: $arguments,
                    }),*
                }
            }
        }
    };
}

family! {
    /// Number types, which convert to themselves, and functions of numbers.
    Number {
        Bool = "bool", PYTHON, 0..=1;
        Int = "int", PYTHON, 0..=1;
        Int32 = "int32", NUMPY, 1..=1;
        Int64 = "int64", NUMPY, 1..=1;
        Float = "float", PYTHON, 0..=1;
        Round = "round", PYTHON, 1..=1;
        Abs = "abs", PYTHON, 1..=1;
        Min = "min", PYTHON, 1..=MANY;
        Max = "max", PYTHON, 1..=MANY;
    }
}

family! {
    /// Functions that stand for operators. Names of the host take precedence over these.
    Arithmetic {
        DivMod = "divmod", PYTHON, 2..=2;
        Pow = "pow", PYTHON, 2..=3;
    }
}

family! {
    /// Functions that create or measure sequences.
    Sequence {
        List = "list", PYTHON, 0..=1;
        Len = "len", PYTHON, 1..=1;
        Range = "range", PYTHON, 1..=3;
    }
}

family! {
    /// Functions that iterate over iterables. Names of the host take precedence over these.
    Iteration {
        Enumerate = "enumerate", PYTHON, 1..=2;
        Zip = "zip", PYTHON, 1..=MANY;
        Reversed = "reversed", PYTHON, 1..=1;
        Sum = "sum", PYTHON, 1..=2;
        Any = "any", PYTHON, 1..=1;
        All = "all", PYTHON, 1..=1;
        Sorted = "sorted", PYTHON, 1..=3;
    }
}

family! {
    /// Functions that test classes of values. Names of the host take precedence over these.
    Class {
        IsInstance = "isinstance", PYTHON, 2..=2;
        Super = "super", PYTHON, 0..=2;
    }
}

family! {
    /// String types, and functions that write text.
    Text {
        Str = "str", PYTHON, 0..=1;
        Bytes = "bytes", PYTHON, 0..=1;
        ByteArray = "bytearray", PYTHON, 0..=1;
        Print = "print", PYTHON, 0..=MANY;
        CoreLog = "core_log", KERNELS, 0..=MANY;
        RtioLog = "rtio_log", KERNELS, 1..=MANY;
    }
}

family! {
    /// The time cursor.
    Time {
        Delay = "delay", LANGUAGE, 1..=1;
        DelayMu = "delay_mu", LANGUAGE, 1..=1;
        AtMu = "at_mu", LANGUAGE, 1..=1;
        NowMu = "now_mu", LANGUAGE, 0..=0;
    }
}

family! {
    /// Context managers that define the timing of their statements.
    Order {
        Parallel = "parallel", LANGUAGE, 0..=MANY;
        Interleave = "interleave", LANGUAGE, 0..=MANY;
        Sequential = "sequential", LANGUAGE, 0..=MANY;
        Watchdog = "watchdog", LANGUAGE, 1..=1;
    }
}

family! {
    /// Decorators, which have no effect in a kernel.
    Decorator {
        Kernel = "kernel", LANGUAGE, 0..=MANY;
        Portable = "portable", LANGUAGE, 0..=MANY;
        Rpc = "rpc", LANGUAGE, 0..=MANY;
        Subkernel = "subkernel", LANGUAGE, 0..=MANY;
    }
}

family! {
    /// Calls of subkernels.
    Subkernel {
        Await = "subkernel_await", KERNELS, 0..=MANY;
        Preload = "subkernel_preload", KERNELS, 0..=MANY;
        Send = "subkernel_send", KERNELS, 0..=MANY;
        Recv = "subkernel_recv", KERNELS, 0..=MANY;
    }
}

/// A name of the language.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Builtin {
    Number(Number),
    Arithmetic(Arithmetic),
    Sequence(Sequence),
    Iteration(Iteration),
    Class(Class),
    Text(Text),
    Time(Time),
    Order(Order),
    Decorator(Decorator),
    Subkernel(Subkernel),
    /// `Exception`, the class of all exceptions but `KeyboardInterrupt` and the like.
    AnyException,
    Exception(Exception),
    NumPy(NumPy),
    Mathematics(Mathematics),
}

impl Builtin {
    pub fn all() -> impl Iterator<Item = Builtin> {
        let python = Number::ALL.iter().map(|&name| Builtin::Number(name));
        let python = python.chain(Arithmetic::ALL.iter().map(|&name| Builtin::Arithmetic(name)));
        let python = python.chain(Sequence::ALL.iter().map(|&name| Builtin::Sequence(name)));
        let python = python.chain(Iteration::ALL.iter().map(|&name| Builtin::Iteration(name)));
        let python = python.chain(Class::ALL.iter().map(|&name| Builtin::Class(name)));
        let python = python.chain(Text::ALL.iter().map(|&name| Builtin::Text(name)));
        let artiq = Time::ALL.iter().map(|&name| Builtin::Time(name));
        let artiq = artiq.chain(Order::ALL.iter().map(|&name| Builtin::Order(name)));
        let artiq = artiq.chain(Decorator::ALL.iter().map(|&name| Builtin::Decorator(name)));
        let artiq = artiq.chain(Subkernel::ALL.iter().map(|&name| Builtin::Subkernel(name)));
        let exceptions = PRELUDE
            .into_iter()
            .map(Builtin::Exception)
            .chain([Builtin::AnyException]);
        let numpy = NumPy::all().map(Builtin::NumPy);
        let numpy = numpy.chain(Mathematics::all().map(Builtin::Mathematics));
        python.chain(artiq).chain(exceptions).chain(numpy)
    }

    fn row(self) -> Row {
        match self {
            Builtin::Number(name) => name.row(),
            Builtin::Arithmetic(name) => name.row(),
            Builtin::Sequence(name) => name.row(),
            Builtin::Iteration(name) => name.row(),
            Builtin::Class(name) => name.row(),
            Builtin::Text(name) => name.row(),
            Builtin::Time(name) => name.row(),
            Builtin::Order(name) => name.row(),
            Builtin::Decorator(name) => name.row(),
            Builtin::Subkernel(name) => name.row(),
            Builtin::AnyException => Row {
                name: "Exception",
                module: PYTHON,
                arguments: 0..=MANY,
            },
            // The host's class of that name is passed to kernels like classes of the user.
            Builtin::Exception(class) => Row {
                name: class.name(),
                module: KERNELS,
                arguments: 0..=MANY,
            },
            Builtin::NumPy(name) => name.row(),
            Builtin::Mathematics(function) => function.row(),
        }
    }

    /// The compiler's name. Names with a dot are not known in kernels but reached through the host.
    pub fn name(self) -> &'static str {
        self.row().name
    }

    /// The name without its package.
    pub fn plain_name(self) -> &'static str {
        let name = self.name();
        name.rsplit_once('.').map_or(name, |(_, plain)| plain)
    }

    /// Module and attribute of the corresponding host object; None if host code cannot pass it to
    /// kernels.
    pub fn host_object(self) -> Option<(&'static str, &'static str)> {
        let Row { name, module, .. } = self.row();
        if matches!(self, Builtin::NumPy(function) if !function.is_function()) {
            return None;
        }
        match name.rsplit_once('.') {
            Some(path) => Some(path),
            None => module.map(|module| (module, name)),
        }
    }

    /// Arguments that may be passed by keyword.
    pub fn keywords(self) -> &'static [&'static str] {
        match self {
            Builtin::Number(Number::Min | Number::Max) => &["default"],
            Builtin::Iteration(Iteration::Enumerate | Iteration::Sum) => &["start"],
            Builtin::Iteration(Iteration::Sorted) => &["reverse", "key", KEYED],
            Builtin::Iteration(Iteration::Zip) => &["strict"],
            _ => &[],
        }
    }

    /// Whether a name of the host takes precedence, because programs may define a global of that
    /// name.
    pub fn yields(self) -> bool {
        matches!(self, Builtin::Arithmetic(_) | Builtin::Iteration(_) | Builtin::Class(_))
    }

    /// Numbers of arguments accepted by a call.
    pub fn arguments(self) -> RangeInclusive<usize> {
        self.row().arguments
    }

    pub fn named(name: &str) -> Option<Builtin> {
        static NAMES: LazyLock<HashMap<&str, Builtin>> =
            LazyLock::new(|| Builtin::all().map(|builtin| (builtin.name(), builtin)).collect());
        NAMES.get(name).copied()
    }

    /// The names known in every kernel. They take precedence over module globals, unless they
    /// yield.
    pub fn prelude() -> impl Iterator<Item = Builtin> {
        Builtin::all().filter(|builtin| !builtin.name().contains('.'))
    }
}

impl Order {
    pub fn named(name: &str) -> Option<Order> {
        Order::ALL.iter().copied().find(|order| order.row().name == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernel_class_handles_are_unique_and_reversible() {
        for builtin in Builtin::all() {
            assert_eq!(Builtin::named(builtin.name()), Some(builtin));
        }
        assert_eq!(Builtin::named("print"), Some(Builtin::Text(Text::Print)));
        assert!(Builtin::prelude().all(|builtin| builtin.plain_name() == builtin.name()));
    }

    #[test]
    fn functions_of_other_packages_are_resolved_in_their_package() {
        let object = |name| Builtin::named(name).and_then(Builtin::host_object);
        assert_eq!(object("scipy.special.erf"), Some(("scipy.special", "erf")));
        assert_eq!(object("int64"), Some(("numpy", "int64")));
        assert_eq!(object("core_log"), None);
    }
}
