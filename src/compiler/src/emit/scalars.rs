//! Numbers of the host that are data of the library: nothing else in it depends on them, so that a
//! library that was compiled before serves for other numbers too.

use std::rc::Rc;

use super::{Emitter, ModuleBuilder};
use crate::host::{Handle, HostValue};
use crate::ir::*;

/// Symbol of the numbers among the arguments of the call.
const ARGUMENTS: &str = "arguments";

/// Whether the library has numbers of this type.
fn is_plain(ty: &Ty) -> bool {
    matches!(ty, Ty::I1 | Ty::I32 | Ty::I64 | Ty::F64)
}

impl ModuleBuilder<'_> {
    /// Whether some number of an object is data, so that code generation must take none for granted.
    pub(super) fn has_data(&self, class: Handle) -> bool {
        let info = &self.program.classes[&class];
        info.attributes
            .iter()
            .any(|attribute| info.is_data(&attribute.name) && is_plain(&self.ir_type(attribute.ty)))
    }

    /// Notes the numbers of an object that nothing depends on, if its global is as in `global`.
    pub(super) fn note_scalars(&mut self, object: Handle, class: Handle, global: &Global) {
        if global.constant && !global.patched {
            return; // LLVM may have replaced loads
        }
        let layout = self.class_type(class);
        for (index, attribute) in self.program.classes[&class].attributes.iter().enumerate() {
            let place = (object, attribute.name.clone());
            let (ty, used) = (self.ir_type(attribute.ty), (class, attribute.name.clone()));
            if is_plain(&ty) && self.program.attribute_values[&place].is_scalar() && !self.used.contains(&used) {
                self.module.scalars.push(Scalar {
                    object,
                    name: place.1,
                    symbol: global.name.clone(),
                    offset: layout.offset(index + 1),
                    ty,
                });
            }
        }
    }
}

impl Emitter<'_, '_> {
    /// The arguments of the call; its numbers are data.
    pub(crate) fn entry_arguments(&mut self, args: &[HostValue], params: &[Ty]) -> Vec<Value> {
        // The first member keeps the data from being all zeros, which would not be in the file.
        let mut members = vec![Value::int(Ty::I32, 1)];
        let is_data = |arg: &HostValue, ty: &Ty| arg.is_scalar() && is_plain(ty);
        let given: Vec<(&HostValue, &Ty)> = args.iter().zip(params).collect();
        for (arg, ty) in given.iter().filter(|(arg, ty)| is_data(arg, ty)) {
            members.push(self.module.constant(arg, ty));
        }
        if members.len() == 1 {
            return given.iter().map(|(arg, ty)| self.module.constant(arg, ty)).collect();
        }
        let record = Value::record(members);
        let (layout, symbol): (Ty, Rc<str>) = (record.ty.clone(), ARGUMENTS.into());
        self.module.module.globals.push(Global {
            name: symbol.clone(),
            constant: true,
            exported: false,
            patched: true,
            init: Init::Value(record),
        });
        let mut values = vec![];
        let mut member = 1;
        for (number, (arg, ty)) in given.into_iter().enumerate() {
            if !is_data(arg, ty) {
                values.push(self.module.constant(arg, ty));
                continue;
            }
            self.module.module.scalars.push(Scalar {
                object: 0,
                name: number.to_string().into(),
                symbol: symbol.clone(),
                offset: layout.offset(member),
                ty: ty.clone(),
            });
            let from = self.build.field(&Value::global(symbol.clone()), &layout, member);
            values.push(self.build.load_as(ty.clone(), &from, true));
            member += 1;
        }
        values
    }
}
