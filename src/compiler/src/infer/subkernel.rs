//! Typing of subkernels, which satellites run, and of their callers. A call starts a subkernel and
//! returns nothing; the result is awaited. Messages are identified by name: all messages of a name
//! have one type.

use std::collections::HashSet;
use std::rc::Rc;

use super::Infer;
use crate::diagnostic::{Diagnostic, Result};
use crate::host::{FunctionInfo, FunctionKind, Handle, HostType};
use crate::language::{Builtin, Subkernel};
use crate::program::{CallTarget, Fact, FunctionId};
use crate::source::Span;
use crate::syntax::*;
use crate::types::{Kind, Ty, INT32};

/// A message: the type of its value, and where it is sent and received.
#[derive(Clone, Copy)]
pub(super) struct Message {
    ty: Ty,
    sent: Option<(FunctionId, Span)>,
    received: Option<(FunctionId, Span)>,
}

impl Infer<'_, '_> {
    /// Types a call of one of the subkernel functions, whose arguments have these types.
    pub(super) fn subkernel(
        &mut self,
        subkernel: Subkernel,
        whole: &Expr,
        args: &[Expr],
        types: &[Ty],
        keywords: &[Keyword],
    ) -> Result<Ty> {
        let name = Builtin::Subkernel(subkernel).name();
        if let Some(keyword) = keywords.first() {
            return Err(Diagnostic::new(
                keyword.span,
                format!("'{name}' takes no keyword arguments"),
            ));
        }
        match (subkernel, args) {
            (Subkernel::Await, [function, timeout @ ..]) if timeout.len() < 2 => {
                let id = self.subkernel_named(function, types[0])?;
                self.timeout(timeout.first(), types.get(1))?;
                Ok(match id {
                    Some(id) => self.context.program.functions[id].returns,
                    None => self.types().var(),
                })
            }
            (Subkernel::Preload, [function]) => {
                self.subkernel_named(function, types[0])?;
                Ok(self.kind(Kind::None))
            }
            (Subkernel::Send, [destination, message, _]) => {
                self.unify(INT32, types[0], destination.span, "the destination")?;
                if let ExprKind::Int(number) = destination.kind {
                    if !(0..=255).contains(&number) {
                        let text = format!("the destination of a message is between 0 and 255, not {number}");
                        return Err(Diagnostic::new(destination.span, text));
                    }
                }
                let known = self.message(message, types[2], |known, at| known.sent = Some((at, whole.span)))?;
                self.unify(known, types[2], args[2].span, "the value of this message")?;
                Ok(self.kind(Kind::None))
            }
            (Subkernel::Recv, [message, ty, timeout @ ..]) if timeout.len() < 2 => {
                let stated = self.stated_type(ty)?;
                self.timeout(timeout.first(), types.get(2))?;
                let known = self.message(message, stated, |known, at| known.received = Some((at, whole.span)))?;
                self.unify(known, stated, ty.span, "the value of this message")?;
                Ok(stated)
            }
            _ => {
                let wanted = match subkernel {
                    Subkernel::Await => "a subkernel, and a time in milliseconds if it is limited",
                    Subkernel::Preload => "a subkernel",
                    Subkernel::Send => "a destination, the name of the message and a value",
                    Subkernel::Recv => "the name of the message, its type, and a time in milliseconds if it is limited",
                };
                Err(Diagnostic::new(whole.span, format!("'{name}' takes {wanted}")))
            }
        }
    }

    /// A subkernel that is declared to return a value but has no body, as a stub for others to be
    /// compiled against, raises an exception on its board.
    pub(super) fn with_body(&mut self, mut ast: Function, info: &FunctionInfo) -> Function {
        let returns = !matches!(info.returns, None | Some(HostType::None));
        let empty = ast.body.iter().all(|stmt| matches!(stmt.kind, StmtKind::Pass));
        if info.kind.destination().is_none() || !returns || !empty {
            return ast;
        }
        let text = format!(
            "the subkernel '{}' has no body: running it raises NotImplementedError",
            info.name
        );
        self.context.warnings.add(*Diagnostic::new(ast.name_span, text));
        let span = ast.name_span;
        let mut make = |kind| {
            ast.expr_count += 1;
            Expr {
                id: ast.expr_count - 1,
                span,
                kind,
            }
        };
        let callee = Box::new(make(ExprKind::Name("NotImplementedError".into())));
        let args = vec![make(ExprKind::Str(
            format!("the subkernel '{}' has no body", info.name).into(),
        ))];
        let raised = make(ExprKind::Call {
            callee,
            args,
            keywords: vec![],
        });
        ast.body = vec![Stmt {
            span,
            kind: StmtKind::Raise(Some(raised)),
        }];
        ast
    }

