//! Types of expressions.

use std::rc::Rc;

use super::classes::Truth;
use super::Infer;
use crate::diagnostic::{Diagnostic, Result};
use crate::host::HostValue;
use crate::names::Name;
use crate::program::Fact;
use crate::resolve::closest;
use crate::source::Span;
use crate::syntax::*;
use crate::types::{tuple_index, Kind, Lazy, Ty, Types, INT32, STR};

const HOST_OBJECT: &str = "host object";
const TEXTS: &str = "texts have +, len, in, comparisons, indices, slices and loops; let a host function do the rest";

impl Infer<'_, '_> {
    /// Visits an expression and returns its type, as far as it is known.
    pub(super) fn expr(&mut self, expr: &Expr) -> Result<Ty> {
        let ty = self.function().types[expr.id as usize];
        let found = match &expr.kind {
            ExprKind::None => self.kind(Kind::None),
            ExprKind::Bool(_) => self.kind(Kind::Bool),
            ExprKind::Float(_) => self.kind(Kind::Float),
            ExprKind::Str(_) => self.kind(Kind::Str),
            ExprKind::Bytes(_) => self.kind(Kind::Bytes),
            ExprKind::FString(string) => self.fstring(expr, string)?,
            ExprKind::Int(value) => {
                if self.types().is_var(ty) {
                    let open = self.kind(Types::plain_integer(*value));
                    self.types().unify(ty, open).expect("the variable is free");
                }
                return Ok(ty);
            }
            ExprKind::Name(_) => self.name(expr)?,
            ExprKind::Attribute { value, name, name_span } => self.attribute(expr, value, name, *name_span)?,
            ExprKind::Subscript { value, index } => self.subscript(value, index)?,
            ExprKind::Call { callee, args, keywords } => self.call(expr, callee, args, keywords)?,
            ExprKind::Unary { op, operand } => self.unary(*op, operand, ty)?,
            ExprKind::Binary { op, left, right } => {
                let (l, r) = (self.expr(left)?, self.expr(right)?);
                match self.binary(*op, (l, left.span), (r, right.span), expr)? {
                    Some(found) => found,
                    None => return Ok(ty),
                }
            }
            ExprKind::Compare { first, rest } => self.compare(first, rest)?,
            ExprKind::BoolOp { and, values } => return self.bool_op(ty, *and, values),
            ExprKind::IfExp { test, body, orelse } => return self.if_expression(ty, test, [body, orelse]),
            ExprKind::List(elements) => {
                let elt = match *self.types().kind(ty) {
                    Kind::List(elt) => elt,
                    _ => self.types().var(),
                };
                for element in elements {
                    let found = self.expr(element)?;
                    self.unify(elt, found, element.span, "this element")?;
                }
                self.kind(Kind::List(elt))
            }
            ExprKind::Function { function, defaults } => self.nested(expr, function, defaults)?,
            ExprKind::Named { target, value } => {
                let found = self.expr(value)?;
                self.assign(target, found, value.span)?;
                found
            }
            ExprKind::ListComp { element, clauses } => {
                let elt = self.clauses(element, clauses)?;
                self.kind(Kind::List(elt))
            }
            ExprKind::Generator { element, clauses } => {
                let elt = self.clauses(element, clauses)?;
                self.kind(Kind::Lazy(Lazy::Generator, [elt].into()))
            }
            ExprKind::Slice { value, bounds } => self.slice(expr, value, bounds)?,
            ExprKind::Slices { value, dims } => self.slices(expr, value, dims)?,
            ExprKind::Tuple(elements) => {
                let elements = elements
                    .iter()
                    .map(|element| self.expr(element))
                    .collect::<Result<Rc<[Ty]>>>()?;
                self.types().tuple(elements, expr.span)?
            }
        };
        self.unify(ty, found, expr.span, "this")?;
        Ok(ty)
    }

    /// `ty`: type of the expression, as in those below.
    fn bool_op(&mut self, ty: Ty, and: bool, values: &[Expr]) -> Result<Ty> {
        for value in values {
            let found = self.expr(value)?;
            let found = self.condition(value, found)?;
            self.unify(ty, found, value.span, "this operand")?;
            if matches!(self.truth(value), Truth::Later) || self.truth(value) == Truth::Known(!and) {
                break;
            }
        }
        Ok(ty)
    }

