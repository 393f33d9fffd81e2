//! Symbols of compiled functions: the qualified name of a Python function, and a suffix that tells
//! its instances apart. Tracebacks show the name without it.

/// A symbol that is not `taken`: the qualified name, followed by the receiver's class if it inherits
/// the method, and by a number if there are several instances.
pub(crate) fn unique(qualified: &str, class: Option<&str>, taken: impl Fn(&str) -> bool) -> String {
    let owner = qualified.rsplit_once('.').map(|(owner, _)| owner);
    let base = match class {
        Some(class) if owner != Some(class) => format!("{qualified}[{class}]"),
        _ => qualified.to_string(),
    };
    let numbered = (2..).map(|n| format!("{base}#{n}"));
    std::iter::once(base.clone())
        .chain(numbered)
        .find(|name| !taken(name))
        .expect("the numbers do not end")
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
                let mut symbols: Vec<String> = vec![];
                for _ in 0..3 {
                    let symbol = unique(name, class, |symbol| symbols.iter().any(|known| known == symbol));
                    assert_eq!(qualified_name(&symbol), name);
                    assert!(!symbols.contains(&symbol));
                    symbols.push(symbol);
                }
            }
        }
        assert_eq!(unique("Base.on", Some("Derived"), |_| false), "Base.on[Derived]");
        assert_eq!(unique("Base.on", Some("Base"), |_| false), "Base.on");
    }
}
