//! Built-in functions: result types and code of their calls.
//!
//! Names and numbers of arguments are defined in `language`. Here each family has a file with both
//! parts: `typing` needs types only, so inference can call it at every visit; `code` receives
//! values of the inferred types.

mod arithmetic;
mod classes;
mod exceptions;
pub(crate) mod iteration;
mod mathematics;
pub(crate) mod numbers;
mod numpy;
mod sequences;
mod strings;
mod subkernel;
mod time;

pub(crate) use time::{LONGEST, NO_TIME};

use crate::diagnostic::{Diagnostic, Result};
use crate::emit::Emitter;
use crate::ir::Value;
use crate::language::{Arithmetic, Builtin, Iteration, Order, Subkernel, Text};
use crate::syntax::{Expr, Keyword};
use crate::types::{Kind, Ty, Types};
pub use exceptions::construction;

/// A call during inference.
pub struct Call<'a> {
    pub builtin: Builtin,
    pub whole: &'a Expr,
    /// The array whose method is called.
    pub receiver: Option<(&'a Expr, Ty)>,
    pub args: &'a [Expr],
    /// Types of the arguments.
    pub types: &'a [Ty],
    pub keywords: &'a [Keyword],
    pub keyword_types: &'a [Ty],
    /// Type of the result, as far as earlier visits determined it.
    pub result: Ty,
}

/// Type of a call's result, as far as it is known.
pub fn typing(types: &mut Types, call: &Call) -> Result<Ty> {
    call.check()?;
    match call.builtin {
        Builtin::Number(number) => numbers::typing(types, call, number),
        Builtin::Sequence(sequence) => sequences::typing(types, call, sequence),
        Builtin::Iteration(iteration) => iteration::typing(types, call, iteration),
        Builtin::Text(text) => strings::typing(types, call, text),
        Builtin::Time(time) => time::typing(types, call, time),
        Builtin::Decorator(_) => Ok(types.new_type(Kind::None)),
        Builtin::AnyException | Builtin::Exception(_) => construction(types, call.args, call.types, call.keywords),
        Builtin::NumPy(function) => numpy::typing(types, call, function),
        Builtin::Mathematics(_) => mathematics::typing(types, call),
        Builtin::Order(Order::Watchdog) => {
            types.require_kind(Kind::Float, call.types[0], call.args[0].span, "the time in seconds")?;
            Ok(types.new_type(Kind::Builtin(call.builtin)))
        }
        Builtin::Arithmetic(_) | Builtin::Class(_) => unreachable!("inference types them itself"),
        Builtin::Order(_) | Builtin::Subkernel(_) => call.unsupported(),
    }
}

/// A call during code generation.
#[derive(Clone, Copy)]
pub(crate) struct Site<'p> {
    pub whole: &'p Expr,
    pub args: &'p [Expr],
    pub keywords: &'p [Keyword],
}

/// Generates the code of a call with these argument values.
pub(crate) fn code<'p>(
    emitter: &mut Emitter<'_, 'p>,
    builtin: Builtin,
    site: Site<'p>,
    values: Vec<Value>,
) -> Result<Value> {
    match builtin {
        Builtin::Number(number) => Ok(numbers::code(emitter, number, site, values)),
        Builtin::Arithmetic(function) => arithmetic::code(emitter, function, site, values),
        Builtin::Sequence(sequence) => Ok(sequences::code(emitter, sequence, site, values)),
        Builtin::Iteration(iteration) => iteration::code(emitter, iteration, site, values),
        Builtin::Class(class) => Ok(classes::code(emitter, class, site, values)),
        Builtin::Text(text) => strings::code(emitter, text, site, values),
        Builtin::Time(time) => Ok(time::code(emitter, time, values)),
        Builtin::Decorator(_) => Ok(Value::unit()),
        Builtin::AnyException | Builtin::Exception(_) => unreachable!("lowering makes exceptions itself"),
        Builtin::NumPy(function) => numpy::code(emitter, function, site, values),
        Builtin::Mathematics(function) => mathematics::code(emitter, function, site, values),
        Builtin::Order(_) => Ok(Value::unit()),
        Builtin::Subkernel(call) => subkernel::code(emitter, call, site, values),
    }
}

