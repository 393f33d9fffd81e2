//! Statements.

use crate::diagnostic::Result;
use crate::emit::exceptions::Scope;
use crate::emit::{Cursor, Emitter};
use crate::ir::*;
use crate::language::{Builtin, Exception, Order};
use crate::syntax::*;
use crate::types::{self, Kind};

impl<'p> Emitter<'_, 'p> {
    pub(super) fn body(&mut self, body: &'p [Stmt]) -> Result<()> {
        for stmt in body {
            // What follows a return, raise, break or continue is never reached.
            if self.build.is_closed() {
                break;
            }
            self.build.span = stmt.span;
            self.stmt(stmt)?;
        }
        Ok(())
    }

    fn stmt(&mut self, stmt: &'p Stmt) -> Result<()> {
        match &stmt.kind {
            StmtKind::Pass => Ok(()),
            StmtKind::Expr(expr) => self.expr(expr).map(drop),
            StmtKind::Assign { targets, value } => {
                let ty = self.type_of(value);
                let value = self.expr(value)?;
                targets
                    .iter()
                    .try_for_each(|target| self.assign(target, value.clone(), ty))
            }
            StmtKind::AugAssign { target, op, value } => {
                let ty = self.type_of(target);
                let current = self.expr(target)?;
                let operand_ty = self.type_of(value);
                let operand = self.expr(value)?;
                if let Some(array) = self.array_parts(&current, ty) {
                    return self.array_in_place(*op, array, (operand, operand_ty));
                }
                if let Kind::Str = self.kind_of(target) {
                    let joined = self.joined(current, operand);
                    return self.assign(target, joined, ty);
                }
                let result = self.arithmetic(*op, (current, ty), (operand, operand_ty), ty)?;
                self.assign(target, result, ty)
            }
            StmtKind::If { test, body, orelse } => {
                let condition = self.condition(test)?;
                let (yes, no) = (self.build.new_block("then"), self.build.new_block("else"));
                let after = self.build.new_block("after if");
                self.build.branch(condition, yes, no);
                for (block, body) in [(yes, body), (no, orelse)] {
                    self.build.block = block;
                    self.body(body)?;
                    self.build.jump(after);
                }
                self.build.block = after;
                Ok(())
            }
            StmtKind::While { test, body, orelse } => {
                let (head, inside) = (self.build.new_block("while"), self.build.new_block("body"));
                let (done, after) = (self.build.new_block("loop else"), self.build.new_block("after loop"));
                self.build.jump(head);
                self.build.block = head;
                let condition = self.condition(test)?;
                self.build.branch(condition, inside, done);
                self.build.block = inside;
                self.loop_body(body, after, head)?;
                self.build.block = done;
                self.body(orelse)?;
                self.build.jump(after);
                self.build.block = after;
                Ok(())
            }
            StmtKind::For(stmt) => self.for_loop(stmt),
            StmtKind::With { context, body } => match self.kind_of(context) {
                Kind::Builtin(Builtin::Order(order)) => match order {
                    Order::Parallel => self.parallel(body),
                    Order::Sequential => self.body(body),
                    Order::Interleave => unreachable!("refused by inference"),
                },
                _ => unreachable!("inference admits only orders"),
            },
            StmtKind::Try(stmt) => self.try_statement(stmt),
            StmtKind::Raise(value) => self.raise_statement(value.as_ref()),
            StmtKind::Assert { test, message } => {
                let condition = self.expr(test)?;
                let text = match message.as_ref().map(|message| &message.kind) {
                    Some(ExprKind::Str(text)) => text,
                    _ => "AssertionError",
                };
                self.build.span = stmt.span;
                self.require(condition, Exception::AssertionError, text, &[]);
                Ok(())
            }
            StmtKind::Return(value) => {
                let result = match value {
                    Some(value) => self.expr(value)?,
                    None => Value::unit(),
                };
                self.leave(0)?;
                self.build.end(Terminator::Return(result));
                Ok(())
            }
            StmtKind::Break | StmtKind::Continue => {
                let (depth, on_break, on_continue) = self.innermost_loop().expect("checked to be in a loop");
                self.leave(depth)?;
                self.build.jump(if matches!(stmt.kind, StmtKind::Break) {
                    on_break
                } else {
                    on_continue
                });
                Ok(())
            }
        }
    }

    fn loop_body(&mut self, body: &'p [Stmt], on_break: BlockId, on_continue: BlockId) -> Result<()> {
        self.scopes.push(Scope::Loop { on_break, on_continue });
        self.build.loops += 1;
        self.body(body)?;
        self.build.loops -= 1;
        self.scopes.pop();
        self.build.jump(on_continue);
        Ok(())
    }

    fn for_loop(&mut self, stmt: &'p For) -> Result<()> {
        let iterable = self.expr(&stmt.iter)?;
        let (head, inside) = (self.build.new_block("for"), self.build.new_block("body"));
        let (step, done) = (self.build.new_block("step"), self.build.new_block("loop else"));
        let after = self.build.new_block("after loop");
        match *self.kind_of(&stmt.iter) {
            Kind::Range(elt) => {
                let ty = self.module.ir_type(elt);
                let [start, stop, stride] = [0, 1, 2].map(|index| self.build.extract(&iterable, index));
                let counter = self.build.slot(ty.clone());
                self.build.store(start, &counter);
                self.build.jump(head);
                self.build.block = head;
                let value = self.build.load(ty.clone(), &counter);
                let more = self.in_range(&value, &stop, &stride);
                self.build.branch(more, inside, done);
                self.build.block = step;
                let value = self.build.load(ty.clone(), &counter);
                let next = self.build.binary(Binary::Add, value, stride);
                self.build.store(next, &counter);
                self.build.jump(head);
                self.build.block = inside;
                let value = self.build.load(ty, &counter);
                self.assign(&stmt.target, value, elt)?;
            }
            Kind::List(elt) | Kind::Array(elt, _) => {
                let ty = self.module.ir_type(elt);
                let array = self.array_parts(&iterable, self.type_of(&stmt.iter));
                let (data, length) = match &array {
                    Some(array) => (array.data.clone(), array.shape[0].clone()),
                    None => self.list_parts(&iterable),
                };
                let counter = self.build.slot(Ty::I32);
                self.build.store(Value::int(Ty::I32, 0), &counter);
                self.build.jump(head);
                self.build.block = head;
                let index = self.build.load(Ty::I32, &counter);
                let more = self.build.compare(Compare::Slt, index, length);
                self.build.branch(more, inside, done);
                self.build.block = step;
                let index = self.build.load(Ty::I32, &counter);
                let next = self.build.binary(Binary::Add, index, Value::int(Ty::I32, 1));
                self.build.store(next, &counter);
                self.build.jump(head);
                self.build.block = inside;
                let index = self.build.load(Ty::I32, &counter);
                let value = match &array {
                    Some(array) => self.array_element(array, index),
                    None => {
                        let from = self.build.element(&data, &ty, index);
                        self.build.load(ty, &from)
                    }
                };
                self.assign(&stmt.target, value, elt)?;
            }
            _ => unreachable!("inference admits ranges, lists and arrays"),
        }
        self.loop_body(&stmt.body, after, step)?;
        self.build.block = done;
        self.body(&stmt.orelse)?;
        self.build.jump(after);
        self.build.block = after;
        Ok(())
    }

    /// `with parallel`: each statement starts at the time the block starts; the block ends when the last one ends.
    fn parallel(&mut self, body: &'p [Stmt]) -> Result<()> {
        let start = self.now_mu();
        let end = self.build.slot(Ty::I64);
        self.build.store(start.clone(), &end);
        for (index, stmt) in body.iter().enumerate() {
            self.build.span = stmt.span;
            if index > 0 {
                self.set_cursor(Cursor::At, start.clone());
            }
            self.stmt(stmt)?;
            if self.build.is_closed() {
                return Ok(());
            }
            let now = self.now_mu();
            let latest = self.build.load(Ty::I64, &end);
            let later = self.build.compare(Compare::Sgt, now.clone(), latest.clone());
            let latest = self.build.select(later, now, latest);
            self.build.store(latest, &end);
        }
        let end = self.build.load(Ty::I64, &end);
        self.set_cursor(Cursor::At, end);
        Ok(())
    }

    /// Assigns a value of type `ty` to a target.
    pub(super) fn assign(&mut self, target: &'p Expr, value: Value, ty: types::Ty) -> Result<()> {
        match &target.kind {
            ExprKind::Name(name) => {
                let local = self.function.names.local(name).expect("targets are variables");
                let slot = self.locals[local as usize].clone();
                self.build.store(value, &slot);
                Ok(())
            }
            ExprKind::Attribute {
                value: object, name, ..
            } => {
                let Kind::Instance(class) = *self.kind_of(object) else {
                    unreachable!("only instances have attributes")
                };
                let base = self.expr(object)?;
                let to = self.attribute_address(&base, class, name);
                self.build.store(value, &to);
                Ok(())
            }
            ExprKind::Subscript { value: object, index } if matches!(self.kind_of(object), Kind::Array(..)) => {
                let array = self.expr(object)?;
                let array = self.array_parts(&array, self.type_of(object)).expect("it is one");
                let part = self.indexed(target, array, index)?;
                match self.array_parts(&value, ty) {
                    Some(from) => self.copy_array(&from, &part),
                    None => self.build.store(value, &part.data),
                }
                Ok(())
            }
            ExprKind::Subscript { value: object, index } => {
                let to = self.element_address(object, index)?;
                self.build.store(value, &to);
                Ok(())
            }
            ExprKind::Tuple(targets) => {
                let Kind::Tuple(types) = self.module.program.types.kind(ty) else {
                    unreachable!("a tuple is assigned to a tuple")
                };
                for (index, target) in targets.iter().enumerate() {
                    let member = self.build.extract(&value, index);
                    self.assign(target, member, types[index])?;
                }
                Ok(())
            }
            ExprKind::List(targets) => {
                let Kind::List(elt) = *self.module.program.types.kind(ty) else {
                    unreachable!("inference admits lists")
                };
                self.assign_list(targets, value, elt)
            }
            ExprKind::Slice { value: object, bounds } => self.assign_slice(target, object, bounds, value),
            _ => self.unsupported(target.span, "assignment to this expression"),
        }
    }
}
