//! Lifetimes: lists and objects made in a function live on its stack, and must not be kept by what outlives it.
//!
//! As in the reference, a variable belongs to the function or outlives it according to the first value assigned to it, and
//! values that come out of calls or out of other lists are not followed.

use crate::builtins::makes_values;
use crate::diagnostic::{Diagnostic, Result};
use crate::host::is_made;
use crate::names::{LocalId, Name};
use crate::program::FunctionInstance;
use crate::source::Span;
use crate::syntax::*;
use crate::types::{Kind, Ty, Types};

/// Where a value lives.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Region {
    /// On the stack of this function; the span is where it was made.
    Here(Span),
    Outlives,
}

/// Checks one function, whose types are known.
pub fn check(function: &FunctionInstance, types: &Types) -> Result<()> {
    let params = function.ast.params.len();
    let given = |local: usize| local < params || function.names.is_captured(local as LocalId);
    let regions = (0..function.locals.len())
        .map(|local| given(local).then_some(Region::Outlives))
        .collect();
    let mut lifetimes = Lifetimes {
        function,
        types,
        regions,
    };
    // A loop may read a text before the assignment that puts it on the stack.
    walk_stmts(&function.ast.body, &mut |stmt| _ = lifetimes.stmt(stmt));
    for (local, region) in lifetimes.regions.iter_mut().enumerate() {
        if !given(local)
            && !matches!(
                (types.kind(function.locals[local]), &region),
                (Kind::Str | Kind::Bytes, Some(Region::Here(_)))
            )
        {
            *region = None;
        }
    }
    let mut error = Ok(());
    walk_stmts(&function.ast.body, &mut |stmt| {
        if error.is_ok() {
            error = lifetimes.stmt(stmt);
        }
    });
    error
}

struct Lifetimes<'a> {
    function: &'a FunctionInstance,
    types: &'a Types,
    /// Of every variable, once it has been assigned.
    regions: Vec<Option<Region>>,
}

