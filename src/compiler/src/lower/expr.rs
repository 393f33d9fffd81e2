//! Expressions.

use std::rc::Rc;

use crate::diagnostic::Result;
use crate::emit::array::Operand;
use crate::emit::{int, Emitter};
use crate::host::{is_kernel_class, Handle};
use crate::ir::*;
use crate::names::Name;
use crate::syntax::*;
use crate::types::{self, Kind};

impl<'p> Emitter<'_, 'p> {
    /// Evaluates an expression.
    pub(super) fn expr(&mut self, expr: &'p Expr) -> Result<Value> {
        Ok(match &expr.kind {
            ExprKind::None => Value::unit(),
            ExprKind::Bool(value) => Value::bool(*value),
            ExprKind::Int(value) => Value::int(self.ir_type_of(expr), *value),
            ExprKind::Float(value) => Value::float(*value),
            ExprKind::Str(text) => self.module.string(text.as_bytes()),
            ExprKind::Bytes(bytes) => self.module.string(bytes),
            ExprKind::FString(string) => self.fstring(expr, string)?,
            ExprKind::Name(_) => match self.function.names.of(expr) {
                Name::Local(local) => {
                    let slot = self.locals[*local as usize].clone();
                    let ty = self.ir_type_of(expr);
                    self.build.load(ty, &slot)
                }
                Name::Builtin(_) => Value::unit(),
                Name::Host(value) => self.module.constant(value, &self.ir_type_of(expr)),
            },
            ExprKind::Attribute { value, name, .. } => self.attribute(expr, value, name)?,
            ExprKind::Subscript { value, index } => self.subscript(expr, value, index)?,
            ExprKind::Call { callee, args, keywords } => self.call(expr, callee, args, keywords)?,
            ExprKind::Unary { op, operand } => self.unary(expr, *op, operand)?,
            ExprKind::Binary { op, left, right } => self.binary(expr, *op, left, right)?,
            ExprKind::Compare { first, rest } => self.compare(expr, first, rest)?,
            ExprKind::BoolOp { and, values } => self.bool_op(expr, *and, values)?,
            ExprKind::IfExp { test, body, orelse } => self.if_expression(expr, test, [body, orelse])?,
            ExprKind::List(elements) => {
                let Kind::List(elt) = *self.kind_of(expr) else {
                    unreachable!("a list display is a list")
                };
                let values = self.values(elements)?;
                self.new_list(elt, values)
            }
            ExprKind::Function { defaults, .. } => self.function_value(expr, defaults)?,
            ExprKind::Named { target, value: from } => {
                let value = self.expr(from)?;
                self.assign(target, value.clone(), self.type_of(from))?;
                value
            }
            ExprKind::ListComp { element, clauses } => self.comprehension(expr, element, clauses)?,
            // The consumer of its elements generates the code.
            ExprKind::Generator { .. } => Value::unit(),
            ExprKind::Slice { value, bounds } => self.slice(expr, value, bounds)?,
            ExprKind::Slices { value, dims } => {
                let part = self.slices(expr, value, dims)?;
                self.array_value(part)
            }
            ExprKind::Tuple(elements) => {
                let values = self.values(elements)?;
                self.build.aggregate(values)
            }
        })
    }

    fn values(&mut self, elements: &'p [Expr]) -> Result<Vec<Value>> {
        elements.iter().map(|element| self.expr(element)).collect()
    }

    fn unary(&mut self, expr: &'p Expr, op: UnaryOp, operand: &'p Expr) -> Result<Value> {
        if op == UnaryOp::Not {
            let truth = self.condition(operand)?;
            return Ok(self.build.not(truth));
        }
        let ty = self.type_of(operand);
        let value = self.expr(operand)?;
        Ok(match op {
            UnaryOp::Pos | UnaryOp::Neg | UnaryOp::Invert if value.ty == Ty::I1 => {
                let number = self.build.convert(value, &self.ir_type_of(expr));
                self.signed(op, number)
            }
            op if self.is_array(operand) => self.signed_array(op, value, ty)?,
            op => self.signed(op, value),
        })
    }

    pub(super) fn binary(&mut self, expr: &'p Expr, op: BinOp, left: &'p Expr, right: &'p Expr) -> Result<Value> {
        let known = self.function.constant_integer(expr);
        let known = known.and_then(|value| i64::try_from(value).ok());
        if let (Some(value), Kind::Int32 | Kind::Int64) = (known, self.kind_of(expr)) {
            return Ok(Value::int(self.ir_type_of(expr), value));
        }
        let l = self.expr(left)?;
        let r = self.expr(right)?;
        self.build.span = expr.span;
        if [left, right].iter().any(|side| self.is_array(side)) {
            let sides = ((l, self.type_of(left)), (r, self.type_of(right)));
            return self.array_operation(op, sides.0, sides.1, self.type_of(expr));
        }
        if let Kind::Str | Kind::Bytes | Kind::ByteArray = self.kind_of(expr) {
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
            op,
            (l, self.type_of(left)),
            (r, self.type_of(right)),
            self.type_of(expr),
        )
    }

    /// `branches`: the value if the condition holds, and otherwise.
    fn if_expression(&mut self, expr: &'p Expr, test: &'p Expr, branches: [&'p Expr; 2]) -> Result<Value> {
        let condition = self.condition(test)?;
        let ty = self.ir_type_of(expr);
        let result = self.build.slot(ty.clone());
        let (yes, no) = (self.build.new_block("then"), self.build.new_block("else"));
        let after = self.build.new_block("after choice");
        self.build.branch(condition, yes, no);
        for (block, branch) in [yes, no].into_iter().zip(branches) {
            self.build.block = block;
            let value = self.expr(branch)?;
            self.build.store(value, &result);
            self.build.jump(after);
        }
        self.build.block = after;
        Ok(self.build.load(ty, &result))
    }

    fn signed_array(&mut self, op: UnaryOp, value: Value, ty: types::Ty) -> Result<Value> {
        let array = self.array_parts(&value, ty).expect("it is one");
        self.map_operands(array.elt, vec![Operand::Array(array)], |this, mut values| {
            Ok(this.signed(op, values.remove(0).0))
        })
    }

    fn signed(&mut self, op: UnaryOp, number: Value) -> Value {
        match op {
            UnaryOp::Neg => self.build.negated(number),
            UnaryOp::Invert => {
                let ones = Value::int(number.ty.clone(), -1);
                self.build.binary(Binary::Xor, number, ones)
            }
            UnaryOp::Pos | UnaryOp::Not => number,
        }
    }

    fn attribute(&mut self, expr: &'p Expr, object: &'p Expr, name: &Rc<str>) -> Result<Value> {
        if let Some(constant) = self.host_constant(expr) {
            return Ok(self.module.constant(constant, &self.ir_type_of(expr)));
        }
        if matches!(self.kind_of(expr), Kind::Builtin(_)) && self.is_array(object) {
            return Ok(Value::unit()); // a method
        }
        match self.kind_of(object).clone() {
            Kind::Instance(class) => {
                let info = &self.module.program.classes[&class];
                let ty = info.attributes[info.attribute(name).expect("found by inference")].ty;
                // A method bound to this object; an attribute may also hold a method of another
                // object.
                let is_method = matches!(self.module.program.types.kind(ty), Kind::Method { .. });
                let value = match is_method && self.receiver_is_self(class, name) {
                    true => self.expr(object)?,
                    false => self.load_attribute(object, class, name)?,
                };
                let own = self.module.program.types.kind(ty);
                Ok(self.as_choice(value, own, expr))
            }
            Kind::Super { .. } => self.expr(object),
            Kind::Tuple(_) => {
                let place = self.module.program.types.field(self.type_of(object), name);
                let tuple = self.expr(object)?;
                Ok(self.build.extract(&tuple, place.expect("found by inference")))
            }
            Kind::Int32 | Kind::Int64 => {
                let (owner, path) = object.attribute_path(name).expect("found by inference");
                let Kind::Instance(class) = *self.kind_of(owner) else {
                    unreachable!("those of modules and classes are constants")
                };
                self.load_attribute(owner, class, &path.into())
            }
            Kind::Array(..) | Kind::View(..) => {
                let value = self.expr(object)?;
                let array = self.array_parts(&value, self.type_of(object)).expect("it is one");
                Ok(match &**name {
                    "size" => self.product(&array.shape),
                    "ndim" => int(array.shape.len() as i64),
                    "T" if array.shape.len() == 1 => value,
                    "T" => {
                        let turned = self.transposed(array);
                        self.array_value(turned)
                    }
                    _ => self.build.aggregate(array.shape),
                })
            }
            Kind::Range(_) => {
                let range = self.expr(object)?;
                let index = ["start", "stop", "step"].iter().position(|&known| known == &**name);
                Ok(self.build.extract(&range, index.expect("checked by inference")))
            }
            _ => unreachable!("inference admits no others"),
        }
    }

    /// Whether attribute `name` of every instance is a method of that instance.
    fn receiver_is_self(&self, class: Handle, name: &Rc<str>) -> bool {
        let program = self.module.program;
        let assigned =
            program.assigned.contains(name) || program.kernel_class_assigned.contains(&(class, name.clone()));
        !assigned && self.module.is_method_of_all(class, name)
    }

    fn load_attribute(&mut self, object: &'p Expr, class: Handle, name: &Rc<str>) -> Result<Value> {
        let base = self.expr(object)?;
        if let Some(constant) = self.module.common_constant(class, name) {
            return Ok(constant);
        }
        let info = &self.module.program.classes[&class];
        let attribute = &info.attributes[info.attribute(name).expect("found by inference")];
        let ty = self.module.ir_type(attribute.ty);
        let from = self.attribute_address(&base, class, name);
        let program = self.module.program;
        // Constructors store to objects created by kernels.
        let invariant = !is_kernel_class(class) && program.never_changes(info, name);
        Ok(self.build.load_as(ty, &from, invariant))
    }

    pub(super) fn attribute_address(&mut self, base: &Value, class: Handle, name: &Rc<str>) -> Value {
        let layout = self.module.class_type(class);
        let index = self.module.program.classes[&class]
            .attribute(name)
            .expect("found by inference");
        self.build.field(base, &layout, index + 1)
    }

    fn bool_op(&mut self, expr: &'p Expr, and: bool, values: &'p [Expr]) -> Result<Value> {
        let ty = self.ir_type_of(expr);
        let result = self.build.slot(ty.clone());
        let after = self.build.new_block("after and/or");
        for (index, value) in values.iter().enumerate() {
            let equality = self.equality_of_arrays(value)?;
            let operand = match &equality {
                Some(truth) => truth.clone(),
                None => self.expr(value)?,
            };
            self.build.store(operand.clone(), &result);
            if index + 1 == values.len() {
                self.build.jump(after);
            } else {
                let truth = equality.unwrap_or_else(|| self.truth(operand, self.type_of(value)));
                let next = self.build.new_block("next operand");
                let (yes, no) = if and { (next, after) } else { (after, next) };
                self.build.branch(truth, yes, no);
                self.build.block = next;
            }
        }
        self.build.block = after;
        Ok(self.build.load(ty, &result))
    }

    /// Evaluates the truth of a condition.
    pub(super) fn condition(&mut self, test: &'p Expr) -> Result<Value> {
        if let Some(truth) = self.equality_of_arrays(test)? {
            return Ok(truth);
        }
        let value = self.expr(test)?;
        Ok(self.truth(value, self.type_of(test)))
    }

    /// If a condition compares two arrays for equality, whether they are equal.
    fn equality_of_arrays(&mut self, test: &'p Expr) -> Result<Option<Value>> {
        match &test.kind {
            ExprKind::Compare { first, rest }
                if self.function.is_equality_of_arrays(test, &self.module.program.types) =>
            {
                let (op, second) = &rest[0];
                let left = (self.expr(first)?, self.type_of(first));
                let right = (self.expr(second)?, self.type_of(second));
                self.comparison(test.span, *op, left, right).map(Some)
            }
            _ => Ok(None),
        }
    }

    /// A chain of comparisons: each operand is evaluated at most once, and none after the first
    /// failing comparison.
    pub(super) fn compare(&mut self, whole: &'p Expr, first: &'p Expr, rest: &'p [(CmpOp, Expr)]) -> Result<Value> {
        let mut left = (self.expr(first)?, self.type_of(first));
        if let [(op, right)] = rest {
            let right = (self.expr(right)?, self.type_of(right));
            if let Kind::Array(elt, _) = *self.kind_of(whole) {
                return self.compared_elements(whole.span, *op, left, right, elt);
            }
            return self.comparison(whole.span, *op, left, right);
        }
        let result = self.build.slot(Ty::I1);
        let after = self.build.new_block("after comparison");
        for (index, (op, expr)) in rest.iter().enumerate() {
            let right = (self.expr(expr)?, self.type_of(expr));
            let holds = self.comparison(whole.span, *op, left, right.clone())?;
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
}
