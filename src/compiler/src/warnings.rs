//! The warnings of a compilation: each once, and no more than anybody reads.

use crate::diagnostic::Diagnostic;

/// Warnings kept; a program that was written by another one may give a warning for each of its lines.
const MOST: usize = 100;

#[derive(Default)]
pub struct Warnings {
    kept: Vec<Diagnostic>,
    exceeded: bool,
}

impl Warnings {
    /// Keeps a warning unless it is known: passes visit functions repeatedly, and methods once for each class.
    pub fn add(&mut self, mut warning: Diagnostic) {
        let known = |known: &Diagnostic| known.message == warning.message && known.span == warning.span;
        if self.kept.iter().any(known) {
            return;
        }
        if self.kept.len() == MOST {
            self.exceeded = true;
            return;
        }
        warning.warning = true;
        self.kept.push(warning);
    }

    /// All of them; the last one says if there were more.
    pub fn into_diagnostics(mut self) -> Vec<Diagnostic> {
        if self.exceeded {
            let mut last = Diagnostic::global(format!("there are more than these {MOST} warnings"));
            last.warning = true;
            self.kept.push(*last);
        }
        self.kept
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn messages(count: usize) -> Vec<String> {
        let mut warnings = Warnings::default();
        for number in (0..count).chain(0..count) {
            warnings.add(*Diagnostic::global(format!("number {number}")));
        }
        let all = warnings.into_diagnostics();
        assert!(all.iter().all(|warning| warning.warning));
        all.into_iter().map(|warning| warning.message).collect()
    }

    #[test]
    fn repeated_warning_is_kept_once() {
        assert_eq!(messages(2), ["number 0", "number 1"]);
        assert_eq!(messages(MOST).len(), MOST);
    }

    #[test]
    fn warnings_beyond_the_limit_are_mentioned_in_one() {
        let all = messages(MOST + 2);
        assert_eq!(all.len(), MOST + 1);
        assert_eq!(all[MOST], "there are more than these 100 warnings");
    }
}