    /// The program function of a subkernel; None while the type of the expression is unknown.
    fn subkernel_named(&mut self, expr: &Expr, ty: Ty) -> Result<Option<usize>> {
        let (handle, class) = match *self.types().kind(ty) {
            Kind::Var => return Ok(None),
            Kind::Function(handle) => (handle, None),
            Kind::Method { function, class } => (function, Some(class)),
            _ => return Err(self.no_subkernel(expr, ty)),
        };
        let info = self.context.function_info(handle);
        let info = info.map_err(|text| Diagnostic::new(expr.span, text))?;
        match info.kind.destination() {
            None => Err(self.no_subkernel(expr, ty)),
            own if own == self.function().info.kind.destination() => {
                let text = format!(
                    "'{}' runs on this board: a plain call runs it and returns the result",
                    info.name
                );
                Err(Diagnostic::new(expr.span, text))
            }
            Some(_) => {
                let function = self.instantiate(handle, class, Some(expr.span))?;
                if let Some(class) = class {
                    let receiver = self.context.program.functions[function].locals[0];
                    let object = self.kind(Kind::Instance(class));
                    self.unify(receiver, object, expr.span, "the receiver")?;
                }
                Ok(Some(function))
            }
        }
    }

    fn no_subkernel(&self, expr: &Expr, ty: Ty) -> Box<Diagnostic> {
        let error = Diagnostic::new(expr.span, "this is not a subkernel").primary_note(self.type_name(ty));
        error.help("decorate the function with @subkernel(destination=…)")
    }

    fn timeout(&mut self, expr: Option<&Expr>, ty: Option<&Ty>) -> Result<()> {
        let Some((expr, &ty)) = expr.zip(ty) else { return Ok(()) };
        if self.types().is_int(ty) || self.types().is_var(ty) {
            return Ok(());
        }
        let text = format!("a time in milliseconds must be an integer, not {}", self.type_name(ty));
        Err(Diagnostic::new(expr.span, text))
    }

    /// The type that an expression denotes, as in an annotation.
    fn stated_type(&mut self, expr: &Expr) -> Result<Ty> {
        let at = |text: String| Diagnostic::new(expr.span, text);
        let handle = self.function().handle;
        let (start, end) = (expr.span.start as usize, expr.span.end as usize);
        let text = self.context.sources.file(expr.span.file).text[start..end].to_string();
        let stated = self.context.host.annotation(handle, &text).map_err(at)?;
        self.types().annotation(&stated).map_err(at)
    }

    /// Types the arguments of a call of `function`. A type argument denotes itself and has no
    /// value.
    pub(super) fn argument_types(&mut self, function: Ty, args: &[Expr]) -> Result<Vec<Ty>> {
        let receives = matches!(
            self.types().kind(function),
            Kind::Builtin(Builtin::Subkernel(Subkernel::Recv))
        );
        let typed = args.iter().enumerate().map(|(index, arg)| match (receives, index) {
            (true, 1) => self.no_value(arg),
            _ => self.expr(arg),
        });
        typed.collect()
    }

    fn no_value(&mut self, expr: &Expr) -> Result<Ty> {
        let none = self.kind(Kind::None);
        let mut parts = vec![];
        walk_expr(expr, &mut |part| parts.push((part.id, part.span)));
        for (id, span) in parts {
            let ty = self.function().types[id as usize];
            self.unify(ty, none, span, "this type")?;
        }
        Ok(none)
    }

