//! Libraries that satellites run, and the numbers that identify subkernels and messages between
//! boards.

use std::rc::Rc;

use super::{FunctionId, FunctionInstance, Program};
use crate::host::Handle;

/// Number of the first message. Subkernels, whose results are messages too, have lower numbers.
const FIRST_MESSAGE: i64 = 1 << 24;

/// A function that a satellite runs; for a method also the object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Subkernel {
    pub number: u32,
    pub destination: u8,
    pub function: FunctionId,
    pub receiver: Option<Handle>,
}

impl Program {
    /// All subkernels. A method counts once for each object of its class, since its library
    /// contains the object's data.
    pub fn subkernels(&self) -> Vec<Subkernel> {
        let mut found: Vec<Subkernel> = vec![];
        for (function, instance) in self.functions.iter().enumerate() {
            let Some(destination) = instance.info.kind.destination() else {
                continue;
            };
            for receiver in self.receivers(instance) {
                let number = found.len() as u32 + 1;
                found.push(Subkernel {
                    number,
                    destination,
                    function,
                    receiver,
                });
            }
        }
        found
    }

    fn receivers(&self, instance: &FunctionInstance) -> Vec<Option<Handle>> {
        match instance.class {
            Some(class) => {
                let mut objects = self.classes[&class].instances.clone();
                objects.sort_unstable();
                objects.into_iter().map(Some).collect()
            }
            None => vec![None],
        }
    }

    /// The number of a message.
    pub fn message(&self, name: &str) -> i64 {
        let place = self.messages.iter().position(|known| **known == *name);
        FIRST_MESSAGE + place.expect("inference has met it") as i64
    }

    /// Sets the names of all messages.
    pub fn name_messages(&mut self, mut names: Vec<Rc<str>>) {
        names.sort_unstable();
        self.messages = names;
    }
}
