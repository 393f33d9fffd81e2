//! Types of nested functions, and of calls of them.

use std::rc::Rc;

use super::call::Called;
use super::Infer;
use crate::diagnostic::Result;
use crate::host::{FunctionInfo, ParamInfo};
use crate::program::{CallTarget, Fact, FunctionId, FunctionInstance, Nested};
use crate::resolve::resolve;
use crate::syntax::*;
use crate::types::{Kind, Ty};

impl Infer<'_, '_> {
    pub(super) fn nested(&mut self, whole: &Expr, function: &Rc<Function>, defaults: &[Expr]) -> Result<Ty> {
        let types = defaults.iter().map(|value| self.expr(value));
        let types = types.collect::<Result<Vec<_>>>()?;
        let id = match self.function().facts.get(&whole.id) {
            Some(Fact::Function(known)) => *known,
            _ => self.instantiate_nested(whole, function, types.clone())?,
        };
        let places = (0..function.params.len()).filter(|&index| function.params[index].has_default);
        for (place, (value, ty)) in places.zip(defaults.iter().zip(types)) {
            let param = self.context.program.functions[id].locals[place];
            self.unify(param, ty, value.span, "this default value")?;
        }
        Ok(self.kind(Kind::Closure(id)))
    }

    /// Adds a nested function of the current one to the program. Annotations of its parameters are
    /// ignored, as in the reference.
    fn instantiate_nested(&mut self, whole: &Expr, function: &Rc<Function>, defaults: Vec<Ty>) -> Result<FunctionId> {
        let (handle, class, outer) = (
            self.function().handle,
            self.function().class,
            self.function().names.clone(),
        );
        let names = resolve(function, handle, self.context.host, Some(&outer))?;
        let mut locals: Vec<Ty> = names.locals.iter().map(|_| self.types().var()).collect();
        for capture in &names.captures {
            locals[capture.own as usize] = self.function().locals[capture.outer as usize];
        }
        let params = function.params.iter().map(|param| ParamInfo {
            name: param.name.clone(),
            annotation: None,
            default: None,
        });
        let around = &self.function().info;
        let info = FunctionInfo {
            name: function.name.clone(),
            qualified_name: format!("{}.{}", around.qualified_name, function.name).into(),
            kind: around.kind.clone(),
            params: params.collect(),
            returns: None,
        };
        let symbol = self.symbols.unique(&info.qualified_name, None);
        let returns = self.types().var();
        let types = (0..function.expr_count).map(|_| self.types().var()).collect();
        let functions = &mut self.context.program.functions;
        let id = functions.len();
        functions[self.current].facts.insert(whole.id, Fact::Function(id));
        functions.push(FunctionInstance {
            handle,
            class,
            symbol,
            info: Rc::new(info),
            ast: function.clone(),
            names: Rc::new(names),
            locals,
            returns,
            types,
            called_from: Some((self.current, function.name_span)),
            facts: Default::default(),
            nested: Some(Nested {
                defaults,
                called: false,
            }),
        });
        Ok(id)
    }

    pub(super) fn nested_call(
        &mut self,
        whole: &Expr,
        id: FunctionId,
        args: &[Expr],
        keywords: &[Keyword],
    ) -> Result<Ty> {
        let info = self.context.program.functions[id].info.clone();
        let nested = self.context.program.functions[id].nested.as_mut();
        let nested = nested.expect("a function inside another one");
        nested.called = true;
        let ast = self.context.program.functions[id].ast.clone();
        let called = Called {
            info: &info,
            class: None,
            ast: Some(&ast),
            keeps_defaults: true,
        };
        let sources = self.bind(whole, &called, args, keywords)?;
        for (index, source) in sources.iter().enumerate() {
            let wanted = self.context.program.functions[id].locals[index];
            self.pass(wanted, source, args, keywords, &info.params[index].name)?;
        }
        let fact = Fact::Call(CallTarget::Compiled(id), sources);
        self.context.program.functions[self.current]
            .facts
            .insert(whole.id, fact);
        Ok(self.context.program.functions[id].returns)
    }
}
