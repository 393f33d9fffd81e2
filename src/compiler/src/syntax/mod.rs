//! The syntax of kernels: the subset of Python that kernels can use, and its parser.
//!
//! Each kind of expression or statement is defined beside its conversion from the parser crate's
//! tree; no other module depends on that crate. Every expression has a number, unique in its
//! function; later passes store results in tables indexed by it. Files are parsed once as a whole,
//! so that positions match the user's file; functions are looked up by line. Constructs that
//! kernels cannot use, or that this compiler does not support yet, are rejected here by name.

mod comprehensions;
mod constants;
mod depth;
mod expressions;
mod format;
mod fstring;
mod functions;
mod operators;
mod pruning;
mod refused;
mod statements;
mod with;

use std::collections::hash_map::{Entry, HashMap};
use std::ops::Range;
use std::rc::Rc;

use ruff_python_ast as py;
use ruff_python_parser::parse_module;
use ruff_text_size::{Ranged, TextRange};

use crate::diagnostic::{Diagnostic, Result};
use crate::source::{FileId, Sources, Span};

pub use constants::{constant_operation, overflows, rounds_alike};
pub use expressions::{walk_expr, Clause, Dimension, Expr, ExprId, ExprKind, Keyword, Origin, COMPREHENSION};
pub use fstring::{FString, Piece};
pub use operators::{BinOp, CmpOp, UnaryOp};
pub use pruning::{only_reads, Known};
pub use statements::{
    does_nothing, returns_value, walk_exprs, walk_operations, walk_stmts, Flow, For, Handler, Operation, Part, Stmt,
    StmtKind, Try,
};
pub use with::MANAGER;

/// A function definition with its contents.
#[derive(Debug)]
pub struct Function {
    pub name: Rc<str>,
    /// Span of the name in the `def` line.
    pub name_span: Span,
    pub params: Vec<Param>,
    pub body: Vec<Stmt>,
    /// Names declared `nonlocal`, and where.
    pub nonlocals: Vec<(Rc<str>, Span)>,
    /// Number of expressions; their ids are below it. Nested functions number their own.
    pub expr_count: u32,
}

#[derive(Clone, Debug)]
pub struct Param {
    pub name: Rc<str>,
    pub span: Span,
    pub has_default: bool,
    /// Whether it stands after `*`: it can only be passed by name.
    pub by_name_only: bool,
}

/// Parsed files, kept for later lookups of functions.
#[derive(Default)]
pub struct Parser {
    modules: HashMap<FileId, py::ModModule>,
}

impl Parser {
    /// The function of `file` whose first line (its first decorator, or its `def`) is `line`.
    pub fn function(&mut self, sources: &Sources, file: FileId, name: &str, line: u32) -> Result<Function> {
        let module = match self.modules.entry(file) {
            Entry::Occupied(parsed) => parsed.into_mut(),
            Entry::Vacant(slot) => {
                let module = parse_module(&sources.file(file).text).map_err(|error| {
                    Diagnostic::new(span(file, error.location), format!("syntax error: {}", error.error))
                })?;
                let module = module.into_syntax();
                if let Some(place) = depth::too_deep(&module) {
                    let _ = std::mem::ManuallyDrop::new(module); // dropping it could overflow the stack
                    let text = format!("this is nested more than {} levels deep", depth::DEEPEST);
                    return Err(Diagnostic::new(span(file, place), text)
                        .help("assign parts of it to variables, and loop over a list instead of a long sum"));
                }
                slot.insert(module)
            }
        };
        let find = |def: &py::StmtFunctionDef| {
            let at = |range: TextRange| sources.position(span(file, range)).0;
            let first = def.decorator_list.first().map_or(at(def.name.range), |d| at(d.range()));
            def.name.as_str() == name && (first..=at(def.name.range)).contains(&line)
        };
        let place = sources.file(file).line_range((line as usize).saturating_sub(1));
        let def = place.and_then(|place| find_function(&module.body, &place, &find));
        let def = def.ok_or_else(|| {
            let file = &sources.file(file).name;
            Diagnostic::global(format!(
                "the source of function '{name}' was not found at line {line} of {file}"
            ))
            .help("the file was perhaps edited while the experiment ran, or the function is a lambda")
        })?;
        let converter = Converter {
            file,
            text: &sources.file(file).text,
            next: 0,
            comprehensions: 0,
            nonlocals: vec![],
            scopes: vec![],
            wide: HashMap::new(),
            wide_at: None,
        };
        converter.function(def)
    }
}

fn span(file: FileId, range: TextRange) -> Span {
    Span {
        file,
        start: range.start().to_u32(),
        end: range.end().to_u32(),
    }
}

/// Search for a function definition in the statements at a range of bytes, also inside classes, functions and
/// compound statements.
fn find_function<'a>(
    body: &'a [py::Stmt],
    place: &Range<usize>,
    wanted: &dyn Fn(&py::StmtFunctionDef) -> bool,
) -> Option<&'a py::StmtFunctionDef> {
    let inside = |bodies: &[&'a [py::Stmt]]| bodies.iter().find_map(|body| find_function(body, place, wanted));
    let first = body.partition_point(|stmt| stmt.range().end().to_usize() < place.start);
    let mut near = body[first..]
        .iter()
        .take_while(|stmt| stmt.range().start().to_usize() < place.end);
    near.find_map(|stmt| match stmt {
        py::Stmt::FunctionDef(def) if wanted(def) => Some(def),
        py::Stmt::FunctionDef(def) => inside(&[&def.body]),
        py::Stmt::ClassDef(class) => inside(&[&class.body]),
        py::Stmt::With(with) => inside(&[&with.body]),
        py::Stmt::For(stmt) => inside(&[&stmt.body, &stmt.orelse]),
        py::Stmt::While(stmt) => inside(&[&stmt.body, &stmt.orelse]),
        py::Stmt::If(stmt) => {
            inside(&[&stmt.body]).or_else(|| stmt.elif_else_clauses.iter().find_map(|clause| inside(&[&clause.body])))
        }
        py::Stmt::Try(stmt) => inside(&[&stmt.body, &stmt.orelse, &stmt.finalbody]).or_else(|| {
            stmt.handlers
                .iter()
                .find_map(|py::ExceptHandler::ExceptHandler(handler)| inside(&[&handler.body]))
        }),
        _ => None,
    })
}

/// Converts one function from the parser crate's tree.
struct Converter<'a> {
    file: FileId,
    text: &'a str,
    next: ExprId,
    /// Number of comprehension variables so far, including those in nested functions.
    comprehensions: u32,
    nonlocals: Vec<(Rc<str>, Span)>,
    /// Variables of enclosing comprehensions and parameters of nested functions, innermost last: name
    /// in the source, name in the tree.
    scopes: Vec<(String, Rc<str>)>,
    /// Values of integer constants beyond 64 bits, which must become part of smaller ones, and the
    /// position of the first.
    wide: HashMap<ExprId, i128>,
    wide_at: Option<Span>,
}

impl Converter<'_> {
    fn span(&self, node: &impl Ranged) -> Span {
        span(self.file, node.range())
    }

    fn optional(&mut self, expr: &Option<Box<py::Expr>>) -> Result<Option<Expr>> {
        expr.as_deref().map(|expr| self.expr(expr)).transpose()
    }
}
