//! Types of calls: of host functions (compiled, remote, of the firmware) and of the language's own functions.

use std::rc::Rc;

use super::Infer;
use crate::ast::*;
use crate::diagnostic::{Diagnostic, Result};
use crate::host::{FunctionInfo, FunctionKind, Handle};
use crate::program::{ArgSource, CallTarget, Fact};
use crate::source::Span;
use crate::types::{Kind, Ty};

impl Infer<'_, '_> {
    pub(super) fn call(&mut self, whole: &Expr, callee: &Expr, args: &[Expr], keywords: &[Keyword]) -> Result<Ty> {
        let function = self.expr(callee)?;
        let types = args.iter().map(|arg| self.expr(arg)).collect::<Result<Vec<_>>>()?;
        for keyword in keywords {
            self.expr(&keyword.value)?;
        }
        match self.types().kind(function).clone() {
            Kind::Var => Ok(self.types().var()),
            Kind::Builtin(name) => self.builtin(name, whole, args, &types, keywords),
            Kind::Function(handle) => self.host_call(whole, handle, None, args, keywords),
            Kind::Method { function, class } => self.host_call(whole, function, Some(class), args, keywords),
            Kind::ExceptionClass(_) => self.exception(args, &types, keywords),
            Kind::Namespace(_, name) => {
                let error = Diagnostic::unsupported(whole.span, &format!("creating an instance of {name} in a kernel"));
                Err(error.help("create the object on the host, in build(), and keep it in an attribute"))
            }
            _ => {
                let text = format!("cannot call this expression of type {}", self.type_name(function));
                Err(Diagnostic::new(callee.span, text))
            }
        }
    }

    fn exception(&mut self, args: &[Expr], types: &[Ty], keywords: &[Keyword]) -> Result<Ty> {
        if let Some(keyword) = keywords.first() {
            return Err(Diagnostic::new(
                keyword.span,
                "exceptions take no keyword arguments in kernels",
            ));
        }
        if let Some(message) = args.first() {
            if !matches!(message.kind, ExprKind::Str(_)) {
                let error = Diagnostic::new(message.span, "only constant exception messages are supported");
                return Err(error.help("put values into the message with up to three integers: \"… {0} …\", int64(x)"));
            }
        }
        if let Some(extra) = args.get(4) {
            return Err(Diagnostic::new(
                extra.span,
                "an exception takes a message and at most three integers",
            ));
        }
        for (arg, &ty) in args.iter().zip(types).skip(1) {
            let wide = self.kind(Kind::Int64);
            self.unify(wide, ty, arg.span, "this parameter")?;
        }
        Ok(self.kind(Kind::Exception))
    }