/// Whether an argument is evaluated, as opposed to a name or a type.
pub(crate) fn is_evaluated(builtin: Builtin, index: usize) -> bool {
    match builtin {
        Builtin::Subkernel(call) => subkernel::is_evaluated(call, index),
        _ => true,
    }
}

/// Whether the result of a call has parts in memory that the call allocates on the caller's stack.
pub fn makes_values(builtin: Builtin) -> bool {
    match builtin {
        Builtin::Sequence(sequence) => sequences::makes_values(sequence),
        Builtin::NumPy(_) | Builtin::Mathematics(_) | Builtin::AnyException | Builtin::Exception(_) => true,
        Builtin::Text(text) => strings::makes_values(text),
        Builtin::Arithmetic(function) => function == Arithmetic::Pow,
        Builtin::Iteration(iteration) => iteration == Iteration::Sorted,
        Builtin::Subkernel(call) => matches!(call, Subkernel::Await | Subkernel::Recv),
        Builtin::Number(_) | Builtin::Class(_) | Builtin::Time(_) | Builtin::Order(_) | Builtin::Decorator(_) => false,
    }
}

/// Unpacks the arguments, whose number inference has checked.
fn exactly<const COUNT: usize>(values: Vec<Value>) -> [Value; COUNT] {
    let count = values.len();
    <[Value; COUNT]>::try_from(values).unwrap_or_else(|_| unreachable!("{count} arguments were counted by inference"))
}

impl Call<'_> {
    /// Checks the number of arguments, and that the function accepts the keywords.
    pub fn check(&self) -> Result<()> {
        if matches!(self.builtin, Builtin::NumPy(_)) {
            return Ok(()); // its arguments are bound to parameters instead
        }
        let (name, plain) = (self.builtin.name(), self.builtin.plain_name());
        if name != plain {
            let least = *self.builtin.arguments().start();
            self.count(format!("{least}"))?;
            return match self.unknown_keyword() {
                Some(keyword) => {
                    let text = format!("'{plain}' does not accept argument '{}' in a kernel", keyword.name);
                    Err(Diagnostic::new(keyword.span, text))
                }
                None => Ok(()),
            };
        }
        if let Some(keyword) = self.unknown_keyword() {
            let error = match self.builtin.keywords() {
                [] => Diagnostic::new(keyword.span, format!("'{name}' takes no keyword arguments")),
                _ => {
                    let text = format!("'{name}' does not accept argument '{}' in a kernel", keyword.name);
                    Diagnostic::new(keyword.span, text)
                }
            };
            return Err(match self.builtin {
                Builtin::Text(Text::Print) => {
                    error.help("without a host, print writes to the log of the device, as core_log does")
                }
                _ => error,
            });
        }
        let counts = self.builtin.arguments();
        self.count(match (counts.start(), counts.end()) {
            (a, b) if a == b => format!("{a}"),
            (a, &usize::MAX) => format!("at least {a}"),
            (a, b) => format!("{a} to {b}"),
        })
    }

    fn is_known(&self, keyword: &Keyword) -> bool {
        self.builtin.keywords().contains(&&*keyword.name)
    }

    fn unknown_keyword(&self) -> Option<&Keyword> {
        self.keywords.iter().find(|keyword| !self.is_known(keyword))
    }

    fn count(&self, wanted: String) -> Result<()> {
        let (counts, named) = (
            self.builtin.arguments(),
            self.keywords.iter().filter(|k| self.is_known(k)),
        );
        if self.args.len() >= *counts.start() && self.args.len() + named.count() <= *counts.end() {
            return Ok(());
        }
        let (name, passed) = (self.builtin.plain_name(), self.args.len());
        let text = format!("'{name}' takes {wanted} argument(s), {passed} are passed");
        Err(Diagnostic::new(self.whole.span, text))
    }

    fn unsupported(&self) -> Result<Ty> {
        Err(Diagnostic::unsupported(
            self.whole.span,
            &format!("'{}'", self.builtin.name()),
        ))
    }

    /// An integer type whose width the context determines.
    fn open_result(&self, types: &mut Types) -> Ty {
        if !types.is_int(self.result) {
            return types.new_type(Kind::IntOpen);
        }
        self.result
    }
}
