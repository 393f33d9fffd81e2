//! For tests: the test vectors of the cards (`tests/cards/vectors.json`).

use serde_json::Value;

/// The vectors of a group.
pub fn vectors(name: &str) -> Vec<Value> {
    let file: Value = serde_json::from_str(include_str!("../../../tests/cards/vectors.json")).unwrap();
    let mut groups = file["groups"].as_array().unwrap().iter();
    let found = groups
        .find(|group| group["name"] == name)
        .expect("there is such a group");
    found["vectors"].as_array().unwrap().clone()
}
