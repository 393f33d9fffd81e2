//! NumPy functions and methods of arrays.
//!
//! `arguments.rs` binds arguments to parameters; each family has typing and code of its calls.

mod arguments;
mod creation;
mod elementwise;
mod linalg;
mod reduction;
mod shape;

use super::{Call, Site};
use crate::diagnostic::Result;
use crate::emit::Emitter;
use crate::ir::Value;
use crate::language::NumPy;
use crate::types::{Ty, Types};
use arguments::Arguments;

/// Families of functions.
enum Family {
    Creation,
    Elementwise,
    LinearAlgebra,
    Reduction,
    Shape,
}

fn family(function: NumPy) -> Family {
    match function {
        NumPy::Array
        | NumPy::Zeros
        | NumPy::Ones
        | NumPy::Empty
        | NumPy::Full
        | NumPy::ZerosLike
        | NumPy::OnesLike
        | NumPy::EmptyLike
        | NumPy::FullLike
        | NumPy::Arange
        | NumPy::Linspace
        | NumPy::Eye
        | NumPy::Identity => Family::Creation,
        NumPy::Copy | NumPy::AsType | NumPy::Transpose | NumPy::Reshape | NumPy::Dot | NumPy::MatMul => Family::Shape,
        NumPy::Sum
        | NumPy::Prod
        | NumPy::Mean
        | NumPy::Min
        | NumPy::Max
        | NumPy::ArgMin
        | NumPy::ArgMax
        | NumPy::Any
        | NumPy::All => Family::Reduction,
        NumPy::Where
        | NumPy::Clip
        | NumPy::Maximum
        | NumPy::Minimum
        | NumPy::Absolute
        | NumPy::LogicalAnd
        | NumPy::LogicalOr
        | NumPy::LogicalXor
        | NumPy::LogicalNot
        | NumPy::IsNan
        | NumPy::IsInf
        | NumPy::IsFinite => Family::Elementwise,
        NumPy::Cholesky
        | NumPy::Determinant
        | NumPy::Inverse
        | NumPy::PseudoInverse
        | NumPy::MatrixPower
        | NumPy::Qr
        | NumPy::Solve
        | NumPy::Svd => Family::LinearAlgebra,
    }
}

pub fn typing(types: &mut Types, call: &Call, function: NumPy) -> Result<Ty> {
    let given = call
        .receiver
        .into_iter()
        .chain(call.args.iter().zip(call.types.iter().copied()));
    let args = Arguments::new(function, call.whole, given.collect(), call.keywords, call.keyword_types)?;
    if args.given.iter().any(|&(_, ty)| types.is_var(ty)) {
        return Ok(types.var());
    }
    match family(function) {
        Family::Creation => creation::typing(types, &args, call.result),
        Family::Elementwise => elementwise::typing(types, &args),
        Family::LinearAlgebra => linalg::typing(types, &args),
        Family::Reduction => reduction::typing(types, &args, call.result),
        Family::Shape => shape::typing(types, &args),
    }
}

pub fn code<'p>(emitter: &mut Emitter<'_, 'p>, function: NumPy, site: Site<'p>, values: Vec<Value>) -> Result<Value> {
    let args = Arguments::of_site(emitter, function, site, values)?;
    match family(function) {
        Family::Creation => creation::code(emitter, &args),
        Family::Elementwise => elementwise::code(emitter, &args),
        Family::LinearAlgebra => linalg::code(emitter, &args),
        Family::Reduction => reduction::code(emitter, &args),
        Family::Shape => shape::code(emitter, &args),
    }
}
