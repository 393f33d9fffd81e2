//! f-strings.

use std::rc::Rc;

use ruff_python_ast as py;

use super::{Converter, Expr, ExprKind};
use crate::diagnostic::Result;

#[derive(Clone, Debug)]
pub struct FString {
    /// In evaluation order; values within a format follow the value that is formatted.
    pub values: Vec<Expr>,
    pub pieces: Vec<Piece>,
}

/// A piece of an f-string.
#[derive(Clone, Debug)]
pub enum Piece {
    Literal(Rc<str>),
    /// The next value in its default format.
    Plain,
    /// The next value, and others if the format contains values, in the syntax of `str.format`:
    /// `{0:>{1}}`.
    Formatted(Rc<str>),
}

impl Converter<'_> {
    pub(super) fn text(&mut self, text: &py::ExprFString) -> Result<ExprKind> {
        let (mut values, mut pieces) = (vec![], vec![]);
        for part in text.value.iter() {
            match part {
                py::FStringPart::Literal(literal) => pieces.push(Piece::Literal(literal.value.as_ref().into())),
                py::FStringPart::FString(part) => {
                    for element in &part.elements {
                        self.element(element, &mut values, &mut pieces)?;
                    }
                }
            }
        }
        let literal = |piece: &Piece| match piece {
            Piece::Literal(text) => Some(text.clone()),
            Piece::Plain | Piece::Formatted(_) => None,
        };
        Ok(match pieces.iter().map(literal).collect::<Option<Vec<_>>>() {
            Some(literals) => ExprKind::Str(literals.concat().into()),
            None => ExprKind::FString(FString { values, pieces }),
        })
    }

    fn element(
        &mut self,
        element: &py::InterpolatedStringElement,
        values: &mut Vec<Expr>,
        pieces: &mut Vec<Piece>,
    ) -> Result<()> {
        let element = match element {
            py::InterpolatedStringElement::Literal(literal) => {
                pieces.push(Piece::Literal((&*literal.value).into()));
                return Ok(());
            }
            py::InterpolatedStringElement::Interpolation(element) => element,
        };
        if let Some(text) = &element.debug_text {
            pieces.push(Piece::Literal(text.as_str().into()));
        }
        let mut field = format!("{{{}", values.len());
        let plain = field.len();
        values.push(self.expr(&element.expression)?);
        let conversion = match (element.conversion.to_char(), &element.debug_text, &element.format_spec) {
            (None, Some(_), None) => Some('r'),
            (conversion, ..) => conversion,
        };
        if let Some(conversion) = conversion {
            field += &format!("!{conversion}");
        }
        if let Some(spec) = &element.format_spec {
            field.push(':');
            self.spec(&spec.elements, values, &mut field)?;
        }
        pieces.push(if field.len() == plain {
            Piece::Plain
        } else {
            Piece::Formatted((field + "}").into())
        });
        Ok(())
    }

    /// Converts a format specification, which may contain values.
    fn spec(
        &mut self,
        elements: &py::InterpolatedStringElements,
        values: &mut Vec<Expr>,
        field: &mut String,
    ) -> Result<()> {
        for element in elements {
            match element {
                py::InterpolatedStringElement::Literal(literal) => *field += &literal.value,
                py::InterpolatedStringElement::Interpolation(inner) => {
                    *field += &format!("{{{}", values.len());
                    values.push(self.expr(&inner.expression)?);
                    if let Some(conversion) = inner.conversion.to_char() {
                        *field += &format!("!{conversion}");
                    }
                    if let Some(spec) = &inner.format_spec {
                        field.push(':');
                        self.spec(&spec.elements, values, field)?;
                    }
                    field.push('}');
                }
            }
        }
        Ok(())
    }
}

impl FString {
    /// The template for `str.format`, with a field for each value.
    pub fn template(&self) -> String {
        let mut template = String::new();
        let mut value = 0;
        for piece in &self.pieces {
            match piece {
                Piece::Literal(text) => template += &text.replace('{', "{{").replace('}', "}}"),
                Piece::Plain => {
                    template += &format!("{{{value}}}");
                    value += 1;
                }
                Piece::Formatted(field) => {
                    template += field;
                    value += field.matches('{').count();
                }
            }
        }
        template
    }

    /// Whether all values have their default format.
    pub fn is_plain(&self) -> bool {
        !self.pieces.iter().any(|piece| matches!(piece, Piece::Formatted(_)))
    }
}

impl Expr {
    /// The values formatted by a string expression: an f-string, or `str(value)`.
    pub fn text_values(&self) -> &[Expr] {
        match &self.kind {
            ExprKind::FString(string) => &string.values,
            ExprKind::Call { args, .. } => args,
            _ => &[],
        }
    }
}
