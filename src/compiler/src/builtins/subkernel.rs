//! Code of calls between kernels and subkernels. Their typing is part of inference
//! (`infer/subkernel.rs`).

use crate::diagnostic::Result;
use crate::emit::{int, Emitter, Message, AT_ONCE, FOREVER};
use crate::host::Handle;
use crate::ir::{Ty, Value};
use crate::language::Subkernel;
use crate::program::FunctionId;
use crate::syntax::{Expr, ExprKind};
use crate::types::Kind;

use super::Site;

/// Whether an argument is evaluated; names of messages and types are not.
pub(crate) fn is_evaluated(subkernel: Subkernel, index: usize) -> bool {
    match subkernel {
        Subkernel::Await | Subkernel::Preload => true,
        Subkernel::Send => index != 1,
        Subkernel::Recv => index > 1,
    }
}

/// Generates the code of a call; `values` contains the evaluated arguments only.
pub(crate) fn code<'p>(
    emitter: &mut Emitter<'_, 'p>,
    subkernel: Subkernel,
    site: Site<'p>,
    values: Vec<Value>,
) -> Result<Value> {
    let span = site.whole.span;
    let result = emitter.type_of(site.whole);
    match subkernel {
        Subkernel::Await => {
            let (function, _) = named(emitter, &site.args[0]);
            let number = emitter.subkernel_number(function, &values[0]);
            let timeout = timeout(emitter, values.get(1));
            emitter.await_subkernel(number.clone(), timeout);
            if *emitter.kind_of(site.whole) == Kind::None {
                return Ok(Value::unit());
            }
            // A subkernel that has ended has already sent its result.
            let received = emitter.receive_message(number, Value::int(Ty::I64, AT_ONCE), &[result], span)?;
            Ok(received.into_iter().next().expect("one of each type"))
        }
        Subkernel::Preload => {
            let (function, destination) = named(emitter, &site.args[0]);
            let number = emitter.subkernel_number(function, &values[0]);
            emitter.load_subkernel(number, destination, false);
            Ok(Value::unit())
        }
        Subkernel::Send => {
            let message = Message {
                number: message(emitter, &site.args[1]),
                is_result: false,
                destination: values[0].clone(),
            };
            let ty = emitter.type_of(&site.args[2]);
            emitter.send_message(message, vec![(values[1].clone(), ty)], span)?;
            Ok(Value::unit())
        }
        Subkernel::Recv => {
            let number = message(emitter, &site.args[0]);
            let timeout = timeout(emitter, values.first());
            let received = emitter.receive_message(number, timeout, &[result], span)?;
            Ok(received.into_iter().next().expect("one of each type"))
        }
    }
}

/// The subkernel that an expression names, and its destination.
fn named(emitter: &Emitter, expr: &Expr) -> (FunctionId, u8) {
    let key: (Handle, Option<Handle>) = match *emitter.kind_of(expr) {
        Kind::Method { function, class } => (function, Some(class)),
        Kind::Function(function) => (function, None),
        _ => unreachable!("inference wants a subkernel"),
    };
    let program = emitter.module.program;
    let function = program.function_index[&key];
    let destination = program.functions[function].info.kind.destination();
    (function, destination.expect("inference wants a subkernel"))
}

fn message(emitter: &Emitter, name: &Expr) -> Value {
    let ExprKind::Str(name) = &name.kind else {
        unreachable!("inference wants a literal")
    };
    int(emitter.module.program.message(name))
}

/// A timeout in milliseconds.
fn timeout(emitter: &mut Emitter, given: Option<&Value>) -> Value {
    match given {
        Some(value) => emitter.build.convert(value.clone(), &Ty::I64),
        None => Value::int(Ty::I64, FOREVER),
    }
}
