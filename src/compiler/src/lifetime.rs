//! Lifetimes: lists and objects allocated in a function live on its stack and must not be stored in
//! anything that outlives it. Ownership of returned values passes to the caller.
//!
//! As in the reference, whether a variable is local or outlives the function is decided by the
//! first value assigned to it, and values that come from calls or from other lists are not tracked.

use std::collections::HashSet;

use crate::builtins::makes_values;
use crate::diagnostic::{Diagnostic, Result};
use crate::host::is_kernel_class;
use crate::language::Builtin;
use crate::names::{LocalId, Name};
use crate::program::{CallTarget, Fact, FunctionId, FunctionInstance, Program};
use crate::source::Span;
use crate::syntax::*;
use crate::types::{Kind, Ty, Types};

/// Where a value lives.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Region {
    /// On the stack of this function; the span is where the value is created.
    Local(Span),
    Outlives,
}

/// The functions that return values allocated by themselves.
pub type Owning = HashSet<FunctionId>;

pub fn owning(program: &Program) -> Owning {
    let mut owning = Owning::new();
    loop {
        let known = owning.len();
        for (id, function) in program.functions.iter().enumerate() {
            if function.is_dead() {
                continue;
            }
            let lifetimes = Lifetimes::of(function, &program.types, &owning);
            if !owning.contains(&id) && lifetimes.is_allocated(function.returns) && lifetimes.returns_own() {
                owning.insert(id);
            }
        }
        if owning.len() == known {
            return owning;
        }
    }
}

/// Checks one function, whose types are known.
pub fn check(function: &FunctionInstance, types: &Types, owning: &Owning) -> Result<()> {
    let mut lifetimes = Lifetimes::of(function, types, owning);
    lifetimes.begin();
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
    owning: &'a Owning,
    /// The region of each variable, once it has been assigned.
    regions: Vec<Option<Region>>,
}

impl<'a> Lifetimes<'a> {
    fn of(function: &'a FunctionInstance, types: &'a Types, owning: &'a Owning) -> Self {
        Lifetimes {
            function,
            types,
            owning,
            regions: vec![],
        }
    }

    /// Whether a variable is a parameter or captured from an enclosing function.
    fn is_given(&self, local: usize) -> bool {
        local < self.function.ast.params.len() || self.function.names.is_captured(local as LocalId)
    }

    /// Sets the regions before the first statement: only those of parameters, captured variables,
    /// and strings that a later statement puts on the stack are known.
    fn begin(&mut self) {
        let locals = 0..self.function.locals.len();
        self.regions = locals
            .map(|local| self.is_given(local).then_some(Region::Outlives))
            .collect();
        // A loop may read a string before the assignment that puts it on the stack.
        let body = &self.function.ast.body;
        walk_stmts(body, &mut |stmt| _ = self.stmt(stmt));
        for local in 0..self.regions.len() {
            let is_text = matches!(
                (self.types.kind(self.function.locals[local]), self.regions[local]),
                (Kind::Str | Kind::Bytes, Some(Region::Local(_)))
            );
            if !self.is_given(local) && !is_text {
                self.regions[local] = None;
            }
        }
    }

    fn returns_own(mut self) -> bool {
        self.begin();
        let mut own = false;
        let body = &self.function.ast.body;
        walk_stmts(body, &mut |stmt| {
            _ = self.stmt(stmt);
            if let Flow::Return(Some(value)) = stmt.kind.flow() {
                own |= self.region(value) != Region::Outlives;
            }
        });
        own
    }