    /// The type of the message of this name, `ty` if the message is new.
    fn message(&mut self, name: &Expr, ty: Ty, note: impl FnOnce(&mut Message, FunctionId)) -> Result<Ty> {
        let ExprKind::Str(name) = &name.kind else {
            return Err(Diagnostic::new(
                name.span,
                "the name of a message must be a string literal",
            ));
        };
        let message = self.messages.entry(name.clone()).or_insert(Message {
            ty,
            sent: None,
            received: None,
        });
        note(message, self.current);
        Ok(message.ty)
    }

    /// Rejects messages that are never sent or never received.
    pub(super) fn require_both_ends(&mut self) -> Result<()> {
        let mut names: Vec<&Rc<str>> = self.messages.keys().collect();
        names.sort();
        for name in names {
            let message = self.messages[name];
            let (text, (function, span)) = match (message.sent, message.received) {
                (Some(sent), None) => (format!("no kernel receives the message '{name}'"), sent),
                (None, Some(received)) => (format!("no kernel sends the message '{name}'"), received),
                _ => continue,
            };
            self.current = function;
            return Err(Diagnostic::new(span, text));
        }
        Ok(())
    }

    /// Rejects the use of what a call that starts a subkernel returns: nothing, while Python returns the result.
    pub(super) fn require_awaited(&mut self) -> Result<()> {
        let program = &self.context.program;
        for (id, function) in program.functions.iter().enumerate().filter(|(_, one)| !one.is_dead()) {
            let (mut alone, mut used) = (HashSet::new(), None);
            walk_stmts(&function.ast.body, &mut |stmt| {
                if let StmtKind::Expr(call) = &stmt.kind {
                    alone.insert(call.id);
                }
            });
            walk_exprs(&function.ast.body, &mut |expr| {
                let Some(Fact::Call(CallTarget::Compiled(called), _)) = function.facts.get(&expr.id) else {
                    return;
                };
                let called = &program.functions[*called];
                let kinds = [function.types[expr.id as usize], called.returns].map(|ty| program.types.kind(ty));
                let starts = called.info.kind.destination().is_some() && *kinds[0] == Kind::None;
                if starts && *kinds[1] != Kind::None && !alone.contains(&expr.id) {
                    used.get_or_insert((expr.span, called.info.name.clone()));
                }
            });
            if let Some((span, name)) = used {
                self.current = id;
                let error = Diagnostic::new(
                    span,
                    format!("a call of the subkernel '{name}' starts it and returns nothing"),
                );
                return Err(error.help(format!(
                    "call it on a line of its own, then use subkernel_await({name})"
                )));
            }
        }
        Ok(())
    }

    /// Rejects calls of host functions in subkernels.
    pub(super) fn require_host(&self, whole: &Expr, name: &str) -> Result<()> {
        if self.function().info.kind.destination().is_none() {
            return Ok(());
        }
        let text = format!("'{name}' runs on the host, which subkernels cannot call");
        Err(Diagnostic::new(whole.span, text).help("send a message to a kernel of the core device"))
    }

    /// Rejects objects as arguments of subkernels.
    pub(super) fn require_messages(&mut self, callee: &FunctionKind, args: &[Expr]) -> Result<()> {
        let own = self.function().info.kind.destination();
        if callee.destination().is_none_or(|other| own == Some(other)) {
            return Ok(());
        }
        for arg in args {
            let ty = self.function().types[arg.id as usize];
            if let Kind::Instance(_) = self.types().kind(ty) {
                let text = format!("a value of type {} cannot be sent to a subkernel", self.type_name(ty));
                return Err(Diagnostic::new(arg.span, text).help("pass numbers, strings, lists or arrays"));
            }
        }
        Ok(())
    }

    /// The type of a call of a subkernel: None, unless the caller runs on the same satellite.
    pub(super) fn started(&mut self, function: Handle, returns: Ty) -> Ty {
        let own = self.function().info.kind.destination();
        let called = self.context.program.function_infos.get(&function);
        match called.and_then(|info| info.kind.destination()) {
            Some(other) if own != Some(other) => self.kind(Kind::None),
            _ => returns,
        }
    }
}
