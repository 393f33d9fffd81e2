//! Syntax that kernels do not have, and what to write instead.

use ruff_python_ast as py;

use crate::diagnostic::Diagnostic;
use crate::source::Span;

/// The error for an expression that kernels do not have.
pub(super) fn refused_expression(span: Span, expr: &py::Expr) -> Box<Diagnostic> {
    let (what, instead) = match expr {
        py::Expr::Dict(_) | py::Expr::DictComp(_) => (
            "a dictionary",
            "keep two lists and look up by index, make the values attributes of an object, or let a host function look it up",
        ),
        py::Expr::Set(_) | py::Expr::SetComp(_) => (
            "a set",
            "use a list or a tuple: 'in' works on both, and 'x not in list' tells what is new",
        ),
        py::Expr::Generator(_) => (
            "a generator expression that is not the only argument of a call",
            "write [ … ] for a list of its elements",
        ),
        py::Expr::Await(_) => ("'await'", "call the function: a kernel waits for the result"),
        py::Expr::Yield(_) | py::Expr::YieldFrom(_) => (
            "'yield'",
            "return a list, or take a function as an argument and call it for each value",
        ),
        py::Expr::TString(_) => ("a t-string", "write an f-string"),
        py::Expr::EllipsisLiteral(_) => ("'...'", "write 'pass' as a statement, and ':' in an index"),
        py::Expr::Starred(_) => (
            "a starred expression",
            "name the elements one by one, as in f(values[0], values[1]), or pass the list itself",
        ),
        _ => ("this expression", "let a host function evaluate it"),
    };
    Diagnostic::unsupported(span, what).help(instead)
}

/// The error for a statement that kernels do not have.
pub(super) fn refused_statement(span: Span, stmt: &py::Stmt) -> Box<Diagnostic> {
    let (what, instead) = match stmt {
        py::Stmt::Delete(_) => (
            "'del'",
            "leave it out: memory is released when the loop's pass or the function ends; lists keep their length",
        ),
        py::Stmt::Import(_) | py::Stmt::ImportFrom(_) => ("'import' inside a kernel", "import at the top of the file"),
        py::Stmt::Global(_) => (
            "'global'",
            "make it an attribute, as self.count: what a kernel assigns to it is on the host afterwards",
        ),
        py::Stmt::Match(_) => ("'match'", "write if … elif … else"),
        py::Stmt::Try(_) => ("'except*'", "write 'except': a kernel raises one exception at a time"),
        py::Stmt::TypeAlias(_) => ("'type'", "define it outside of the kernel"),
        _ => ("this statement", "let a host function execute it"),
    };
    Diagnostic::unsupported(span, what).help(instead)
}
