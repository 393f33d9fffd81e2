//! Operators of the intermediate representation: the LLVM instruction for each, and constant
//! folding.

/// Instructions with two operands of the same type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Binary {
    Add,
    Sub,
    Mul,
    SDiv,
    SRem,
    UDiv,
    URem,
    And,
    Or,
    Xor,
    Shl,
    AShr,
    FAdd,
    FSub,
    FMul,
    FDiv,
}

impl Binary {
    pub const fn name(self) -> &'static str {
        match self {
            Binary::Add => "add",
            Binary::Sub => "sub",
            Binary::Mul => "mul",
            Binary::SDiv => "sdiv",
            Binary::SRem => "srem",
            Binary::UDiv => "udiv",
            Binary::URem => "urem",
            Binary::And => "and",
            Binary::Or => "or",
            Binary::Xor => "xor",
            Binary::Shl => "shl",
            Binary::AShr => "ashr",
            Binary::FAdd => "fadd",
            Binary::FSub => "fsub",
            Binary::FMul => "fmul",
            Binary::FDiv => "fdiv",
        }
    }

    /// Whether the operands are floats, as opposed to integers.
    pub const fn is_float(self) -> bool {
        matches!(self, Binary::FAdd | Binary::FSub | Binary::FMul | Binary::FDiv)
    }

    /// The result for integers of the given width, not yet truncated to it; None if LLVM leaves it
    /// undefined.
    pub fn fold_int(self, x: i64, y: i64, bits: u32) -> Option<i64> {
        let small = (0..i64::from(bits)).contains(&y);
        let unsigned = |value: i64| value as u64 & (u64::MAX >> (64 - bits));
        match self {
            Binary::Add => Some(x.wrapping_add(y)),
            Binary::Sub => Some(x.wrapping_sub(y)),
            Binary::Mul => Some(x.wrapping_mul(y)),
            Binary::SDiv => (y != 0).then(|| x.wrapping_div(y)),
            Binary::SRem => (y != 0).then(|| x.wrapping_rem(y)),
            Binary::UDiv => (y != 0).then(|| (unsigned(x) / unsigned(y)) as i64),
            Binary::URem => (y != 0).then(|| (unsigned(x) % unsigned(y)) as i64),
            Binary::And => Some(x & y),
            Binary::Or => Some(x | y),
            Binary::Xor => Some(x ^ y),
            Binary::Shl => small.then(|| x.wrapping_shl(y as u32)),
            Binary::AShr => small.then(|| x.wrapping_shr(y as u32)),
            Binary::FAdd | Binary::FSub | Binary::FMul | Binary::FDiv => None,
        }
    }

    /// The result for floats; None if it is NaN.
    pub fn fold_float(self, x: f64, y: f64) -> Option<f64> {
        let value = match self {
            Binary::FAdd => x + y,
            Binary::FSub => x - y,
            Binary::FMul => x * y,
            Binary::FDiv => x / y,
            Binary::Add
            | Binary::Sub
            | Binary::Mul
            | Binary::SDiv
            | Binary::SRem
            | Binary::UDiv
            | Binary::URem
            | Binary::And
            | Binary::Or
            | Binary::Xor
            | Binary::Shl
            | Binary::AShr => return None,
        };
        (!value.is_nan()).then_some(value)
    }
}

/// Comparisons of two operands of the same type: integers (signed, except `Ult`), addresses, and
/// floats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compare {
    Eq,
    Ne,
    Slt,
    Sle,
    Sgt,
    Sge,
    Ult,
    /// Float comparisons are false if an operand is NaN, except `FUne`.
    FOeq,
    FUne,
    FOlt,
    FOle,
    FOgt,
    FOge,
}

impl Compare {
    pub const fn name(self) -> &'static str {
        match self {
            Compare::Eq => "icmp eq",
            Compare::Ne => "icmp ne",
            Compare::Slt => "icmp slt",
            Compare::Sle => "icmp sle",
            Compare::Sgt => "icmp sgt",
            Compare::Sge => "icmp sge",
            Compare::Ult => "icmp ult",
            Compare::FOeq => "fcmp oeq",
            Compare::FUne => "fcmp une",
            Compare::FOlt => "fcmp olt",
            Compare::FOle => "fcmp ole",
            Compare::FOgt => "fcmp ogt",
            Compare::FOge => "fcmp oge",
        }
    }

    /// The result for constants; None if LLVM must compute it.
    pub fn fold(self, ints: Option<(i64, i64)>, floats: Option<(f64, f64)>) -> Option<bool> {
        match self {
            Compare::Eq => ints.map(|(x, y)| x == y),
            Compare::Ne => ints.map(|(x, y)| x != y),
            Compare::Slt => ints.map(|(x, y)| x < y),
            Compare::Sle => ints.map(|(x, y)| x <= y),
            Compare::Sgt => ints.map(|(x, y)| x > y),
            Compare::Sge => ints.map(|(x, y)| x >= y),
            Compare::FOeq => floats.map(|(x, y)| x == y),
            Compare::FUne => floats.map(|(x, y)| x != y),
            Compare::FOlt => floats.map(|(x, y)| x < y),
            Compare::FOle => floats.map(|(x, y)| x <= y),
            Compare::FOgt => floats.map(|(x, y)| x > y),
            Compare::FOge => floats.map(|(x, y)| x >= y),
            // Both are sign-extended from the same width, which preserves their unsigned order.
            Compare::Ult => ints.map(|(x, y)| (x as u64) < (y as u64)),
        }
    }
}

/// Conversions from one type to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Convert {
    Trunc,
    ZExt,
    SExt,
    FPToSI,
    SIToFP,
    IntToPtr,
}

impl Convert {
    pub const fn name(self) -> &'static str {
        match self {
            Convert::Trunc => "trunc",
            Convert::ZExt => "zext",
            Convert::SExt => "sext",
            Convert::FPToSI => "fptosi",
            Convert::SIToFP => "sitofp",
            Convert::IntToPtr => "inttoptr",
        }
    }
}
