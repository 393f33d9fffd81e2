//! Health of a device's subsystems, as reported by the device (`docs/interfaces.md`, section 12).

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::v1;

/// Condition of a subsystem.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Condition {
    Absent,
    Good,
    Warning,
    Bad,
}

/// A subsystem of a device.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Subsystem {
    pub name: String,
    #[serde(rename = "state")]
    pub condition: Condition,
    /// Description of the fault.
    pub text: String,
    /// By name; names end in the unit.
    pub values: BTreeMap<String, f64>,
}

impl From<&Subsystem> for v1::Subsystem {
    fn from(subsystem: &Subsystem) -> Self {
        let condition = match subsystem.condition {
            Condition::Absent => v1::Condition::Absent,
            Condition::Good => v1::Condition::Good,
            Condition::Warning => v1::Condition::Warning,
            Condition::Bad => v1::Condition::Bad,
        };
        Self {
            name: subsystem.name.clone(),
            condition: condition.into(),
            text: subsystem.text.clone(),
            values: subsystem
                .values
                .iter()
                .map(|(name, value)| (name.clone(), *value))
                .collect(),
        }
    }
}

/// Parses a device's health report.
pub fn read(bytes: &[u8]) -> Result<Vec<Subsystem>, String> {
    serde_json::from_slice(bytes).map_err(|error| format!("the device sent an invalid health report: {error}"))
}

/// Logs subsystems whose condition changed.
pub fn publish_changes(device: &str, before: &[Subsystem], now: &[Subsystem]) {
    for subsystem in now {
        let was = before.iter().find(|other| other.name == subsystem.name);
        let was = was.map_or(Condition::Good, |other| other.condition);
        let (name, text) = (&subsystem.name, &subsystem.text);
        match (was, subsystem.condition) {
            (was, now) if was == now => {}
            (_, Condition::Bad) => tracing::error!(device, subsystem = name, "{text}"),
            (_, Condition::Warning) => tracing::warn!(device, subsystem = name, "{text}"),
            (Condition::Bad | Condition::Warning, _) => tracing::info!(device, subsystem = name, "good again"),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn report_of_a_device_is_published() {
        let text =
            br#"[{"name": "rtio", "state": "warning", "text": "t", "values": {"a_total": 3, "b_volts": -1.500}}]"#;
        let found = read(text).unwrap();
        assert_eq!(
            (found[0].condition, found[0].values["b_volts"]),
            (Condition::Warning, -1.5)
        );
        for wrong in [
            &b""[..],
            b"{}",
            br#"[{"name": "a", "state": "odd", "text": "", "values": {}}]"#,
        ] {
            assert!(read(wrong).is_err());
        }
    }
}
