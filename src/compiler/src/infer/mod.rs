//! Type inference: unification over the whole program, repeated until nothing changes.
//!
//! All functions are visited repeatedly. A type that an expression cannot determine yet (the
//! attribute of a value of unknown type, the width of a sum) is determined at a later visit. After
//! convergence, integers of undetermined width get one (`width.rs`). Functions are added as calls
//! to them are found.

mod array;
mod call;
mod choice;
mod classes;
mod empty;
mod expr;
mod fstring;
mod hints;
mod kernel_objects;
mod nested;
mod stmt;
mod subkernel;
mod truth;
mod width;

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use crate::diagnostic::{Diagnostic, Result};
use crate::host::{FunctionKind, Handle, HostValue};
use crate::program::{Context, Entry, FunctionId, FunctionInstance};
use crate::resolve::resolve;
use crate::source::Span;
use crate::symbol::Symbols;
use crate::syntax::{returns_value, walk_exprs, ExprId, Parser};
use crate::types::{Kind, Ty, Types};

/// A compilation request from the host: a function and its arguments.
pub struct Request {
    pub function: HostValue,
    pub args: Vec<HostValue>,
    pub kwargs: Vec<(Rc<str>, HostValue)>,
    pub set_result: Option<Handle>,
    pub writeback: bool,
    /// Whether `print` runs on the host; otherwise it writes to the device's log, as `core_log`
    /// does.
    pub print_as_rpc: bool,
}

/// Infers the program that `request` reaches, unless [`Shapes::is_incomplete`](crate::program::Shapes)
/// says afterwards that inference must be repeated.
pub fn infer(context: &mut Context, request: &Request) -> Result<()> {
    let mut infer = Infer::new(context, request);
    let result = infer.run(request);
    let current = infer.current;
    result.map_err(|error| context.program.blame(current, error))
}

/// Continues inference after errors and returns all of them, at most one per statement.
/// Consequential errors are suppressed.
pub fn infer_all(context: &mut Context, request: &Request) -> Vec<Diagnostic> {
    let mut infer = Infer::new(context, request);
    infer.errors = Some(vec![]);
    let last = infer.run(request).err();
    let errors = infer.errors.unwrap_or_default();
    errors.into_iter().chain(last.map(|error| *error)).collect()
}

struct Infer<'a, 'h> {
    context: &'a mut Context<'h>,
    parser: Parser,
    /// Operations with an operand whose width was undetermined when visited: their result may be
    /// wider or narrower than the operands.
    was_open: HashSet<(FunctionId, ExprId)>,
    current: FunctionId,
    print_as_rpc: bool,
    /// Messages between subkernels, by name.
    messages: HashMap<Rc<str>, subkernel::Message>,
    /// Whether the visited call is one of several functions, which all get the same arguments.
    one_of_several: bool,
    /// Whether the program uses `isinstance`.
    decides: bool,
    /// Results of `super()` lookups, by class or method, class of the object, and name.
    supers: HashMap<(Handle, Handle, Rc<str>), Option<HostValue>>,
    /// Templates of the host functions that format strings.
    templates: HashMap<Handle, Rc<str>>,
    /// Host functions that format strings and call another function with them.
    calls_with_texts: HashMap<CallWithTexts, Handle>,
    /// The errors found, if several are wanted.
    errors: Option<Vec<Diagnostic>>,
    symbols: Symbols,
    /// The place of the error that was explained last.
    explained: Option<Span>,
    /// Statements with an error, by function and start offset.
    failed: HashSet<(FunctionId, u32)>,
}

/// A function and, for each argument that is a formatted string, the template and the number of
/// values.
type CallWithTexts = (Handle, Vec<Option<(Rc<str>, usize)>>);