    /// A call of a host function; `class` is that of the receiver if it is a method.
    fn host_call(
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
            FunctionKind::Rpc { is_async } => {
                let returns = annotation(self)?;
                if *is_async && *self.types().kind(returns) != Kind::None {
                    let text = "functions that return a value cannot be defined as async RPCs";
                    return Err(Diagnostic::new(whole.span, text));
                }
                (CallTarget::Rpc(handle), all(), returns)
            }
            FunctionKind::Syscall { .. } => {
                let sources = self.bind(whole, &info, None, args, keywords)?;
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
                let function = self.instantiate(handle, class, Some(whole.span))?;
                let sources = self.bind(whole, &info, class, args, keywords)?;
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
                (CallTarget::Compiled(function), sources, returns)
            }
        };
        let function = &mut self.context.program.functions[self.current];
        function.facts.insert(whole.id, Fact::Call(target, sources));
        Ok(returns)
    }

    /// Unifies a parameter with the argument passed for it.
    fn pass(&mut self, wanted: Ty, source: &ArgSource, args: &[Expr], keywords: &[Keyword], param: &str) -> Result<()> {
        let expr = match source {
            ArgSource::Positional(index) => &args[*index],
            ArgSource::Keyword(index) => &keywords[*index].value,
            ArgSource::Receiver | ArgSource::Default(_) => return Ok(()),
        };
        let found = self.function().types[expr.id as usize];
        self.unify(wanted, found, expr.span, &format!("argument '{param}'"))
    }

    /// Matches arguments with the parameters of a function.
    fn bind(
        &mut self,
        whole: &Expr,
        info: &Rc<FunctionInfo>,
        class: Option<Handle>,
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
            sources[0] = Some(ArgSource::Receiver);
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
        let params = info.params.iter().zip(sources);
        let sources = params.map(|(param, source)| {
            source
                .or_else(|| param.default.clone().map(ArgSource::Default))
                .ok_or_else(|| {
                    let text = format!("mandatory argument '{}' of '{}' is not passed", param.name, info.name);
                    Diagnostic::new(whole.span, text)
                })
        });
        sources.collect()
    }

    fn builtin(
        &mut self,
        name: &'static str,
        whole: &Expr,
        args: &[Expr],
        types: &[Ty],
        keywords: &[Keyword],
    ) -> Result<Ty> {
        if name == "print" && self.print_as_rpc {
            let handle = self.context.host.print_function();
            return self.host_call(whole, handle, None, args, keywords);
        }
        if name.contains('.') {
            return self.numpy(name, whole, args, types, keywords);
        }
        if let Some(keyword) = keywords.first() {
            let error = Diagnostic::new(keyword.span, format!("'{name}' takes no keyword arguments"));
            return Err(match name {
                "print" => error.help("without a host, print writes to the log of the device, as core_log does"),
                _ => error,
            });
        }
        let counts = match name {
            "bool" | "int" | "float" | "list" => 0..=1,
            "int32" | "int64" | "len" | "round" | "abs" | "delay" | "delay_mu" | "at_mu" => 1..=1,
            "min" | "max" => 2..=2,
            "range" => 1..=3,
            "now_mu" => 0..=0,
            "rtio_log" => 1..=usize::MAX,
            _ => 0..=usize::MAX,
        };
        if !counts.contains(&args.len()) {
            let wanted = match (counts.start(), counts.end()) {
                (a, b) if a == b => format!("{a}"),
                (a, &usize::MAX) => format!("at least {a}"),
                (a, b) => format!("{a} to {b}"),
            };
            let text = format!("'{name}' takes {wanted} argument(s), {} are passed", args.len());
            return Err(Diagnostic::new(whole.span, text));
        }
        let result = self.function().types[whole.id as usize];
        match name {
            "bool" => Ok(self.kind(Kind::Bool)),
            "float" | "int" | "int32" | "int64" => {
                if let (Some(arg), Some(&ty)) = (args.first(), types.first()) {
                    if !self.types().is_numeric(ty) && !self.types().is_var(ty) {
                        let text = format!("{name} cannot be invoked with the arguments ({})", self.type_name(ty));
                        return Err(Diagnostic::new(arg.span, text));
                    }
                    self.widen_conversion(name, arg, ty);
                }
                match name {
                    "float" => Ok(self.kind(Kind::Float)),
                    "int32" => Ok(self.kind(Kind::Int32)),
                    "int64" => Ok(self.kind(Kind::Int64)),
                    _ => Ok(self.open(result)),
                }
            }
            "round" => {
                let float = self.kind(Kind::Float);
                self.unify(float, types[0], args[0].span, "this")?;
                Ok(self.open(result))
            }
            "abs" => {
                self.numeric(types[0], args[0].span)?;
                Ok(types[0])
            }
            "min" | "max" => {
                self.unify(types[0], types[1], args[1].span, "this")?;
                self.numeric(types[0], args[0].span)?;
                Ok(types[0])
            }
            "list" => match types.first() {
                Some(&iterable) => {
                    let elt = self.iterated(iterable, args[0].span)?;
                    Ok(self.kind(Kind::List(elt)))
                }
                None => {
                    let elt = self.types().var();
                    Ok(self.kind(Kind::List(elt)))
                }
            },
            "len" => match *self.types().kind(types[0]) {
                Kind::Range(elt) => Ok(elt),
                Kind::List(_) | Kind::Str | Kind::Array(..) => Ok(self.kind(Kind::Int32)),
                Kind::Var => Ok(self.types().var()),
                _ => {
                    let text = format!("len() of a value of type {}", self.type_name(types[0]));
                    Err(Diagnostic::new(args[0].span, text).here("has no length"))
                }
            },
            "range" => {
                let elt = match *self.types().kind(result) {
                    Kind::Range(elt) => elt,
                    _ => self.kind(Kind::IntOpen),
                };
                for (arg, &ty) in args.iter().zip(types) {
                    self.unify(elt, ty, arg.span, "this argument of range()")?;
                }
                Ok(self.kind(Kind::Range(elt)))
            }
            "delay" => {
                let float = self.kind(Kind::Float);
                self.unify(float, types[0], args[0].span, "the duration in seconds")?;
                Ok(self.kind(Kind::None))
            }
            "delay_mu" | "at_mu" => {
                let wide = self.kind(Kind::Int64);
                self.unify(wide, types[0], args[0].span, "the time in machine units")?;
                Ok(self.kind(Kind::None))
            }
            "now_mu" => Ok(self.kind(Kind::Int64)),
            "rtio_log" => {
                let text = self.kind(Kind::Str);
                self.unify(text, types[0], args[0].span, "the name of the log's channel")?;
                Ok(self.kind(Kind::None))
            }
            "kernel" | "portable" | "rpc" | "subkernel" | "print" | "core_log" => Ok(self.kind(Kind::None)),
            "str" => Err(Diagnostic::new(whole.span, "strings currently cannot be constructed")),
            "IndexError" | "ValueError" | "ZeroDivisionError" | "RuntimeError" | "Exception" => {
                self.exception(args, types, keywords)
            }
            _ => Err(Diagnostic::unsupported(whole.span, &format!("'{name}'"))),
        }
    }

    /// An integer whose width the context decides.
    fn open(&mut self, result: Ty) -> Ty {
        if self.types().is_var(result) {
            return self.kind(Kind::IntOpen);
        }
        result
    }

    /// `int64(round(x))` rounds in 64 bits: the outer conversion decides the width of an inner one.
    fn widen_conversion(&mut self, name: &str, arg: &Expr, ty: Ty) {
        let wanted = match name {
            "int32" => Kind::Int32,
            "int64" => Kind::Int64,
            _ => return,
        };
        if matches!(arg.kind, ExprKind::Call { .. }) && *self.types().kind(ty) == Kind::IntOpen {
            let wanted = self.kind(wanted);
            self.types().unify(ty, wanted).expect("the width is open");
        }
    }

    /// The exception class that an expression names.
    pub(super) fn exception_class(&mut self, expr: &Expr) -> Result<()> {
        let ty = self.expr(expr)?;
        let known = |kind: &Kind| match kind {
            Kind::ExceptionClass(_) => true,
            Kind::Builtin(name) => crate::lower::exceptions::builtin_key(name).is_some(),
            _ => false,
        };
        if known(self.types().kind(ty)) {
            return Ok(());
        }
        let error = Diagnostic::new(expr.span, "this expression must refer to an exception constructor");
        Err(error.here(self.type_name(ty)))
    }

    pub(super) fn must_be(&mut self, kind: Kind, found: Ty, span: Span, what: &str) -> Result<()> {
        let wanted = self.kind(kind);
        self.unify(wanted, found, span, what)
    }
}
