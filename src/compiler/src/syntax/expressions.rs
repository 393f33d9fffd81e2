//! Expressions: their kinds, their parts, and their conversion.

use std::rc::Rc;

use ruff_python_ast as py;

use super::format::template;
use super::fstring::FString;
use super::refused::refused_expression;
use super::{BinOp, CmpOp, Converter, Function, UnaryOp};
use crate::diagnostic::{Diagnostic, Result};
use crate::source::Span;

pub type ExprId = u32;

#[derive(Clone, Debug)]
pub struct Expr {
    pub id: ExprId,
    pub span: Span,
    pub kind: ExprKind,
}

/// Separates the name of a comprehension variable from the number that makes it unique.
pub const COMPREHENSION: char = '#';

#[derive(Clone, Debug)]
pub enum ExprKind {
    None,
    Bool(bool),
    Int(i64),
    Float(f64),
    Str(Rc<str>),
    Bytes(Rc<[u8]>),
    /// An f-string with values.
    FString(FString),
    Name(Rc<str>),
    Attribute {
        value: Box<Expr>,
        name: Rc<str>,
        name_span: Span,
    },
    Subscript {
        value: Box<Expr>,
        index: Box<Expr>,
    },
    Call {
        callee: Box<Expr>,
        args: Vec<Expr>,
        keywords: Vec<Keyword>,
    },
    Unary {
        op: UnaryOp,
        operand: Box<Expr>,
    },
    Binary {
        op: BinOp,
        left: Box<Expr>,
        right: Box<Expr>,
    },
    /// `first op1 x1 op2 x2 …`
    Compare {
        first: Box<Expr>,
        rest: Vec<(CmpOp, Expr)>,
    },
    BoolOp {
        and: bool,
        values: Vec<Expr>,
    },
    IfExp {
        test: Box<Expr>,
        body: Box<Expr>,
        orelse: Box<Expr>,
    },
    List(Vec<Expr>),
    Tuple(Vec<Expr>),
    /// `target := value`, where the target is a variable of the function.
    Named {
        target: Box<Expr>,
        value: Box<Expr>,
    },
    /// `[element for target in iter if test …]`; the parser gives the variables of the clauses unique
    /// names.
    ListComp {
        element: Box<Expr>,
        clauses: Vec<Clause>,
    },
    /// `(element for target in iter if test …)`, the first argument of a function that iterates
    /// over its elements.
    Generator {
        element: Box<Expr>,
        clauses: Vec<Clause>,
    },
    /// A lambda, or the function that a nested `def` binds to its name.
    Function {
        function: Rc<Function>,
        /// Defaults of the last parameters.
        defaults: Vec<Expr>,
    },
    /// `value[start:stop:step]`
    Slice {
        value: Box<Expr>,
        bounds: [Option<Box<Expr>>; 3],
    },
    /// `value[i, start:stop:step, …]` with at least one slice.
    Slices {
        value: Box<Expr>,
        dims: Vec<Dimension>,
    },
}

/// The subscript of one dimension.
#[derive(Clone, Debug)]
pub enum Dimension {
    At(Expr),
    Slice([Option<Box<Expr>>; 3]),
}

impl Dimension {
    /// The contained expressions in order.
    pub fn exprs(&self) -> impl Iterator<Item = &Expr> {
        let (at, bounds) = match self {
            Dimension::At(index) => (Some(index), None),
            Dimension::Slice(bounds) => (None, Some(bounds)),
        };
        at.into_iter()
            .chain(bounds.into_iter().flatten().flatten().map(|bound| &**bound))
    }
}

/// `for target in iter if test if test`
#[derive(Clone, Debug)]
pub struct Clause {
    pub target: Expr,
    pub iter: Expr,
    pub tests: Vec<Expr>,
}

#[derive(Clone, Debug)]
pub struct Keyword {
    pub name: Rc<str>,
    pub span: Span,
    pub value: Expr,
}

