//! `core_log`, and `print` where there is no host: text that the firmware formats for the device's log.
//!
//! The text goes in pieces, each with a format of `printf`; a piece ends where a list begins or goes on, since only the
//! running kernel knows how long it is.

use super::array::Array;
use super::exceptions::PARAMS;
use super::FunctionLowering;
use crate::ast::Expr;
use crate::diagnostic::{Diagnostic, Result};
use crate::ir::*;
use crate::source::Span;
use crate::types::{self, Kind};

/// A piece of text: format and arguments.
#[derive(Default)]
struct Piece {
    format: Vec<u8>,
    args: Vec<Value>,
}

impl Piece {
    /// Text without `%`.
    fn text(&mut self, text: &str) {
        self.format.extend(text.bytes());
    }

    fn value(&mut self, conversion: &str, value: Value) {
        self.text(conversion);
        self.args.push(value);
    }

    fn bytes(&mut self, length: Value, data: Value) {
        self.text("%.*s");
        self.args.extend([length, data]);
    }
}

impl<'p> FunctionLowering<'_, 'p> {
    /// A line with the arguments in it, separated by spaces.
    pub(super) fn log(&mut self, args: &'p [Expr], values: Vec<Value>) -> Result<Value> {
        let mut piece = Piece::default();
        for (index, (arg, value)) in args.iter().zip(values).enumerate() {
            if index > 0 {
                piece.text(" ");
            }
            self.log_value(&mut piece, value, self.type_of(arg), false, arg.span)?;
        }
        piece.text("\n");
        self.log_piece(piece);
        Ok(Value::unit())
    }

    /// Appends a value; strings in tuples and lists are quoted.
    fn log_value(&mut self, piece: &mut Piece, value: Value, ty: types::Ty, inside: bool, span: Span) -> Result<()> {
        let program = self.module.program();
        match program.types.kind(ty) {
            Kind::None => piece.text("None"),
            Kind::Int32 => piece.value("%d", value),
            Kind::Int64 => piece.value("%lld", value),
            Kind::Float => piece.value("%g", value),
            Kind::Bool => {
                let [yes, no] = ["True", "False"].map(|text| self.module.string(text.as_bytes()));
                let [data, length] = [0, 1].map(|index| {
                    let [yes, no] = [&yes, &no].map(|text| self.build.extract(text, index));
                    self.build.select(value.clone(), yes, no)
                });
                piece.bytes(length, data);
            }
            Kind::Str => {
                let quote = if inside { "\"" } else { "" };
                let [data, length] = [0, 1].map(|index| self.build.extract(&value, index));
                piece.text(quote);
                piece.bytes(length, data);
                piece.text(quote);
            }
            Kind::Tuple(elements) => {
                piece.text("(");
                for (index, &element) in elements.iter().enumerate() {
                    if index > 0 {
                        piece.text(", ");
                    }
                    let member = self.build.extract(&value, index);
                    self.log_value(piece, member, element, true, span)?;
                }
                piece.text(if elements.len() == 1 { ",)" } else { ")" });
            }
            Kind::Range(elt) => {
                piece.text("range(");
                for index in 0..3 {
                    if index > 0 {
                        piece.text(", ");
                    }
                    let member = self.build.extract(&value, index);
                    self.log_value(piece, member, *elt, true, span)?;
                }
                piece.text(")");
            }
            Kind::List(elt) => {
                piece.text("[");
                self.log_piece(std::mem::take(piece));
                self.log_elements(value, *elt, span)?;
                piece.text("]");
            }
            Kind::Array(elt, _) => {
                let array = self.array_parts(&value, ty).expect("it is one");
                piece.text("array(");
                self.log_piece(std::mem::take(piece));
                self.log_array(array, *elt, span)?;
                piece.text(")");
            }
            Kind::Exception => {
                let id = self.build.load(Ty::I32, &value);
                piece.value("%ld", id);
                for (index, before) in ["(", ", ", ", "].into_iter().enumerate() {
                    let offset = Value::int(Ty::I32, PARAMS + 8 * index as i64);
                    let from = self.build.element(&value, &Ty::I8, offset);
                    let param = self.build.load(Ty::I64, &from);
                    piece.text(before);
                    piece.value("%lld", param);
                }
                piece.text(")");
            }
            _ => {
                let text = format!(
                    "a value of type {} cannot be written to the log",
                    program.types.name(ty)
                );
                return Err(Diagnostic::new(span, text));
            }
        }
        Ok(())
    }

    /// The rows of an array, each in brackets.
    fn log_array(&mut self, array: Array, elt: types::Ty, span: Span) -> Result<()> {
        let bracket = |this: &mut Self, text| {
            let mut piece = Piece::default();
            piece.text(text);
            this.log_piece(piece);
        };
        bracket(self, "[");
        if array.shape.len() == 1 {
            self.log_run(array.data, array.shape[0].clone(), elt, span)?;
        } else {
            self.counted(array.shape[0].clone(), |this, index| {
                this.log_separator(index.clone());
                let row = this.row(&array, index);
                this.log_array(row, elt, span)
            })?;
        }
        bracket(self, "]");
        Ok(())
    }

    /// A comma, unless `index` is 0.
    fn log_separator(&mut self, index: Value) {
        let separator = self.module.string(b", ");
        let first = self.build.compare("icmp eq", index, Value::int(Ty::I32, 0));
        let [text, length] = [0, 1].map(|index| self.build.extract(&separator, index));
        let length = self.build.select(first, Value::int(Ty::I32, 0), length);
        let mut piece = Piece::default();
        piece.bytes(length, text);
        self.log_piece(piece);
    }

    fn log_elements(&mut self, list: Value, elt: types::Ty, span: Span) -> Result<()> {
        let (data, length) = self.list_parts(&list);
        self.log_run(data, length, elt, span)
    }

    fn log_run(&mut self, data: Value, length: Value, elt: types::Ty, span: Span) -> Result<()> {
        let element = self.module.ir_type(elt);
        let separator = self.module.string(b", ");
        self.counted(length, |this, index| {
            let first = this.build.compare("icmp eq", index.clone(), Value::int(Ty::I32, 0));
            let [text, length] = [0, 1].map(|index| this.build.extract(&separator, index));
            let length = this.build.select(first, Value::int(Ty::I32, 0), length);
            let from = this.build.element(&data, &element, index);
            let value = this.build.load(element.clone(), &from);
            let mut piece = Piece::default();
            piece.bytes(length, text);
            this.log_value(&mut piece, value, elt, true, span)?;
            this.log_piece(piece);
            Ok(())
        })
    }

    fn log_piece(&mut self, mut piece: Piece) {
        piece.format.push(0);
        let format = self.module.string(&piece.format);
        let mut args = vec![self.build.extract(&format, 0)];
        args.extend(piece.args);
        let external = External {
            params: vec![Ty::Ptr],
            returns: Ty::unit(),
            nounwind: true,
            by_pointer: false,
            variadic: true,
        };
        self.module.module.externals.insert("core_log".into(), external);
        self.build.call("core_log", args, Ty::unit(), None);
    }
}
