//! Expressions.

use std::rc::Rc;

use super::exceptions::INDEX_ERROR;
use super::FunctionLowering;
use crate::ast::*;
use crate::diagnostic::Result;
use crate::host::Handle;
use crate::ir::*;
use crate::resolve::Name;
use crate::types::{self, Kind};

impl<'p> FunctionLowering<'_, 'p> {
    /// The value of an expression.
    pub(super) fn expr(&mut self, expr: &'p Expr) -> Result<Value> {
        Ok(match &expr.kind {
            ExprKind::None => Value::unit(),
            ExprKind::Bool(value) => Value::bool(*value),
            ExprKind::Int(value) => Value::int(self.ir_type_of(expr), *value),
            ExprKind::Float(value) => Value::float(*value),
            ExprKind::Str(text) => self.module.string(text.as_bytes()),
            ExprKind::Name(_) => match self.function.names.of(expr) {
                Name::Local(local) => {
                    let slot = self.locals[*local as usize].clone();
                    let ty = self.ir_type_of(expr);
                    self.build.load(ty, &slot)
                }
                Name::Builtin(_) => Value::unit(),
                Name::Host(value) => self.module.constant(value),
            },
            ExprKind::Attribute { value, name, .. } => self.attribute(expr, value, name)?,
            ExprKind::Subscript { value, index } => self.subscript(expr, value, index)?,
            ExprKind::Call { callee, args, keywords } => self.call(expr, callee, args, keywords)?,
            ExprKind::Unary { op, operand } => {
                let ty = self.type_of(operand);
                let value = self.expr(operand)?;
                match op {
                    UnaryOp::Not => {
                        let truth = self.truth(value, ty);
                        self.build.not(truth)
                    }
                    UnaryOp::Pos => value,
                    UnaryOp::Neg if matches!(self.kind_of(operand), Kind::Array(..)) => {
                        let Kind::Array(elt, _) = *self.kind_of(operand) else {
                            unreachable!("just seen")
                        };
                        let zero = Value::zero(self.module.ir_type(elt));
                        self.array_operation(BinOp::Sub, (zero, elt), (value, ty), ty)?
                    }
                    UnaryOp::Neg if value.ty == Ty::F64 => self.build.binary("fsub", Value::float(0.0), value),
                    UnaryOp::Neg => self.build.binary("sub", Value::int(value.ty.clone(), 0), value),
                    UnaryOp::Invert => self.build.binary("xor", value.clone(), Value::int(value.ty, -1)),
                }
            }
            ExprKind::Binary { op, left, right } => {
                let l = self.expr(left)?;
                let r = self.expr(right)?;
                self.build.span = expr.span;
                if [left, right]
                    .iter()
                    .any(|side| matches!(self.kind_of(side), Kind::Array(..)))
                {
                    let sides = ((l, self.type_of(left)), (r, self.type_of(right)));
                    return self.array_operation(*op, sides.0, sides.1, self.type_of(expr));
                }
                if let Kind::Str = self.kind_of(expr) {
                    return Ok(self.joined(l, r));
                }
                if let (Kind::Tuple(a), Kind::Tuple(b)) = (self.kind_of(left), self.kind_of(right)) {
                    let mut members: Vec<Value> = (0..a.len()).map(|index| self.build.extract(&l, index)).collect();
                    members.extend((0..b.len()).map(|index| self.build.extract(&r, index)));
                    return Ok(self.build.aggregate(members));
                }
                if let Kind::List(elt) = *self.kind_of(expr) {
                    return Ok(match (self.kind_of(left), self.kind_of(right)) {
                        (Kind::List(_), Kind::List(_)) => self.concatenated(elt, l, r),
                        (Kind::List(_), _) => self.repeated(elt, l, r),
                        _ => self.repeated(elt, r, l),
                    });
                }
                self.arithmetic(
                    *op,
                    (l, self.type_of(left)),
                    (r, self.type_of(right)),
                    self.type_of(expr),
                )?
            }
            ExprKind::Compare { first, rest } => self.compare(expr, first, rest)?,
            ExprKind::BoolOp { and, values } => self.bool_op(expr, *and, values)?,
            ExprKind::IfExp { test, body, orelse } => {
                let condition = self.expr(test)?;
                let ty = self.ir_type_of(expr);
                let result = self.build.slot(ty.clone());
                let (yes, no) = (self.build.new_block("then"), self.build.new_block("else"));
                let after = self.build.new_block("after choice");
                self.build.branch(condition, yes, no);
                for (block, branch) in [(yes, body), (no, orelse)] {
                    self.build.block = block;
                    let value = self.expr(branch)?;
                    self.build.store(value, &result);
                    self.build.jump(after);
                }
                self.build.block = after;
                self.build.load(ty, &result)
            }
            ExprKind::List(elements) => {
                let Kind::List(elt) = *self.kind_of(expr) else {
                    unreachable!("a list display is a list")
                };
                let values = elements
                    .iter()
                    .map(|element| self.expr(element))
                    .collect::<Result<Vec<_>>>()?;
                self.new_list(elt, values)
            }
            ExprKind::ListComp { element, target, iter } => self.comprehension(expr, element, target, iter)?,
            ExprKind::Slice { value, bounds } => self.slice(expr, value, bounds)?,
            ExprKind::Tuple(elements) => {
                let values = elements
                    .iter()
                    .map(|element| self.expr(element))
                    .collect::<Result<Vec<_>>>()?;
                self.build.aggregate(values)
            }
        })
    }

    /// A new list on the stack. Inside a loop every pass makes its own, as the language has it.
    pub(super) fn new_list(&mut self, elt: types::Ty, values: Vec<Value>) -> Value {
        let elt = self.module.ir_type(elt);
        let length = Value::int(Ty::I32, values.len() as i64);
        let (header, data) = self.reserve_list(&elt, length);
        for (index, value) in values.into_iter().enumerate() {
            let to = self.build.element(&data, &elt, Value::int(Ty::I32, index as i64));
            self.build.store(value, &to);
        }
        header
    }

    /// Elements and length of a list.
    pub(super) fn list_parts(&mut self, list: &Value) -> (Value, Value) {
        let data = self.build.load(Ty::Ptr, list);
        let length = self.build.field(list, &Ty::str(), 1);
        (data, self.build.load(Ty::I32, &length))
    }

    fn attribute(&mut self, expr: &'p Expr, object: &'p Expr, name: &Rc<str>) -> Result<Value> {
        if let Some(constant) = self.host_constant(expr) {
            return Ok(self.module.constant(constant));
        }
        match self.kind_of(object).clone() {
            Kind::Instance(class) => match self.kind_of(expr) {
                Kind::Method { .. } => {
                    // A method of this very object; an attribute may also hold a method of another one.
                    let own = self.receiver_is_self(class, name);
                    if own {
                        return self.expr(object);
                    }
                    self.load_attribute(object, class, name)
                }
                _ => self.load_attribute(object, class, name),
            },
            Kind::Array(..) => {
                let array = self.expr(object)?;
                Ok(self.build.extract(&array, 1))
            }
            Kind::Range(_) => {
                let range = self.expr(object)?;
                let index = ["start", "stop", "step"].iter().position(|&known| known == &**name);
                Ok(self.build.extract(&range, index.expect("checked by inference")))
            }
            _ => unreachable!("inference admits instances, constants, arrays and ranges"),
        }
    }

    /// Whether attribute `name` is a method of the instance it is looked up on.
    fn receiver_is_self(&self, class: Handle, name: &Rc<str>) -> bool {
        let program = self.module.program();
        let object = program.classes[&class].instances[0];
        let value = &program.attribute_values[&(object, name.clone())];
        matches!(value, crate::host::HostValue::Method { receiver, .. } if *receiver == object)
    }

    fn load_attribute(&mut self, object: &'p Expr, class: Handle, name: &Rc<str>) -> Result<Value> {
        let base = self.expr(object)?;
        if let Some(constant) = self.module.common_constant(class, name) {
            return Ok(constant);
        }
        let info = &self.module.program().classes[&class];
        let attribute = &info.attributes[info.attribute(name).expect("found by inference")];
        let ty = self.module.ir_type(attribute.ty);
        let from = self.attribute_address(&base, class, name);
        let program = self.module.program();
        Ok(self.build.load_as(ty, &from, program.never_changes(info, name)))
    }

    pub(super) fn attribute_address(&mut self, base: &Value, class: Handle, name: &Rc<str>) -> Value {
        let layout = self.module.class_type(class);
        let index = self.module.program().classes[&class]
            .attribute(name)
            .expect("found by inference");
        self.build.field(base, &layout, index + 1)
    }

    fn subscript(&mut self, expr: &'p Expr, value: &'p Expr, index: &'p Expr) -> Result<Value> {
        match self.kind_of(value) {
            Kind::Tuple(_) => {
                let tuple = self.expr(value)?;
                let ExprKind::Int(index) = index.kind else {
                    unreachable!("checked by inference")
                };
                Ok(self.build.extract(&tuple, index as usize))
            }
            Kind::Range(_) => {
                let range = self.expr(value)?;
                let index = self.expr(index)?;
                self.build.span = expr.span;
                let [start, stop, step] = [0, 1, 2].map(|index| self.build.extract(&range, index));
                let ty = start.ty.clone();
                let length = self.range_length(&start, &stop, &step);
                let index = self.build.convert(index, &ty);
                let position = self.checked_index(index, length);
                let offset = self.build.binary("mul", position, step);
                Ok(self.build.binary("add", start, offset))
            }
            Kind::Array(..) => {
                let array = self.expr(value)?;
                let array = self.array_parts(&array, self.type_of(value)).expect("it is one");
                let part = self.indexed(expr, array, index)?;
                if part.shape.is_empty() {
                    let ty = self.ir_type_of(expr);
                    return Ok(self.build.load(ty, &part.data));
                }
                Ok(self.array_value(part))
            }
            _ => {
                let from = self.element_address(value, index)?;
                let ty = self.ir_type_of(expr);
                Ok(self.build.load(ty, &from))
            }
        }
    }

    /// Address of an element of a list, after the check of its bounds.
    pub(super) fn element_address(&mut self, value: &'p Expr, index: &'p Expr) -> Result<Value> {
        let Kind::List(elt) = *self.kind_of(value) else {
            unreachable!("inference admits lists")
        };
        let list = self.expr(value)?;
        let position = self.expr(index)?;
        self.build.span = value.span.to(index.span);
        let (data, length) = self.list_parts(&list);
        // An index of 64 bits that does not fit is out of range, and must not be cut to one that is not.
        let length = self.build.convert(length, &position.ty.clone());
        let position = self.checked_index(position, length);
        let position = self.build.convert(position, &Ty::I32);
        let elt = self.module.ir_type(elt);
        Ok(self.build.element(&data, &elt, position))
    }

    /// Counts a negative index from the end, and raises IndexError if it is out of range.
    pub(super) fn checked_index(&mut self, index: Value, length: Value) -> Value {
        let zero = Value::int(index.ty.clone(), 0);
        let negative = self.build.compare("icmp slt", index.clone(), zero);
        let from_end = self.build.binary("add", index.clone(), length.clone());
        let position = self.build.select(negative, from_end, index.clone());
        let inside = self.build.compare("icmp ult", position.clone(), length.clone());
        self.require(inside, INDEX_ERROR, "index {0} out of bounds 0:{1}", &[index, length]);
        position
    }

    /// Number of elements of a range, as Python counts them.
    pub(super) fn range_length(&mut self, start: &Value, stop: &Value, step: &Value) -> Value {
        let ty = start.ty.clone();
        let (zero, one) = (Value::int(ty.clone(), 0), Value::int(ty.clone(), 1));
        let rising = self.build.compare("icmp sgt", step.clone(), zero.clone());
        let (up, down) = (
            self.build.binary("sub", stop.clone(), start.clone()),
            self.build.binary("sub", start.clone(), stop.clone()),
        );
        let distance = self.build.select(rising.clone(), up, down);
        let negated = self.build.binary("sub", zero.clone(), step.clone());
        let stride = self.build.select(rising, step.clone(), negated);
        let rounded = self.build.binary("sub", distance.clone(), one.clone());
        let is_zero = self.build.compare("icmp eq", stride.clone(), zero.clone());
        let stride = self.build.select(is_zero, one.clone(), stride);
        let steps = self.build.binary("sdiv", rounded, stride);
        let count = self.build.binary("add", steps, one);
        let any = self.build.compare("icmp sgt", distance, zero.clone());
        self.build.select(any, count, zero)
    }

    fn bool_op(&mut self, expr: &'p Expr, and: bool, values: &'p [Expr]) -> Result<Value> {
        let ty = self.ir_type_of(expr);
        let result = self.build.slot(ty.clone());
        let after = self.build.new_block("after and/or");
        for (index, value) in values.iter().enumerate() {
            let operand = self.expr(value)?;
            self.build.store(operand.clone(), &result);
            if index + 1 == values.len() {
                self.build.jump(after);
            } else {
                let truth = self.truth(operand, self.type_of(value));
                let next = self.build.new_block("next operand");
                let (yes, no) = if and { (next, after) } else { (after, next) };
                self.build.branch(truth, yes, no);
                self.build.block = next;
            }
        }
        self.build.block = after;
        Ok(self.build.load(ty, &result))
    }

    /// The truth of the condition of `if` and `while`.
    pub(super) fn condition(&mut self, test: &'p Expr) -> Result<Value> {
        let value = self.expr(test)?;
        Ok(self.truth(value, self.type_of(test)))
    }

    /// Python's truth test.
    pub(super) fn truth(&mut self, value: Value, ty: types::Ty) -> Value {
        match self.module.program().types.kind(ty) {
            Kind::Bool => value,
            Kind::Int32 | Kind::Int64 => {
                let zero = Value::int(value.ty.clone(), 0);
                self.build.compare("icmp ne", value, zero)
            }
            // Ordered: not a number counts as false.
            Kind::Float => self.build.compare("fcmp one", value, Value::float(0.0)),
            Kind::None => Value::bool(false),
            Kind::Str => {
                let length = self.build.extract(&value, 1);
                self.build.compare("icmp ne", length, Value::int(Ty::I32, 0))
            }
            Kind::List(_) => {
                let (_, length) = self.list_parts(&value);
                self.build.compare("icmp ne", length, Value::int(Ty::I32, 0))
            }
            Kind::Array(..) => {
                let array = self.array_parts(&value, ty).expect("it is one");
                self.build
                    .compare("icmp ne", array.shape[0].clone(), Value::int(Ty::I32, 0))
            }
            Kind::Range(_) => {
                let [start, stop, step] = [0, 1, 2].map(|index| self.build.extract(&value, index));
                self.in_range(&start, &stop, &step)
            }
            _ => Value::bool(true),
        }
    }
}
