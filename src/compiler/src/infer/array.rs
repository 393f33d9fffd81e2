//! Types of NumPy arrays: their making, operations on them, and mathematical functions, which also map over them.

use super::Infer;
use crate::ast::*;
use crate::diagnostic::{Diagnostic, Result};
use crate::resolve::mathematics;
use crate::source::Span;
use crate::types::{Kind, Ty};

impl Infer<'_, '_> {
    /// Type of the elements and number of dimensions; None for what is not an array.
    pub(super) fn array_parts(&mut self, ty: Ty) -> Option<(Ty, u8)> {
        match *self.types().kind(ty) {
            Kind::Array(elt, dims) => Some((elt, dims)),
            _ => None,
        }
    }

    /// What is left of an array when `count` of its dimensions are indexed.
    pub(super) fn indexed_array(&mut self, elt: Ty, dims: u8, count: usize, span: Span) -> Result<Ty> {
        match usize::from(dims).checked_sub(count) {
            Some(0) => Ok(elt),
            Some(left) => Ok(self.kind(Kind::Array(elt, left as u8))),
            None => Err(Diagnostic::new(
                span,
                format!("too many indices for array of dimension {dims}"),
            )),
        }
    }

    /// Type of the elements of an array that the expression `whole` makes.
    fn result_elements(&mut self, whole: &Expr, dims: u8) -> Result<Ty> {
        let result = self.function().types[whole.id as usize];
        if let Some((elt, _)) = self.array_parts(result) {
            return Ok(elt);
        }
        let elt = self.types().var();
        let array = self.kind(Kind::Array(elt, dims));
        self.unify(result, array, whole.span, "this array")?;
        Ok(elt)
    }

    /// `left op right`, one of which is an array.
    pub(super) fn array_binary(&mut self, op: BinOp, left: (Ty, Span), right: (Ty, Span), whole: &Expr) -> Result<()> {
        let (l, r) = self.array_operands(op, left, right)?;
        if op == BinOp::MatMul {
            return self.matrix_product((l, left.1), (r, right.1), whole);
        }
        let dims = l.1.max(r.1);
        let elt = self.result_elements(whole, dims)?;
        let result = match op {
            BinOp::Div => Some(self.kind(Kind::Float)),
            _ => self.promote(l.0, r.0, Some((elt, whole)))?,
        };
        match result {
            Some(result) => self.unify(elt, result, whole.span, "the elements"),
            None => Ok(()),
        }
    }

    /// Checks the operands; gives for each the type of its elements and its dimensions, 0 for a number.
    fn array_operands(&mut self, op: BinOp, left: (Ty, Span), right: (Ty, Span)) -> Result<((Ty, u8), (Ty, u8))> {
        if op.integer_only() {
            let text = format!("operator '{}' not valid for array types", op.symbol());
            return Err(Diagnostic::new(left.1.to(right.1), text));
        }
        let [l, r] = [left.0, right.0].map(|ty| self.array_parts(ty).unwrap_or((ty, 0)));
        self.numeric(l.0, left.1)?;
        self.numeric(r.0, right.1)?;
        if op != BinOp::MatMul && l.1 != r.1 && l.1 * r.1 != 0 {
            let text = format!("dimensions of '{}' array operands must match", op.symbol());
            let error = Diagnostic::new(left.1.to(right.1), text);
            return Err(error.here(format!("they are {} and {}", l.1, r.1)));
        }
        Ok((l, r))
    }

    fn matrix_product(&mut self, left: ((Ty, u8), Span), right: ((Ty, u8), Span), whole: &Expr) -> Result<()> {
        for ((_, dims), span) in [left, right] {
            if !(1..=2).contains(&dims) {
                return Err(Diagnostic::new(span, "'@' works on arrays of one or two dimensions"));
            }
        }
        let (((l, m), _), ((r, n), _)) = (left, right);
        let elt = match m + n - 2 {
            0 => self.function().types[whole.id as usize],
            dims => self.result_elements(whole, dims)?,
        };
        match self.promote(l, r, Some((elt, whole)))? {
            Some(result) => self.unify(elt, result, whole.span, "the product"),
            None => Ok(()),
        }
    }

    /// `target op= operand` for an array as target, which keeps its type.
    pub(super) fn array_aug_assign(
        &mut self,
        op: BinOp,
        target: (Ty, Span),
        operand: (Ty, Span),
    ) -> Result<Option<(Ty, Ty)>> {
        let (wanted, given) = self.array_operands(op, target, operand)?;
        if given.1 > wanted.1 || op == BinOp::MatMul {
            return Err(Diagnostic::unsupported(
                operand.1,
                &format!("'{}=' with this array", op.symbol()),
            ));
        }
        let result = match op {
            BinOp::Div => Some(self.kind(Kind::Float)),
            _ => self.promote(wanted.0, given.0, None)?,
        };
        Ok(result.map(|result| (wanted.0, result)))
    }

