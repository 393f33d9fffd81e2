//! Powers of integers.

use super::{Builder, Emitter, ModuleBuilder};
use crate::ir::{self, *};
use crate::language::Exception;

impl Emitter<'_, '_> {
    /// A power of integers, which wraps like a product. For a negative exponent the result is
    /// truncated toward zero, as in the reference.
    pub(crate) fn power(&mut self, base: Value, exponent: Value) -> Value {
        let zero = Value::int(base.ty.clone(), 0);
        let some = self.build.compare(Compare::Ne, base.clone(), zero.clone());
        let whole = self.build.compare(Compare::Sge, exponent.clone(), zero);
        let defined = self.build.binary(Binary::Or, some, whole);
        self.require(defined, Exception::ZeroDivisionError, "cannot divide by zero", &[]);
        if let Some(known @ 1..=4) = exponent.as_int() {
            let factors = std::iter::repeat_n(base.clone(), known as usize - 1);
            return factors.fold(base, |product, factor| self.build.binary(Binary::Mul, product, factor));
        }
        let (symbol, wide) = match base.ty {
            Ty::I64 => ("kairos.power64", 1),
            _ => ("kairos.power32", 0),
        };
        self.module.powers[wide] = true;
        let ty = base.ty.clone();
        self.build.call(symbol, vec![base, exponent], ty, None)
    }
}

/// `kairos.power…(base, exponent)`: exponentiation by squaring. For negative exponents the result
/// is 0 unless the base is 1 or -1.
fn power_function(symbol: &str, ty: Ty) -> ir::Function {
    let mut function = ir::Function::new(symbol, vec![ty.clone(), ty.clone()], ty.clone(), None);
    function.attributes = "nounwind noinline";
    let mut build = Builder::new(function);
    let [base, exponent] = [0, 1].map(|number| Value {
        ty: ty.clone(),
        kind: ValueKind::Temp(number),
    });
    let constant = |value| Value::int(ty.clone(), value);
    let [factor, rest, product] = [(); 3].map(|()| build.slot(ty.clone()));
    build.store(base.clone(), &factor);
    build.store(constant(1), &product);
    let [below, head, inside, done] = ["below zero", "each bit", "bit", "power"].map(|label| build.new_block(label));
    let negative = build.compare(Compare::Slt, exponent.clone(), constant(0));
    build.store(exponent.clone(), &rest);
    build.branch(negative, below, head);
    build.block = below;
    // For bases 1 and -1, the result depends on the lowest bit of the exponent only.
    let next = build.binary(Binary::Add, base, constant(1));
    let unit = build.compare(Compare::Ult, next, constant(3));
    let factor_left = build.load(ty.clone(), &factor);
    let factor_left = build.select(unit.clone(), factor_left, constant(0));
    build.store(factor_left, &factor);
    let odd = build.binary(Binary::And, exponent, constant(1));
    let odd = build.select(unit, odd, constant(1));
    build.store(odd, &rest);
    build.jump(head);
    build.block = head;
    let left = build.load(ty.clone(), &rest);
    let more = build.compare(Compare::Ne, left.clone(), constant(0));
    build.branch(more, inside, done);
    build.block = inside;
    let (own, so_far) = (build.load(ty.clone(), &factor), build.load(ty.clone(), &product));
    let bit = build.binary(Binary::And, left.clone(), constant(1));
    let set = build.compare(Compare::Ne, bit, constant(0));
    let taken = build.binary(Binary::Mul, so_far.clone(), own.clone());
    let so_far = build.select(set, taken, so_far);
    build.store(so_far, &product);
    let own = build.binary(Binary::Mul, own.clone(), own);
    build.store(own, &factor);
    let left = build.binary(Binary::AShr, left, constant(1));
    build.store(left, &rest);
    build.jump(head);
    build.block = done;
    let result = build.load(ty, &product);
    build.end(Terminator::Return(result));
    build.finish()
}

impl ModuleBuilder<'_> {
    pub(crate) fn power_functions(&mut self) {
        for (used, (symbol, ty)) in self
            .powers
            .into_iter()
            .zip([("kairos.power32", Ty::I32), ("kairos.power64", Ty::I64)])
        {
            if used {
                self.module.functions.push(power_function(symbol, ty));
            }
        }
    }
}