/// The error for a lazy iterable that is stored or passed on instead of being iterated in place.
fn kept_iterator(function: &FunctionInstance, types: &Types) -> Option<Box<Diagnostic>> {
    let local = |(index, &ty): (usize, &Ty)| Some((function.names.locals[index].span, types.lazy_part(ty)?));
    let mut found = function.locals.iter().enumerate().find_map(local);
    walk_exprs(&function.ast.body, &mut |expr| {
        let ty = function.types[expr.id as usize];
        if let (None, Kind::List(_) | Kind::Tuple(_)) = (&found, types.kind(ty)) {
            found = types.lazy_part(ty).map(|lazy| (expr.span, lazy));
        }
    });
    let returned = || Some((function.ast.name_span, types.lazy_part(function.returns)?));
    let (span, lazy) = found.or_else(returned)?;
    let text = format!("{} cannot be stored or passed on in a kernel", lazy.name());
    Some(Diagnostic::new(span, text).help("iterate over it in place, or make a list of it with list(…)"))
}

/// The error text for a value in `with` that is not a context manager.
fn no_manager(ty: &str) -> String {
    format!("value of type {ty} cannot act as a context manager")
}

impl<'a, 'h> Infer<'a, 'h> {
    fn new(context: &'a mut Context<'h>, request: &Request) -> Self {
        Infer {
            context,
            parser: Parser::default(),
            was_open: HashSet::new(),
            current: 0,
            print_as_rpc: request.print_as_rpc,
            messages: HashMap::new(),
            one_of_several: false,
            decides: false,
            supers: HashMap::new(),
            templates: HashMap::new(),
            calls_with_texts: HashMap::new(),
            errors: None,
            symbols: Symbols::default(),
            explained: None,
            failed: HashSet::new(),
        }
    }

    fn run(&mut self, request: &Request) -> Result<()> {
        self.entry(request)?;
        self.visit_until_converged()?;
        self.default_widths();
        self.visit_until_converged()?;
        if self.decides {
            // The widths may have decided `isinstance` tests; their branches were not visited
            // before.
            self.default_widths();
            self.visit_until_converged()?;
        }
        if self.find_empty_loops() {
            return Ok(());
        }
        if self.default_elements() {
            self.visit_until_converged()?;
            self.default_widths();
            self.visit_until_converged()?;
        }
        self.prune();
        if self.errors.as_ref().is_some_and(|errors| !errors.is_empty()) {
            return Ok(()); // the errors may be why types are undetermined
        }
        self.require_known()?;
        self.require_both_ends()?;
        self.require_awaited()?;
        let names = self.messages.keys().cloned().collect();
        self.context.program.name_messages(names);
        self.check_widths()
    }

    fn entry(&mut self, request: &Request) -> Result<()> {
        let (handle, mut args) = match request.function {
            HostValue::Function(handle) => (handle, request.args.clone()),
            HostValue::Method { function, receiver } => {
                let receiver = HostValue::Object(receiver);
                let args = request.args.iter().cloned();
                (function, std::iter::once(receiver).chain(args).collect())
            }
            _ => return Err(Diagnostic::global("only a function can be compiled")),
        };
        let info = self.context.function_info(handle).map_err(Diagnostic::global)?;
        if info.kind.destination().is_some() {
            let text = format!("{} is a subkernel: a kernel starts it", info.name);
            return Err(Diagnostic::global(text));
        }
        let mut kwargs = request.kwargs.clone();
        let by_place = args.len();
        if args.len() > info.params.len() {
            let text = format!(
                "{} takes {} arguments, {} were given",
                info.name,
                info.params.len(),
                args.len()
            );
            return Err(Diagnostic::global(text));
        }
        for param in &info.params[args.len()..] {
            let keyword = kwargs.iter().position(|(name, _)| *name == param.name);
            let value = keyword
                .map(|index| kwargs.remove(index).1)
                .or_else(|| param.default.clone());
            let missing = || Diagnostic::global(format!("argument '{}' of {} is missing", param.name, info.name));
            args.push(value.ok_or_else(missing)?);
        }
        if let Some((name, _)) = kwargs.first() {
            return Err(Diagnostic::global(format!("{} has no argument '{name}'", info.name)));
        }
        let types = args
            .iter()
            .map(|arg| self.context.type_of(arg))
            .collect::<std::result::Result<Vec<_>, _>>();
        let types = types.map_err(Diagnostic::global)?;
        let class = match (
            types.first().map(|&ty| self.context.program.types.kind(ty)),
            info.params.first(),
        ) {
            (Some(Kind::Instance(class)), Some(first)) if &*first.name == "self" => Some(*class),
            _ => None,
        };
        let function = self.instantiate(handle, class, None)?;
        let allowed = self.function_at(function).ast.positional();
        if by_place > allowed {
            let text = format!(
                "{} takes {allowed} arguments without a name, {by_place} were given",
                info.name
            );
            return Err(Diagnostic::global(text));
        }
        for (index, ty) in types.into_iter().enumerate() {
            let instance = &self.context.program.functions[function];
            let (param, span) = (instance.locals[index], instance.ast.params[index].span);
            if !self.types().is_truth_as_integer(param, ty) {
                self.unify(param, ty, span, "this argument")?;
            }
        }
        let (set_result, writeback) = (request.set_result, request.writeback);
        self.context.program.entry = Some(Entry {
            function,
            args,
            set_result,
            writeback,
            standalone: !request.print_as_rpc,
        });
        Ok(())
    }

