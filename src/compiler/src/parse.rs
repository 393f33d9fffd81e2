//! Python source to our own tree. The only file that knows the parser crate.
//!
//! Files are parsed whole and once, so that positions are those the user sees; functions are picked out by their line.
//! Syntax that no kernel can have, or that this compiler does not have yet, is refused here, naming the construct.

use std::collections::hash_map::{Entry, HashMap};
use std::rc::Rc;

use ruff_python_ast as py;
use ruff_python_parser::parse_module;
use ruff_text_size::{Ranged, TextRange};

use crate::ast::*;
use crate::diagnostic::{Diagnostic, Result};
use crate::source::{FileId, Sources, Span};

/// Parsed files, kept for the functions still to be picked out of them.
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
                slot.insert(module.into_syntax())
            }
        };
        let find = |def: &py::StmtFunctionDef| {
            let at = |range: TextRange| sources.position(span(file, range)).0;
            let first = def.decorator_list.first().map_or(at(def.name.range), |d| at(d.range()));
            def.name.as_str() == name && (first..=at(def.name.range)).contains(&line)
        };
        let def = find_function(&module.body, &find).ok_or_else(|| {
            let file = &sources.file(file).name;
            Diagnostic::global(format!(
                "the source of function '{name}' was not found at line {line} of {file}"
            ))
            .help("the file was perhaps edited while the experiment ran, or the function is a lambda")
        })?;
        let scopes = vec![];
        Converter { file, next: 0, scopes }.function(def)
    }
}

fn span(file: FileId, range: TextRange) -> Span {
    Span {
        file,
        start: range.start().to_u32(),
        end: range.end().to_u32(),
    }
}