/// The origin of an expression's value, for lifetimes.
pub enum Origin<'a> {
    /// Created by the expression, if it has parts in memory.
    New,
    Variable,
    /// The result of a call of this callee.
    Call(&'a Expr),
    /// An element of this value.
    Element(&'a Expr),
    /// A slice of this value; true if it has a step.
    Slice(&'a Expr, bool),
    /// One or all of these values.
    Parts(&'a [Expr]),
    /// One of two values.
    Either(&'a Expr, &'a Expr),
    /// A constant, or a value that outlives every function.
    Elsewhere,
}

impl ExprKind {
    pub fn origin(&self) -> Origin<'_> {
        match self {
            ExprKind::List(_)
            | ExprKind::ListComp { .. }
            | ExprKind::Function { .. }
            | ExprKind::FString(_)
            | ExprKind::Unary { .. }
            | ExprKind::Binary { .. } => Origin::New,
            ExprKind::Name(_) => Origin::Variable,
            ExprKind::Call { callee, .. } => Origin::Call(callee),
            ExprKind::Subscript { value, .. } => Origin::Element(value),
            ExprKind::Slice { value, bounds } => Origin::Slice(value, bounds[2].is_some()),
            ExprKind::Slices { value, .. } => Origin::Slice(value, false),
            ExprKind::Tuple(elements) | ExprKind::BoolOp { values: elements, .. } => Origin::Parts(elements),
            ExprKind::Named { value, .. } => Origin::Parts(std::slice::from_ref(value)),
            ExprKind::IfExp { body, orelse, .. } => Origin::Either(body, orelse),
            ExprKind::None
            | ExprKind::Bool(_)
            | ExprKind::Int(_)
            | ExprKind::Float(_)
            | ExprKind::Str(_)
            | ExprKind::Bytes(_)
            | ExprKind::Attribute { .. }
            | ExprKind::Compare { .. }
            | ExprKind::Generator { .. } => Origin::Elsewhere,
        }
    }

    /// Visits the variables that the expression itself assigns, with their spans.
    pub fn each_variable(&self, visit: &mut dyn FnMut(&Rc<str>, Span)) {
        match self {
            ExprKind::Named { target, .. } => declare_target(target, visit),
            ExprKind::ListComp { clauses, .. } | ExprKind::Generator { clauses, .. } => {
                clauses.iter().for_each(|clause| declare_target(&clause.target, visit));
            }
            _ => {}
        }
    }
}

impl ExprKind {
    /// Visits the direct subexpressions in the order of evaluation, but not bodies of functions.
    pub fn each_part<'a>(&'a self, each: &mut dyn FnMut(&'a Expr)) {
        match self {
            ExprKind::Attribute { value, .. } => each(value),
            ExprKind::Unary { operand, .. } => each(operand),
            ExprKind::Subscript { value, index } => [value, index].into_iter().for_each(|e| each(e)),
            ExprKind::Binary { left, right, .. } => [left, right].into_iter().for_each(|e| each(e)),
            ExprKind::Call { callee, args, keywords } => {
                each(callee);
                args.iter().for_each(&mut *each);
                keywords.iter().for_each(|keyword| each(&keyword.value));
            }
            ExprKind::Compare { first, rest } => {
                each(first);
                rest.iter().for_each(|(_, value)| each(value));
            }
            ExprKind::IfExp { test, body, orelse } => [test, body, orelse].into_iter().for_each(|e| each(e)),
            ExprKind::BoolOp { values, .. } | ExprKind::List(values) | ExprKind::Tuple(values) => {
                values.iter().for_each(each)
            }
            ExprKind::FString(string) => string.values.iter().for_each(each),
            ExprKind::Named { target, value } => [value, target].into_iter().for_each(|e| each(e)),
            ExprKind::ListComp { element, clauses } | ExprKind::Generator { element, clauses } => {
                for clause in clauses {
                    [&clause.iter, &clause.target].into_iter().for_each(&mut *each);
                    clause.tests.iter().for_each(&mut *each);
                }
                each(element);
            }
            ExprKind::Function { defaults, .. } => defaults.iter().for_each(each),
            ExprKind::Slice { value, bounds } => {
                each(value);
                bounds.iter().flatten().for_each(|bound| each(bound));
            }
            ExprKind::Slices { value, dims } => {
                each(value);
                dims.iter().flat_map(Dimension::exprs).for_each(each);
            }
            ExprKind::Name(_)
            | ExprKind::None
            | ExprKind::Bool(_)
            | ExprKind::Int(_)
            | ExprKind::Float(_)
            | ExprKind::Bytes(_)
            | ExprKind::Str(_) => {}
        }
    }

    /// The same, to change them.
    pub(super) fn each_part_mut(&mut self, each: &mut dyn FnMut(&mut Expr)) {
        match self {
            ExprKind::Attribute { value, .. } | ExprKind::Unary { operand: value, .. } => each(value),
            ExprKind::Subscript { value, index } => [value, index].into_iter().for_each(|expr| each(expr)),
            ExprKind::Binary { left, right, .. } => [left, right].into_iter().for_each(|expr| each(expr)),
            ExprKind::Call { callee, args, keywords } => {
                each(callee);
                args.iter_mut().for_each(&mut *each);
                keywords.iter_mut().for_each(|keyword| each(&mut keyword.value));
            }
            ExprKind::Compare { first, rest } => {
                each(first);
                rest.iter_mut().for_each(|(_, value)| each(value));
            }
            ExprKind::IfExp { test, body, orelse } => [test, body, orelse].into_iter().for_each(|expr| each(expr)),
            ExprKind::BoolOp { values, .. } | ExprKind::List(values) | ExprKind::Tuple(values) => {
                values.iter_mut().for_each(each)
            }
            ExprKind::FString(string) => string.values.iter_mut().for_each(each),
            ExprKind::Named { target, value } => [value, target].into_iter().for_each(|expr| each(expr)),
            ExprKind::ListComp { element, clauses } | ExprKind::Generator { element, clauses } => {
                for clause in clauses {
                    [&mut clause.iter, &mut clause.target].into_iter().for_each(&mut *each);
                    clause.tests.iter_mut().for_each(&mut *each);
                }
                each(element);
            }
            ExprKind::Function { defaults, .. } => defaults.iter_mut().for_each(each),
            ExprKind::Slice { value, bounds } => {
                each(value);
                bounds.iter_mut().flatten().for_each(|bound| each(bound));
            }
            ExprKind::Slices { value, dims } => {
                each(value);
                for dimension in dims {
                    match dimension {
                        Dimension::At(index) => each(index),
                        Dimension::Slice(bounds) => bounds.iter_mut().flatten().for_each(|bound| each(bound)),
                    }
                }
            }
            ExprKind::Name(_) | ExprKind::Str(_) | ExprKind::Bytes(_) => {}
            ExprKind::None | ExprKind::Bool(_) | ExprKind::Int(_) | ExprKind::Float(_) => {}
        }
    }
}

impl Expr {
    /// If this is an attribute, its object, and how the host calls the attribute `name` of its value, as in
    /// `mode.value`.
    pub fn attribute_path(&self, name: &str) -> Option<(&Expr, String)> {
        match &self.kind {
            ExprKind::Attribute { value, name: own, .. } => Some((value, format!("{own}.{name}"))),
            _ => None,
        }
    }
}

/// Visits an expression and its subexpressions, but not bodies of functions.
pub fn walk_expr<'a>(expr: &'a Expr, visit: &mut dyn FnMut(&'a Expr)) {
    visit(expr);
    expr.kind.each_part(&mut |part| walk_expr(part, visit));
}

/// Visits the variables of an assignment target.
pub(super) fn declare_target(target: &Expr, visit: &mut dyn FnMut(&Rc<str>, Span)) {
    match &target.kind {
        ExprKind::Name(name) => visit(name, target.span),
        ExprKind::Tuple(elts) | ExprKind::List(elts) => elts.iter().for_each(|elt| declare_target(elt, visit)),
        _ => {}
    }
}

impl Converter<'_> {
    pub(super) fn expr(&mut self, expr: &py::Expr) -> Result<Expr> {
        let span = self.span(expr);
        let kind = match expr {
            py::Expr::NoneLiteral(_) => ExprKind::None,
            py::Expr::BooleanLiteral(literal) => ExprKind::Bool(literal.value),
            py::Expr::StringLiteral(literal) => ExprKind::Str(literal.value.to_str().into()),
            py::Expr::BytesLiteral(literal) => ExprKind::Bytes(literal.value.bytes().collect()),
            py::Expr::NumberLiteral(literal) => match &literal.value {
                py::Number::Int(value) => return self.integer_literal(span, value.as_u64().map(i128::from)),
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
            py::Expr::Subscript(subscript) => self.subscript(subscript)?,
            py::Expr::Call(call) if self.key_of_sorted(call).is_some() => self.sorted_by_key(call)?,
            py::Expr::Call(call) if template(call).is_some() => {
                self.format(call, template(call).expect("the guard says so"))?
            }
            py::Expr::Call(call) => {
                let keywords = call.arguments.keywords.iter().map(|keyword| self.keyword(keyword));
                let keywords = keywords.collect::<Result<_>>()?;
                ExprKind::Call {
                    callee: self.boxed(&call.func)?,
                    args: self.arguments(&call.arguments.args)?,
                    keywords,
                }
            }
            py::Expr::UnaryOp(unary) => {
                let operand = self.expr(&unary.operand)?;
                return Ok(self.unary(span, UnaryOp::read(unary.op), operand));
            }
            py::Expr::BinOp(operation) => {
                let (left, right) = (self.expr(&operation.left)?, self.expr(&operation.right)?);
                return self.binary(span, BinOp::read(operation.op), left, right);
            }
            py::Expr::Compare(compare) => {
                let first = self.boxed(&compare.left)?;
                let rest = compare.ops.iter().zip(&compare.comparators);
                let rest = rest
                    .map(|(op, expr)| Ok((CmpOp::read(*op), self.expr(expr)?)))
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
            py::Expr::FString(text) => self.text(text)?,
            py::Expr::Lambda(lambda) => self.lambda(span, lambda)?,
            py::Expr::Named(named) => self.named(named)?,
            py::Expr::ListComp(comprehension) => self.comprehension(comprehension)?,
            py::Expr::List(list) => ExprKind::List(self.exprs(&list.elts)?),
            py::Expr::Tuple(tuple) => ExprKind::Tuple(self.exprs(&tuple.elts)?),
            other => return Err(refused_expression(span, other)),
        };
        Ok(self.make(span, kind))
    }

    /// `value[index]`, with slices or without.
    fn subscript(&mut self, subscript: &py::ExprSubscript) -> Result<ExprKind> {
        let value = self.boxed(&subscript.value)?;
        Ok(match &*subscript.slice {
            py::Expr::Slice(slice) => ExprKind::Slice {
                value,
                bounds: self.bounds(slice)?,
            },
            py::Expr::Tuple(tuple) if tuple.elts.iter().any(py::Expr::is_slice_expr) => {
                let dims = tuple.elts.iter().map(|dimension| match dimension {
                    py::Expr::Slice(slice) => self.bounds(slice).map(Dimension::Slice),
                    index => self.expr(index).map(Dimension::At),
                });
                let dims = dims.collect::<Result<_>>()?;
                ExprKind::Slices { value, dims }
            }
            index => ExprKind::Subscript {
                value,
                index: self.boxed(index)?,
            },
        })
    }

    /// `name := value`. The variable is one of the function, also in a comprehension.
    fn named(&mut self, named: &py::ExprNamed) -> Result<ExprKind> {
        let value = self.boxed(&named.value)?;
        let py::Expr::Name(name) = &*named.target else {
            unreachable!("the grammar wants a name")
        };
        let target = self.make(self.span(name), ExprKind::Name(name.id.as_str().into()));
        Ok(ExprKind::Named {
            target: Box::new(target),
            value,
        })
    }

    pub(super) fn keyword(&mut self, keyword: &py::Keyword) -> Result<Keyword> {
        let span = self.span(keyword);
        let Some(name) = &keyword.arg else {
            return Err(Diagnostic::new(span, "variadic arguments are not supported"));
        };
        Ok(Keyword {
            name: name.as_str().into(),
            span,
            value: self.expr(&keyword.value)?,
        })
    }

    fn bounds(&mut self, slice: &py::ExprSlice) -> Result<[Option<Box<Expr>>; 3]> {
        let mut bounds = [None, None, None];
        for (to, from) in bounds.iter_mut().zip([&slice.lower, &slice.upper, &slice.step]) {
            *to = self.optional(from)?.map(Box::new);
        }
        Ok(bounds)
    }

    pub(super) fn exprs(&mut self, exprs: &[py::Expr]) -> Result<Vec<Expr>> {
        exprs.iter().map(|expr| self.expr(expr)).collect()
    }

    pub(super) fn boxed(&mut self, expr: &py::Expr) -> Result<Box<Expr>> {
        self.expr(expr).map(Box::new)
    }

    pub(super) fn make(&mut self, span: Span, kind: ExprKind) -> Expr {
        self.next += 1;
        Expr {
            id: self.next - 1,
            span,
            kind,
        }
    }
}
