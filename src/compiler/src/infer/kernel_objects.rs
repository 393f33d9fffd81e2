//! Types of objects created by kernels.

use super::Infer;
use crate::diagnostic::{Diagnostic, Result};
use crate::host::{is_kernel_class, Handle};
use crate::program::FunctionInstance;
use crate::resolve::closest;
use crate::syntax::*;
use crate::types::{Kind, Ty};

impl Infer<'_, '_> {
    /// Types a call of a class: creates an object and calls its `__init__`.
    pub(super) fn construction(
        &mut self,
        whole: &Expr,
        callee: &Expr,
        namespace: Handle,
        args: &[Expr],
        keywords: &[Keyword],
    ) -> Result<Ty> {
        let at = |text: String| Diagnostic::new(whole.span, text);
        let Some((class, constructor)) = self.context.constructor(namespace).map_err(at)? else {
            let function = self.function().types[callee.id as usize];
            let text = format!("cannot call this expression of type {}", self.type_name(function));
            return Err(Diagnostic::new(callee.span, text));
        };
        match constructor {
            Some(constructor) => {
                self.host_call(whole, constructor, Some(class), args, keywords)?;
            }
            None if args.is_empty() && keywords.is_empty() => {}
            None => {
                let name = &self.context.program.classes[&class].name;
                return Err(Diagnostic::new(
                    whole.span,
                    format!("{name} has no __init__, so it takes no arguments"),
                ));
            }
        }
        Ok(self.kind(Kind::Instance(class)))
    }

    /// Rejects host methods of objects created by kernels.
    pub(super) fn require_host_object(&self, class: Option<Handle>, whole: &Expr, name: &str) -> Result<()> {
        if !class.is_some_and(is_kernel_class) {
            return Ok(());
        }
        let text = format!("'{name}' runs on the host, which does not know an object made in a kernel");
        Err(Diagnostic::new(whole.span, text).help("decorate it with @portable or @kernel"))
    }

    /// Reports an error if `function` reads an attribute that objects created by kernels do not
    /// have.
    pub(super) fn missing_attribute(&self, function: &FunctionInstance) -> Option<Box<Diagnostic>> {
        let program = &self.context.program;
        let mut error = None;
        walk_exprs(&function.ast.body, &mut |expr| {
            let (None, ExprKind::Attribute { value, name, name_span }) = (&error, &expr.kind) else {
                return;
            };
            let Kind::Instance(class) = program.types.kind(function.types[value.id as usize]) else {
                return;
            };
            let info = &program.classes[class];
            if !is_kernel_class(*class) || info.attribute(name).is_some() {
                return;
            }
            let found = Diagnostic::new(
                *name_span,
                format!("an object of {} has no attribute '{name}'", info.name),
            );
            let known = info.attributes.iter().map(|attribute| attribute.name.to_string());
            error = Some(match closest(name, known.collect()) {
                Some(near) => found.help(format!("did you mean '{near}'?")),
                None => found.help("give it a value in __init__, or in the body of the class"),
            });
        });
        error
    }
}