/// Depth-first search for a function definition, also inside classes, functions and compound statements.
fn find_function<'a>(
    body: &'a [py::Stmt],
    wanted: &dyn Fn(&py::StmtFunctionDef) -> bool,
) -> Option<&'a py::StmtFunctionDef> {
    let inside = |bodies: &[&'a [py::Stmt]]| bodies.iter().find_map(|body| find_function(body, wanted));
    body.iter().find_map(|stmt| match stmt {
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

/// What a statement that is refused is called.
fn refused_statement(stmt: &py::Stmt) -> &'static str {
    match stmt {
        py::Stmt::FunctionDef(_) => "a function inside a kernel",
        py::Stmt::ClassDef(_) => "a class inside a kernel",
        py::Stmt::Delete(_) => "'del'",
        py::Stmt::Import(_) | py::Stmt::ImportFrom(_) => "'import' inside a kernel",
        py::Stmt::Global(_) => "'global'",
        py::Stmt::Nonlocal(_) => "'nonlocal'",
        py::Stmt::Match(_) => "'match'",
        py::Stmt::AnnAssign(_) => "an annotated assignment",
        _ => "this statement",
    }
}

fn refused_expression(expr: &py::Expr) -> &'static str {
    match expr {
        py::Expr::Named(_) => "the assignment expression ':='",
        py::Expr::Lambda(_) => "a lambda",
        py::Expr::Dict(_) | py::Expr::DictComp(_) => "a dictionary",
        py::Expr::Set(_) | py::Expr::SetComp(_) => "a set",
        py::Expr::Generator(_) => "a generator expression",
        py::Expr::Await(_) => "'await'",
        py::Expr::Yield(_) | py::Expr::YieldFrom(_) => "'yield'",
        py::Expr::FString(_) => "an f-string",
        py::Expr::TString(_) => "a t-string",
        py::Expr::BytesLiteral(_) => "a bytes literal",
        py::Expr::EllipsisLiteral(_) => "'...'",
        py::Expr::Starred(_) => "a starred expression",
        py::Expr::Slice(_) => "a slice of several dimensions",
        _ => "this expression",
    }
}

struct Converter {
    file: FileId,
    next: ExprId,
    /// Variables of the list comprehensions around, innermost last: name in the source, name in the tree.
    scopes: Vec<(String, Rc<str>)>,
}

impl Converter {
    fn span(&self, node: &impl Ranged) -> Span {
        span(self.file, node.range())
    }

    fn function(mut self, def: &py::StmtFunctionDef) -> Result<Function> {
        if def.is_async {
            return Err(Diagnostic::new(
                self.span(&def.name),
                "a kernel function cannot be 'async'",
            ));
        }
        let list = &*def.parameters;
        if let Some(variadic) = list.vararg.as_deref().or(list.kwarg.as_deref()) {
            let message = format!("variadic arguments are not supported; '{}' is variadic", variadic.name);
            return Err(Diagnostic::new(self.span(variadic), message));
        }
        if let Some(only) = list.kwonlyargs.first() {
            return Err(Diagnostic::unsupported(self.span(only), "a keyword-only argument"));
        }
        let params = list.posonlyargs.iter().chain(&list.args).map(|p| Param {
            name: p.parameter.name.as_str().into(),
            span: self.span(&p.parameter),
            has_default: p.default.is_some(),
        });
        let params = params.collect();
        let name_span = self.span(&def.name);
        let body = self.body(&def.body)?;
        Ok(Function {
            name: def.name.as_str().into(),
            name_span,
            params,
            body,
            expr_count: self.next,
        })
    }

    fn body(&mut self, body: &[py::Stmt]) -> Result<Vec<Stmt>> {
        let is_text =
            |stmt: &py::Stmt| matches!(stmt, py::Stmt::Expr(e) if matches!(*e.value, py::Expr::StringLiteral(_)));
        body.iter()
            .filter(|stmt| !is_text(stmt))
            .map(|stmt| self.stmt(stmt))
            .collect()
    }

    fn stmt(&mut self, stmt: &py::Stmt) -> Result<Stmt> {
        let span = self.span(stmt);
        let kind = match stmt {
            py::Stmt::Expr(stmt) => StmtKind::Expr(self.expr(&stmt.value)?),
            py::Stmt::Assign(stmt) => StmtKind::Assign {
                targets: self.exprs(&stmt.targets)?,
                value: self.expr(&stmt.value)?,
            },
            py::Stmt::AugAssign(stmt) => StmtKind::AugAssign {
                target: self.expr(&stmt.target)?,
                op: binary(stmt.op),
                value: self.expr(&stmt.value)?,
            },
            py::Stmt::If(stmt) => return self.if_chain(span, &stmt.test, &stmt.body, &stmt.elif_else_clauses),
            py::Stmt::While(stmt) => StmtKind::While {
                test: self.expr(&stmt.test)?,
                body: self.body(&stmt.body)?,
                orelse: self.body(&stmt.orelse)?,
            },
            py::Stmt::For(stmt) if !stmt.is_async => StmtKind::For {
                target: self.expr(&stmt.target)?,
                iter: self.expr(&stmt.iter)?,
                body: self.body(&stmt.body)?,
                orelse: self.body(&stmt.orelse)?,
            },
            py::Stmt::With(stmt) if !stmt.is_async => return self.with(span, &stmt.items, &stmt.body),
            py::Stmt::Try(stmt) if !stmt.is_star => StmtKind::Try {
                body: self.body(&stmt.body)?,
                handlers: stmt
                    .handlers
                    .iter()
                    .map(|handler| self.handler(handler))
                    .collect::<Result<_>>()?,
                orelse: self.body(&stmt.orelse)?,
                finally: self.body(&stmt.finalbody)?,
            },
            py::Stmt::Raise(stmt) => {
                if let Some(cause) = &stmt.cause {
                    return Err(Diagnostic::unsupported(self.span(&**cause), "'raise … from'"));
                }
                StmtKind::Raise(self.optional(&stmt.exc)?)
            }
            py::Stmt::Assert(stmt) => StmtKind::Assert {
                test: self.expr(&stmt.test)?,
                message: self.optional(&stmt.msg)?,
            },
            py::Stmt::Return(stmt) => StmtKind::Return(self.optional(&stmt.value)?),
            py::Stmt::Break(_) => StmtKind::Break,
            py::Stmt::Continue(_) => StmtKind::Continue,
            py::Stmt::Pass(_) => StmtKind::Pass,
            other => return Err(Diagnostic::unsupported(span, refused_statement(other))),
        };
        Ok(Stmt { span, kind })
    }

    fn if_chain(
        &mut self,
        span: Span,
        test: &py::Expr,
        body: &[py::Stmt],
        rest: &[py::ElifElseClause],
    ) -> Result<Stmt> {
        let (test, body) = (self.expr(test)?, self.body(body)?);
        let orelse = match rest {
            [] => vec![],
            [clause, rest @ ..] => match &clause.test {
                None => self.body(&clause.body)?,
                Some(test) => vec![self.if_chain(self.span(clause), test, &clause.body, rest)?],
            },
        };
        Ok(Stmt {
            span,
            kind: StmtKind::If { test, body, orelse },
        })
    }

    fn with(&mut self, span: Span, items: &[py::WithItem], body: &[py::Stmt]) -> Result<Stmt> {
        let (first, rest) = items.split_first().expect("the grammar wants an item");
        let order = match &first.context_expr {
            py::Expr::Name(name) => name.id.as_str(),
            py::Expr::Attribute(attribute) => attribute.attr.as_str(),
            _ => "",
        };
        if !["parallel", "sequential", "interleave"].contains(&order) {
            return self.managed(span, first, rest, body);
        }
        if let Some(target) = &first.optional_vars {
            return Err(Diagnostic::unsupported(self.span(&**target), "'with … as'"));
        }
        if let Some(second) = rest.first() {
            return Err(Diagnostic::unsupported(self.span(second), "a second item in 'with'")
                .help("nest the 'with' statements"));
        }
        let context = self.expr(&first.context_expr)?;
        Ok(Stmt {
            span,
            kind: StmtKind::With {
                context,
                body: self.body(body)?,
            },
        })
    }

    /// A context manager becomes what it stands for: a variable that holds it, its `__enter__`, and the body in a `try` whose
    /// `finally` is its `__exit__`. Further items are inside of the first.
    fn managed(&mut self, span: Span, item: &py::WithItem, rest: &[py::WithItem], body: &[py::Stmt]) -> Result<Stmt> {
        let context = self.expr(&item.context_expr)?;
        let at = context.span;
        let variable: Rc<str> = format!("{MANAGER}{}", self.next).into();
        let stmt = |kind| Stmt { span: at, kind };
        let group = |body, finally| StmtKind::Try {
            body,
            handlers: vec![],
            orelse: vec![],
            finally,
        };
        let assign = StmtKind::Assign {
            targets: vec![self.make(at, ExprKind::Name(variable.clone()))],
            value: context,
        };
        let entered = self.method(at, &variable, "__enter__", 0);
        let enter = match self.optional(&item.optional_vars)? {
            Some(target) => StmtKind::Assign {
                targets: vec![target],
                value: entered,
            },
            None => StmtKind::Expr(entered),
        };
        let body = match rest.split_first() {
            Some((second, rest)) => vec![self.managed(span, second, rest, body)?],
            None => self.body(body)?,
        };
        let exit = StmtKind::Expr(self.method(at, &variable, "__exit__", 3));
        let inside = group(body, vec![stmt(exit)]);
        Ok(Stmt {
            span,
            kind: group(vec![stmt(assign), stmt(enter), Stmt { span, kind: inside }], vec![]),
        })
    }

    /// A call of a method of the object in `variable`, with so many `None`.
    fn method(&mut self, span: Span, variable: &Rc<str>, name: &str, arguments: usize) -> Expr {
        let object = Box::new(self.make(span, ExprKind::Name(variable.clone())));
        let callee = ExprKind::Attribute {
            value: object,
            name: name.into(),
            name_span: span,
        };
        let call = ExprKind::Call {
            callee: Box::new(self.make(span, callee)),
            args: (0..arguments).map(|_| self.make(span, ExprKind::None)).collect(),
            keywords: vec![],
        };
        self.make(span, call)
    }

    fn handler(&mut self, handler: &py::ExceptHandler) -> Result<Handler> {
        let py::ExceptHandler::ExceptHandler(handler) = handler;
        Ok(Handler {
            span: self.span(handler),
            class: self.optional(&handler.type_)?,
            name: handler.name.as_ref().map(|name| name.as_str().into()),
            body: self.body(&handler.body)?,
        })
    }

    fn optional(&mut self, expr: &Option<Box<py::Expr>>) -> Result<Option<Expr>> {
        expr.as_deref().map(|expr| self.expr(expr)).transpose()
    }

    /// A list comprehension. Its variables are not those of the function, even if they are called the same.
    fn comprehension(&mut self, span: Span, comprehension: &py::ExprListComp) -> Result<ExprKind> {
        let (first, rest) = comprehension.generators.split_first().expect("the grammar wants one");
        if let Some(second) = rest.first() {
            let text = "multiple for clauses in comprehensions are not supported";
            return Err(Diagnostic::new(self.span(second), text));
        }
        if let Some(test) = first.ifs.first() {
            let text = "if clauses in comprehensions are not supported";
            return Err(Diagnostic::new(self.span(test), text));
        }
        if first.is_async {
            return Err(Diagnostic::unsupported(span, "'async'"));
        }
        let iter = self.boxed(&first.iter)?;
        let mut names = vec![];
        target_names(&first.target, &mut names);
        let outside = self.scopes.len();
        for name in names {
            let own = format!("{name}{COMPREHENSION}{}", self.next).into();
            self.scopes.push((name, own));
        }
        let target = self.boxed(&first.target)?;
        let element = self.boxed(&comprehension.elt)?;
        self.scopes.truncate(outside);
        Ok(ExprKind::ListComp { element, target, iter })
    }

    fn exprs(&mut self, exprs: &[py::Expr]) -> Result<Vec<Expr>> {
        exprs.iter().map(|expr| self.expr(expr)).collect()
    }

    fn boxed(&mut self, expr: &py::Expr) -> Result<Box<Expr>> {
        self.expr(expr).map(Box::new)
    }

    fn expr(&mut self, expr: &py::Expr) -> Result<Expr> {
        let span = self.span(expr);
        let kind =
            match expr {
                py::Expr::NoneLiteral(_) => ExprKind::None,
                py::Expr::BooleanLiteral(literal) => ExprKind::Bool(literal.value),
                py::Expr::StringLiteral(literal) => ExprKind::Str(literal.value.to_str().into()),
                py::Expr::NumberLiteral(literal) => match &literal.value {
                    py::Number::Int(value) => ExprKind::Int(value.as_i64().ok_or_else(|| {
                        Diagnostic::new(span, "integer literal out of range for a signed 64-bit value")
                    })?),
                    py::Number::Float(value) => ExprKind::Float(*value),
                    py::Number::Complex { .. } => {
                        return Err(Diagnostic::new(span, "numeric type complex is not supported"));
                    }
                },
                py::Expr::Name(name) => {
                    let own = self.scopes.iter().rev().find(|(known, _)| known == name.id.as_str());
                    ExprKind::Name(own.map_or_else(|| name.id.as_str().into(), |(_, own)| own.clone()))
                }
                py::Expr::Attribute(attribute) => ExprKind::Attribute {
                    value: self.boxed(&attribute.value)?,
                    name: attribute.attr.as_str().into(),
                    name_span: self.span(&attribute.attr),
                },
                py::Expr::Subscript(py::ExprSubscript { value, slice, .. }) if slice.is_slice_expr() => {
                    let py::Expr::Slice(slice) = &**slice else {
                        unreachable!("the guard says so")
                    };
                    let value = self.boxed(value)?;
                    let mut bounds = [None, None, None];
                    for (to, from) in bounds.iter_mut().zip([&slice.lower, &slice.upper, &slice.step]) {
                        *to = self.optional(from)?.map(Box::new);
                    }
                    ExprKind::Slice { value, bounds }
                }
                py::Expr::Subscript(subscript) => ExprKind::Subscript {
                    value: self.boxed(&subscript.value)?,
                    index: self.boxed(&subscript.slice)?,
                },
                py::Expr::Call(call) => {
                    let keywords = call.arguments.keywords.iter().map(|keyword| {
                        let Some(name) = &keyword.arg else {
                            return Err(Diagnostic::new(
                                self.span(keyword),
                                "variadic arguments are not supported",
                            ));
                        };
                        let span = self.span(keyword);
                        Ok(Keyword {
                            name: name.as_str().into(),
                            span,
                            value: self.expr(&keyword.value)?,
                        })
                    });
                    let keywords = keywords.collect::<Result<_>>()?;
                    ExprKind::Call {
                        callee: self.boxed(&call.func)?,
                        args: self.exprs(&call.arguments.args)?,
                        keywords,
                    }
                }
                py::Expr::UnaryOp(unary) => {
                    let op = match unary.op {
                        py::UnaryOp::USub => UnaryOp::Neg,
                        py::UnaryOp::UAdd => UnaryOp::Pos,
                        py::UnaryOp::Invert => UnaryOp::Invert,
                        py::UnaryOp::Not => UnaryOp::Not,
                    };
                    ExprKind::Unary {
                        op,
                        operand: self.boxed(&unary.operand)?,
                    }
                }
                py::Expr::BinOp(operation) => ExprKind::Binary {
                    op: binary(operation.op),
                    left: self.boxed(&operation.left)?,
                    right: self.boxed(&operation.right)?,
                },
                py::Expr::Compare(compare) => {
                    let first = self.boxed(&compare.left)?;
                    let rest = compare.ops.iter().zip(&compare.comparators);
                    let rest = rest
                        .map(|(op, expr)| Ok((comparison(*op), self.expr(expr)?)))
                        .collect::<Result<_>>()?;
                    ExprKind::Compare { first, rest }
                }
                py::Expr::BoolOp(operation) => ExprKind::BoolOp {
                    and: operation.op == py::BoolOp::And,
                    values: self.exprs(&operation.values)?,
                },
                py::Expr::If(choice) => ExprKind::IfExp {
                    test: self.boxed(&choice.test)?,
                    body: self.boxed(&choice.body)?,
                    orelse: self.boxed(&choice.orelse)?,
                },
                py::Expr::ListComp(comprehension) => self.comprehension(span, comprehension)?,
                py::Expr::List(list) => ExprKind::List(self.exprs(&list.elts)?),
                py::Expr::Tuple(tuple) => ExprKind::Tuple(self.exprs(&tuple.elts)?),
                other => return Err(Diagnostic::unsupported(span, refused_expression(other))),
            };
        Ok(self.make(span, kind))
    }

    fn make(&mut self, span: Span, kind: ExprKind) -> Expr {
        self.next += 1;
        Expr {
            id: self.next - 1,
            span,
            kind,
        }
    }
}

/// Names that a target assigns to.
fn target_names(target: &py::Expr, names: &mut Vec<String>) {
    match target {
        py::Expr::Name(name) => names.push(name.id.to_string()),
        py::Expr::Tuple(tuple) => tuple.elts.iter().for_each(|elt| target_names(elt, names)),
        py::Expr::List(list) => list.elts.iter().for_each(|elt| target_names(elt, names)),
        _ => {}
    }
}

fn binary(op: py::Operator) -> BinOp {
    match op {
        py::Operator::Add => BinOp::Add,
        py::Operator::Sub => BinOp::Sub,
        py::Operator::Mult => BinOp::Mul,
        py::Operator::MatMult => BinOp::MatMul,
        py::Operator::Div => BinOp::Div,
        py::Operator::Mod => BinOp::Mod,
        py::Operator::Pow => BinOp::Pow,
        py::Operator::LShift => BinOp::Shl,
        py::Operator::RShift => BinOp::Shr,
        py::Operator::BitOr => BinOp::Or,
        py::Operator::BitXor => BinOp::Xor,
        py::Operator::BitAnd => BinOp::And,
        py::Operator::FloorDiv => BinOp::FloorDiv,
    }
}

fn comparison(op: py::CmpOp) -> CmpOp {
    match op {
        py::CmpOp::Eq => CmpOp::Eq,
        py::CmpOp::NotEq => CmpOp::NotEq,
        py::CmpOp::Lt => CmpOp::Lt,
        py::CmpOp::LtE => CmpOp::LtE,
        py::CmpOp::Gt => CmpOp::Gt,
        py::CmpOp::GtE => CmpOp::GtE,
        py::CmpOp::Is => CmpOp::Is,
        py::CmpOp::IsNot => CmpOp::IsNot,
        py::CmpOp::In => CmpOp::In,
        py::CmpOp::NotIn => CmpOp::NotIn,
    }
}
