//! Host arrays that share memory: an array and views of it, or views of one array. They share memory
//! on the device, too: each is a part of one storage, so that what is stored in one is seen in the others.
//!
//! Which they are is known when inference has found all arrays of a program. Those that are not
//! contiguous have another type (`Kind::View`), with which inference is repeated. A program that is
//! refused with it has these arrays apart, as copies.

use std::collections::{BTreeMap, HashSet};

use super::{Content, Context, HostList};
use crate::host::Handle;
use crate::types::{Kind, Ty};

/// Number of inferences after which arrays that are not contiguous remain apart: their types decide
/// which arrays a program uses, and could do so for ever.
const MOST_INFERENCES: u32 = 4;

/// The arrays that have the type of strided ones.
#[derive(Debug, Default)]
pub struct Strided {
    arrays: HashSet<Handle>,
    inferences: u32,
    /// Whether arrays that are not contiguous remain apart.
    apart: bool,
}

impl Strided {
    pub fn contains(&self, array: Handle) -> bool {
        self.arrays.contains(&array)
    }

    /// Leaves these arrays apart; false if they are already.
    pub fn keep_apart(&mut self) -> bool {
        self.apart = true;
        !std::mem::take(&mut self.arrays).is_empty()
    }

    /// Whether the arrays have the right types; otherwise inference must be repeated.
    fn agree(&mut self, found: HashSet<Handle>) -> bool {
        if self.arrays == found {
            return true;
        }
        self.inferences += 1;
        self.arrays = found;
        if self.inferences == MOST_INFERENCES {
            self.keep_apart();
        }
        false
    }
}

impl Context<'_> {
    /// Gives arrays that share memory on the host one storage; false if inference must be repeated,
    /// because some of them need another type.
    pub fn share_arrays(&mut self) -> Result<bool, String> {
        let lists = self.program.lists.iter();
        let arrays = lists.filter_map(|(&handle, list)| {
            let (elt, _) = self.program.types.array_parts(list.ty)?;
            matches!(list.content, Content::Memory(_)).then_some((handle, elt))
        });
        let arrays: BTreeMap<Handle, Ty> = arrays.collect();
        if arrays.len() < 2 && self.strided.arrays.is_empty() {
            return Ok(true);
        }
        let handles: Vec<_> = arrays.keys().copied().collect();
        let found = self.host.shared(&handles, !self.strided.apart)?;
        let strided = found.iter().filter(|(_, place)| place.strides.is_some());
        if !self.strided.agree(strided.map(|(array, _)| *array).collect()) {
            return Ok(false);
        }
        for (array, place) in found {
            let storage = place.storage;
            if !self.program.lists.contains_key(&storage) {
                let elt = arrays[&array];
                let memory = self.host.memory(storage)?;
                let size = match self.program.types.kind(elt) {
                    Kind::Bool => 1,
                    Kind::Int32 => 4,
                    _ => 8,
                };
                let length = memory.len() / size;
                let list = HostList {
                    ty: self.program.types.new_type(Kind::Array(elt, 1)),
                    content: Content::Memory(memory),
                    shape: [length as i32].into(),
                };
                self.program.lists.insert(storage, list);
            }
            self.program.lists.remove(&array);
            self.program.shared.insert(array, place);
        }
        Ok(true)
    }
}
