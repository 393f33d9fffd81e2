//! Arithmetic and comparison.

use super::exceptions::{VALUE_ERROR, ZERO_DIVISION_ERROR};
use super::sequence::integer_order;
use super::FunctionLowering;
use crate::ast::*;
use crate::diagnostic::Result;
use crate::ir::*;
use crate::types::{self, Kind};

impl<'p> FunctionLowering<'_, 'p> {
    /// `left op right` with the result of type `result`. Operands are converted to the type the operation works in.
    pub(super) fn arithmetic(
        &mut self,
        op: BinOp,
        (left, left_ty): (Value, types::Ty),
        (right, right_ty): (Value, types::Ty),
        result: types::Ty,
    ) -> Result<Value> {
        self.arithmetic_as(op, (left, left_ty), (right, right_ty), result, true)
    }

    /// As [`Self::arithmetic`]; division of floats by zero is an exception only if it is `checked`.
    pub(super) fn arithmetic_as(
        &mut self,
        op: BinOp,
        (left, left_ty): (Value, types::Ty),
        (right, right_ty): (Value, types::Ty),
        result: types::Ty,
        checked: bool,
    ) -> Result<Value> {
        let types = &self.module.program().types;
        let floats = [left_ty, right_ty].iter().any(|&ty| *types.kind(ty) == Kind::Float);
        let ty = self.module.ir_type(result);
        let work = if op == BinOp::Div || floats {
            Ty::F64
        } else {
            ty.clone()
        };
        let (a, b) = (self.build.convert(left, &work), self.build.convert(right, &work));
        let value = if work == Ty::F64 {
            self.float_operation(op, a, b, checked)
        } else {
            self.int_operation(op, a, b)
        };
        Ok(self.build.convert(value, &ty))
    }

    fn float_operation(&mut self, op: BinOp, a: Value, b: Value, checked: bool) -> Value {
        if checked && matches!(op, BinOp::Div | BinOp::FloorDiv | BinOp::Mod) {
            let nonzero = self.build.compare("fcmp une", b.clone(), Value::float(0.0));
            self.require(nonzero, ZERO_DIVISION_ERROR, "cannot divide by zero", &[]);
        }
        match op {
            BinOp::Add => self.build.binary("fadd", a, b),
            BinOp::Sub => self.build.binary("fsub", a, b),
            BinOp::Mul => self.build.binary("fmul", a, b),
            BinOp::Div => self.build.binary("fdiv", a, b),
            BinOp::FloorDiv => {
                let quotient = self.build.binary("fdiv", a, b);
                match quotient.as_float() {
                    Some(known) => Value::float(known.floor()),
                    None => self.call_external("floor", vec![quotient], Ty::F64, true),
                }
            }
            BinOp::Mod => {
                let rest = self.call_external("fmod", vec![a, b.clone()], Ty::F64, true);
                // The result has the sign of the divisor.
                let zero = || Value::float(0.0);
                let negative = self.build.compare("fcmp olt", rest.clone(), zero());
                let below = self.build.compare("fcmp olt", b.clone(), zero());
                let differ = self.build.binary("xor", negative, below);
                let some = self.build.compare("fcmp one", rest.clone(), zero());
                let fix = self.build.binary("and", differ, some);
                let fixed = self.build.binary("fadd", rest.clone(), b);
                self.build.select(fix, fixed, rest)
            }
            _ => self.call_external("pow", vec![a, b], Ty::F64, true),
        }
    }

    fn int_operation(&mut self, op: BinOp, a: Value, b: Value) -> Value {
        let ty = a.ty.clone();
        let zero = || Value::int(ty.clone(), 0);
        match op {
            BinOp::Add => self.build.binary("add", a, b),
            BinOp::Sub => self.build.binary("sub", a, b),
            BinOp::Mul => self.build.binary("mul", a, b),
            BinOp::And => self.build.binary("and", a, b),
            BinOp::Or => self.build.binary("or", a, b),
            BinOp::Xor => self.build.binary("xor", a, b),
            BinOp::FloorDiv | BinOp::Mod => self.int_division(op, a, b),
            BinOp::Shl | BinOp::Shr => {
                let valid = self.build.compare("icmp sge", b.clone(), zero());
                self.require(valid, VALUE_ERROR, "shift amount must be nonnegative", &[]);
                let width = i64::from(ty.bits());
                let small = self.build.compare("icmp slt", b.clone(), Value::int(ty.clone(), width));
                let limit = Value::int(ty.clone(), width - 1);
                let count = self.build.select(small.clone(), b, limit);
                if op == BinOp::Shr {
                    return self.build.binary("ashr", a, count);
                }
                let shifted = self.build.binary("shl", a, count);
                self.build.select(small, shifted, zero())
            }
            // By way of floats, as the reference has it: exact below 2**53.
            _ => {
                let base = self.build.convert(a, &Ty::F64);
                let exponent = self.build.convert(b, &Ty::I32);
                let power = match (base.as_float(), exponent.as_int()) {
                    (Some(base), Some(exponent)) => Value::float(base.powi(exponent as i32)),
                    _ => self.call_external("__powidf2", vec![base, exponent], Ty::F64, true),
                };
                self.build.convert(power, &ty)
            }
        }
    }

    /// `//` cuts toward zero, as in the reference; `%` has the sign of the divisor, as in Python.
    fn int_division(&mut self, op: BinOp, a: Value, b: Value) -> Value {
        let ty = a.ty.clone();
        let constant = |value| Value::int(ty.clone(), value);
        let nonzero = self.build.compare("icmp ne", b.clone(), constant(0));
        self.require(nonzero, ZERO_DIVISION_ERROR, "cannot divide by zero", &[]);
        // The most negative number divided by -1 wraps; the instruction must not see that pair.
        let minus_one = self.build.compare("icmp eq", b.clone(), constant(-1));
        let safe = self.build.select(minus_one.clone(), constant(1), b.clone());
        if op == BinOp::FloorDiv {
            let quotient = self.build.binary("sdiv", a.clone(), safe);
            let negated = self.build.binary("sub", constant(0), a);
            return self.build.select(minus_one, negated, quotient);
        }
        let rest = self.build.binary("srem", a, safe);
        let rest = self.build.select(minus_one, constant(0), rest);
        let signs = self.build.binary("xor", rest.clone(), b.clone());
        let differ = self.build.compare("icmp slt", signs, constant(0));
        let some = self.build.compare("icmp ne", rest.clone(), constant(0));
        let fix = self.build.binary("and", differ, some);
        let fixed = self.build.binary("add", rest.clone(), b);
        self.build.select(fix, fixed, rest)
    }

    /// A chain of comparisons: each operand is evaluated once, and none after the first that fails.
    pub(super) fn compare(&mut self, whole: &'p Expr, first: &'p Expr, rest: &'p [(CmpOp, Expr)]) -> Result<Value> {
        let mut left = (self.expr(first)?, self.type_of(first));
        if let [(op, right)] = rest {
            let right = (self.expr(right)?, self.type_of(right));
            return self.comparison(whole, *op, left, right);
        }
        let result = self.build.slot(Ty::I1);
        let after = self.build.new_block("after comparison");
        for (index, (op, expr)) in rest.iter().enumerate() {
            let right = (self.expr(expr)?, self.type_of(expr));
            let holds = self.comparison(whole, *op, left, right.clone())?;
            self.build.store(holds.clone(), &result);
            if index + 1 == rest.len() {
                self.build.jump(after);
            } else {
                let next = self.build.new_block("next comparison");
                self.build.branch(holds, next, after);
                self.build.block = next;
            }
            left = right;
        }
        self.build.block = after;
        Ok(self.build.load(Ty::I1, &result))
    }

    pub(super) fn comparison(
        &mut self,
        whole: &'p Expr,
        op: CmpOp,
        (a, a_ty): (Value, types::Ty),
        (b, b_ty): (Value, types::Ty),
    ) -> Result<Value> {
        if matches!(op, CmpOp::In | CmpOp::NotIn) {
            let found = self.contains(whole, (a, a_ty), (b, b_ty))?;
            return Ok(if op == CmpOp::In { found } else { self.build.not(found) });
        }
        let types = &self.module.program().types;
        let (kind_a, kind_b) = (types.kind(a_ty), types.kind(b_ty));
        let equality = matches!(op, CmpOp::Eq | CmpOp::NotEq | CmpOp::Is | CmpOp::IsNot);
        let identity = matches!(op, CmpOp::Is | CmpOp::IsNot);
        let negated = matches!(op, CmpOp::NotEq | CmpOp::IsNot);
        match (kind_a, kind_b) {
            (Kind::None, _) => Ok(Value::bool(!negated && !matches!(op, CmpOp::Lt | CmpOp::Gt))),
            (Kind::Str, _) if equality => {
                let equal = self.strings_equal(&a, &b);
                Ok(if negated { self.build.not(equal) } else { equal })
            }
            (Kind::Str, _) => Ok(self.compare_strings(op, &a, &b)),
            (Kind::List(elt), _) if !identity => self.compare_lists(whole, op, (a, b), *elt),
            (Kind::Tuple(elements), _) => self.compare_tuples(whole, op, (a, b), elements),
            (Kind::Array(..), _) => {
                let (a, b) = (self.array_parts(&a, a_ty), self.array_parts(&b, b_ty));
                let (a, b) = (a.expect("an array"), b.expect("unified by inference"));
                let equal = self.arrays_equal(whole, a, b)?;
                Ok(if negated { self.build.not(equal) } else { equal })
            }
            (Kind::List(_) | Kind::Instance(_), _) if equality => {
                Ok(self.build.compare(if negated { "icmp ne" } else { "icmp eq" }, a, b))
            }
            (Kind::Float, _) | (_, Kind::Float) => {
                let (a, b) = (self.build.convert(a, &Ty::F64), self.build.convert(b, &Ty::F64));
                let name = match op {
                    CmpOp::Eq | CmpOp::Is => "fcmp oeq",
                    CmpOp::NotEq | CmpOp::IsNot => "fcmp une",
                    CmpOp::Lt => "fcmp olt",
                    CmpOp::LtE => "fcmp ole",
                    CmpOp::Gt => "fcmp ogt",
                    _ => "fcmp oge",
                };
                Ok(self.build.compare(name, a, b))
            }
            (Kind::Bool | Kind::Int32 | Kind::Int64, _) => {
                let wide = if a.ty.bits() >= b.ty.bits() {
                    a.ty.clone()
                } else {
                    b.ty.clone()
                };
                let wide = if wide == Ty::I1 { Ty::I32 } else { wide };
                let (a, b) = (self.build.convert(a, &wide), self.build.convert(b, &wide));
                Ok(self.build.compare(integer_order(op), a, b))
            }
            _ => {
                let text = format!("'{}' on values of type {}", op.symbol(), types.name(a_ty));
                self.unsupported(whole.span, &text)
            }
        }
    }

    fn strings_equal(&mut self, a: &Value, b: &Value) -> Value {
        let [(data_a, length_a), (data_b, length_b)] =
            [a, b].map(|text| (self.build.extract(text, 0), self.build.extract(text, 1)));
        let result = self.build.slot(Ty::I1);
        let (same, after) = (self.build.new_block("same length"), self.build.new_block("compared"));
        let lengths = self.build.compare("icmp eq", length_a.clone(), length_b);
        self.build.store(lengths.clone(), &result);
        self.build.branch(lengths, same, after);
        self.build.block = same;
        let order = self.call_external("memcmp", vec![data_a, data_b, length_a], Ty::I32, true);
        let equal = self.build.compare("icmp eq", order, Value::int(Ty::I32, 0));
        self.build.store(equal, &result);
        self.build.jump(after);
        self.build.block = after;
        self.build.load(Ty::I1, &result)
    }

    /// `value in container`.
    fn contains(
        &mut self,
        whole: &'p Expr,
        (value, value_ty): (Value, types::Ty),
        (container, container_ty): (Value, types::Ty),
    ) -> Result<Value> {
        match *self.module.program().types.kind(container_ty) {
            Kind::List(elt) | Kind::Array(elt, _) => {
                let ty = self.module.ir_type(elt);
                let (data, length) = match self.array_parts(&container, container_ty) {
                    Some(array) => (array.data, array.shape[0].clone()),
                    None => self.list_parts(&container),
                };
                let (counter, result) = (self.build.slot(Ty::I32), self.build.slot(Ty::I1));
                self.build.store(Value::int(Ty::I32, 0), &counter);
                self.build.store(Value::bool(false), &result);
                let (head, inside) = (self.build.new_block("search"), self.build.new_block("compare element"));
                let (found, next) = (self.build.new_block("found"), self.build.new_block("next element"));
                let after = self.build.new_block("searched");
                self.build.jump(head);
                self.build.block = head;
                let index = self.build.load(Ty::I32, &counter);
                let more = self.build.compare("icmp slt", index.clone(), length);
                self.build.branch(more, inside, after);
                self.build.block = inside;
                let from = self.build.element(&data, &ty, index.clone());
                let element = self.build.load(ty, &from);
                let equal = self.comparison(whole, CmpOp::Eq, (element, elt), (value, value_ty))?;
                self.build.branch(equal, found, next);
                self.build.block = found;
                self.build.store(Value::bool(true), &result);
                self.build.jump(after);
                self.build.block = next;
                let stepped = self.build.binary("add", index, Value::int(Ty::I32, 1));
                self.build.store(stepped, &counter);
                self.build.jump(head);
                self.build.block = after;
                Ok(self.build.load(Ty::I1, &result))
            }
            _ => {
                let [start, stop, step] = [0, 1, 2].map(|index| self.build.extract(&container, index));
                let zero = || Value::int(start.ty.clone(), 0);
                let value = self.build.convert(value, &start.ty);
                let before_stop = self.in_range(&value, &stop, &step);
                let offset = self.build.binary("sub", value, start.clone());
                let is_zero = self.build.compare("icmp eq", step.clone(), zero());
                let safe = self
                    .build
                    .select(is_zero, Value::int(start.ty.clone(), 1), step.clone());
                let rest = self.build.binary("srem", offset.clone(), safe);
                let on_grid = self.build.compare("icmp eq", rest, zero());
                let rising = self.build.compare("icmp sgt", step, zero());
                let (above, below) = (
                    self.build.compare("icmp sge", offset.clone(), zero()),
                    self.build.compare("icmp sle", offset, zero()),
                );
                let after_start = self.build.select(rising, above, below);
                let inside = self.build.binary("and", before_stop, after_start);
                Ok(self.build.binary("and", inside, on_grid))
            }
        }
    }
}
