//! Operators: symbols, and conversion from the parser crate.

use ruff_python_ast as py;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnaryOp {
    Neg,
    Pos,
    Invert,
    Not,
}

impl UnaryOp {
    pub(super) fn read(op: py::UnaryOp) -> UnaryOp {
        match op {
            py::UnaryOp::USub => UnaryOp::Neg,
            py::UnaryOp::UAdd => UnaryOp::Pos,
            py::UnaryOp::Invert => UnaryOp::Invert,
            py::UnaryOp::Not => UnaryOp::Not,
        }
    }
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
    pub(super) fn read(op: py::Operator) -> BinOp {
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
    pub(super) fn read(op: py::CmpOp) -> CmpOp {
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