    fn if_expression(&mut self, ty: Ty, test: &Expr, [yes, no]: [&Expr; 2]) -> Result<Ty> {
        let found = self.expr(test)?;
        self.condition(test, found)?;
        let branches = match self.truth(test) {
            Truth::Known(known) => vec![if known { yes } else { no }],
            Truth::Later => vec![],
            Truth::Open => vec![yes, no],
        };
        for branch in branches {
            let found = self.expr(branch)?;
            self.unify(ty, found, branch.span, "this branch")?;
        }
        Ok(ty)
    }

    /// The type of the elements that clauses and the expression behind them yield.
    fn clauses(&mut self, element: &Expr, clauses: &[Clause]) -> Result<Ty> {
        for clause in clauses {
            let iterable = self.expr(&clause.iter)?;
            if self.is_empty(&clause.iter) {
                return Ok(self.types().var());
            }
            let passed = self.types().iterated(iterable, clause.iter.span)?;
            self.assign(&clause.target, passed, clause.iter.span)?;
            for test in &clause.tests {
                let found = self.expr(test)?;
                self.condition(test, found)?;
            }
        }
        self.expr(element)
    }

    fn slice(&mut self, expr: &Expr, value: &Expr, bounds: &[Option<Box<Expr>>; 3]) -> Result<Ty> {
        let object = self.expr(value)?;
        self.bounds(bounds)?;
        Ok(match (self.types().kind(object).clone(), &bounds[2]) {
            (Kind::Array(elt, dims), Some(_)) => self.kind(Kind::View(elt, dims)),
            (Kind::List(_) | Kind::Str | Kind::Bytes | Kind::ByteArray, _) => object,
            (Kind::Array(..) | Kind::View(..) | Kind::Var, _) => object,
            _ => {
                let text = format!("a slice of a value of type {}", self.type_name(object));
                return Err(Diagnostic::unsupported(expr.span, &text));
            }
        })
    }

    /// Checks the bounds of a slice.
    pub(super) fn bounds(&mut self, bounds: &[Option<Box<Expr>>; 3]) -> Result<()> {
        for bound in bounds.iter().flatten() {
            let found = self.expr(bound)?;
            if !self.types().is_int(found) && !self.types().is_var(found) {
                let text = format!("a bound of a slice must be an integer, not {}", self.type_name(found));
                return Err(Diagnostic::new(bound.span, text));
            }
        }
        Ok(())
    }

    fn name(&mut self, expr: &Expr) -> Result<Ty> {
        let names = self.function().names.clone();
        match names.of(expr) {
            Name::Local(local) => Ok(self.function().locals[*local as usize]),
            Name::Builtin(builtin) => Ok(self.kind(Kind::Builtin(*builtin))),
            Name::Host(value) => self.constant(expr, value),
        }
    }

    /// Records that an expression is a host value known at compile time; returns its type.
    pub(super) fn constant(&mut self, expr: &Expr, value: &HostValue) -> Result<Ty> {
        let ty = self
            .context
            .type_of(value)
            .map_err(|text| Diagnostic::new(expr.span, text))?;
        let function = &mut self.context.program.functions[self.current];
        function.facts.insert(expr.id, Fact::Constant(value.clone()));
        Ok(ty)
    }

    fn attribute(&mut self, expr: &Expr, value: &Expr, name: &Rc<str>, name_span: Span) -> Result<Ty> {
        let object = self.expr(value)?;
        let at = |text: String| Diagnostic::new(expr.span, text);
        match self.types().kind(object).clone() {
            Kind::Var => Ok(self.types().var()),
            Kind::Instance(class) => match self.context.attribute(class, name).map_err(at)? {
                Some(ty) => Ok(self.looked_up(ty, name)),
                None => {
                    let class = &self.context.program.classes[&class];
                    let error = Diagnostic::missing_attribute(name_span, HOST_OBJECT, name);
                    let error = error.primary_note(format!("an instance of {}", class.name));
                    let names = self.context.host.attribute_names(class.instances[0]);
                    Err(match closest(name, names) {
                        Some(near) => error.help(format!("did you mean '{near}'?")),
                        None => error.help("a kernel can only use attributes that exist when it is compiled"),
                    })
                }
            },
            Kind::Namespace(handle, _) => match self.context.host.attribute(handle, name).map_err(at)? {
                Some(value) => self.constant(expr, &value),
                None => Err(Diagnostic::missing_attribute(name_span, HOST_OBJECT, name)),
            },
            Kind::Super { owner, class } => self.super_attribute(expr, (owner, class), name, name_span),
            Kind::Array(..) | Kind::View(..) if self.array_attribute(object, name).is_some() => {
                Ok(self.array_attribute(object, name).expect("the guard says so"))
            }
            Kind::Range(elt) if ["start", "stop", "step"].contains(&&**name) => Ok(elt),
            Kind::Tuple(members) if self.types().field(object, name).is_some() => {
                Ok(members[self.types().field(object, name).expect("the guard says so")])
            }
            _ => {
                if let Some(found) = self.attribute_of_number(expr, value, (object, name), &at)? {
                    return Ok(found);
                }
                let ty = self.type_name(object);
                let managed = matches!(&value.kind, ExprKind::Name(name) if name.starts_with(MANAGER));
                Err(match managed {
                    true => Diagnostic::new(name_span, super::no_manager(&ty)),
                    false => {
                        let error = Diagnostic::missing_attribute(name_span, &format!("type {ty}"), name);
                        match self.types().kind(object) {
                            Kind::Str => error.help(TEXTS),
                            _ => error,
                        }
                    }
                })
            }
        }
    }

