//! Objects created by kernels. They live on the stack of the creating function, as lists do.

use crate::diagnostic::Result;
use crate::emit::{int, Emitter};
use crate::host::Handle;
use crate::ir::*;
use crate::program::Fact;
use crate::syntax::*;
use crate::types::Kind;

impl<'p> Emitter<'_, 'p> {
    /// `Class(…)`: allocates the object, initialises it from its class, then calls `__init__`.
    pub(super) fn construction(
        &mut self,
        whole: &'p Expr,
        class: Handle,
        args: &'p [Expr],
        keywords: &'p [Keyword],
    ) -> Result<Value> {
        let passed = self.passed(whole, args, keywords, &[])?;
        let layout = self.module.class_type(class);
        let object = self.build.alloca(layout.clone(), int(1));
        self.build.store(int(0), &object); // no handle: the host does not know the object
        let program = self.module.program;
        for (index, attribute) in program.classes[&class].attributes.iter().enumerate() {
            let ty = self.module.ir_type(attribute.ty);
            let value = match program.initial_values.get(&(class, attribute.name.clone())) {
                Some(value) => self.module.constant(value, &ty),
                None if matches!(program.types.kind(attribute.ty), Kind::Method { .. }) => object.clone(),
                None => Value::zero(ty),
            };
            let to = self.build.field(&object, &layout, index + 1);
            self.build.store(value, &to);
        }
        if let Some(Fact::Call(target, sources)) = self.function.facts.get(&whole.id) {
            self.call_target(&passed, (object.clone(), self.type_of(whole)), target, sources)?;
        }
        Ok(object)
    }
}