    /// A function of NumPy or SciPy.
    pub(super) fn numpy(
        &mut self,
        name: &str,
        whole: &Expr,
        args: &[Expr],
        types: &[Ty],
        keywords: &[Keyword],
    ) -> Result<Ty> {
        let plain = name.rsplit('.').next().unwrap_or(name);
        let (least, most) = match (name, mathematics(name)) {
            (_, Some((_, count))) => (count, count),
            ("numpy.full", _) => (2, 2),
            ("numpy.array", _) => (1, 2),
            _ => (1, 1),
        };
        if !(least..=most).contains(&args.len()) {
            let text = format!("'{plain}' takes {least} argument(s), {} are passed", args.len());
            return Err(Diagnostic::new(whole.span, text));
        }
        if let Some(keyword) = keywords.iter().find(|k| name != "numpy.array" || &*k.name != "dtype") {
            let text = format!("'{plain}' does not accept argument '{}' in a kernel", keyword.name);
            return Err(Diagnostic::new(keyword.span, text));
        }
        if self.types().is_var(types[0]) {
            return Ok(self.types().var());
        }
        match name {
            "numpy.array" => {
                let dtype = args.get(1).or_else(|| keywords.first().map(|keyword| &keyword.value));
                self.array_of(types[0], args[0].span, dtype)
            }
            "numpy.full" => {
                let dims = match self.types().kind(types[0]).clone() {
                    Kind::Tuple(lengths) if !lengths.is_empty() => {
                        for &length in lengths.iter() {
                            self.length(length, args[0].span)?;
                        }
                        lengths.len() as u8
                    }
                    _ => {
                        self.length(types[0], args[0].span)?;
                        1
                    }
                };
                Ok(self.kind(Kind::Array(types[1], dims)))
            }
            "numpy.transpose" => match self.array_parts(types[0]) {
                Some((_, 1..=2)) => Ok(types[0]),
                _ => {
                    let text = format!("transpose() of a value of type {}", self.type_name(types[0]));
                    Err(Diagnostic::unsupported(args[0].span, &text))
                }
            },
            _ => self.mapped(args, types),
        }
    }

    fn length(&mut self, ty: Ty, span: Span) -> Result<()> {
        let int = self.kind(Kind::Int32);
        self.unify(int, ty, span, "a length")
    }

    /// `numpy.array(value)`: as many dimensions as lists are nested.
    fn array_of(&mut self, value: Ty, span: Span, dtype: Option<&Expr>) -> Result<Ty> {
        let (mut elt, mut dims) = (value, 0);
        loop {
            match *self.types().kind(elt) {
                Kind::List(inner) => (elt, dims) = (inner, dims + 1),
                Kind::Range(inner) if dims == 0 => (elt, dims) = (inner, 1),
                Kind::Array(inner, own) => (elt, dims) = (inner, dims + own),
                _ => break,
            }
        }
        if dims == 0 {
            let error = Diagnostic::new(span, "the argument of array() must be of an iterable type");
            return Err(error.here(format!("this is of type {}", self.type_name(value))));
        }
        if let Some(dtype) = dtype {
            let ty = self.expr(dtype)?;
            elt = match self.types().kind(ty) {
                Kind::Builtin("float") => self.kind(Kind::Float),
                Kind::Builtin("int32") => self.kind(Kind::Int32),
                Kind::Builtin("int64") => self.kind(Kind::Int64),
                Kind::Builtin("bool") => self.kind(Kind::Bool),
                _ => {
                    let error = Diagnostic::new(dtype.span, "this is not a type of array elements");
                    return Err(error.help("use float, bool, np.int32 or np.int64"));
                }
            };
        }
        Ok(self.kind(Kind::Array(elt, dims)))
    }

    /// A function of floats, which also maps over arrays of them.
    fn mapped(&mut self, args: &[Expr], types: &[Ty]) -> Result<Ty> {
        let mut result = self.kind(Kind::Float);
        let mut dims = 0;
        for (arg, &ty) in args.iter().zip(types) {
            let (elt, own) = self.array_parts(ty).unwrap_or((ty, 0));
            let float = self.kind(Kind::Float);
            self.unify(float, elt, arg.span, "this argument")?;
            if own > 0 && dims > 0 && own != dims {
                return Err(Diagnostic::new(arg.span, "dimensions of the arrays must match"));
            }
            if own > 0 {
                (result, dims) = (ty, own);
            }
        }
        Ok(result)
    }
}