impl Lifetimes<'_> {
    fn stmt(&mut self, stmt: &Stmt) -> Result<()> {
        let mut result = Ok(());
        stmt.kind.each_part(&mut |part| {
            if result.is_err() {
                return;
            }
            match part {
                Part::Target(target, Some(value)) => result = self.assign(target, value),
                // The elements of what a loop goes over are not followed.
                Part::Target(_, None) => {}
                Part::Update(target) if self.is_text(target) => result = self.bind(target, Region::Here(stmt.span)),
                Part::Update(_) | Part::Expr(_) | Part::Variable(..) | Part::Block(_) => {}
            }
        });
        result?;
        if let Flow::Return(Some(value)) = stmt.kind.flow() {
            return self.returned(value);
        }
        Ok(())
    }

    fn returned(&self, value: &Expr) -> Result<()> {
        let Region::Here(made) = self.region(value) else {
            return Ok(());
        };
        let text = "cannot return an allocated value that does not live forever";
        let error = Diagnostic::new(value.span, text).label(made, "made here, on the stack of this function");
        Err(error.help("let the caller make the list and pass it in, or give it to the host with an RPC"))
    }

    fn assign(&mut self, target: &Expr, value: &Expr) -> Result<()> {
        if let (ExprKind::Tuple(targets), ExprKind::Tuple(values)) = (&target.kind, &value.kind) {
            return targets
                .iter()
                .zip(values)
                .try_for_each(|(target, value)| self.assign(target, value));
        }
        let found = self.region(value);
        self.bind(target, found)
    }

    /// Checks that `target` may hold a value of the region `found`.
    fn bind(&mut self, target: &Expr, found: Region) -> Result<()> {
        let wanted = match &target.kind {
            ExprKind::Name(name) => {
                let Some(local) = self.function.names.local(name) else {
                    return Ok(());
                };
                let given = (local as usize) < self.function.ast.params.len() || self.function.names.is_captured(local);
                let region = self.regions[local as usize].get_or_insert(found);
                // A text grows by assignments to its variable, which may begin as a literal.
                if !given
                    && matches!(
                        self.types.kind(self.function.locals[local as usize]),
                        Kind::Str | Kind::Bytes
                    )
                    && *region == Region::Outlives
                {
                    *region = found;
                }
                *region
            }
            ExprKind::Attribute { .. } => Region::Outlives,
            // Elements of arrays are copied.
            ExprKind::Subscript { value, .. } if self.is_array(value) => return Ok(()),
            ExprKind::Subscript { value, .. } => self.region(value),
            _ => return Ok(()),
        };
        match (wanted, found) {
            (Region::Outlives, Region::Here(made)) => {
                let error = Diagnostic::new(target.span, "the assigned value does not outlive the assignment target");
                let error = error.label(made, "made here, on the stack of this function");
                Err(error.help("assign the elements one by one, or use a list of the host"))
            }
            _ => Ok(()),
        }
    }

    fn region(&self, expr: &Expr) -> Region {
        if !self.is_allocated(self.function.types[expr.id as usize]) {
            return Region::Outlives;
        }
        // A method of an object made here is as good as the object.
        if let (ExprKind::Attribute { value, .. }, Kind::Method { .. } | Kind::Choice(_)) =
            (&expr.kind, self.types.kind(self.function.types[expr.id as usize]))
        {
            return self.region(value);
        }
        match expr.kind.origin() {
            Origin::New => Region::Here(expr.span),
            Origin::Variable => match self.function.names.of(expr) {
                Name::Local(local) => self.regions[*local as usize].unwrap_or(Region::Outlives),
                _ => Region::Outlives,
            },
            Origin::Call(callee) => match self.types.kind(self.function.types[callee.id as usize]) {
                Kind::Builtin(builtin) if makes_values(*builtin) => Region::Here(expr.span),
                Kind::ExceptionClass(_) | Kind::Namespace(..) => Region::Here(expr.span),
                _ => Region::Outlives,
            },
            // A row or slice of an array, and a part of a string, is a view.
            Origin::Element(value) if self.is_array(value) => self.region(value),
            Origin::Element(_) => Region::Outlives,
            Origin::Slice(value, false) if !self.is_copied(value) => self.region(value),
            Origin::Slice(..) => Region::Here(expr.span),
            Origin::Parts(parts) => self.innermost(&mut parts.iter()),
            Origin::Either(a, b) => self.innermost(&mut [a, b].into_iter()),
            Origin::Elsewhere => match &expr.kind {
                // The transposed one is a view.
                ExprKind::Attribute { value, .. } if self.is_array(value) => self.region(value),
                _ => Region::Outlives,
            },
        }
    }

    /// Of the first of these that is made here; else they outlive the function.
    fn innermost(&self, parts: &mut dyn Iterator<Item = &Expr>) -> Region {
        let here = parts
            .map(|part| self.region(part))
            .find(|region| matches!(region, Region::Here(_)));
        here.unwrap_or(Region::Outlives)
    }

    fn is_text(&self, expr: &Expr) -> bool {
        let ty = self.function.types[expr.id as usize];
        matches!(self.types.kind(ty), Kind::Str | Kind::Bytes)
    }

    fn is_array(&self, expr: &Expr) -> bool {
        self.types.is_array(self.function.types[expr.id as usize])
    }

    /// Whether a slice of this is a copy.
    fn is_copied(&self, expr: &Expr) -> bool {
        let ty = self.function.types[expr.id as usize];
        matches!(self.types.kind(ty), Kind::List(_) | Kind::ByteArray)
    }

    /// Whether values of the type have parts on a stack.
    fn is_allocated(&self, ty: Ty) -> bool {
        match self.types.kind(ty) {
            Kind::List(_) | Kind::Array(..) | Kind::View(..) | Kind::Str | Kind::Bytes | Kind::ByteArray => true,
            Kind::Exception | Kind::Closure(_) => true,
            Kind::Instance(class) | Kind::Method { class, .. } => is_made(*class),
            Kind::Tuple(elements) => elements.iter().any(|&element| self.is_allocated(element)),
            Kind::Choice(members) => (self.types.each_of(members).into_iter()).any(|member| self.is_allocated(member)),
            _ => false,
        }
    }
}
