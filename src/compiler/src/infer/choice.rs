//! Types of functions as values: of function attributes, and of calls of one of several functions.

use std::rc::Rc;

use super::Infer;
use crate::diagnostic::Result;
use crate::program::Fact;
use crate::syntax::*;
use crate::types::{Callable, Kind, Ty};

impl Infer<'_, '_> {
    /// Type of an attribute expression, where the attribute has type `ty`. A single function gets a
    /// fresh type, so that joining it with others does not make the attribute a choice, unless the
    /// attribute is assigned to.
    pub(super) fn looked_up(&mut self, ty: Ty, name: &Rc<str>) -> Ty {
        if !self.types().is_single_function(ty) || self.context.program.assigned.contains(name) {
            return ty;
        }
        let kind = self.types().kind(ty).clone();
        self.kind(kind)
    }

    /// Types a call of one of several functions: each must accept the arguments, and all must
    /// return the same type.
    pub(super) fn choice_call(
        &mut self,
        whole: &Expr,
        members: &Rc<[Callable]>,
        args: &[Expr],
        keywords: &[Keyword],
    ) -> Result<Ty> {
        let (mut calls, mut result) = (vec![], None);
        self.one_of_several = true;
        for &member in members.iter() {
            let function = self.types().callable_type(member);
            let found = self.function_call(whole, function, args, keywords);
            let found = found.and_then(|found| match result {
                Some(first) => self.unify(first, found, whole.span, "the result").map(|()| first),
                None => Ok(found),
            });
            result = Some(found.map_err(|error| error.help(self.all_alike(members)))?);
            let facts = &mut self.context.program.functions[self.current].facts;
            if let Some(Fact::Call(target, sources)) = facts.remove(&whole.id) {
                calls.push((member, target, sources));
            }
        }
        self.one_of_several = false;
        let facts = &mut self.context.program.functions[self.current].facts;
        facts.insert(whole.id, Fact::Choice(calls));
        Ok(result.expect("several functions meet"))
    }

    fn all_alike(&mut self, members: &Rc<[Callable]>) -> String {
        let mut names = vec![];
        for ty in self.types().each_of(members) {
            names.push(match *self.types().kind(ty) {
                Kind::Function(function) | Kind::Method { function, .. } => {
                    let info = self.context.function_info(function);
                    info.map_or_else(|_| "?".into(), |info| info.qualified_name.to_string())
                }
                Kind::Closure(id) => self.context.program.functions[id].info.qualified_name.to_string(),
                _ => "?".into(),
            });
        }
        let names = names.join(", ");
        format!("all functions that this may call must take and return the same types; here: {names}")
    }
}
