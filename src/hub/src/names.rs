//! Errors for unknown names, which suggest a similar name or list all known ones.

use tonic::Status;

use crate::text::plain;

/// Minimum similarity, from 0 to 1, for a suggestion.
const ALIKE: f64 = 0.7;
/// Maximum number of characters of a client's name that a message repeats. No longer name is compared with known ones.
const SHOWN: usize = 200;

/// The known name most similar to `name`, if it is similar enough.
pub fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    if name.chars().nth(SHOWN).is_some() {
        return None;
    }
    let name = name.to_lowercase();
    let likeness = |known: &str| strsim::normalized_damerau_levenshtein(&name, &known.to_lowercase());
    known
        .into_iter()
        .map(|known| (likeness(known), known))
        .filter(|(likeness, _)| *likeness >= ALIKE)
        .max_by(|(one, _), (other, _)| one.total_cmp(other))
        .map(|(_, known)| known)
}

/// A name that a client has given, as part of a message.
pub fn quoted(name: &str) -> String {
    let shown = name.char_indices().nth(SHOWN).map_or(name, |(end, _)| &name[..end]);
    let more = if shown.len() < name.len() { "…" } else { "" };
    format!("'{}{more}'", plain(shown))
}

/// NOT_FOUND; `what`: the kind of name, `known`: all names of that kind.
pub fn unknown<'a>(what: &str, name: &str, known: impl IntoIterator<Item = &'a str>) -> Status {
    let known: Vec<_> = known.into_iter().collect();
    let given = quoted(name);
    Status::not_found(match (nearest(name, known.iter().copied()), known.is_empty()) {
        (Some(near), _) => format!("there is no {what} {given}; did you mean '{near}'?"),
        (None, false) => format!("there is no {what} {given}; there are {}", known.join(", ")),
        (None, true) => format!("there is no {what} {given}, nor any other"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn misspelt_name_is_reported_with_a_suggestion() {
        let known = ["rtio/outputs", "rtio/async_error", "scratch/word"];
        let message = |name| unknown("register", name, known).message().to_string();
        for slip in ["rtio/output", "rtio/ouptuts", "RTIO/Outputs", "rito/outputs"] {
            assert!(
                message(slip).ends_with("did you mean 'rtio/outputs'?"),
                "{}",
                message(slip)
            );
        }
        assert_eq!(
            message("clock"),
            "there is no register 'clock'; there are rtio/outputs, rtio/async_error, scratch/word"
        );
        assert_eq!(
            unknown("buffer", "a", []).message(),
            "there is no buffer 'a', nor any other"
        );
    }

    #[test]
    fn odd_name_is_escaped_and_shortened() {
        assert_eq!(
            unknown("buffer", "a\nb\u{202e}", []).message(),
            "there is no buffer 'a\\nb\\u{202e}', nor any other"
        );
        let long = "é".repeat(1 << 20);
        let expected = format!("there is no buffer '{}…'; there are b", "é".repeat(SHOWN));
        assert_eq!(unknown("buffer", &long, ["b"]).message(), expected);
    }
}