    /// The instance of a compiled function for a class of receiver, created on first use.
    fn instantiate(&mut self, handle: Handle, class: Option<Handle>, at: Option<Span>) -> Result<FunctionId> {
        if let Some(&known) = self.context.program.function_index.get(&(handle, class)) {
            return Ok(known);
        }
        let place = |error: Box<Diagnostic>| match at {
            Some(span) => error.or_at(span),
            None => error,
        };
        let info = self
            .context
            .function_info(handle)
            .map_err(|text| place(Diagnostic::global(text)))?;
        let FunctionKind::Compiled { file, text, line, .. } = &info.kind else {
            return Err(place(Diagnostic::global(format!(
                "{} is not a kernel",
                info.qualified_name
            ))));
        };
        let file = self.context.sources.add(file, text);
        let ast = self
            .parser
            .function(&self.context.sources, file, &info.name, *line)
            .map_err(place)?;
        let ast = self.with_body(ast, &info);
        let mut names = resolve(&ast, handle, self.context.host, None)?;
        if let Some(error) = names.error.take() {
            return Err(error);
        }
        let types = &mut self.context.program.types;
        let locals: Vec<Ty> = names.locals.iter().map(|_| types.var()).collect();
        let annotated = |types: &mut Types, annotation: &Option<_>, ty: Ty, span: Span| -> Result<()> {
            if let Some(annotation) = annotation {
                let found = types
                    .annotation(annotation)
                    .map_err(|text| Diagnostic::new(span, text))?;
                types.unify(ty, found).expect("the variable is new");
            }
            Ok(())
        };
        for (index, param) in info.params.iter().enumerate() {
            let span = ast.params.get(index).map_or(ast.name_span, |param| param.span);
            annotated(types, &param.annotation, locals[index], span)?;
        }
        let returns = types.var();
        annotated(types, &info.returns, returns, ast.name_span)?;
        let expr_types = (0..ast.expr_count).map(|_| types.var()).collect();
        let class_name = class.map(|class| self.context.program.classes[&class].name.clone());
        let symbol = self.symbols.unique(&info.qualified_name, class_name.as_deref());
        let defaults: Vec<_> = info
            .params
            .iter()
            .enumerate()
            .filter_map(|(i, p)| Some((i, p.default.clone()?)))
            .collect();
        let id = self.context.program.functions.len();
        self.context.program.function_index.insert((handle, class), id);
        self.context.program.functions.push(FunctionInstance {
            handle,
            class,
            symbol,
            info,
            ast: Rc::new(ast),
            names: Rc::new(names),
            locals,
            returns,
            types: expr_types,
            called_from: at.map(|span| (self.current, span)),
            facts: Default::default(),
            nested: None,
        });
        for (index, default) in defaults {
            let instance = &self.context.program.functions[id];
            let (ty, span) = (instance.locals[index], instance.ast.params[index].span);
            let found = self
                .context
                .type_of(&default)
                .map_err(|text| Diagnostic::new(span, text))?;
            if !self.types().is_truth_as_integer(ty, found) {
                self.unify(ty, found, span, "this default value")?;
            }
        }
        Ok(id)
    }