    fn stmt(&mut self, stmt: &Stmt) -> Result<()> {
        let (mut result, mut iterable) = (Ok(()), None);
        stmt.kind.each_part(&mut |part| {
            if result.is_err() {
                return;
            }
            if let Part::Expr(expr) | Part::Target(expr, _) | Part::Update(expr) = part {
                result = self.named(expr);
            }
            match part {
                _ if result.is_err() => {}
                Part::Target(target, Some(value)) => result = self.assign(target, value),
                // Elements yielded by iteration are not tracked, but for the characters of texts made here.
                Part::Target(target, None) => result = self.characters(target, iterable.expect("it comes first")),
                Part::Expr(expr) => iterable = Some(expr),
                Part::Update(target) if self.is_text(target) => result = self.bind(target, Region::Local(stmt.span)),
                Part::Update(_) | Part::Variable(..) | Part::Block(_) => {}
            }
        });
        result?;
        if let Flow::Return(Some(value)) = stmt.kind.flow() {
            return self.returned(value);
        }
        Ok(())
    }

    /// Binds the texts among the targets of a loop to a text made here whose characters they are.
    fn characters(&mut self, target: &Expr, iterable: &Expr) -> Result<()> {
        let Region::Local(made) = self.spelt(iterable) else {
            return Ok(());
        };
        let mut texts = vec![];
        walk_expr(target, &mut |part| texts.extend(self.is_text(part).then_some(part)));
        texts.iter().try_for_each(|text| self.bind(text, Region::Local(made)))
    }

    /// The region of the text whose characters a loop over `iterable` yields, perhaps with `enumerate` or `zip`.
    fn spelt(&self, iterable: &Expr) -> Region {
        match &iterable.kind {
            _ if self.is_text(iterable) => self.region(iterable),
            ExprKind::Call { callee, args, .. } => match self.types.kind(self.function.types[callee.id as usize]) {
                Kind::Builtin(Builtin::Iteration(_)) => {
                    let mut made = args.iter().map(|arg| self.spelt(arg));
                    made.find(|region| *region != Region::Outlives)
                        .unwrap_or(Region::Outlives)
                }
                _ => Region::Outlives,
            },
            _ => Region::Outlives,
        }
    }

    /// Checks the assignments within an expression.
    fn named(&mut self, expr: &Expr) -> Result<()> {
        let mut named = vec![];
        walk_expr(expr, &mut |part| {
            if let ExprKind::Named { target, value } = &part.kind {
                named.push((target, value));
            }
        });
        // The inner ones come first.
        named
            .iter()
            .rev()
            .try_for_each(|(target, value)| self.assign(target, value))
    }