    fn subscript(&mut self, value: &Expr, index: &Expr) -> Result<Ty> {
        let (object, position) = (self.expr(value)?, self.expr(index)?);
        if let Kind::Tuple(elements) = self.types().kind(object).clone() {
            let ExprKind::Int(position) = index.kind else {
                let error = Diagnostic::new(index.span, "tuples can only be indexed by a constant");
                return Err(error.help("its elements may be of different types; use a list if the index is computed"));
            };
            let place = tuple_index(position, elements.len());
            return place.map(|place| elements[place]).ok_or_else(|| {
                let text = format!(
                    "index {position} is out of range for a tuple of {} elements",
                    elements.len()
                );
                Diagnostic::new(index.span, text)
            });
        }
        if let (true, ExprKind::Tuple(indices)) = (self.types().is_array(object), &index.kind) {
            for index in indices {
                let ty = self.function().types[index.id as usize];
                self.index(ty, index.span)?;
            }
            return self.types().indexed_array(object, indices.len(), index.span);
        }
        if let (Kind::Var, ExprKind::Tuple(_)) = (self.types().kind(object), &index.kind) {
            return Ok(self.types().var());
        }
        self.index(position, index.span)?;
        match *self.types().kind(object) {
            Kind::Var => Ok(self.types().var()),
            Kind::List(elt) | Kind::Range(elt) => Ok(elt),
            Kind::Bytes | Kind::ByteArray => Ok(INT32),
            Kind::Str => Ok(STR),
            Kind::Array(..) | Kind::View(..) => self.types().indexed_array(object, 1, index.span),
            _ => {
                let text = format!("type {} is not iterable", self.type_name(object));
                Err(Diagnostic::new(value.span, text).primary_note("cannot be indexed"))
            }
        }
    }

    pub(super) fn index(&mut self, ty: Ty, span: Span) -> Result<()> {
        if self.types().is_int(ty) || self.types().is_var(ty) {
            return Ok(());
        }
        let text = format!("an index must be an integer, not {}", self.type_name(ty));
        Err(Diagnostic::new(span, text))
    }

    /// Types a unary operation. `result`: type of the whole expression, as far as it is known.
    fn unary(&mut self, op: UnaryOp, operand: &Expr, result: Ty) -> Result<Ty> {
        let ty = self.expr(operand)?;
        if op == UnaryOp::Not {
            self.condition(operand, ty)?;
            return Ok(self.kind(Kind::Bool));
        }
        if self.types().is_var(ty) {
            return Ok(ty);
        }
        if *self.types().kind(ty) == Kind::Bool {
            return Ok(match self.types().is_var(result) {
                true => self.kind(Kind::IntOpen),
                false => result,
            });
        }
        if let Some((elt, dims)) = self.types().array_parts(ty) {
            let truths = *self.types().kind(elt) == Kind::Bool;
            if truths != (op == UnaryOp::Invert) && !self.types().is_var(elt) {
                let text = format!("this operator on an array of {}", self.type_name(elt));
                return Err(Diagnostic::unsupported(operand.span, &text));
            }
            return Ok(self.kind(Kind::Array(elt, dims)));
        }
        if op == UnaryOp::Invert && !self.types().is_int(ty) {
            let text = format!("expected '~' operand to be of integer type, not {}", self.type_name(ty));
            return Err(Diagnostic::new(operand.span, text));
        }
        let element = self.types().array_parts(ty).map_or(ty, |(elt, _)| elt);
        self.types().require_numeric(element, operand.span)?;
        Ok(ty)
    }

