//! Name resolution: which names are variables of the function, which belong to the language, which
//! to the host.

use std::rc::Rc;

use crate::diagnostic::{Diagnostic, Result};
use crate::host::{Handle, Host, HostValue};
use crate::language::Builtin;
use crate::names::{Name, Names};
use crate::source::Span;
use crate::syntax::*;

/// Resolves every name in `function`; `outer` holds the names of the enclosing function. The result
/// may hold an error, which matters if the function is called.
pub fn resolve(function: &Function, handle: Handle, host: &mut dyn Host, outer: Option<&Names>) -> Result<Names> {
    let mut names = Names::default();
    function.each_own(&mut |name, span| names.declare(name, span));
    for (name, span) in &function.nonlocals {
        let Some(local) = outer.and_then(|outer| outer.local(name)) else {
            let text = format!("cannot declare name '{name}' as nonlocal: it is not bound in any outer scope");
            return Err(Diagnostic::new(*span, text));
        };
        if names.local(name).is_none() {
            names.capture(name, *span, local);
        }
    }
    if let Some(outer) = outer {
        function.each_free(&mut |name, span| {
            if let (None, Some(local)) = (names.local(name), outer.local(name)) {
                names.capture(name, span, local);
            }
        });
    }
    walk_exprs(&function.body, &mut |expr| {
        if let (ExprKind::Name(name), None) = (&expr.kind, &names.error) {
            match lookup(name, expr.span, handle, &names, host) {
                Ok(found) => names.insert(expr.id, found),
                Err(wrong) => names.error = Some(wrong),
            }
        }
    });
    Ok(names)
}

fn lookup(name: &Rc<str>, span: Span, function: Handle, names: &Names, host: &mut dyn Host) -> Result<Name> {
    if let Some(local) = names.local(name) {
        return Ok(Name::Local(local));
    }
    let builtin = Builtin::named(name);
    if let Some(builtin) = builtin.filter(|builtin| !builtin.yields()) {
        return Ok(Name::Builtin(builtin));
    }
    if let Some(value) = host
        .global(function, name)
        .map_err(|text| Diagnostic::new(span, text))?
    {
        return Ok(match value {
            HostValue::Builtin(builtin) => Name::Builtin(builtin),
            value => Name::Host(value),
        });
    }
    if let Some(builtin) = builtin {
        return Ok(Name::Builtin(builtin));
    }
    let mut candidates = host.global_names(function);
    candidates.extend(Builtin::prelude().map(|builtin| builtin.name().to_string()));
    candidates.extend(names.locals.iter().map(|local| local.name.to_string()));
    let error = Diagnostic::new(span, format!("name '{name}' is not bound to anything")).primary_note("not known here");
    Err(match closest(name, candidates) {
        Some(near) => error.help(format!("did you mean '{near}'?")),
        None => error,
    })
}

/// The candidate most like `name`, if one is close enough to be a misspelling.
pub fn closest(name: &str, candidates: Vec<String>) -> Option<String> {
    let limit = (name.chars().count() / 3).max(1);
    let near = candidates
        .into_iter()
        .map(|candidate| (distance(name, &candidate), candidate));
    near.filter(|(d, _)| *d <= limit).min().map(|(_, candidate)| candidate)
}

/// Edit distance between two words: insertions, deletions, substitutions and transpositions of
/// neighbours.
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut table = vec![vec![0; b.len() + 1]; a.len() + 1];
    for i in 0..=a.len() {
        for j in 0..=b.len() {
            if i == 0 || j == 0 {
                table[i][j] = i + j;
                continue;
            }
            let replaced = table[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut least = replaced.min(table[i - 1][j] + 1).min(table[i][j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                least = least.min(table[i - 2][j - 2] + 1);
            }
            table[i][j] = least;
        }
    }
    table[a.len()][b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn misspelt_name_finds_the_closest_known_name() {
        let known = || vec!["delay".to_string(), "parallel".to_string(), "x".to_string()];
        assert_eq!(closest("delya", known()).as_deref(), Some("delay"));
        assert_eq!(closest("dely", known()).as_deref(), Some("delay"));
        assert_eq!(closest("paralel", known()).as_deref(), Some("parallel"));
        assert_eq!(closest("nothing", known()), None);
    }
}
