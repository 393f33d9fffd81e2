//! Text formatted by the firmware: `core_log`, and `print` without a host, for the device's log;
//! `rtio_log` for the log channel, at the time cursor.
//!
//! The text is sent in pieces, each with a `printf` format. Pieces end at the boundaries of lists
//! and between their elements, since lengths are known only at run time.

use super::array::Array;
use super::exceptions::PARAMS;
use super::iterate::Elements;
use super::Emitter;
use crate::diagnostic::{Diagnostic, Result};
use crate::ir::*;
use crate::source::Span;
use crate::syntax::Expr;
use crate::types::{self, Kind};

/// A piece of text for a firmware function: format and arguments.
struct Piece {
    function: &'static str,
    format: Vec<u8>,
    args: Vec<Value>,
}

impl Piece {
    fn new(function: &'static str) -> Self {
        Self {
            function,
            format: vec![],
            args: vec![],
        }
    }

    /// Appends text without `%`.
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

impl<'p> Emitter<'_, 'p> {
    /// Logs a line with the arguments, separated by spaces.
    pub(crate) fn core_log(&mut self, args: &'p [Expr], values: Vec<Value>) -> Result<Value> {
        let mut piece = Piece::new("core_log");
        self.log_line(&mut piece, args, values)?;
        piece.text("\n");
        self.log_piece(piece);
        Ok(Value::unit())
    }

    /// Logs to the channel named by the first argument, a string; the others are written as in a
    /// line of `core_log`.
    pub(crate) fn rtio_log(&mut self, args: &'p [Expr], mut values: Vec<Value>) -> Result<Value> {
        let mut name = Piece::new("rtio_log");
        let channel = values.remove(0);
        self.log_value(&mut name, channel, self.type_of(&args[0]), false, args[0].span)?;
        name.text("\x1e");
        self.log_piece(name);
        let mut piece = Piece::new("rtio_log");
        self.log_line(&mut piece, &args[1..], values)?;
        piece.text("\x1d");
        self.log_piece(piece);
        Ok(Value::unit())
    }

    fn log_line(&mut self, piece: &mut Piece, args: &'p [Expr], values: Vec<Value>) -> Result<()> {
        for (index, (arg, value)) in args.iter().zip(values).enumerate() {
            if index > 0 {
                piece.text(" ");
            }
            self.log_value(piece, value, self.type_of(arg), false, arg.span)?;
        }
        Ok(())
    }

    /// Appends a value; strings inside tuples and lists are quoted.
    fn log_value(&mut self, piece: &mut Piece, value: Value, ty: types::Ty, inside: bool, span: Span) -> Result<()> {
        let program = self.module.program;
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
            Kind::List(_) | Kind::Bytes | Kind::ByteArray => {
                let (begin, end) = match program.types.kind(ty) {
                    Kind::List(_) => ("[".into(), "]"),
                    _ => (format!("{}([", program.types.name(ty)), "])"),
                };
                piece.text(&begin);
                let function = piece.function;
                self.log_piece(std::mem::replace(piece, Piece::new(function)));
                let elements = self.elements(&value, ty);
                self.log_run(function, &elements, span)?;
                piece.text(end);
            }
            Kind::Array(..) | Kind::View(..) => {
                let array = self.array_parts(&value, ty).expect("it is one");
                piece.text("array(");
                let function = piece.function;
                self.log_piece(std::mem::replace(piece, Piece::new(function)));
                self.log_array(function, array, span)?;
                piece.text(")");
            }
            Kind::Exception => {
                let id = self.build.load(Ty::I32, &value);
                let from_host = self.is_from_host(&value);
                piece.value("%ld", id);
                for (index, before) in ["(", ", ", ", "].into_iter().enumerate() {
                    let offset = Value::int(Ty::I32, PARAMS + 8 * index as i64);
                    let from = self.build.element(&value, &Ty::I8, offset);
                    let param = self.build.load(Ty::I64, &from);
                    let param = self.build.select(from_host.clone(), Value::int(Ty::I64, 0), param);
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

    /// Logs the rows of an array, each in brackets.
    fn log_array(&mut self, function: &'static str, array: Array, span: Span) -> Result<()> {
        let bracket = |this: &mut Self, text| {
            let mut piece = Piece::new(function);
            piece.text(text);
            this.log_piece(piece);
        };
        bracket(self, "[");
        if array.shape.len() == 1 {
            self.log_run(function, &Elements::of_array(array), span)?;
        } else {
            self.counted(array.shape[0].clone(), |this, index| {
                this.log_separator(function, index.clone());
                let row = this.row(&array, index);
                this.log_array(function, row, span)
            })?;
        }
        bracket(self, "]");
        Ok(())
    }

    /// Logs a comma, unless `index` is 0.
    fn log_separator(&mut self, function: &'static str, index: Value) {
        let separator = self.module.string(b", ");
        let first = self.build.compare(Compare::Eq, index, Value::int(Ty::I32, 0));
        let [text, length] = [0, 1].map(|index| self.build.extract(&separator, index));
        let length = self.build.select(first, Value::int(Ty::I32, 0), length);
        let mut piece = Piece::new(function);
        piece.bytes(length, text);
        self.log_piece(piece);
    }

    /// Logs elements, separated by commas.
    fn log_run(&mut self, function: &'static str, elements: &Elements, span: Span) -> Result<()> {
        let elt = elements.elt.expect("rows are written one by one");
        self.each_numbered(elements, |this, index, value| {
            this.log_separator(function, index);
            let mut piece = Piece::new(function);
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
        // `rtio_log` is an output and raises errors left by earlier outputs.
        let raises = piece.function == "rtio_log";
        let external = External {
            params: vec![Ty::Ptr],
            returns: Ty::unit(),
            nounwind: !raises,
            by_pointer: false,
            variadic: true,
        };
        self.module.module.externals.insert(piece.function.into(), external);
        let unwind = if raises { self.unwind() } else { None };
        self.build.call(piece.function, args, Ty::unit(), unwind);
    }
}
