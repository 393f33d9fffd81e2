//! Wires from the command line, in addition to the file: an input is driven by a pin, a generator,
//! or a fixed level.

use std::str::FromStr;

use toml::Spanned;

use super::outputs::OutputKinds;
use super::{Bench, Done};
use crate::file::Source;
use crate::model::Model;
use crate::numbers::shown;
use crate::physics::level::High;
use crate::physics::line::Line;
use crate::physics::loopback::Loopback;
use crate::signal::Ns;

/// Maximum frequency of a generator in Hz. The logic runs for 64 ns after each edge of an input: a
/// faster generator would never let it become quiescent, and a device whose time never stops does
/// not boot.
const MOST_HZ: f64 = 5e6;

/// An input and its source.
#[derive(Debug, Clone, PartialEq)]
pub struct Wire {
    /// The original text.
    text: String,
    pin: String,
    from: Supply,
}

#[derive(Debug, Clone, PartialEq)]
enum Supply {
    Pin(String),
    /// A square wave of this frequency in Hz with 50 % duty cycle.
    Generator(f64),
    High,
}

impl FromStr for Wire {
    type Err = String;

    /// Parses `PIN=PIN`, `PIN=HZ` or `PIN=high`.
    fn from_str(text: &str) -> Result<Self, String> {
        let (pin, from) = text.split_once('=').unwrap_or_default();
        if pin.is_empty() || from.is_empty() {
            return Err("it is not PIN=PIN, PIN=HZ or PIN=high".into());
        }
        let from = match (from, from.parse()) {
            ("high", _) => Supply::High,
            (_, Ok(hz)) => Supply::Generator(hz),
            (pin, Err(_)) => Supply::Pin(pin.into()),
        };
        Ok(Self {
            text: format!("--wire {text}"),
            pin: pin.into(),
            from,
        })
    }
}

impl<'a> Bench<'a> {
    pub(super) fn wires(&mut self, wires: &'a [Wire]) -> Done {
        for wire in wires {
            // Errors refer to the command line, not to the file.
            self.source = Source {
                name: &wire.text,
                text: "",
            };
            let random = self.random(&wire.text);
            let (kind, model): (_, Box<dyn Model>) = match wire.from {
                Supply::Pin(ref from) => {
                    self.leads_elsewhere(&without_span(from), &without_span(&wire.pin))?;
                    ("loopback", Box::new(Loopback::new(0, 0.0, random)))
                }
                Supply::Generator(hz) if hz > 0.0 && hz <= MOST_HZ => {
                    ("generator", Box::new(Line::new(hz, 0.0, (0.5e9 / hz) as Ns, random)))
                }
                Supply::Generator(hz) => {
                    let text = format!(
                        "a generator of {} Hz is invalid: it must be more than 0 and at most {MOST_HZ} Hz",
                        shown(hz)
                    );
                    return self.fail(0..0, &text);
                }
                Supply::High => ("level", Box::new(High::default())),
            };
            let name = format!("{kind} at {}", wire.pin);
            let model = self.add(&without_span(&name), kind, 1, OutputKinds::default(), model)?;
            if let Supply::Pin(from) = &wire.from {
                let pin = self.source_pin(&without_span(from))?;
                self.engine.wire_pin(pin, model, 0);
                self.draw(&self.shown(pin), &name, "");
            }
            self.drive(&without_span(&wire.pin), (model, 0), &name)?;
        }
        Ok(())
    }
}

fn without_span(text: &str) -> Spanned<String> {
    Spanned::new(0..0, text.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wire_text_is_parsed_as_pin_generator_or_level() {
        let from = |text: &str| text.parse::<Wire>().map(|wire| (wire.pin, wire.from));
        assert_eq!(from("ttl0=ttl4"), Ok(("ttl0".into(), Supply::Pin("ttl4".into()))));
        assert_eq!(from("ttl0=1e3"), Ok(("ttl0".into(), Supply::Generator(1e3))));
        assert_eq!(from("ttl0=high"), Ok(("ttl0".into(), Supply::High)));
        for wrong in ["", "ttl0", "ttl0=", "=1"] {
            assert!(from(wrong).is_err(), "{wrong}");
        }
    }
}
