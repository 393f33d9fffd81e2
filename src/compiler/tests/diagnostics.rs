//! Rendered diagnostics.

mod common;

use common::TestHost;
use insta::assert_snapshot;
use kairos_compiler::host::HostValue;

fn rejected(text: &str) -> String {
    let device = [("level", HostValue::Int(1)), ("name", HostValue::Str("x".into()))];
    let host = TestHost::new(text).object("device", &device, &["name"]);
    host.compile().err().expect("the program is wrong")
}

#[test]
fn misspelt_name_is_reported_with_a_suggestion() {
    assert_snapshot!(rejected("def f():\n    paralel = 1\n    return paralell\n"));
}

#[test]
fn incompatible_types_are_reported_with_a_remedy() {
    assert_snapshot!(rejected("def f():\n    delay(1)\n"));
}

#[test]
fn variable_unset_on_one_of_two_paths_is_reported() {
    assert_snapshot!(rejected(
        "def f():\n    for i in range(3):\n        µ = i\n    return µ\n"
    ));
}

#[test]
fn misspelt_attribute_is_reported_with_a_suggestion() {
    assert_snapshot!(rejected("def f():\n    return device.levle\n"));
}

#[test]
fn assignment_to_constant_attribute_is_reported() {
    assert_snapshot!(rejected("def f():\n    device.name = 'y'\n"));
}

#[test]
fn unsupported_construct_is_reported() {
    assert_snapshot!(rejected(
        "def f():\n    x = {i: i\n         for i in range(3)}\n    return 1\n"
    ));
}

#[test]
fn syntax_error_is_reported_with_its_place() {
    assert_snapshot!(rejected("def f():\n    return (1 +\n"));
}

#[test]
fn missing_return_is_reported_with_its_function() {
    assert_snapshot!(rejected(
        "def f():\n    return g(1)\n\ndef g(x):\n    if x > 0:\n        return x\n"
    ));
}
