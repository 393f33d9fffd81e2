//! Formatted strings: those formatted by the kernel, and those formatted by the host.

use super::Infer;
use crate::diagnostic::{Diagnostic, Result};
use crate::host::Handle;
use crate::program::{ArgSource, CallTarget, Fact};
use crate::syntax::*;
use crate::types::{Kind, Ty};

impl Infer<'_, '_> {
    pub(super) fn fstring(&mut self, whole: &Expr, text: &FString) -> Result<Ty> {
        let types = text.values.iter().map(|value| self.expr(value));
        let types = types.collect::<Result<Vec<_>>>()?;
        self.format_call(whole, &text.template(), &types, text.is_plain())?;
        Ok(self.kind(Kind::Str))
    }

    /// Records the formatting of values of these types as a remote call, unless the string is
    /// `plain` and the kernel can format the values.
    pub(super) fn format_call(&mut self, whole: &Expr, template: &str, types: &[Ty], plain: bool) -> Result<()> {
        if types.iter().any(|&ty| self.types().is_var(ty)) {
            return Ok(());
        }
        if plain && types.iter().all(|&ty| self.types().writes_itself(ty)) {
            return Ok(());
        }
        let known = self.templates.iter().find(|(_, known)| &***known == template);
        let handle = match known {
            Some((&handle, _)) => handle,
            None => {
                let handle = self.context.host.text_function(template);
                self.templates.insert(handle, template.into());
                handle
            }
        };
        let info = self.context.function_info(handle);
        info.map_err(|text| Diagnostic::new(whole.span, text))?;
        let sources = (0..types.len()).map(ArgSource::Positional).collect();
        let fact = Fact::Call(CallTarget::Rpc(handle), sources);
        self.context.program.functions[self.current]
            .facts
            .insert(whole.id, fact);
        Ok(())
    }

    /// Merges the host's formatting of string arguments into the remote call that they are passed
    /// to. `first`: number of receivers, 0 or 1.
    pub(super) fn with_texts(
        &mut self,
        service: Handle,
        first: usize,
        args: &[Expr],
    ) -> Option<(Handle, Vec<ArgSource>)> {
        let template = |arg: &Expr| match self.function().facts.get(&arg.id) {
            Some(Fact::Call(CallTarget::Rpc(handle), sources)) => {
                self.templates.get(handle).map(|text| (text.clone(), sources.len()))
            }
            _ => None,
        };
        let own: Vec<_> = args.iter().map(template).collect();
        if self.one_of_several || own.iter().all(Option::is_none) {
            return None;
        }
        let mut sources = vec![ArgSource::Receiver; first];
        for (index, text) in own.iter().enumerate() {
            match text {
                Some((_, count)) => sources.extend((0..*count).map(|value| ArgSource::Within(index, value))),
                None => sources.push(ArgSource::Positional(index)),
            }
        }
        let templates = [vec![None; first], own].concat();
        let key = (service, templates);
        let handle = match self.calls_with_texts.get(&key) {
            Some(known) => *known,
            None => {
                let handle = self.context.host.call_with_texts(service, &key.1);
                // The kernel sees the signature of the function that is called in the end.
                let info = self.context.program.function_infos[&service].clone();
                self.context.program.function_infos.insert(handle, info);
                self.calls_with_texts.insert(key, handle);
                handle
            }
        };
        Some((handle, sources))
    }
}
