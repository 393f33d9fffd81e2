//! Comparison and truth of values, with Python semantics.

use super::{int, Emitter};
use crate::diagnostic::Result;
use crate::ir::*;
use crate::source::Span;
use crate::syntax::CmpOp;
use crate::types::{self, Kind};

impl<'p> Emitter<'_, 'p> {
    pub(crate) fn comparison(
        &mut self,
        span: Span,
        op: CmpOp,
        (a, a_ty): (Value, types::Ty),
        (b, b_ty): (Value, types::Ty),
    ) -> Result<Value> {
        if matches!(op, CmpOp::In | CmpOp::NotIn) {
            let found = self.contains(span, (a, a_ty), (b, b_ty))?;
            return Ok(if op == CmpOp::In { found } else { self.build.not(found) });
        }
        let types = &self.module.program.types;
        let (kind_a, kind_b) = (types.kind(a_ty), types.kind(b_ty));
        let equality = matches!(op, CmpOp::Eq | CmpOp::NotEq | CmpOp::Is | CmpOp::IsNot);
        let identity = matches!(op, CmpOp::Is | CmpOp::IsNot);
        let negated = matches!(op, CmpOp::NotEq | CmpOp::IsNot);
        match (kind_a, kind_b) {
            // What is of one of these types is none of the other.
            (Kind::None, other) | (other, Kind::None) if equality && *other != Kind::None => Ok(Value::bool(negated)),
            (Kind::None, _) => Ok(Value::bool(!negated && !matches!(op, CmpOp::Lt | CmpOp::Gt))),
            (Kind::ByteArray, _) if identity => Ok(self.same_bytes(&a, &b, negated)),
            (Kind::Str | Kind::Bytes | Kind::ByteArray, _) if equality => {
                let equal = self.strings_equal(&a, &b);
                Ok(if negated { self.build.not(equal) } else { equal })
            }
            (Kind::Str | Kind::Bytes | Kind::ByteArray, _) => Ok(self.compare_strings(op, &a, &b)),
            (Kind::List(elt), _) if !identity => self.compare_lists(span, op, (a, b), *elt),
            (Kind::Tuple(elements), _) => self.compare_tuples(span, op, (a, b), elements),
            (Kind::Array(..) | Kind::View(..), _) => {
                let (a, b) = (self.array_parts(&a, a_ty), self.array_parts(&b, b_ty));
                let (a, b) = (a.expect("an array"), b.expect("unified by inference"));
                let equal = self.arrays_equal(span, a, b)?;
                Ok(if negated { self.build.not(equal) } else { equal })
            }
            (Kind::Range(_), _) => {
                let equal = self.ranges_equal(&a, &b, identity);
                Ok(if negated { self.build.not(equal) } else { equal })
            }
            (Kind::List(_) | Kind::Instance(_), _) if equality => {
                Ok(self
                    .build
                    .compare(if negated { Compare::Ne } else { Compare::Eq }, a, b))
            }
            (Kind::Float, _) | (_, Kind::Float) => {
                let (a, b) = (self.build.convert(a, &Ty::F64), self.build.convert(b, &Ty::F64));
                Ok(self.build.compare(float_order(op), a, b))
            }
            (Kind::Bool | Kind::Int32 | Kind::Int64, _) => {
                let wide = if a.ty.bits() >= b.ty.bits() {
                    a.ty.clone()
                } else {
                    b.ty.clone()
                };
                let wide = if wide == Ty::I1 { Ty::I32 } else { wide };
                let (mut a, b) = (self.build.convert(a, &wide), self.build.convert(b, &wide));
                if matches!(op, CmpOp::Eq | CmpOp::NotEq) && b.as_int() == Some(0) {
                    a = self.zero_alike(a);
                }
                Ok(self.build.compare(integer_order(op), a, b))
            }
            _ => {
                let text = format!("'{}' on values of type {}", op.symbol(), types.name(a_ty));
                self.unsupported(span, &text)
            }
        }
    }

    /// Whether two ranges have equal start, stop and step (`identity`), or contain the same
    /// numbers.
    fn ranges_equal(&mut self, a: &Value, b: &Value, identity: bool) -> Value {
        let [start, stop, step] = [0, 1, 2].map(|index| {
            let (x, y) = (self.build.extract(a, index), self.build.extract(b, index));
            self.build.compare(Compare::Eq, x, y)
        });
        if identity {
            let ends = self.build.binary(Binary::And, start, stop);
            return self.build.binary(Binary::And, ends, step);
        }
        let [length, other] = [a, b].map(|range| {
            let [start, stop, step] = [0, 1, 2].map(|index| self.build.extract(range, index));
            self.range_length(&start, &stop, &step)
        });
        let same = self.build.compare(Compare::Eq, length.clone(), other);
        let [none, single] = [0, 1].map(|count| {
            let count = Value::int(length.ty.clone(), count);
            self.build.compare(Compare::Eq, length.clone(), count)
        });
        let goes_on = self.build.binary(Binary::Or, single, step);
        let alike = self.build.binary(Binary::And, start, goes_on);
        let alike = self.build.binary(Binary::Or, none, alike);
        self.build.binary(Binary::And, same, alike)
    }

    fn strings_equal(&mut self, a: &Value, b: &Value) -> Value {
        let [(data_a, length_a), (data_b, length_b)] =
            [a, b].map(|text| (self.build.extract(text, 0), self.build.extract(text, 1)));
        let result = self.build.slot(Ty::I1);
        let (same, after) = (self.build.new_block("same length"), self.build.new_block("compared"));
        let lengths = self.build.compare(Compare::Eq, length_a.clone(), length_b);
        self.build.store(lengths.clone(), &result);
        self.build.branch(lengths, same, after);
        self.build.block = same;
        let order = self.call_external("memcmp", vec![data_a, data_b, length_a], Ty::I32, true);
        let equal = self.build.compare(Compare::Eq, order, Value::int(Ty::I32, 0));
        self.build.store(equal, &result);
        self.build.jump(after);
        self.build.block = after;
        self.build.load(Ty::I1, &result)
    }

    /// `value in container`.
    fn contains(
        &mut self,
        span: Span,
        (value, value_ty): (Value, types::Ty),
        (container, container_ty): (Value, types::Ty),
    ) -> Result<Value> {
        match self.module.program.types.kind(container_ty) {
            Kind::Tuple(members) => {
                let mut found = Value::bool(false);
                for (index, &ty) in members.iter().enumerate() {
                    let member = self.build.extract(&container, index);
                    let equal = self.comparison(span, CmpOp::Eq, (member, ty), (value.clone(), value_ty))?;
                    found = self.build.binary(Binary::Or, found, equal);
                }
                Ok(found)
            }
            Kind::Str => Ok(self.text_contains(&container, &value)),
            Kind::List(_) | Kind::Array(..) | Kind::View(..) | Kind::Bytes | Kind::ByteArray => {
                let elements = self.elements(&container, container_ty);
                let elt = elements.elt.expect("of one dimension, as inference has it");
                let (result, after) = (self.build.slot(Ty::I1), self.build.new_block("searched"));
                self.build.store(Value::bool(false), &result);
                self.each(&elements, |this, element| {
                    let equal = this.comparison(span, CmpOp::Eq, (element, elt), (value, value_ty))?;
                    let (found, next) = (this.build.new_block("found"), this.build.new_block("next element"));
                    this.build.branch(equal, found, next);
                    this.build.block = found;
                    this.build.store(Value::bool(true), &result);
                    this.build.jump(after);
                    this.build.block = next;
                    Ok(())
                })?;
                self.build.jump(after);
                self.build.block = after;
                Ok(self.build.load(Ty::I1, &result))
            }
            _ => {
                let members = [0, 1, 2].map(|index| self.build.extract(&container, index));
                let value = self.build.convert(value, &members[0].ty);
                Ok(self.range_contains(&value, &members))
            }
        }
    }

    /// Python's truth test.
    pub(crate) fn truth(&mut self, value: Value, ty: types::Ty) -> Value {
        match self.module.program.types.kind(ty) {
            Kind::Bool => value,
            Kind::Int32 | Kind::Int64 => {
                let zero = Value::int(value.ty.clone(), 0);
                self.build.compare(Compare::Ne, value, zero)
            }
            // NaN is not zero.
            Kind::Float => self.build.compare(Compare::FUne, value, Value::float(0.0)),
            Kind::None => Value::bool(false),
            Kind::Str | Kind::Bytes | Kind::ByteArray => {
                let length = self.build.extract(&value, 1);
                self.build.compare(Compare::Ne, length, Value::int(Ty::I32, 0))
            }
            Kind::List(_) => {
                let (_, length) = self.list_parts(&value);
                self.build.compare(Compare::Ne, length, Value::int(Ty::I32, 0))
            }
            Kind::Range(_) => {
                let [start, stop, step] = [0, 1, 2].map(|index| self.build.extract(&value, index));
                self.in_range(&start, &stop, &step)
            }
            Kind::Tuple(members) => Value::bool(!members.is_empty()),
            Kind::Array(..) | Kind::View(..) => {
                let array = self.array_parts(&value, ty).expect("it is one");
                self.build
                    .compare(Compare::Ne, array.shape[0].clone(), Value::int(Ty::I32, 0))
            }
            _ => Value::bool(true),
        }
    }

    /// `a op b` for tuples: the first pair of different members decides.
    pub(crate) fn compare_tuples(
        &mut self,
        span: Span,
        op: CmpOp,
        (a, b): (Value, Value),
        elements: &[types::Ty],
    ) -> Result<Value> {
        let mut result = Value::bool(matches!(op, CmpOp::Eq | CmpOp::LtE | CmpOp::GtE));
        for (index, &ty) in elements.iter().enumerate().rev() {
            let [x, y] = [&a, &b].map(|tuple| self.build.extract(tuple, index));
            let equal = self.comparison(span, CmpOp::Eq, (x.clone(), ty), (y.clone(), ty))?;
            let decided = match op {
                CmpOp::Eq | CmpOp::NotEq => Value::bool(op == CmpOp::NotEq),
                _ => self.comparison(span, op, (x, ty), (y, ty))?,
            };
            result = self.build.select(equal, result, decided);
        }
        Ok(result)
    }

    /// `a op b` for lists with elements of type `elt`.
    pub(crate) fn compare_lists(
        &mut self,
        span: Span,
        op: CmpOp,
        (a, b): (Value, Value),
        elt: types::Ty,
    ) -> Result<Value> {
        let [(data_a, length_a), (data_b, length_b)] = [a, b].map(|list| self.list_parts(&list));
        let result = self.build.slot(Ty::I1);
        let (same, differ) = (self.build.new_block("same elements"), self.build.new_block("differ"));
        let after = self.build.new_block("compared");
        let shorter = self.build.compare(Compare::Slt, length_a.clone(), length_b.clone());
        let common = self.build.select(shorter, length_a.clone(), length_b.clone());
        let first = self.first_difference(span, elt, (&data_a, &data_b), common.clone())?;
        let all = self.build.compare(Compare::Eq, first.clone(), common);
        self.build.branch(all, same, differ);
        self.build.block = same;
        let by_length = self.build.compare(integer_order(op), length_a, length_b);
        self.build.store(by_length, &result);
        self.build.jump(after);
        self.build.block = differ;
        let decided = match op {
            CmpOp::Eq | CmpOp::NotEq => Value::bool(op == CmpOp::NotEq),
            _ => {
                let ty = self.module.ir_type(elt);
                let [x, y] = [&data_a, &data_b].map(|data| {
                    let from = self.build.element(data, &ty, first.clone());
                    self.build.load(ty.clone(), &from)
                });
                self.comparison(span, op, (x, elt), (y, elt))?
            }
        };
        self.build.store(decided, &result);
        self.build.jump(after);
        self.build.block = after;
        Ok(self.build.load(Ty::I1, &result))
    }

    /// Index of the first pair of unequal elements among `count`; `count` if all are equal.
    pub(crate) fn first_difference(
        &mut self,
        span: Span,
        elt: types::Ty,
        (a, b): (&Value, &Value),
        count: Value,
    ) -> Result<Value> {
        let ty = self.module.ir_type(elt);
        let counter = self.build.slot(Ty::I32);
        self.build.store(int(0), &counter);
        let (head, inside) = (self.build.new_block("each pair"), self.build.new_block("pair"));
        let (next, after) = (self.build.new_block("equal pair"), self.build.new_block("pairs"));
        let index = self.loop_head(&counter, count, [head, inside, after]);
        let [x, y] = [a, b].map(|data| {
            let from = self.build.element(data, &ty, index.clone());
            self.build.load(ty.clone(), &from)
        });
        let equal = self.comparison(span, CmpOp::Eq, (x, elt), (y, elt))?;
        self.build.branch(equal, next, after);
        self.build.block = next;
        self.loop_end(&counter, index, [head, after]);
        Ok(self.build.load(Ty::I32, &counter))
    }

    /// Compares two strings bytewise, which for UTF-8 is the order of their characters.
    pub(crate) fn compare_strings(&mut self, op: CmpOp, a: &Value, b: &Value) -> Value {
        let [(data_a, length_a), (data_b, length_b)] =
            [a, b].map(|text| (self.build.extract(text, 0), self.build.extract(text, 1)));
        let shorter = self.build.compare(Compare::Slt, length_a.clone(), length_b.clone());
        let common = self.build.select(shorter, length_a.clone(), length_b.clone());
        let bytes = self.call_external("memcmp", vec![data_a, data_b, common], Ty::I32, true);
        let same = self.build.compare(Compare::Eq, bytes.clone(), int(0));
        let by_length = self.build.compare(integer_order(op), length_a, length_b);
        let by_bytes = self.build.compare(integer_order(op), bytes, int(0));
        self.build.select(same, by_length, by_bytes)
    }
}

/// The signed integer comparison of an operator.
fn integer_order(op: CmpOp) -> Compare {
    match op {
        CmpOp::Eq | CmpOp::Is => Compare::Eq,
        CmpOp::NotEq | CmpOp::IsNot => Compare::Ne,
        CmpOp::Lt => Compare::Slt,
        CmpOp::LtE => Compare::Sle,
        CmpOp::Gt => Compare::Sgt,
        CmpOp::GtE => Compare::Sge,
        CmpOp::In | CmpOp::NotIn => unreachable!("membership is no order"),
    }
}

/// The float comparison of an operator.
fn float_order(op: CmpOp) -> Compare {
    match op {
        CmpOp::Eq | CmpOp::Is => Compare::FOeq,
        CmpOp::NotEq | CmpOp::IsNot => Compare::FUne,
        CmpOp::Lt => Compare::FOlt,
        CmpOp::LtE => Compare::FOle,
        CmpOp::Gt => Compare::FOgt,
        CmpOp::GtE => Compare::FOge,
        CmpOp::In | CmpOp::NotIn => unreachable!("membership is no order"),
    }
}
