//! The health of a device's subsystems as JSON: a list of objects with `name`, `state`, `text`, and
//! `values`, numbers whose names end in their unit.

use core::fmt::{self, Display, Write};

/// State of a subsystem.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// The device does not have it, or it cannot be examined.
    Absent,
    Good,
    /// It works, but needs attention.
    Warning,
    /// It does not work.
    Bad,
}

impl State {
    /// Returns `Good` if `well`, else `wrong`.
    pub fn unless(wrong: State, well: bool) -> Self {
        match well {
            true => State::Good,
            false => wrong,
        }
    }

    fn name(self) -> &'static str {
        match self {
            State::Absent => "absent",
            State::Good => "good",
            State::Warning => "warning",
            State::Bad => "bad",
        }
    }
}

/// A report being written.
pub struct Report<'a> {
    out: &'a mut dyn Write,
    first: bool,
}

impl<'a> Report<'a> {
    /// Begins the report.
    pub fn begin(out: &'a mut dyn Write) -> Result<Self, fmt::Error> {
        out.write_char('[')?;
        Ok(Self { out, first: true })
    }

    /// Adds a subsystem; `text` describes what is wrong, and is empty if nothing is.
    pub fn subsystem(
        &mut self,
        name: &'static str,
        state: State,
        text: &'static str,
        values: impl FnOnce(&mut Values) -> fmt::Result,
    ) -> fmt::Result {
        let before = if self.first { "" } else { ", " };
        self.first = false;
        let state = state.name();
        write!(
            self.out,
            "{before}{{\"name\": \"{name}\", \"state\": \"{state}\", \"text\": \"{text}\", \"values\": {{"
        )?;
        values(&mut Values {
            out: &mut *self.out,
            first: true,
        })?;
        self.out.write_str("}}")
    }

    /// Ends the report.
    pub fn end(self) -> fmt::Result {
        self.out.write_char(']')
    }
}

/// Values of a subsystem being written.
pub struct Values<'a> {
    out: &'a mut dyn Write,
    first: bool,
}

impl Values<'_> {
    fn name(&mut self, name: impl Display) -> fmt::Result {
        let before = if self.first { "" } else { ", " };
        self.first = false;
        write!(self.out, "{before}\"{name}\": ")
    }

    /// Adds a whole number.
    pub fn count(&mut self, name: impl Display, value: impl Into<u64>) -> fmt::Result {
        self.name(name)?;
        write!(self.out, "{}", value.into())
    }

    /// Adds a number given in thousandths.
    pub fn thousandths(&mut self, name: impl Display, value: i64) -> fmt::Result {
        self.name(name)?;
        let sign = if value < 0 { "-" } else { "" };
        let value = value.unsigned_abs();
        write!(self.out, "{sign}{}.{:03}", value / 1000, value % 1000)
    }
}

/// Displays a name in lower case.
pub struct Lower(pub &'static str);

impl Display for Lower {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.chars().try_for_each(|c| f.write_char(c.to_ascii_lowercase()))
    }
}

#[cfg(test)]
mod tests {
    extern crate std;

    use super::*;
    use std::string::String;

    #[test]
    fn report_has_documented_form() {
        let mut text = String::new();
        let mut report = Report::begin(&mut text).unwrap();
        report
            .subsystem("sensors", State::Good, "", |values| {
                values.thousandths("temperature_celsius", -1_050)?;
                values.thousandths(format_args!("{}_volts", Lower("VCC")), 1_500)
            })
            .unwrap();
        let state = State::unless(State::Bad, false);
        report
            .subsystem("rtio", state, "it has failed", |values| {
                values.count("errors_total", 3u32)
            })
            .unwrap();
        report.subsystem("links", State::Absent, "", |_| Ok(())).unwrap();
        report.end().unwrap();
        let expected = [
            r#"[{"name": "sensors", "state": "good", "text": "", "values": {"temperature_celsius": -1.050, "vcc_volts": 1.500}}"#,
            r#", {"name": "rtio", "state": "bad", "text": "it has failed", "values": {"errors_total": 3}}"#,
            r#", {"name": "links", "state": "absent", "text": "", "values": {}}]"#,
        ];
        assert_eq!(text, expected.concat());
    }
}
