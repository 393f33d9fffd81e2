//! Symbols of compiled functions: the qualified name of a Python function, and a suffix that tells
//! its instances apart. Tracebacks show the name without it.

use std::collections::HashMap;

/// The symbols that are given to functions.
#[derive(Default)]
pub(crate) struct Symbols {
    /// How many instances have a symbol that begins with this name.
    instances: HashMap<String, usize>,
}

impl Symbols {
    /// A symbol that no other function has: the qualified name, followed by the receiver's class if it
    /// inherits the method, and by a number if there are several instances.
    pub(crate) fn unique(&mut self, qualified: &str, class: Option<&str>) -> String {
        let owner = qualified.rsplit_once('.').map(|(owner, _)| owner);
        let base = match class {
            Some(class) if owner != Some(class) => format!("{qualified}[{class}]"),
            _ => qualified.to_string(),
        };
        loop {
            let number = self.instances.entry(base.clone()).or_default();
            *number += 1;
            let name = match number {
                1 => base.clone(),
                number => format!("{base}#{number}"),
            };
            // A name may look like one with a number.
            if name == base || self.instances.insert(name.clone(), 1).is_none() {
                return name;
            }
        }
    }
}

/// The qualified name within a symbol.
pub(crate) fn qualified_name(symbol: &str) -> &str {
    symbol.split(['[', '#']).next().unwrap_or(symbol)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn symbol_of_any_instance_has_the_qualified_name() {
        for name in ["f", "Base.on", "test.f.<locals>.Device.on", "f.<locals>.<lambda>"] {
            for class in [None, Some("Derived"), Some("f.<locals>.Derived"), Some("Base")] {
                let (mut symbols, mut given) = (Symbols::default(), vec![]);
                for _ in 0..3 {
                    let symbol = symbols.unique(name, class);
                    assert_eq!(qualified_name(&symbol), name);
                    assert!(!given.contains(&symbol));
                    given.push(symbol);
                }
            }
        }
        assert_eq!(
            Symbols::default().unique("Base.on", Some("Derived")),
            "Base.on[Derived]"
        );
        assert_eq!(Symbols::default().unique("Base.on", Some("Base")), "Base.on");
    }
}
