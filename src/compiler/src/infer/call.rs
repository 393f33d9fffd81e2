//! Types of calls: of host functions (compiled, remote, syscalls) and of built-in functions.

use std::rc::Rc;

use super::Infer;
use crate::builtins;
use crate::diagnostic::{Diagnostic, Result};
use crate::host::{FunctionInfo, FunctionKind, Handle};
use crate::language::{Builtin, Text};
use crate::program::{ArgSource, CallTarget, Fact};
use crate::syntax::*;
use crate::types::{Kind, Ty};

impl Infer<'_, '_> {
    pub(super) fn call(&mut self, whole: &Expr, callee: &Expr, args: &[Expr], keywords: &[Keyword]) -> Result<Ty> {
        let function = self.expr(callee)?;
        let types = self.argument_types(function, args)?;
        for keyword in keywords {
            self.expr(&keyword.value)?;
        }
        match self.types().kind(function).clone() {
            Kind::Var => Ok(self.types().var()),
            Kind::Builtin(builtin) => self.builtin(builtin, whole, args, &types, keywords),
            Kind::Choice(members) => self.choice_call(whole, &members, args, keywords),
            _ if self.types().is_single_function(function) => self.function_call(whole, function, args, keywords),
            Kind::ExceptionClass(_) => builtins::construction(self.types(), args, &types, keywords),
            Kind::Namespace(handle, _) => self.construction(whole, callee, handle, args, keywords),
            _ => {
                let text = format!("cannot call this expression of type {}", self.type_name(function));
                Err(Diagnostic::new(callee.span, text))
            }
        }
    }

    /// Types a call of a single known function.
    pub(super) fn function_call(
        &mut self,
        whole: &Expr,
        function: Ty,
        args: &[Expr],
        keywords: &[Keyword],
    ) -> Result<Ty> {
        match *self.types().kind(function) {
            Kind::Function(handle) => self.host_call(whole, handle, None, args, keywords),
            Kind::Method { function, class } => self.host_call(whole, function, Some(class), args, keywords),
            Kind::Closure(id) => self.nested_call(whole, id, args, keywords),
            _ => unreachable!("a single function"),
        }
    }

