//! Functions that stand for operators. Inference types them as it types the operators.

use super::{exactly, Site};
use crate::diagnostic::Result;
use crate::emit::Emitter;
use crate::ir::Value;
use crate::language::Arithmetic;
use crate::syntax::BinOp;
use crate::types::Kind;

pub fn code<'p>(
    emitter: &mut Emitter<'_, 'p>,
    function: Arithmetic,
    site: Site<'p>,
    values: Vec<Value>,
) -> Result<Value> {
    let types = [0, 1].map(|index| emitter.type_of(&site.args[index]));
    let [left, right] = exactly(values);
    let operands = [(left, types[0]), (right, types[1])];
    match function {
        Arithmetic::Pow => unreachable!("lowered as the operator"),
        Arithmetic::DivMod => {
            let Kind::Tuple(members) = emitter.kind_of(site.whole).clone() else {
                unreachable!("inference makes it a pair")
            };
            let [left, right] = operands.clone();
            let quotient = emitter.arithmetic(BinOp::FloorDiv, left, right, members[0])?;
            let [left, right] = operands;
            let rest = emitter.arithmetic(BinOp::Mod, left, right, members[1])?;
            Ok(emitter.build.aggregate(vec![quotient, rest]))
        }
    }
}
