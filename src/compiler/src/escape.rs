//! Escape analysis: which loops may free, after each iteration, the memory allocated in it.
//!
//! Allocations of a function live on its stack until it returns. An iteration leaves nothing behind
//! if no variable that it sets is read by a later iteration or after the loop, and if no value of a
//! type that it allocates is ever stored in an attribute or a list. Both tests are conservative: an
//! imprecise answer only keeps memory longer.

use std::collections::{BTreeSet, HashMap, HashSet};

use crate::names::{LocalId, Name};
use crate::program::{FunctionInstance, Program};
use crate::syntax::*;
use crate::types::{Kind, Ty, Types};

/// Names of the types whose values are stored in attributes or lists anywhere in a program, and of
/// their element types.
pub type Kept = HashSet<String>;

pub fn kept(program: &Program) -> Kept {
    let mut kept = Kept::new();
    for function in program.live() {
        let ty = |expr: &Expr| function.types[expr.id as usize];
        walk_stmts(&function.ast.body, &mut |stmt| {
            stmt.kind.each_part(&mut |part| {
                if let Part::Target(target, _) | Part::Update(target) = part {
                    walk_expr(target, &mut |expr| match &expr.kind {
                        // Slices too: their elements are among the parts of the type.
                        ExprKind::Attribute { .. }
                        | ExprKind::Subscript { .. }
                        | ExprKind::Slice { .. }
                        | ExprKind::Slices { .. } => {
                            note(&program.types, ty(expr), &mut kept);
                        }
                        _ => {}
                    });
                }
            });
        });
    }
    kept
}

fn note(types: &Types, ty: Ty, kept: &mut Kept) {
    if !has_memory(types, ty) || !kept.insert(types.name(ty)) {
        return;
    }
    match types.kind(ty) {
        Kind::List(elt) => note(types, *elt, kept),
        Kind::Tuple(members) => members.iter().for_each(|&member| note(types, member, kept)),
        _ => {}
    }
}

/// Whether values of a type may have parts on a stack.
pub fn has_memory(types: &Types, ty: Ty) -> bool {
    match types.kind(ty) {
        Kind::None | Kind::Bool | Kind::Int32 | Kind::Int64 | Kind::Float | Kind::Range(_) => false,
        Kind::Function(_) | Kind::Namespace(..) | Kind::Builtin(_) | Kind::ExceptionClass(_) => false,
        Kind::Tuple(members) => members.iter().any(|&member| has_memory(types, member)),
        _ => true,
    }
}

/// The loops of a function that may free memory after each iteration.
pub struct Loops<'a> {
    function: &'a FunctionInstance,
    types: &'a Types,
    /// Variables with memory that are read after an iteration, in a later one or after the loop.
    live: HashMap<*const Stmt, Variables>,
    nested: bool,
}

type Variables = BTreeSet<LocalId>;

