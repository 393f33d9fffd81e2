//! Checks that constructors set all attributes: objects created by kernels have no initial values
//! from the host.

use std::collections::BTreeSet;
use std::rc::Rc;

use crate::diagnostic::{Diagnostic, Result};
use crate::host::Handle;
use crate::program::{CallTarget, Class, Fact, FunctionId, FunctionInstance, Program};
use crate::source::Span;
use crate::syntax::*;
use crate::types::Kind;

/// Names of the attributes of `self` that are set on every path.
type Set = BTreeSet<Rc<str>>;

/// Checks the constructor of each class that kernels instantiate.
pub fn check(program: &Program) -> Result<()> {
    for &class in &program.kernel_class_order {
        let known = &program.classes[&class];
        let constructor = known.constructor.and_then(|handle| {
            let id = program.function_index.get(&(handle, Some(class)))?;
            Some(*id)
        });
        let set = constructor.map_or_else(Set::new, |id| Initial { program, open: vec![] }.function(id));
        let is_set = |name: &Rc<str>| {
            set.contains(name)
                || program.initial_values.contains_key(&(class, name.clone()))
                || is_method(program, known, name)
        };
        let Some(unset) = known.attributes.iter().find(|attribute| !is_set(&attribute.name)) else {
            continue;
        };
        let text = format!(
            "an object of {} may not have its attribute '{}'",
            known.name, unset.name
        );
        let error = match constructor {
            Some(id) => {
                Diagnostic::new(program.functions[id].ast.name_span, text).primary_note("does not set it on every path")
            }
            None => Diagnostic::global(text),
        };
        return Err(match first_assignment(program, class, &unset.name) {
            Some(span) => error.label(span, "assigned here").or_at(span),
            None => error,
        }
        .help("give it a value in __init__, or in the body of the class"));
    }
    Ok(())
}

fn is_method(program: &Program, class: &Class, name: &str) -> bool {
    let ty = class.attributes[class.attribute(name).expect("one of its own")].ty;
    matches!(program.types.kind(ty), Kind::Method { .. })
}

/// The name of the attribute if `target` is an attribute of an object of `class`.
fn attribute_of<'a>(
    program: &Program,
    function: &FunctionInstance,
    target: &'a Expr,
    class: Handle,
) -> Option<&'a Rc<str>> {
    match &target.kind {
        ExprKind::Attribute { value, name, .. } => {
            let ty = function.types[value.id as usize];
            (*program.types.kind(ty) == Kind::Instance(class)).then_some(name)
        }
        _ => None,
    }
}

fn first_assignment(program: &Program, class: Handle, name: &str) -> Option<Span> {
    let mut found = None;
    for function in program.live() {
        walk_stmts(&function.ast.body, &mut |stmt| {
            stmt.kind.each_part(&mut |part| {
                if let Part::Target(target, _) | Part::Update(target) = part {
                    let is_it = attribute_of(program, function, target, class).is_some_and(|known| &**known == name);
                    found = found.or(is_it.then_some(target.span));
                }
            });
        });
    }
    found
}

struct Initial<'a> {
    program: &'a Program,
    /// Functions being analysed; detects recursion.
    open: Vec<FunctionId>,
}

impl Initial<'_> {
    /// The attributes of `self`, its first parameter, that a method sets on every path.
    fn function(&mut self, id: FunctionId) -> Set {
        if self.open.contains(&id) {
            return Set::new();
        }
        self.open.push(id);
        let function = &self.program.functions[id];
        let set = self.body(function, &function.ast.body);
        self.open.pop();
        set
    }

    fn body(&mut self, function: &FunctionInstance, body: &[Stmt]) -> Set {
        let mut set = Set::new();
        for stmt in body {
            let mut blocks = vec![];
            stmt.kind.each_part(&mut |part| match part {
                Part::Target(target, _) => self.target(function, target, &mut set),
                Part::Expr(expr) => self.calls(function, expr, &mut set),
                Part::Block(block) => blocks.push(block),
                Part::Update(_) | Part::Variable(..) => {}
            });
            match stmt.kind.flow() {
                Flow::On => blocks.iter().for_each(|block| set.extend(self.body(function, block))),
                Flow::Branch => {
                    let sets = blocks.iter().map(|block| self.body(function, block));
                    let common = sets.reduce(|a, b| a.intersection(&b).cloned().collect());
                    set.extend(common.unwrap_or_default());
                }
                Flow::Try(stmt) => {
                    // If handlers catch the exception, any part of the body may have been skipped.
                    if stmt.handlers.is_empty() {
                        set.extend(self.body(function, &stmt.body));
                    }
                    set.extend(self.body(function, &stmt.finally));
                }
                Flow::Loop { .. } => {}
                Flow::Raise | Flow::Return(_) | Flow::Break | Flow::Continue => return set,
            }
        }
        set
    }

    fn target(&self, function: &FunctionInstance, target: &Expr, set: &mut Set) {
        match &target.kind {
            ExprKind::Tuple(parts) | ExprKind::List(parts) => {
                parts.iter().for_each(|part| self.target(function, part, set));
            }
            ExprKind::Attribute { value, name, .. } if is_receiver(function, value) => {
                set.insert(name.clone());
            }
            _ => {}
        }
    }

    /// Adds what methods called on `self` set, including those of other classes, such as
    /// `Base.__init__(self)`.
    fn calls(&mut self, function: &FunctionInstance, expr: &Expr, set: &mut Set) {
        let (ExprKind::Call { callee, args, .. }, Some(Fact::Call(CallTarget::Compiled(id), _))) =
            (&expr.kind, function.facts.get(&expr.id))
        else {
            return;
        };
        let on_self = match &callee.kind {
            ExprKind::Attribute { value, .. } if is_receiver(function, value) || is_super(value) => true,
            _ => args.first().is_some_and(|first| is_receiver(function, first)),
        };
        if on_self {
            set.extend(self.function(*id));
        }
    }
}

/// Whether an expression is `super()`, which refers to `self`.
fn is_super(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Call { callee, .. } => matches!(&callee.kind, ExprKind::Name(name) if &**name == "super"),
        _ => false,
    }
}

/// Whether an expression is the first parameter of a function.
fn is_receiver(function: &FunctionInstance, expr: &Expr) -> bool {
    let first = function.ast.params.first().map(|param| &param.name);
    matches!(&expr.kind, ExprKind::Name(name) if Some(name) == first)
}
