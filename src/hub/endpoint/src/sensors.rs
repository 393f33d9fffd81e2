//! Temperatures, supplies, currents, powers and fans from `/sys/class/hwmon` (Linux,
//! `Documentation/hwmon/sysfs-interface.rst`).

use std::path::Path;

use crate::files;

/// Files of a kind of sensor: their prefix, the unit, and the file's counts per unit.
const KINDS: [(&str, &str, f64); 6] = [
    ("temp", "celsius", 1000.0),
    ("in", "volts", 1000.0),
    ("curr", "amperes", 1000.0),
    ("power", "watts", 1e6),
    ("fan", "rpm", 1.0),
    ("humidity", "percent", 1000.0),
];

/// The value of a sensor.
#[derive(Clone, Debug, PartialEq)]
pub struct Reading {
    /// Such as `ina226_vccint_volts`: the chip, the measured quantity, the unit.
    pub name: String,
    pub value: f64,
    /// Its limits, if the driver has them: values outside are an alarm.
    pub limits: (Option<f64>, Option<f64>),
    /// Whether the driver reports an alarm.
    pub alarm: bool,
}

impl Reading {
    /// Describes what is wrong, if anything.
    pub fn complaint(&self) -> Option<String> {
        let Self {
            name,
            value,
            limits,
            alarm,
        } = self;
        match *limits {
            (Some(least), _) if *value < least => Some(format!("{name} is {value}, at least {least} is good")),
            (_, Some(most)) if *value > most => Some(format!("{name} is {value}, at most {most} is good")),
            _ => alarm.then(|| format!("{name} is {value}, which is an alarm")),
        }
    }
}

/// Reads all sensors. One that cannot be read is omitted.
pub fn read(root: &Path) -> Vec<Reading> {
    let class = files::below(root, "/sys/class/hwmon");
    let mut found: Vec<Reading> = Vec::new();
    for chip in files::names(&class) {
        let folder = class.join(&chip);
        let name = files::text(&folder.join("name")).unwrap_or(chip);
        for file in files::names(&folder) {
            if let Some(mut reading) = sensor(&folder, &name, &file) {
                // Two chips of one kind.
                let same_name = found
                    .iter()
                    .filter(|other| other.name.starts_with(&reading.name))
                    .count();
                if same_name > 0 {
                    reading.name = format!("{}_{}", reading.name, same_name + 1);
                }
                found.push(reading);
            }
        }
    }
    found
}

fn sensor(folder: &Path, chip: &str, file: &str) -> Option<Reading> {
    let sensor = file.strip_suffix("_input")?;
    let kind = sensor.trim_end_matches(|c: char| c.is_ascii_digit());
    let (_, unit, scale) = KINDS.into_iter().find(|(known, ..)| *known == kind)?;
    let value = |part: &str| {
        let text = files::text(&folder.join(format!("{sensor}_{part}")))?;
        Some(text.parse::<f64>().ok()? / scale)
    };
    let label = files::text(&folder.join(format!("{sensor}_label"))).unwrap_or_else(|| sensor.to_string());
    Some(Reading {
        name: format!("{}_{}_{unit}", word(chip), word(&label)),
        value: value("input")?,
        limits: (value("min"), value("max").or_else(|| value("crit"))),
        alarm: value("alarm").is_some_and(|alarm| alarm != 0.0),
    })
}

/// Converts text to a part of a name.
fn word(text: &str) -> String {
    let lower = text.to_ascii_lowercase();
    lower
        .replace(|c: char| !c.is_ascii_alphanumeric(), "_")
        .trim_matches('_')
        .to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_have_units_and_limits() {
        let root = tempfile::tempdir().unwrap();
        let chip = root.path().join("sys/class/hwmon/hwmon0");
        std::fs::create_dir_all(&chip).unwrap();
        for (file, text) in [
            ("name", "ina226\n"),
            ("in1_input", "1012\n"),
            ("in1_label", "VCC-INT\n"),
            ("in1_max", "1050\n"),
            ("temp1_input", "91500\n"),
            ("temp1_max", "85000\n"),
            ("power1_input", "2500000\n"),
            ("power1_alarm", "1\n"),
            ("fan1_input", "not now\n"),
            ("uevent", ""),
        ] {
            std::fs::write(chip.join(file), text).unwrap();
        }
        let found = read(root.path());
        let names: Vec<_> = found
            .iter()
            .map(|one| (one.name.as_str(), one.value, one.complaint()))
            .collect();
        let hot = Some("ina226_temp1_celsius is 91.5, at most 85 is good".to_string());
        let alarm = Some("ina226_power1_watts is 2.5, which is an alarm".to_string());
        let expected = [
            ("ina226_vcc_int_volts", 1.012, None),
            ("ina226_power1_watts", 2.5, alarm),
            ("ina226_temp1_celsius", 91.5, hot),
        ];
        assert_eq!(names, expected);
        assert_eq!(read(Path::new("/nowhere")), []);
    }
}
