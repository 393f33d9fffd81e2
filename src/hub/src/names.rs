//! Errors for unknown names, which suggest a similar name or list all known ones.

use tonic::Status;

/// Minimum similarity, from 0 to 1, for a suggestion.
const ALIKE: f64 = 0.7;

/// The known name most similar to `name`, if it is similar enough.
pub fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let name = name.to_lowercase();
    let likeness = |known: &str| strsim::normalized_damerau_levenshtein(&name, &known.to_lowercase());
    known
        .into_iter()
        .map(|known| (likeness(known), known))
        .filter(|(likeness, _)| *likeness >= ALIKE)
        .max_by(|(one, _), (other, _)| one.total_cmp(other))
        .map(|(_, known)| known)
}

/// NOT_FOUND; `what`: the kind of name, `known`: all names of that kind.
pub fn unknown<'a>(what: &str, name: &str, known: impl IntoIterator<Item = &'a str>) -> Status {
    let known: Vec<_> = known.into_iter().collect();
    Status::not_found(match (nearest(name, known.iter().copied()), known.is_empty()) {
        (Some(near), _) => format!("there is no {what} '{name}'; did you mean '{near}'?"),
        (None, false) => format!("there is no {what} '{name}'; there are {}", known.join(", ")),
        (None, true) => format!("there is no {what} '{name}', nor any other"),
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
}