    /// Result type of an arithmetic operation at `whole`; None while it depends on unknown types.
    pub(super) fn binary(
        &mut self,
        op: BinOp,
        left: (Ty, Span),
        right: (Ty, Span),
        whole: &Expr,
    ) -> Result<Option<Ty>> {
        if self.types().is_var(left.0) || self.types().is_var(right.0) {
            return Ok(None);
        }
        match (
            op,
            self.types().kind(left.0).clone(),
            self.types().kind(right.0).clone(),
        ) {
            (BinOp::Add, Kind::List(_), Kind::List(_)) => {
                self.unify(left.0, right.0, right.1, "this list")?;
                return Ok(Some(left.0));
            }
            (BinOp::Mul, Kind::List(_), _) if self.types().is_int(right.0) => return Ok(Some(left.0)),
            (BinOp::Mul, _, Kind::List(_)) if self.types().is_int(left.0) => return Ok(Some(right.0)),
            (BinOp::Add, Kind::Str, Kind::Str)
            | (BinOp::Add, Kind::Bytes | Kind::ByteArray, Kind::Bytes | Kind::ByteArray) => return Ok(Some(left.0)),
            (BinOp::Add, Kind::Tuple(a), Kind::Tuple(b)) => {
                let elements = a.iter().chain(b.iter()).copied().collect();
                return self.types().tuple(elements, whole.span).map(Some);
            }
            (_, Kind::Array(..) | Kind::View(..), _) | (_, _, Kind::Array(..) | Kind::View(..)) => {
                self.array_binary(op, left, right, whole)?;
                return Ok(None);
            }
            _ => {}
        }
        let bits = matches!(op, BinOp::And | BinOp::Or | BinOp::Xor);
        if bits
            && [left, right]
                .iter()
                .all(|side| *self.types().kind(side.0) == Kind::Bool)
        {
            return Ok(Some(left.0));
        }
        self.binary_operands(op, left, right)?;
        if op == BinOp::MatMul {
            return Err(Diagnostic::unsupported(whole.span, "'@'"));
        }
        if op == BinOp::Div {
            return Ok(Some(self.kind(Kind::Float)));
        }
        let result = self.function().types[whole.id as usize];
        Ok(self.promote(left.0, right.0, result, whole))
    }

    /// Checks that the operation accepts both operands.
    pub(super) fn binary_operands(&mut self, op: BinOp, left: (Ty, Span), right: (Ty, Span)) -> Result<()> {
        for (ty, span) in [left, right] {
            match self.types().kind(ty) {
                Kind::List(_) | Kind::Tuple(_) | Kind::Str | Kind::Bytes | Kind::ByteArray => {
                    return Err(self.no_operation(op, left, right, (ty, span)));
                }
                _ => self.types().require_numeric(ty, span)?,
            }
            if op.integer_only() && *self.types().kind(ty) == Kind::Float {
                let (op, name) = (op.symbol(), self.type_name(ty));
                let text = format!("expected '{op}' operand to be of integer type, not {name}");
                return Err(Diagnostic::new(span, text));
            }
        }
        Ok(())
    }

    /// The error for an operation on a sequence: one that Python has, too, or one for which it raises TypeError.
    fn no_operation(&self, op: BinOp, left: (Ty, Span), right: (Ty, Span), sequence: (Ty, Span)) -> Box<Diagnostic> {
        let types = &self.context.program.types;
        let other = if sequence.1 == left.1 { right } else { left };
        let repeats = op == BinOp::Mul && types.is_int(other.0);
        let formats = op == BinOp::Mod && matches!(types.kind(left.0), Kind::Str | Kind::Bytes | Kind::ByteArray);
        if repeats || formats || op == BinOp::MatMul {
            let text = format!("'{}' on {}", op.symbol(), types.name(sequence.0));
            let error = Diagnostic::unsupported(sequence.1, &text);
            return match (formats, types.kind(sequence.0)) {
                (true, _) => error.help("write an f-string, as f\"{x:.3f}\""),
                (_, Kind::Str | Kind::Tuple(_)) => error.help("write it out, or add it up in a loop"),
                _ => error,
            };
        }
        let [one, two] = [left, right].map(|side| types.words(side.0));
        let text = format!("'{}' is not possible with {one} and {two}", op.symbol());
        let error = Diagnostic::new(sequence.1, text).primary_note(format!("this is {}", types.words(sequence.0)));
        error.label(other.1, format!("this is {}", types.words(other.0)))
    }

