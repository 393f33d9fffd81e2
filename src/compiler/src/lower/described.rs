//! Constants that the source of a function names, described for debuggers. Code has them as they are, so that neither
//! registers nor memory tell what they were.

use std::collections::HashSet;
use std::rc::Rc;

use crate::emit::Emitter;
use crate::forms::constant_text;
use crate::host::{is_kernel_class, HostValue};
use crate::ir::Constant;
use crate::names::Name;
use crate::syntax::{walk_exprs, Expr, ExprKind};
use crate::types::Kind;

impl<'p> Emitter<'_, 'p> {
    /// Describes the constants of the module, and the attributes that are constants, that the function names.
    pub(super) fn describe_constants(&mut self) {
        let function = self.function;
        let mut found: Vec<Constant> = vec![];
        let mut known = HashSet::new();
        walk_exprs(&function.ast.body, &mut |expr| {
            let Some(name) = dotted(expr) else { return };
            if known.contains(&*name) {
                return;
            }
            if let Some(text) = self.value_of(expr).and_then(constant_text) {
                let name: Rc<str> = name.into();
                known.insert(name.clone());
                found.push(Constant {
                    name,
                    text: text.into(),
                    span: expr.span,
                });
            }
        });
        self.build.function.constants = found;
    }

    /// The value of a name or an attribute that is a constant.
    fn value_of(&self, expr: &'p Expr) -> Option<&'p HostValue> {
        match &expr.kind {
            ExprKind::Name(_) => match self.function.names.known(expr)? {
                Name::Host(value) => Some(value),
                _ => None,
            },
            ExprKind::Attribute { value, name, .. } => self
                .host_constant(expr)
                .or_else(|| self.value_of_attribute(value, name)),
            _ => None,
        }
    }

    fn value_of_attribute(&self, object: &'p Expr, name: &Rc<str>) -> Option<&'p HostValue> {
        let program = self.module.program;
        let Kind::Instance(class) = *self.kind_of(object) else {
            return None;
        };
        let info = program.classes.get(&class)?;
        // Numbers that are data of the library are in memory.
        if is_kernel_class(class) || info.is_data(name) || !program.never_changes(info, name) {
            return None;
        }
        self.module.value_of_all(class, name)
    }
}

/// A name with its attributes, as in `self.limits.upper`; None for other expressions.
fn dotted(expr: &Expr) -> Option<String> {
    match &expr.kind {
        ExprKind::Name(name) => Some(name.to_string()),
        ExprKind::Attribute { value, name, .. } => Some(format!("{}.{name}", dotted(value)?)),
        _ => None,
    }
}
