//! Small kernel files with one value each.

use std::fs;
use std::path::{Path, PathBuf};

/// The text of a file without surrounding white space; `None` if it cannot be read.
pub fn text(path: &Path) -> Option<String> {
    Some(fs::read_to_string(path).ok()?.trim().to_string())
}

/// A number, decimal or with `0x`.
pub fn number(path: &Path) -> Option<u64> {
    let text = text(path)?;
    match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}

/// Names in a folder in natural order: `i2c-2` before `i2c-10`. Empty if there is no such folder.
pub fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut names: Vec<_> = entries
        .filter_map(|entry| entry.file_name().into_string().ok())
        .collect();
    names.sort_by_cached_key(|name| {
        (
            name.trim_end_matches(|c: char| c.is_ascii_digit()).to_string(),
            last_number(name),
        )
    });
    names
}

/// The trailing number of a name, 0 without one.
pub fn last_number(name: &str) -> u64 {
    let digits = name.len() - name.trim_end_matches(|c: char| c.is_ascii_digit()).len();
    name[name.len() - digits..].parse().unwrap_or(0)
}

/// The last component of a link's target.
pub fn target(link: &Path) -> Option<String> {
    fs::read_link(link).ok()?.file_name()?.to_str().map(String::from)
}

/// The absolute path `path` with `root` in place of `/`.
pub fn below(root: &Path, path: impl AsRef<Path>) -> PathBuf {
    let path = path.as_ref();
    root.join(path.strip_prefix("/").unwrap_or(path))
}
