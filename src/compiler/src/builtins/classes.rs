//! `isinstance` and `super`. Inference evaluates them by querying the host (`infer/classes.rs`).

use super::Site;
use crate::emit::Emitter;
use crate::host::HostValue;
use crate::ir::{self, Value};
use crate::language::Class;

pub fn code(emitter: &mut Emitter, class: Class, site: Site, mut values: Vec<Value>) -> Value {
    match class {
        Class::IsInstance => Value::bool(emitter.host_constant(site.whole) == Some(&HostValue::Bool(true))),
        // The object: the second argument, or the first parameter of the method.
        Class::Super => values.pop().unwrap_or_else(|| {
            let own = emitter.locals[0].clone();
            emitter.build.load(ir::Ty::Ptr, &own)
        }),
    }
}