    fn compare(&mut self, first: &Expr, rest: &[(CmpOp, Expr)]) -> Result<Ty> {
        let mut left = (self.expr(first)?, first.span);
        for (op, expr) in rest {
            let right = (self.expr(expr)?, expr.span);
            if let Some(elements) = self.compared_elements(*op, left, right)? {
                if rest.len() == 1 {
                    return Ok(elements);
                }
                if self.types().is_array(elements) {
                    let error = Diagnostic::new(first.span.to(expr.span), "arrays cannot be compared in a chain");
                    return Err(error.help("write (a < b) & (b < c)"));
                }
            } else {
                self.comparable(*op, left, right)?;
            }
            left = right;
        }
        Ok(self.kind(Kind::Bool))
    }

    fn comparable(&mut self, op: CmpOp, left: (Ty, Span), right: (Ty, Span)) -> Result<()> {
        if self.types().is_var(left.0) || self.types().is_var(right.0) {
            return Ok(());
        }
        if matches!(op, CmpOp::In | CmpOp::NotIn) {
            return match self.types().kind(right.0).clone() {
                Kind::List(elt) | Kind::Range(elt) | Kind::Array(elt, 1) | Kind::View(elt, 1) => {
                    self.unify(elt, left.0, left.1, "this")
                }
                Kind::Bytes | Kind::ByteArray => self.unify(INT32, left.0, left.1, "this"),
                Kind::Str => self.unify(STR, left.0, left.1, "this"),
                Kind::Tuple(members) => {
                    (members.iter()).try_for_each(|&member| self.comparable(CmpOp::Eq, left, (member, right.1)))
                }
                _ => {
                    let text = format!("type {} is not iterable", self.type_name(right.0));
                    Err(Diagnostic::new(right.1, text))
                }
            };
        }
        let identity = matches!(op, CmpOp::Is | CmpOp::IsNot);
        if !identity && self.types().is_numeric(left.0) && self.types().is_numeric(right.0) {
            return Ok(());
        }
        if !identity && self.types().is_bytes(left.0) && self.types().is_bytes(right.0) {
            return Ok(());
        }
        if identity || matches!(op, CmpOp::Eq | CmpOp::NotEq) {
            let none = [left.0, right.0].map(|side| *self.types().kind(side) == Kind::None);
            if none[0] || none[1] {
                self.decides = true;
                return Ok(());
            }
        }
        self.unify(left.0, right.0, right.1, "this")?;
        self.has_comparison(op, left.0, left.1)
    }

    /// Checks that values of a type can be compared; sequences can if their elements can.
    fn has_comparison(&mut self, op: CmpOp, ty: Ty, span: Span) -> Result<()> {
        let identity = matches!(op, CmpOp::Is | CmpOp::IsNot);
        let equality = identity || matches!(op, CmpOp::Eq | CmpOp::NotEq);
        match self.types().kind(ty).clone() {
            Kind::None if !equality => {
                let text = format!("'{}' on NoneType", op.symbol());
                Err(Diagnostic::unsupported(span, &text))
            }
            Kind::Var | Kind::None | Kind::Bool | Kind::Str => Ok(()),
            _ if self.types().is_numeric(ty) => Ok(()),
            Kind::List(_) | Kind::ByteArray | Kind::Instance(_) if identity => Ok(()),
            Kind::Range(_) if equality => Ok(()),
            Kind::List(elt) => self.has_comparison(op, elt, span),
            Kind::Array(elt, _) | Kind::View(elt, _) if equality => self.has_comparison(op, elt, span),
            Kind::Tuple(elements) => elements.iter().try_for_each(|&elt| self.has_comparison(op, elt, span)),
            Kind::Instance(class) if equality && !self.has_own_equality(class) => Ok(()),
            Kind::Instance(_) => {
                let error = Diagnostic::new(span, "Custom object comparison is not supported");
                Err(error.help("compare their attributes"))
            }
            _ => {
                let text = format!("'{}' on values of type {}", op.symbol(), self.type_name(ty));
                Err(Diagnostic::unsupported(span, &text))
            }
        }
    }
}
