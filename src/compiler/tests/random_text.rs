//! For any source text, the compiler terminates soon with a program or a diagnostic.
//!
//! `fuzz/fuzz_targets/kernel.rs` tests the same with fuzzed texts.

mod common;

use common::any_text;

/// A function whose statement contains `levels` times `open`, then `inside`, then as many `close`.
fn nested(open: &str, inside: &str, close: &str, levels: usize) -> String {
    format!(
        "def f():\n    x = {}{inside}{}\n",
        open.repeat(levels),
        close.repeat(levels)
    )
}

#[test]
fn deeply_nested_text_compiles_or_is_reported() {
    let chain = |levels| "    elif f():\n        pass\n".repeat(levels);
    for levels in [30, 501, 20_000] {
        for text in [
            nested("(", "1", ")", levels),
            nested("(", "", "", levels),
            nested("-", "1", "", levels),
            nested("not ", "x", "", levels),
            nested("[", "1", "]", levels),
            nested("1 + ", "1", "", levels),
            nested("1 ** ", "1", "", levels),
            nested("lambda: ", "1", "", levels),
            nested("1 if 1 else ", "1", "", levels),
            nested("f(", "1", ")", levels),
            nested("f'{", "1", "}'", levels.min(1000)),
            format!("def f():\n    f{}\n", "[0]".repeat(levels)),
            format!("def f():\n    f{}\n", ".a".repeat(levels)),
            format!("def f():\n    f{}\n", "()".repeat(levels)),
            nested("1 < ", "2", "", levels),
            nested("f and ", "f", "", levels),
            format!("def f():\n    if f():\n        pass\n{}", chain(levels)),
            format!("def g():\n    return {}1\n\ndef f():\n    pass\n", "-".repeat(levels)),
            format!(
                "def f():\n    match x:\n        case {}_{}: pass\n",
                "[".repeat(levels),
                "]".repeat(levels)
            ),
        ] {
            any_text(&text);
        }
    }
}

#[test]
fn too_deep_nesting_is_reported() {
    let text = any_text(&nested("-", "x", "", 2000));
    assert!(text.contains("this is nested more than 500 levels deep"), "{text}");
}

/// Of an overlong line, the part around the reported position is shown.
#[test]
fn overlong_line_is_shown_around_its_error() {
    let (before, behind) = ("1, ".repeat(500), ", 2".repeat(500));
    let text = any_text(&format!("def f():\n    x = [{before}missing{behind}]\n"));
    let lines: Vec<&str> = text.lines().collect();
    assert!(lines[1].ends_with("test.py:2:1510"), "{text}");
    let place = lines[3].find("missing").unwrap();
    assert_eq!(lines[3].chars().count(), 206, "{text}");
    assert_eq!(lines[4].find('^'), Some(lines[3][..place].chars().count()), "{text}");
    assert!(lines[4].ends_with("^^^^^^^ not known here"), "{text}");
    let text = any_text(&format!("def f():\n    return [{}] + 'a'\n", "'abc', ".repeat(500)));
    assert!(
        text.len() < 2000 && text.lines().all(|line| line.chars().count() < 300),
        "{text}"
    );
}