    /// Visits all functions that are called until inference converges.
    ///
    /// Arguments are known from callers, which mostly come first, and results from the functions that are
    /// called: the order of the visits alternates, so that a chain of calls takes a few visits and not one
    /// for each of its functions.
    fn visit_until_converged(&mut self) -> Result<()> {
        let mut callers_first = true;
        loop {
            self.context.program.types.begin_visit();
            let before = (self.context.program.types.version, self.context.program.live().count());
            let known = self.context.program.functions.len();
            for step in 0..known {
                self.visit(if callers_first { step } else { known - 1 - step })?;
            }
            let mut added = known;
            while added < self.context.program.functions.len() {
                self.visit(added)?;
                added += 1;
            }
            if before == (self.context.program.types.version, self.context.program.live().count()) {
                return Ok(());
            }
            callers_first = !callers_first;
        }
    }

    fn visit(&mut self, id: FunctionId) -> Result<()> {
        if self.function_at(id).is_dead() {
            return Ok(());
        }
        self.current = id;
        if let Some(error) = &self.function().names.error {
            return Err(error.clone());
        }
        let ast = self.context.program.functions[id].ast.clone();
        self.body(&ast.body)?;
        let returns = self.context.program.functions[id].returns;
        if self.context.program.types.is_var(returns) && !returns_value(&ast.body) {
            self.must_be(Kind::None, returns, ast.name_span, "the result")?;
        }
        Ok(())
    }

    /// Rejects programs in which a type is undetermined.
    fn require_known(&mut self) -> Result<()> {
        let program = &self.context.program;
        for (id, function) in program.functions.iter().enumerate() {
            if function.is_dead() {
                continue;
            }
            self.current = id;
            let mut error = self.missing_attribute(function);
            walk_exprs(&function.ast.body, &mut |expr| {
                if error.is_none() && !program.types.is_known(function.types[expr.id as usize]) {
                    let found = Diagnostic::new(expr.span, "the type of this expression cannot be fully inferred");
                    error = Some(found.primary_note(program.types.name(function.types[expr.id as usize])));
                }
            });
            let mut left = HashSet::new();
            function.ast.each_own(&mut |name, _| _ = left.insert(name.clone()));
            for (index, &ty) in function.locals.iter().enumerate() {
                // A variable used only in branches that `isinstance` excludes has no type.
                if error.is_none() && !program.types.is_known(ty) && left.contains(&function.names.locals[index].name) {
                    let local = &function.names.locals[index];
                    let text = format!("the type of '{}' cannot be fully inferred", local.name);
                    error = Some(Diagnostic::new(local.span, text));
                }
            }
            if error.is_none() {
                error = kept_iterator(function, &program.types);
            }
            if error.is_none() && !program.types.is_known(function.returns) {
                let text = "the return type of this function cannot be fully inferred";
                error = Some(Diagnostic::new(function.ast.name_span, text));
            }
            if let Some(error) = error {
                return Err(error);
            }
        }
        Ok(())
    }

    fn function(&self) -> &FunctionInstance {
        self.function_at(self.current)
    }

    fn function_at(&self, id: FunctionId) -> &FunctionInstance {
        &self.context.program.functions[id]
    }

    fn types(&mut self) -> &mut Types {
        &mut self.context.program.types
    }

    fn kind(&mut self, kind: Kind) -> Ty {
        self.types().new_type(kind)
    }

    fn type_name(&self, ty: Ty) -> String {
        self.context.program.types.name(ty)
    }

    fn unify(&mut self, wanted: Ty, found: Ty, span: Span, what: &str) -> Result<()> {
        self.types().require(wanted, found, span, what)
    }

    fn must_be(&mut self, kind: Kind, found: Ty, span: Span, what: &str) -> Result<()> {
        self.types().require_kind(kind, found, span, what)
    }
}