    /// Rejects returning functions and exceptions, which are invalid once the function that owns
    /// them has returned.
    fn returned(&self, value: &Expr) -> Result<()> {
        let ends = |ty: Ty| matches!(self.types.kind(ty), Kind::Closure(_) | Kind::Exception);
        let ty = self.function.types[value.id as usize];
        let ends = match self.types.kind(ty) {
            Kind::Tuple(members) => members.iter().any(|&member| ends(member)),
            Kind::Choice(members) => self.types.each_of(members).into_iter().any(ends),
            _ => ends(ty),
        };
        let Region::Local(made) = self.region(value) else {
            return Ok(());
        };
        if !ends {
            return Ok(());
        }
        let text = "cannot return an allocated value that does not live forever";
        let error = Diagnostic::new(value.span, text).label(made, "made here, on the stack of this function");
        Err(error.help("define the function outside of this one, or pass on what is needed of the exception"))
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
                // A string variable may start as a literal and later be assigned an allocated
                // string.
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
            // Elements are copied into arrays.
            ExprKind::Subscript { value, .. } if self.is_array(value) => return Ok(()),
            ExprKind::Subscript { value, .. } => self.region(value),
            _ => return Ok(()),
        };
        match (wanted, found) {
            (Region::Outlives, Region::Local(made)) => {
                let error = Diagnostic::new(target.span, "the assigned value does not outlive the assignment target");
                let error = error.label(made, "made here, on the stack of this function");
                Err(
                    error.help(match self.types.kind(self.function.types[target.id as usize]) {
                        Kind::Str | Kind::Bytes => {
                            "texts of the host and those in quotes can be kept; a host function can keep others"
                        }
                        _ => "assign the elements one by one, or use a list of the host",
                    }),
                )
            }
            _ => Ok(()),
        }
    }

    fn region(&self, expr: &Expr) -> Region {
        if !self.is_allocated(self.function.types[expr.id as usize]) {
            return Region::Outlives;
        }
        // A method of an object lives as long as the object.
        if let (ExprKind::Attribute { value, .. }, Kind::Method { .. } | Kind::Choice(_)) =
            (&expr.kind, self.types.kind(self.function.types[expr.id as usize]))
        {
            return self.region(value);
        }
        match expr.kind.origin() {
            Origin::New => Region::Local(expr.span),
            Origin::Variable => match self.function.names.of(expr) {
                Name::Local(local) => self.regions[*local as usize].unwrap_or(Region::Outlives),
                _ => Region::Outlives,
            },
            Origin::Call(_) if self.is_given_memory(expr) => Region::Local(expr.span),
            Origin::Call(callee) => match self.types.kind(self.function.types[callee.id as usize]) {
                Kind::Builtin(builtin) if makes_values(*builtin) => Region::Local(expr.span),
                Kind::ExceptionClass(_) | Kind::Namespace(..) => Region::Local(expr.span),
                _ => Region::Outlives,
            },
            // A row or slice of an array and a part or character of a string are views.
            Origin::Element(value) if self.is_array(value) || self.is_text(value) => self.region(value),
            Origin::Element(_) => Region::Outlives,
            Origin::Slice(value, false) if !self.is_copied(value) => self.region(value),
            Origin::Slice(..) => Region::Local(expr.span),
            Origin::Parts(parts) => self.innermost(&mut parts.iter()),
            Origin::Either(a, b) => self.innermost(&mut [a, b].into_iter()),
            Origin::Elsewhere => match &expr.kind {
                // The transpose is a view.
                ExprKind::Attribute { value, .. } if self.is_array(value) => self.region(value),
                _ => Region::Outlives,
            },
        }
    }

    /// Whether a call returns a value allocated by the called function.
    fn is_given_memory(&self, call: &Expr) -> bool {
        let owns = |target: &CallTarget| matches!(target, CallTarget::Compiled(id) if self.owning.contains(id));
        match self.function.facts.get(&call.id) {
            Some(Fact::Call(target, _)) => owns(target),
            Some(Fact::Choice(calls)) => calls.iter().any(|(_, target, _)| owns(target)),
            _ => false,
        }
    }

    /// The region of the first part that is allocated here; otherwise the parts outlive the
    /// function.
    fn innermost(&self, parts: &mut dyn Iterator<Item = &Expr>) -> Region {
        let here = parts
            .map(|part| self.region(part))
            .find(|region| matches!(region, Region::Local(_)));
        here.unwrap_or(Region::Outlives)
    }

    fn is_text(&self, expr: &Expr) -> bool {
        let ty = self.function.types[expr.id as usize];
        matches!(self.types.kind(ty), Kind::Str | Kind::Bytes)
    }

    fn is_array(&self, expr: &Expr) -> bool {
        self.types.is_array(self.function.types[expr.id as usize])
    }

    /// Whether slicing this value copies.
    fn is_copied(&self, expr: &Expr) -> bool {
        let ty = self.function.types[expr.id as usize];
        matches!(self.types.kind(ty), Kind::List(_) | Kind::ByteArray)
    }

    /// Whether values of the type have parts on a stack.
    fn is_allocated(&self, ty: Ty) -> bool {
        match self.types.kind(ty) {
            Kind::List(_) | Kind::Array(..) | Kind::View(..) | Kind::Str | Kind::Bytes | Kind::ByteArray => true,
            Kind::Exception | Kind::Closure(_) => true,
            Kind::Instance(class) | Kind::Method { class, .. } => is_kernel_class(*class),
            Kind::Tuple(elements) => elements.iter().any(|&element| self.is_allocated(element)),
            Kind::Choice(members) => (self.types.each_of(members).into_iter()).any(|member| self.is_allocated(member)),
            _ => false,
        }
    }
}
