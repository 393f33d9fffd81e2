//! Compile-time decisions about classes: `isinstance` and `None`, the branches that they decide, and `super()`.

use std::rc::Rc;

use super::Infer;
use crate::diagnostic::{Diagnostic, Result};
use crate::host::{is_kernel_class, HostValue, InstanceOf};
use crate::language::{Builtin, Class, Number, Sequence, Text};
use crate::program::Fact;
use crate::source::Span;
use crate::syntax::*;
use crate::types::{Kind, Ty};

/// The truth of a condition, as far as known at compile time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Truth {
    Known(bool),
    /// To be known once the types are known.
    Later,
    /// Not known at compile time.
    Open,
}

impl Known for Infer<'_, '_> {
    fn truth(&self, condition: &Expr) -> Option<bool> {
        match Infer::truth(self, condition) {
            Truth::Known(known) => Some(known),
            Truth::Later | Truth::Open => None,
        }
    }

    fn is_empty(&self, iterable: &Expr) -> bool {
        Infer::is_empty(self, iterable)
    }
}

impl Infer<'_, '_> {
    /// The attribute of a number that is more than one on the host, as a member of an `IntEnum` is: of what the host
    /// has as an attribute `value`, and no kernel assigns.
    pub(super) fn attribute_of_number(
        &mut self,
        expr: &Expr,
        value: &Expr,
        (number, name): (Ty, &str),
        at: &dyn Fn(String) -> Box<Diagnostic>,
    ) -> Result<Option<Ty>> {
        let Some((owner, path)) = value.attribute_path(name).filter(|_| self.types().is_int(number)) else {
            return Ok(None);
        };
        let (owner, path): (Ty, Rc<str>) = (self.function().types[owner.id as usize], path.into());
        match self.types().kind(owner).clone() {
            Kind::Namespace(handle, _) => {
                let found = self.context.host.attribute(handle, &path).map_err(at)?;
                found.map(|found| self.constant(expr, &found)).transpose()
            }
            Kind::Instance(class) if !is_kernel_class(class) && self.is_never_assigned(value) => {
                self.context.attribute(class, &path).map_err(at)
            }
            _ => Ok(None),
        }
    }

    fn is_never_assigned(&self, attribute: &Expr) -> bool {
        match &attribute.kind {
            ExprKind::Attribute { name, .. } => !self.context.program.assigned.contains(name),
            _ => false,
        }
    }

    pub(super) fn class_question(&mut self, class: Class, whole: &Expr, args: &[Expr], types: &[Ty]) -> Result<Ty> {
        match class {
            Class::Super => self.super_object(whole, args, types),
            Class::IsInstance => {
                self.decides = true;
                if let Some(answer) = self.is_instance(types[0], types[1], args)? {
                    let fact = Fact::Constant(HostValue::Bool(answer));
                    self.context.program.functions[self.current]
                        .facts
                        .insert(whole.id, fact);
                }
                Ok(self.kind(Kind::Bool))
            }
        }
    }

