//! Formatted strings.

use crate::diagnostic::Result;
use crate::emit::Emitter;
use crate::ir::*;
use crate::program::{CallTarget, Fact};
use crate::syntax::*;

impl<'p> Emitter<'_, 'p> {
    /// An f-string: formatted by the kernel, or by the host in a remote call.
    pub(super) fn fstring(&mut self, whole: &'p Expr, text: &'p FString) -> Result<Value> {
        let values = text.values.iter().map(|value| self.expr(value));
        let values = values.collect::<Result<Vec<_>>>()?;
        self.build.span = whole.span;
        let types = text.values.iter().map(|value| self.type_of(value));
        if let Some(Fact::Call(CallTarget::Rpc(handle), _)) = self.function.facts.get(&whole.id) {
            let types = types.map(|ty| (ty, None)).collect();
            return self.rpc(whole.span, *handle, values, types, self.type_of(whole));
        }
        let mut written = types.collect::<Vec<_>>().into_iter().zip(values);
        let mut pieces = vec![];
        for piece in &text.pieces {
            pieces.push(match piece {
                Piece::Literal(text) => self.module.string(text.as_bytes()),
                Piece::Plain | Piece::Formatted(_) => {
                    let (ty, value) = written.next().expect("one for each");
                    self.text_of(value, ty)
                }
            });
        }
        Ok(self.text_joined(&pieces))
    }
}
