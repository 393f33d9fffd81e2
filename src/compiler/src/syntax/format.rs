//! `"…".format(…)` on a text in quotes: the same as an f-string.

use std::iter::Peekable;
use std::str::Chars;

use ruff_python_ast as py;

use super::{Converter, ExprKind, FString, Piece};
use crate::diagnostic::{Diagnostic, Result};

/// The template of a call of `format` on a text in quotes.
pub(super) fn template(call: &py::ExprCall) -> Option<&str> {
    match &*call.func {
        py::Expr::Attribute(method) if method.attr.as_str() == "format" => match &*method.value {
            py::Expr::StringLiteral(template) => Some(template.value.to_str()),
            _ => None,
        },
        _ => None,
    }
}

impl Converter<'_> {
    pub(super) fn format(&mut self, call: &py::ExprCall, template: &str) -> Result<ExprKind> {
        let mut values = self.exprs(&call.arguments.args)?;
        let mut names = vec![];
        for keyword in &call.arguments.keywords {
            let keyword = self.keyword(keyword)?;
            names.push(keyword.name);
            values.push(keyword.value);
        }
        let mut fields = Fields {
            positional: values.len() - names.len(),
            names: names.iter().map(|name| &**name).collect(),
            next: 0,
        };
        let Some(pieces) = fields.pieces(template) else {
            let error = Diagnostic::new(
                self.span(&*call.func),
                "this format does not fit the values given to it",
            );
            return Err(error.help("write an f-string, which has each value at its place"));
        };
        Ok(ExprKind::FString(FString { values, pieces }))
    }
}

/// How fields name values: by position, by name, or by none, one after the other.
struct Fields<'a> {
    positional: usize,
    names: Vec<&'a str>,
    next: usize,
}

impl Fields<'_> {
    fn pieces(&mut self, template: &str) -> Option<Vec<Piece>> {
        let (mut pieces, mut literal) = (vec![], String::new());
        let mut rest = template.chars().peekable();
        while let Some(found) = rest.next() {
            match found {
                '{' | '}' if rest.peek() == Some(&found) => {
                    rest.next();
                    literal.push(found);
                }
                '}' => return None,
                '{' => {
                    pieces.push(Piece::Literal(std::mem::take(&mut literal).into()));
                    pieces.push(Piece::Formatted(self.field(&mut rest)?.into()));
                }
                other => literal.push(other),
            }
        }
        pieces.push(Piece::Literal(literal.into()));
        let fields = pieces.iter().filter_map(|piece| match piece {
            Piece::Formatted(field) => Some(&**field),
            _ => None,
        });
        let count = self.positional + self.names.len();
        let plain = (0..count).map(|index| format!("{{{index}}}"));
        if fields.eq(plain) {
            for piece in &mut pieces {
                if let Piece::Formatted(_) = piece {
                    *piece = Piece::Plain;
                }
            }
        }
        Some(pieces)
    }

    /// Reads a field after its opening brace; returns it with the number of its value.
    fn field(&mut self, rest: &mut Peekable<Chars>) -> Option<String> {
        let mut head = String::new();
        while !matches!(rest.peek()?, '!' | ':' | '}') {
            head.push(rest.next()?);
        }
        let end = head.find(['.', '[']).unwrap_or(head.len());
        let (name, part) = head.split_at(end);
        let index = if name.is_empty() {
            self.next += 1;
            self.next - 1
        } else if let Ok(number) = name.parse() {
            number
        } else {
            self.positional + self.names.iter().position(|known| *known == name)?
        };
        (index < self.positional + self.names.len()).then_some(())?;
        let mut field = format!("{{{index}{part}");
        loop {
            match rest.next()? {
                '}' => return Some(field + "}"),
                '{' => field += &self.field(rest)?,
                other => field.push(other),
            }
        }
    }
}