    /// Whether values of a type are instances of a class, or of one of a tuple of classes; None if
    /// not known yet.
    fn is_instance(&mut self, ty: Ty, class: Ty, args: &[Expr]) -> Result<Option<bool>> {
        let value = self.types().kind(ty).clone();
        let class = self.types().kind(class).clone();
        if value == Kind::Var || class == Kind::Var {
            return Ok(None);
        }
        if value == Kind::Exception {
            let error = Diagnostic::new(
                args[0].span,
                "the class of an exception is not known when a kernel is compiled",
            );
            return Err(error.help("catch it by its class, with 'except'"));
        }
        let integer = self.types().is_int(ty);
        let is = |kind: Kind| Ok(Some(value == kind));
        match class {
            Kind::Tuple(classes) => {
                let answers = classes.iter().map(|&class| self.is_instance(ty, class, args));
                let answers = answers.collect::<Result<Vec<_>>>()?;
                if answers.contains(&Some(true)) {
                    return Ok(Some(true));
                }
                Ok((!answers.contains(&None)).then_some(false))
            }
            Kind::Builtin(Builtin::Number(number)) => match number {
                Number::Bool => is(Kind::Bool),
                Number::Int => Ok(Some(integer || value == Kind::Bool)),
                Number::Float => is(Kind::Float),
                // The width is not decided yet.
                Number::Int32 | Number::Int64 if matches!(value, Kind::IntOpen | Kind::IntWide) => Ok(None),
                Number::Int32 => is(Kind::Int32),
                Number::Int64 => is(Kind::Int64),
                _ => self.no_class(&args[1]),
            },
            Kind::Builtin(Builtin::Text(Text::Str)) => is(Kind::Str),
            Kind::Builtin(Builtin::Text(Text::Bytes)) => is(Kind::Bytes),
            Kind::Builtin(Builtin::Text(Text::ByteArray)) => is(Kind::ByteArray),
            Kind::Builtin(Builtin::Sequence(Sequence::List)) => Ok(Some(matches!(value, Kind::List(_)))),
            Kind::Builtin(Builtin::Sequence(Sequence::Range)) => Ok(Some(matches!(value, Kind::Range(_)))),
            Kind::Builtin(Builtin::AnyException | Builtin::Exception(_)) | Kind::ExceptionClass(_) => Ok(Some(false)),
            Kind::Namespace(class, _) => {
                let of = match value {
                    Kind::Instance(own) => InstanceOf::Class(self.context.program.classes[&own].host_class),
                    Kind::None => InstanceOf::Language("none"),
                    Kind::Bool => InstanceOf::Language("bool"),
                    Kind::IntOpen | Kind::IntWide | Kind::Int32 => InstanceOf::Language("int32"),
                    Kind::Int64 => InstanceOf::Language("int64"),
                    Kind::Float => InstanceOf::Language("float"),
                    Kind::Str => InstanceOf::Language("str"),
                    Kind::List(_) => InstanceOf::Language("list"),
                    Kind::Tuple(_) => InstanceOf::Language("tuple"),
                    Kind::Range(_) => InstanceOf::Language("range"),
                    Kind::Bytes => InstanceOf::Language("bytes"),
                    Kind::ByteArray => InstanceOf::Language("bytearray"),
                    Kind::Array(..) | Kind::View(..) => InstanceOf::Language("array"),
                    _ => {
                        let text = format!("isinstance() of a value of type {}", self.type_name(ty));
                        return Err(Diagnostic::unsupported(args[0].span, &text));
                    }
                };
                let answer = self.context.host.is_instance(of, class);
                answer.map(Some).map_err(|text| Diagnostic::new(args[1].span, text))
            }
            _ => self.no_class(&args[1]),
        }
    }

    fn no_class<T>(&mut self, class: &Expr) -> Result<T> {
        let ty = self.function().types[class.id as usize];
        let text = format!(
            "isinstance() takes a class or a tuple of classes, not {}",
            self.type_name(ty)
        );
        Err(Diagnostic::new(class.span, text))
    }

    /// The truth of a visited condition, as far as `isinstance`, or the type of `None`, decides it.
    pub(super) fn truth(&self, condition: &Expr) -> Truth {
        let function = self.function();
        match &condition.kind {
            ExprKind::Call { callee, .. } => {
                let callee = self.context.program.types.kind(function.types[callee.id as usize]);
                match (callee, function.facts.get(&condition.id)) {
                    (
                        Kind::Builtin(Builtin::Class(Class::IsInstance)),
                        Some(Fact::Constant(HostValue::Bool(known))),
                    ) => Truth::Known(*known),
                    (Kind::Builtin(Builtin::Class(Class::IsInstance)), _) => Truth::Later,
                    _ => Truth::Open,
                }
            }
            ExprKind::Unary {
                op: UnaryOp::Not,
                operand,
            } => match self.truth(operand) {
                Truth::Known(known) => Truth::Known(!known),
                other => other,
            },
            ExprKind::BoolOp { and, values } => {
                let mut all = Truth::Known(*and);
                for value in values {
                    match self.truth(value) {
                        Truth::Known(known) if known == *and => {}
                        Truth::Known(known) => return Truth::Known(known),
                        // The operands after it have not been visited.
                        Truth::Later => return Truth::Later,
                        Truth::Open => all = Truth::Open,
                    }
                }
                all
            }
            ExprKind::Compare { first, rest } => match &rest[..] {
                [(op, second)] => self.truth_with_none(*op, first, second),
                _ => Truth::Open,
            },
            _ if self.is_none(condition) => Truth::Known(false),
            _ => Truth::Open,
        }
    }

