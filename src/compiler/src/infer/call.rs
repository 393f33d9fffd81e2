//! Types of calls: of host functions (compiled, remote, syscalls) and of built-in functions.

use super::Infer;
use crate::builtins;
use crate::diagnostic::{Diagnostic, Result};
use crate::host::{FunctionInfo, FunctionKind, Handle};
use crate::language::{Arithmetic, Builtin, Number, Text};
use crate::program::{ArgSource, CallTarget, Fact};
use crate::syntax::*;
use crate::types::{Kind, Ty};

/// A function whose parameters get arguments.
pub(super) struct Called<'a> {
    pub info: &'a FunctionInfo,
    /// The class of a method's receiver.
    pub class: Option<Handle>,
    /// Its definition, if it is compiled.
    pub ast: Option<&'a Function>,
    /// Whether its defaults are kept where it is defined, as those of a nested function.
    pub keeps_defaults: bool,
}

impl<'a> Called<'a> {
    fn new(info: &'a FunctionInfo, class: Option<Handle>, ast: Option<&'a Function>) -> Called<'a> {
        Called {
            info,
            class,
            ast,
            keeps_defaults: false,
        }
    }
}

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
                let called = Called::new(&info, None, None);
                let sources = self.bind(whole, &called, args, keywords)?;
                self.pass_to_firmware(whole, &info, &sources, args, keywords)?;
                (CallTarget::Syscall(handle), sources, annotation(self)?)
            }
            FunctionKind::Compiled { .. } => {
                self.require_messages(&info.kind, args)?;
                let function = self.instantiate(handle, class, Some(whole.span))?;
                let ast = self.function_at(function).ast.clone();
                let called = Called::new(&info, class, Some(&ast));
                let sources = self.bind(whole, &called, args, keywords)?;
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

    /// Checks what is passed to a system call, whose parameters have types.
    fn pass_to_firmware(
        &mut self,
        whole: &Expr,
        info: &FunctionInfo,
        sources: &[ArgSource],
        args: &[Expr],
        keywords: &[Keyword],
    ) -> Result<()> {
        for (param, source) in info.params.iter().zip(sources) {
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
        Ok(())
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

    /// Matches arguments with the parameters of a function.
    pub(super) fn bind(
        &mut self,
        whole: &Expr,
        called: &Called,
        args: &[Expr],
        keywords: &[Keyword],
    ) -> Result<Vec<ArgSource>> {
        let (info, class) = (called.info, called.class);
        let skip = usize::from(class.is_some());
        let by_place = called.ast.map_or(info.params.len(), |ast| ast.positional());
        let count = by_place.min(info.params.len()).saturating_sub(skip);
        if let Some(extra) = args.get(count) {
            let text = format!(
                "'{}' accepts at most {count} arguments, {} are passed",
                info.name,
                args.len()
            );
            let error = Diagnostic::new(extra.span, text);
            return Err(match info.params.get(skip + count) {
                Some(param) => error.help(format!("pass '{0}' by its name, as in {0}=…", param.name)),
                None => error,
            });
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
        let kept = |index| called.ast.filter(|_| called.keeps_defaults)?.default_of(index);
        let params = info.params.iter().zip(sources).enumerate();
        let sources = params.map(|(index, (param, source))| {
            source
                .or_else(|| param.default.clone().map(ArgSource::Default))
                .or_else(|| kept(index).map(ArgSource::Kept))
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
        if let Builtin::Arithmetic(function) = builtin {
            call.check()?;
            return self.operator(function, whole, args, types);
        }
        if let Builtin::Class(class) = builtin {
            call.check()?;
            return self.class_question(class, whole, args, types);
        }
        let ty = builtins::typing(self.types(), &call)?;
        if let (Builtin::Number(Number::Round | Number::Int), [given]) = (builtin, args) {
            self.keep_large(given, ty);
        }
        self.truth_of_arguments(builtin, args, types)?;
        if let (Builtin::Text(Text::Str), [given]) = (builtin, types) {
            self.format_call(whole, "{}", &[*given], true)?;
        }
        Ok(ty)
    }

    /// Types `pow(a, b)` as `a ** b`, and `divmod(a, b)` as `(a // b, a % b)` of integers.
    fn operator(&mut self, function: Arithmetic, whole: &Expr, args: &[Expr], types: &[Ty]) -> Result<Ty> {
        if let Some(modulus) = args.get(2) {
            let error = Diagnostic::unsupported(modulus.span, "'pow' with a modulus");
            return Err(error.help("multiply in a loop, with % after each product, in int64"));
        }
        let [left, right] = [0, 1].map(|index| (types[index], args[index].span));
        let result = self.function().types[whole.id as usize];
        if function == Arithmetic::Pow {
            return Ok(self.binary(BinOp::Pow, left, right, whole)?.unwrap_or(result));
        }
        for (ty, span) in [left, right] {
            if *self.types().kind(ty) == Kind::Float {
                let error = Diagnostic::new(span, "'divmod' takes integers in a kernel, not a float");
                return Err(error.help("write a // b and a % b, or make integers of them"));
            }
            self.types().require_numeric(ty, span)?;
        }
        let number = match *self.types().kind(result) {
            Kind::Tuple(ref members) => members[0],
            _ => self.types().var(),
        };
        if let Some(found) = self.promote(left.0, right.0, number, whole) {
            self.unify(number, found, whole.span, "the quotient")?;
        }
        Ok(self.kind(Kind::Tuple([number, number].into())))
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
        Err(error.primary_note(self.type_name(ty)))
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
