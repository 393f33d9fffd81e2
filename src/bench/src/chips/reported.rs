//! Registers in the reports of models, from which the state of all chips is collected: each report that has
//! some lists them as `registers`, by name.

use serde_json::{Map, Value};

/// The values of equal registers, by a common name and their numbers.
pub fn named<T: Copy + Into<Value>>(name: &str, values: &[T]) -> Map<String, Value> {
    let numbered = values.iter().enumerate();
    numbered
        .map(|(n, value)| (format!("{name}{n}"), (*value).into()))
        .collect()
}

/// The words of a memory up to the last one that is not 0, by a common name and their addresses.
pub fn used(name: &str, memory: &[u32]) -> Map<String, Value> {
    let zeros = memory.iter().rev().take_while(|word| **word == 0).count();
    named(name, &memory[..memory.len() - zeros])
}