    /// Types a call of a host function; for a method, `class` is the class of the receiver.
    pub(super) fn host_call(
        &mut self,
        whole: &Expr,
        handle: Handle,
        class: Option<Handle>,
        args: &[Expr],
        keywords: &[Keyword],
    ) -> Result<Ty> {
        let info = self
            .context
            .function_info(handle)
            .map_err(|text| Diagnostic::new(whole.span, text))?;
        let receiver = class.map(|_| ArgSource::Receiver);
        let all = || {
            let positional = (0..args.len()).map(ArgSource::Positional);
            let keyword = (0..keywords.len()).map(ArgSource::Keyword);
            receiver
                .clone()
                .into_iter()
                .chain(positional)
                .chain(keyword)
                .collect::<Vec<_>>()
        };
        let annotation = |infer: &mut Self| match &info.returns {
            None => Ok(infer.kind(Kind::None)),
            Some(ty) => infer
                .types()
                .annotation(ty)
                .map_err(|text| Diagnostic::new(whole.span, text)),
        };
        let (target, sources, returns) = match &info.kind {
            FunctionKind::Forbidden(reason) => return Err(Diagnostic::new(whole.span, reason.clone())),
            FunctionKind::Rpc { .. } if is_managed(callee_of(whole)) => {
                let text = format!(
                    "'{}' runs on the host; a context manager in a kernel must have kernels",
                    info.name
                );
                let help = "decorate its __enter__ and __exit__ with @kernel or @portable";
                return Err(Diagnostic::new(whole.span, text).help(help));
            }
            FunctionKind::Rpc { is_async } => {
                self.require_host_object(class, whole, &info.name)?;
                self.require_host(whole, &info.name)?;
                let returns = annotation(self)?;
                if *is_async && *self.types().kind(returns) != Kind::None {
                    let text = "functions that return a value cannot be defined as async RPCs";
                    return Err(Diagnostic::new(whole.span, text));
                }
                match self.with_texts(handle, receiver.iter().count(), args) {
                    Some((handle, mut sources)) => {
                        sources.extend((0..keywords.len()).map(ArgSource::Keyword));
                        (CallTarget::Rpc(handle), sources, returns)
                    }
                    None => (CallTarget::Rpc(handle), all(), returns),
                }
            }
            FunctionKind::Syscall { .. } => {
                if info.returns.is_none() {
                    let text = format!("the system call {} has no return annotation", info.name);
                    return Err(Diagnostic::new(whole.span, text).help("annotate it, with '-> TNone' if nothing"));
                }
                let sources = self.bind(whole, &info, (None, 0), args, keywords)?;
                for (param, source) in info.params.iter().zip(&sources) {
                    let wanted = param.annotation.as_ref().ok_or_else(|| {
                        let text = format!("argument '{}' of the system call {} has no type", param.name, info.name);
                        Diagnostic::new(whole.span, text)
                    })?;
                    let wanted = self
                        .types()
                        .annotation(wanted)
                        .map_err(|text| Diagnostic::new(whole.span, text))?;
                    self.pass(wanted, source, args, keywords, &param.name)?;
                }
                (CallTarget::Syscall(handle), sources, annotation(self)?)
            }
            FunctionKind::Compiled { .. } => {
                self.require_messages(&info.kind, args)?;
                let function = self.instantiate(handle, class, Some(whole.span))?;
                let sources = self.bind(whole, &info, (class, 0), args, keywords)?;
                if let Some(class) = class {
                    let (wanted, found) = (
                        self.context.program.functions[function].locals[0],
                        self.kind(Kind::Instance(class)),
                    );
                    self.unify(wanted, found, whole.span, "the receiver")?;
                }
                for (index, source) in sources.iter().enumerate() {
                    let wanted = self.context.program.functions[function].locals[index];
                    self.pass(wanted, source, args, keywords, &info.params[index].name)?;
                }
                let returns = self.context.program.functions[function].returns;
                let returns = self.started(handle, returns);
                (CallTarget::Compiled(function), sources, returns)
            }
        };
        let function = &mut self.context.program.functions[self.current];
        function.facts.insert(whole.id, Fact::Call(target, sources));
        Ok(returns)
    }

    /// Unifies a parameter with the argument passed for it. A bool is accepted for an integer and
    /// passed as 0 or 1.
    pub(super) fn pass(
        &mut self,
        wanted: Ty,
        source: &ArgSource,
        args: &[Expr],
        keywords: &[Keyword],
        param: &str,
    ) -> Result<()> {
        let expr = match source {
            ArgSource::Positional(index) => &args[*index],
            ArgSource::Keyword(index) => &keywords[*index].value,
            ArgSource::Receiver | ArgSource::Default(_) | ArgSource::Kept(_) | ArgSource::Within(..) => return Ok(()),
        };
        let found = self.function().types[expr.id as usize];
        if self.types().is_truth_as_integer(wanted, found) {
            return Ok(());
        }
        self.unify(wanted, found, expr.span, &format!("argument '{param}'"))
    }

    /// Matches arguments with the parameters of a function. `class`: the receiver's class for a
    /// method; `kept`: the number of last parameters with stored defaults.
    pub(super) fn bind(
        &mut self,
        whole: &Expr,
        info: &Rc<FunctionInfo>,
        (class, kept): (Option<Handle>, usize),
        args: &[Expr],
        keywords: &[Keyword],
    ) -> Result<Vec<ArgSource>> {
        let skip = usize::from(class.is_some());
        let count = info.params.len().saturating_sub(skip);
        if let Some(extra) = args.get(count) {
            let text = format!(
                "'{}' accepts at most {count} arguments, {} are passed",
                info.name,
                args.len()
            );
            return Err(Diagnostic::new(extra.span, text));
        }
        let mut sources: Vec<Option<ArgSource>> = vec![None; info.params.len()];
        if class.is_some() {
            let Some(own) = sources.first_mut() else {
                let text = format!("'{}' is a method, but takes no 'self'", info.qualified_name);
                return Err(Diagnostic::new(whole.span, text).help("add 'self' as its first parameter"));
            };
            *own = Some(ArgSource::Receiver);
        }
        for index in 0..args.len() {
            sources[skip + index] = Some(ArgSource::Positional(index));
        }
        for (index, keyword) in keywords.iter().enumerate() {
            let Some(position) = info.params.iter().position(|param| param.name == keyword.name) else {
                let text = format!("'{}' does not accept argument '{}'", info.name, keyword.name);
                return Err(Diagnostic::new(keyword.span, text));
            };
            if sources[position].is_some() {
                let text = format!("the argument '{}' has been passed earlier as positional", keyword.name);
                return Err(Diagnostic::new(keyword.span, text));
            }
            sources[position] = Some(ArgSource::Keyword(index));
        }
        let first_kept = info.params.len() - kept;
        let params = info.params.iter().zip(sources).enumerate();
        let sources = params.map(|(index, (param, source))| {
            source
                .or_else(|| param.default.clone().map(ArgSource::Default))
                .or_else(|| index.checked_sub(first_kept).map(ArgSource::Kept))
                .ok_or_else(|| {
                    let text = format!("mandatory argument '{}' of '{}' is not passed", param.name, info.name);
                    Diagnostic::new(whole.span, text)
                })
        });
        sources.collect()
    }

