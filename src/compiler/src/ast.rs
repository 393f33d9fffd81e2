//! The syntax tree of a kernel function: what remains of Python once everything no kernel can use is refused.
//!
//! Every expression has a number, unique in its function; later passes keep what they learn in tables indexed by it.

use std::rc::Rc;

use crate::source::Span;

pub type ExprId = u32;

/// A function definition with everything inside it.
#[derive(Debug)]
pub struct Function {
    pub name: Rc<str>,
    /// The name in the `def` line.
    pub name_span: Span,
    pub params: Vec<Param>,
    pub body: Vec<Stmt>,
    /// Number of expressions; their ids are below it.
    pub expr_count: u32,
}

#[derive(Debug)]
pub struct Param {
    pub name: Rc<str>,
    pub span: Span,
    pub has_default: bool,
}

#[derive(Debug)]
pub struct Stmt {
    pub span: Span,
    pub kind: StmtKind,
}

#[derive(Debug)]
pub enum StmtKind {
    Expr(Expr),
    Assign {
        targets: Vec<Expr>,
        value: Expr,
    },
    AugAssign {
        target: Expr,
        op: BinOp,
        value: Expr,
    },
    If {
        test: Expr,
        body: Vec<Stmt>,
        orelse: Vec<Stmt>,
    },
    While {
        test: Expr,
        body: Vec<Stmt>,
        orelse: Vec<Stmt>,
    },
    For {
        target: Expr,
        iter: Expr,
        body: Vec<Stmt>,
        orelse: Vec<Stmt>,
    },
    /// `parallel`, `sequential` or `interleave`; a context manager is a `Try`.
    With {
        context: Expr,
        body: Vec<Stmt>,
    },
    Try {
        body: Vec<Stmt>,
        handlers: Vec<Handler>,
        orelse: Vec<Stmt>,
        finally: Vec<Stmt>,
    },
    Raise(Option<Expr>),
    Assert {
        test: Expr,
        message: Option<Expr>,
    },
    Return(Option<Expr>),
    Break,
    Continue,
    Pass,
}

#[derive(Debug)]
pub struct Handler {
    pub span: Span,
    /// None: catches everything.
    pub class: Option<Expr>,
    pub name: Option<Rc<str>>,
    pub body: Vec<Stmt>,
}

#[derive(Debug)]
pub struct Expr {
    pub id: ExprId,
    pub span: Span,
    pub kind: ExprKind,
}

/// Stands between the name of a variable of a list comprehension and a number that makes it unique.
pub const COMPREHENSION: char = '#';

/// Begins the name of a variable that holds a context manager; no name of a program does.
pub const MANAGER: &str = "with ";

#[derive(Debug)]
pub enum ExprKind {
    None,
    Bool(bool),
    Int(i64),
    Float(f64),
    Str(Rc<str>),
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
    /// `[element for target in iter]`; the parser gives the variables names of their own.
    ListComp {
        element: Box<Expr>,
        target: Box<Expr>,
        iter: Box<Expr>,
    },
    /// `value[start:stop:step]`
    Slice {
        value: Box<Expr>,
        bounds: [Option<Box<Expr>>; 3],
    },
}

#[derive(Debug)]
pub struct Keyword {
    pub name: Rc<str>,
    pub span: Span,
    pub value: Expr,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnaryOp {
    Neg,
    Pos,
    Invert,
    Not,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BinOp {
    Add,
    Sub,
    Mul,
    Div,
    FloorDiv,
    Mod,
    Pow,
    Shl,
    Shr,
    And,
    Or,
    Xor,
    MatMul,
}

impl BinOp {
    pub fn symbol(self) -> &'static str {
        use BinOp::*;
        match self {
            Add => "+",
            Sub => "-",
            Mul => "*",
            Div => "/",
            FloorDiv => "//",
            Mod => "%",
            Pow => "**",
            Shl => "<<",
            Shr => ">>",
            And => "&",
            Or => "|",
            Xor => "^",
            MatMul => "@",
        }
    }

    /// Shifts and bit operations work on integers only.
    pub fn integer_only(self) -> bool {
        matches!(self, BinOp::Shl | BinOp::Shr | BinOp::And | BinOp::Or | BinOp::Xor)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CmpOp {
    Eq,
    NotEq,
    Lt,
    LtE,
    Gt,
    GtE,
    Is,
    IsNot,
    In,
    NotIn,
}

impl CmpOp {
    pub fn symbol(self) -> &'static str {
        use CmpOp::*;
        match self {
            Eq => "==",
            NotEq => "!=",
            Lt => "<",
            LtE => "<=",
            Gt => ">",
            GtE => ">=",
            Is => "is",
            IsNot => "is not",
            In => "in",
            NotIn => "not in",
        }
    }
}