/// What a loop evaluates or sets before each pass.
#[derive(Clone, Copy)]
pub enum Head<'a> {
    /// The target of a `for` loop.
    Target(&'a Expr),
    /// The condition of a `while` loop.
    Test(&'a Expr),
}

/// Variables that may be read where control leaves a block early.
#[derive(Clone, Default)]
struct Ways {
    on_break: Variables,
    on_continue: Variables,
    on_raise: Variables,
    on_return: Variables,
}

impl<'a> Loops<'a> {
    pub fn new(function: &'a FunctionInstance, types: &'a Types) -> Loops<'a> {
        let mut nested = function.nested.is_some();
        walk_exprs(&function.ast.body, &mut |expr| {
            nested |= matches!(expr.kind, ExprKind::Function { .. });
        });
        let mut loops = Loops {
            function,
            types,
            live: HashMap::new(),
            nested,
        };
        if !nested {
            loops.block(&function.ast.body, Variables::new(), &Ways::default());
        }
        loops
    }

    /// Whether the iterations of a loop with this head and body leave nothing behind. `keeps`: whether an
    /// expression by itself stores memory elsewhere.
    pub fn leave_nothing(&self, head: Head, body: &[Stmt], kept: &Kept, keeps: &dyn Fn(&Expr) -> bool) -> bool {
        // Nested functions may read variables at any time.
        let Some(live) = self.live.get(&body.as_ptr()).filter(|_| !self.nested) else {
            return false;
        };
        let mut set = Variables::new();
        match head {
            Head::Target(target) => self.assigned(target, &mut set),
            Head::Test(test) => walk_expr(test, &mut |expr| self.named(expr, &mut set)),
        }
        walk_exprs(body, &mut |expr| self.named(expr, &mut set));
        walk_stmts(body, &mut |stmt| {
            stmt.kind.each_part(&mut |part| match part {
                Part::Target(target, _) | Part::Update(target) => self.assigned(target, &mut set),
                Part::Variable(name, _) => set.extend(self.function.names.local(name)),
                Part::Expr(_) | Part::Block(_) => {}
            });
        });
        let mut escapes = !set.is_disjoint(live);
        walk_exprs(body, &mut |expr| {
            let ty = self.function.types[expr.id as usize];
            let made = match &expr.kind {
                // The transpose is a view of an array that may be allocated here.
                ExprKind::Attribute { value, .. } if self.types.is_array(self.function.types[value.id as usize]) => {
                    has_memory(self.types, ty)
                }
                ExprKind::Name(_) | ExprKind::Attribute { .. } | ExprKind::Str(_) => false,
                ExprKind::Call { .. } if matches!(self.types.kind(ty), Kind::Instance(_)) => return escapes = true,
                _ => has_memory(self.types, ty),
            };
            escapes |= (made && kept.contains(&self.types.name(ty))) || keeps(expr);
        });
        !escapes
    }

    /// Adds the variable with memory that an expression itself sets, as in `name := value`.
    fn named(&self, expr: &Expr, set: &mut Variables) {
        if let ExprKind::Named { target, .. } = &expr.kind {
            self.assigned(target, set);
        }
    }

    /// Adds the variables with memory that an assignment to `target` sets.
    fn assigned(&self, target: &Expr, set: &mut Variables) {
        match &target.kind {
            ExprKind::Tuple(targets) | ExprKind::List(targets) => {
                targets.iter().for_each(|target| self.assigned(target, set));
            }
            _ => set.extend(self.variable(target)),
        }
    }

    /// The variable that a name refers to, if its values may have memory.
    fn variable(&self, expr: &Expr) -> Option<LocalId> {
        let ExprKind::Name(name) = &expr.kind else { return None };
        let local = match self.function.names.local(name) {
            Some(local) => local,
            None => match self.function.names.of(expr) {
                Name::Local(local) => *local,
                Name::Builtin(_) | Name::Host(_) => return None,
            },
        };
        has_memory(self.types, self.function.locals[local as usize]).then_some(local)
    }

    fn read(&self, expr: &Expr, live: &mut Variables) {
        walk_expr(expr, &mut |part| live.extend(self.variable(part)));
    }

    /// Variables live at the beginning of a block, given those live after it.
    fn block(&mut self, body: &'a [Stmt], after: Variables, ways: &Ways) -> Variables {
        body.iter()
            .rev()
            .fold(after, |after, stmt| self.stmt(stmt, after, ways))
    }

    fn stmt(&mut self, stmt: &'a Stmt, after: Variables, ways: &Ways) -> Variables {
        let mut live = match stmt.kind.flow() {
            Flow::On => self.parts(stmt, after, ways),
            Flow::Branch => {
                let mut live = Variables::new();
                stmt.kind.each_part(&mut |part| match part {
                    Part::Block(block) => live.extend(self.block(block, after.clone(), ways)),
                    Part::Expr(test) => self.read(test, &mut live),
                    _ => {}
                });
                live
            }
            Flow::Loop { .. } => self.repeated(stmt, after, ways),
            Flow::Try(attempt) => self.attempt(attempt, after, ways),
            Flow::Break => ways.on_break.clone(),
            Flow::Continue => ways.on_continue.clone(),
            Flow::Raise => self.parts(stmt, Variables::new(), ways),
            Flow::Return(_) => self.parts(stmt, ways.on_return.clone(), ways),
        };
        live.extend(&ways.on_raise);
        live
    }

    /// A statement whose parts run one after the other.
    fn parts(&mut self, stmt: &'a Stmt, after: Variables, ways: &Ways) -> Variables {
        let mut parts = vec![];
        stmt.kind.each_part(&mut |part| parts.push(part));
        parts.into_iter().rev().fold(after, |mut live, part| {
            match part {
                Part::Block(block) => return self.block(block, live, ways),
                Part::Expr(expr) | Part::Update(expr) => self.read(expr, &mut live),
                Part::Target(target, _) => self.set(target, &mut live),
                Part::Variable(name, _) => {
                    self.function.names.local(name).map(|local| live.remove(&local));
                }
            }
            live
        })
    }

    /// Updates liveness backwards across an assignment: variables set are dead before it, operands
    /// of the target are live.
    fn set(&self, target: &Expr, live: &mut Variables) {
        match &target.kind {
            ExprKind::Name(_) => {
                self.variable(target).map(|local| live.remove(&local));
            }
            ExprKind::Tuple(targets) | ExprKind::List(targets) => {
                targets.iter().rev().for_each(|target| self.set(target, live));
            }
            _ => self.read(target, live),
        }
    }

    fn repeated(&mut self, stmt: &'a Stmt, after: Variables, ways: &Ways) -> Variables {
        let (mut head, mut target, mut blocks) = (None, None, vec![]);
        stmt.kind.each_part(&mut |part| match part {
            Part::Expr(expr) => head = Some(expr),
            Part::Target(expr, _) => target = Some(expr),
            Part::Block(block) => blocks.push(block),
            Part::Update(_) | Part::Variable(..) => {}
        });
        let mut live = self.block(blocks[1], after.clone(), ways);
        if let Some(test) = head {
            self.read(test, &mut live);
        }
        loop {
            let ways = Ways {
                on_break: after.clone(),
                on_continue: live.clone(),
                ..ways.clone()
            };
            let mut again = self.block(blocks[0], live.clone(), &ways);
            target.into_iter().for_each(|target| self.set(target, &mut again));
            let known = live.len();
            live.extend(again);
            if live.len() == known {
                break;
            }
        }
        let mut later = live.clone();
        later.extend(&after);
        self.live.insert(blocks[0].as_ptr(), later);
        live
    }

    fn attempt(&mut self, attempt: &'a Try, after: Variables, ways: &Ways) -> Variables {
        let mut behind = |live: &Variables| self.block(&attempt.finally, live.clone(), ways);
        let outer = Ways {
            on_break: behind(&ways.on_break),
            on_continue: behind(&ways.on_continue),
            on_raise: behind(&ways.on_raise),
            on_return: behind(&ways.on_return),
        };
        let after = behind(&after);
        let mut inside = outer.clone();
        for handler in &attempt.handlers {
            let mut live = self.block(&handler.body, after.clone(), &outer);
            if let Some(local) = handler.name.as_ref().and_then(|name| self.function.names.local(name)) {
                live.remove(&local);
            }
            inside.on_raise.extend(live);
        }
        let orelse = self.block(&attempt.orelse, after, &outer);
        self.block(&attempt.body, orelse, &inside)
    }
}