    fn builtin(
        &mut self,
        builtin: Builtin,
        whole: &Expr,
        args: &[Expr],
        types: &[Ty],
        keywords: &[Keyword],
    ) -> Result<Ty> {
        let on_satellite = self.function().info.kind.destination().is_some();
        if builtin == Builtin::Text(Text::Print) && self.print_as_rpc && !on_satellite {
            let handle = self.context.host.print_function();
            return self.host_call(whole, handle, None, args, keywords);
        }
        if let Builtin::Subkernel(subkernel) = builtin {
            return self.subkernel(subkernel, whole, args, types, keywords);
        }
        let known = &self.function().types;
        let keyword_types: Vec<Ty> = keywords
            .iter()
            .map(|keyword| known[keyword.value.id as usize])
            .collect();
        let receiver = match &whole.kind {
            ExprKind::Call { callee, .. } => self.array_receiver(callee),
            _ => None,
        };
        let known = &self.function().types;
        let result = known[whole.id as usize];
        let call = builtins::Call {
            builtin,
            whole,
            receiver,
            args,
            types,
            keywords,
            keyword_types: &keyword_types,
            result,
        };
        if let Builtin::Class(class) = builtin {
            call.check()?;
            return self.class_question(class, whole, args, types);
        }
        let ty = builtins::typing(self.types(), &call)?;
        self.truth_of_arguments(builtin, args, types)?;
        if let (Builtin::Text(Text::Str), [given]) = (builtin, types) {
            self.format_call(whole, "{}", &[*given], true)?;
        }
        Ok(ty)
    }

    /// Checks that an expression names an exception class.
    pub(super) fn exception_class(&mut self, expr: &Expr) -> Result<()> {
        let ty = self.expr(expr)?;
        let known = |kind: &Kind| match kind {
            Kind::ExceptionClass(_) => true,
            Kind::Builtin(builtin) => matches!(builtin, Builtin::AnyException | Builtin::Exception(_)),
            _ => false,
        };
        if known(self.types().kind(ty)) {
            return Ok(());
        }
        let error = Diagnostic::new(expr.span, "this expression must refer to an exception constructor");
        Err(error.here(self.type_name(ty)))
    }
}

impl Infer<'_, '_> {
    /// The array on which the method `callee` is called.
    fn array_receiver<'a>(&mut self, callee: &'a Expr) -> Option<(&'a Expr, Ty)> {
        let ExprKind::Attribute { value, .. } = &callee.kind else {
            return None;
        };
        let ty = self.function().types[value.id as usize];
        self.types().array_parts(ty).map(|_| (&**value, ty))
    }
}

fn callee_of(call: &Expr) -> Option<&Expr> {
    match &call.kind {
        ExprKind::Call { callee, .. } => Some(callee),
        _ => None,
    }
}

/// Whether a call is generated for a `with` statement.
fn is_managed(callee: Option<&Expr>) -> bool {
    let Some(ExprKind::Attribute { value, .. }) = callee.map(|callee| &callee.kind) else {
        return false;
    };
    matches!(&value.kind, ExprKind::Name(name) if name.starts_with(MANAGER))
}