    /// The truth of a comparison with `None`, which a type is or is not.
    fn truth_with_none(&self, op: CmpOp, first: &Expr, second: &Expr) -> Truth {
        let equal = matches!(op, CmpOp::Is | CmpOp::Eq);
        let is_open =
            |side: &Expr| *self.context.program.types.kind(self.function().types[side.id as usize]) == Kind::Var;
        match (self.is_none(first), self.is_none(second)) {
            _ if !equal && !matches!(op, CmpOp::IsNot | CmpOp::NotEq) => Truth::Open,
            (false, false) => Truth::Open,
            _ if is_open(first) || is_open(second) => Truth::Open,
            (one, other) => Truth::Known((one == other) == equal),
        }
    }

    fn is_none(&self, expr: &Expr) -> bool {
        *self.context.program.types.kind(self.function().types[expr.id as usize]) == Kind::None
    }

    /// Removes code that `isinstance` or `None` makes unreachable, and loops that never run, from all functions,
    /// so that later passes do not see it.
    pub(super) fn prune(&mut self) {
        for id in 0..self.context.program.functions.len() {
            self.current = id;
            if !self.decides && !self.context.shapes.has_empty(self.function().handle) {
                continue;
            }
            let pruned = Rc::new(self.function().ast.pruned(self));
            walk_exprs(&pruned.body, &mut |expr| {
                // A generator expression over nothing has become a list.
                let ty = self.function().types[expr.id as usize];
                if let (ExprKind::List(_), Kind::Lazy(_, parts)) = (&expr.kind, self.types().kind(ty).clone()) {
                    let list = self.kind(Kind::List(parts[0]));
                    self.context.program.functions[id].types[expr.id as usize] = list;
                }
            });
            self.context.program.functions[id].ast = pruned;
        }
    }

    /// Types `super()` in a method, or `super(Class, object)`.
    fn super_object(&mut self, whole: &Expr, args: &[Expr], types: &[Ty]) -> Result<Ty> {
        let (owner, object, span) = match (args, types) {
            ([], _) => {
                if self.function().nested.is_some() {
                    let error = Diagnostic::new(
                        whole.span,
                        "super() without arguments does not know its class in a function inside a method",
                    );
                    return Err(error.help("write super(Class, self)"));
                }
                let Some(&own) = self
                    .function()
                    .locals
                    .first()
                    .filter(|_| !self.function().ast.params.is_empty())
                else {
                    let error = Diagnostic::new(whole.span, "super() without arguments works in methods only");
                    return Err(error.help("write super(Class, object)"));
                };
                (self.function().handle, own, whole.span)
            }
            ([class, object], &[class_type, own]) => match *self.types().kind(class_type) {
                Kind::Namespace(handle, _) => (handle, own, object.span),
                _ => {
                    return Err(Diagnostic::new(
                        class.span,
                        "the first argument of super() must be a class",
                    ))
                }
            },
            _ => {
                let error = Diagnostic::new(whole.span, "super() takes no arguments or two, not one");
                return Err(error.help("write super(), or super(Class, self)"));
            }
        };
        match *self.types().kind(object) {
            Kind::Var => Ok(self.types().var()),
            Kind::Instance(class) => Ok(self.kind(Kind::Super { owner, class })),
            _ => {
                let text = format!(
                    "super() needs an object of a class, not a value of type {}",
                    self.type_name(object)
                );
                Err(Diagnostic::new(span, text).help("super() works in methods of host objects"))
            }
        }
    }

    /// Looks up a method after `owner` in the method resolution order of `class`.
    pub(super) fn super_attribute(
        &mut self,
        expr: &Expr,
        (owner, class): (u32, u32),
        name: &Rc<str>,
        span: Span,
    ) -> Result<Ty> {
        let key = (owner, class, name.clone());
        if !self.supers.contains_key(&key) {
            let host_class = self.context.program.classes[&class].host_class;
            let found = self.context.host.super_attribute(owner, host_class, name);
            let found = found.map_err(|text| Diagnostic::new(expr.span, text))?;
            self.supers.insert(key.clone(), found);
        }
        let class_name = self.context.program.classes[&class].name.clone();
        match self.supers[&key].clone() {
            Some(HostValue::Method { function, .. }) => Ok(self.kind(Kind::Method { function, class })),
            Some(function @ HostValue::Function(_)) => self.constant(expr, &function),
            Some(_) => {
                let error = Diagnostic::new(span, format!("'{name}' is not a method"));
                Err(error.help(format!("super() gives methods in a kernel; write self.{name}")))
            }
            None => {
                let text = format!("no base class has a method '{name}' for super() to find");
                Err(Diagnostic::new(span, text).primary_note(format!("super() of an instance of {class_name}")))
            }
        }
    }
}
