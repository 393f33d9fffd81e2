//! Generator expressions: loops around the code of the function that consumes the elements. The
//! generator itself is not materialised.

use crate::builtins::iteration::{start_type, Fold};
use crate::builtins::numbers::Best;
use crate::builtins::Site;
use crate::diagnostic::Result;
use crate::emit::Emitter;
use crate::ir::*;
use crate::language::Builtin;
use crate::syntax::*;

impl<'p> Emitter<'_, 'p> {
    /// Calls a function that iterates over a generator expression, its first argument.
    pub(super) fn over_generator(
        &mut self,
        builtin: Builtin,
        site: Site<'p>,
        element: &'p Expr,
        clauses: &'p [Clause],
    ) -> Result<Value> {
        // The iterable of the first clause is evaluated before the other arguments.
        let first = self.expr(&clauses[0].iter)?;
        let keywords = site.keywords.iter().map(|keyword| &keyword.value);
        let start = site.args[1..].iter().chain(keywords).next();
        let start = start.map(|start| self.expr(start)).transpose()?;
        self.build.span = site.whole.span;
        match builtin {
            Builtin::Number(number) => {
                let best = Best::begin(self, number, site.whole);
                self.clauses(Some(first), clauses, &mut |this| {
                    let value = this.expr(element)?;
                    best.take(this, value);
                    Ok(())
                })?;
                self.build.span = site.whole.span;
                Ok(best.end(self, start))
            }
            Builtin::Iteration(iteration) => {
                let start = start.map(|value| (value, start_type(self, site)));
                let fold = Fold::begin(self, iteration, start, self.type_of(site.whole));
                self.clauses(Some(first), clauses, &mut |this| {
                    let value = this.expr(element)?;
                    let ty = this.type_of(element);
                    fold.take(this, value, Some(ty))
                })?;
                Ok(fold.end(self))
            }
            _ => unreachable!("inference admits no others"),
        }
    }

    /// Nested loops; `body` runs where all tests hold. `iterable`: the iterable of the first
    /// clause, if already evaluated.
    pub(super) fn clauses(
        &mut self,
        iterable: Option<Value>,
        clauses: &'p [Clause],
        body: &mut dyn FnMut(&mut Self) -> Result<()>,
    ) -> Result<()> {
        let Some((Clause { target, iter, tests }, rest)) = clauses.split_first() else {
            return body(self);
        };
        let iterable = match iterable {
            Some(value) => value,
            None => self.expr(iter)?,
        };
        let elements = self.elements(&iterable, self.type_of(iter));
        self.build.loops += 1;
        self.each(&elements, |this, value| {
            this.assign(target, value, this.type_of(target))?;
            let skip = this.build.new_block("skip element");
            for test in tests {
                let holds = this.condition(test)?;
                let next = this.build.new_block("test holds");
                this.build.branch(holds, next, skip);
                this.build.block = next;
            }
            this.clauses(None, rest, body)?;
            this.build.jump(skip);
            this.build.block = skip;
            Ok(())
        })?;
        self.build.loops -= 1;
        Ok(())
    }
}
