//! Assembly of models and wires from a bench file and the pins of a device.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use rand_pcg::Pcg64Mcg;
use serde_json::{json, Value};
use toml::Spanned;

mod cameras;
mod cards;
mod converters;
mod detectors;
mod ions;
pub mod outputs;
mod pythons;
mod recordings;
mod wires;

pub use wires::Wire;

use self::outputs::{Kind, OutputKinds};
use crate::cards::Card;
use crate::engine::{End, Engine};
use crate::file::{File, Source};
use crate::model::Model;
use crate::pad::{Missing, Output, Pad, Pins, Waveforms};
use crate::physics::aom::{self, Aom};
use crate::random::random_of;
use crate::signal::Ns;

/// An assembled bench.
pub struct Assembly {
    /// Runs the bench.
    pub engine: Engine,
    /// The parts and wires, for diagrams: `parts` [{name, kind, device, tones, volts, names}] with
    /// `ions`, the number of ions, of ions and crystals; `wires` [{from, to, label}]; and the pins
    /// that the bench drives, `pins` [{index, name, channel}]; `grabbers` [{name, device}], to which
    /// cameras can be connected. `device` is the driver's entry in the device database, or null.
    pub plan: Value,
}

/// The device of a bench: one board, or all boards of a system.
pub struct Device<'a> {
    /// Its pins.
    pub pads: &'a [Pad],
    /// Outputs of its pulse cores.
    pub outputs: &'a [Output],
    /// Shuttlers and Songbirds, whose waveforms it makes.
    pub waveforms: &'a [Waveforms],
    /// The cards in its database.
    pub cards: &'a [Card],
    /// Channels of the devices in its database, by name.
    pub names: &'a BTreeMap<String, u32>,
}

/// Assembles the bench that a file describes for a device, with additional `wires`. The error is a
/// line with the location in the file, or with the wire.
pub fn assemble<'a>(source: Source<'a>, device: &Device<'a>, wires: &'a [Wire]) -> Result<Assembly, String> {
    let file = source.parse()?;
    let mut bench = Bench {
        source,
        lines: source.lines(),
        pins: Pins::new(device.pads, device.names),
        seed: file.seed,
        engine: Engine::default(),
        parts: BTreeMap::new(),
        driven: BTreeMap::new(),
        replaced: BTreeSet::new(),
        pending: Vec::new(),
        plan: (Vec::new(), Vec::new()),
    };
    let recordings = bench.recordings(&file)?;
    let found = crate::cards::find(device.pads, device.cards, device.waveforms);
    bench.cards(&file, &found)?;
    bench.converters(&file, device.outputs)?;
    bench.sources(&file)?;
    bench.play(recordings)?;
    bench.pythons(&file)?;
    bench.aoms(&file)?;
    bench.ions(&file)?;
    bench.crystals(&file)?;
    bench.photomultipliers(&file)?;
    bench.photodiodes(&file)?;
    bench.connect_cards()?;
    bench.connect_model_inputs(&file)?;
    bench.cameras(&file, &found)?;
    bench.lines(&file)?;
    bench.combs(&file)?;
    bench.loopbacks(&file)?;
    bench.wires(wires)?;
    bench.follow(&file, device.outputs);
    let driven = bench.pins.all().filter(|pad| bench.driven.contains_key(&pad.index));
    let pins: Vec<Value> = driven
        .map(|pad| json!({ "index": pad.index, "name": bench.pins.name(pad), "channel": pad.channel }))
        .collect();
    let grabbers: Vec<Value> = cameras::grabbers(&found)
        .map(|card| json!({ "name": card.name, "device": card.device }))
        .collect();
    let (parts, wires) = bench.plan;
    Ok(Assembly {
        engine: bench.engine,
        plan: json!({ "parts": parts, "wires": wires, "pins": pins, "grabbers": grabbers }),
    })
}

/// A part that exists already.
struct Known {
    kind: &'static str,
    model: usize,
    output_kinds: OutputKinds,
    /// Of a crystal: the outputs of the individual ions' photons follow the total and the
    /// populations.
    ions: usize,
}

struct Bench<'a> {
    source: Source<'a>,
    /// Where the lines of the source begin.
    lines: Vec<usize>,
    pins: Pins<'a>,
    seed: u64,
    engine: Engine,
    parts: BTreeMap<String, Known>,
    /// Pins that are driven, and the part that drives each.
    driven: BTreeMap<u16, String>,
    /// Pins that a recording drives instead of the card there.
    replaced: BTreeSet<u16>,
    /// Inputs of cards from other parts.
    pending: Vec<cards::Pending>,
    plan: (Vec<Value>, Vec<Value>),
}

type Done = Result<(), String>;

impl Bench<'_> {
    fn fail<T>(&self, span: Range<usize>, text: &str) -> Result<T, String> {
        Err(self.source.error(span.start, text))
    }

    /// Random numbers of a part, independent of all other parts.
    fn random(&self, name: &str) -> Pcg64Mcg {
        random_of(name, self.seed)
    }

    fn add(
        &mut self,
        name: &Spanned<String>,
        kind: &'static str,
        outputs: usize,
        output_kinds: OutputKinds,
        model: Box<dyn Model>,
    ) -> Result<usize, String> {
        let text = name.get_ref();
        if text.is_empty() || text.contains(char::is_control) {
            return self.fail(name.span(), "the name of a part is one line of text");
        }
        if let Some(other) = self.parts.get(text) {
            return self.fail(
                name.span(),
                &format!("there is already a part named {text}: {}", other.kind),
            );
        }
        let model = self.engine.add(text, outputs, model);
        if !name.span().is_empty() {
            let line = self.lines.partition_point(|line| *line <= name.span().start);
            self.engine.set_location(model, &format!("{}:{line}", self.source.name));
        }
        let (tones, volts) = (output_kinds.count(Kind::Tone), output_kinds.count(Kind::Volts));
        self.plan.0.push(json!({
            "name": text, "kind": kind, "device": null, "tones": tones, "volts": volts, "names": output_kinds.names(),
        }));
        let known = Known {
            kind,
            model,
            output_kinds,
            ions: 0,
        };
        self.parts.insert(text.clone(), known);
        Ok(model)
    }

    /// Records the driver (an entry in the device database) of the part that was added last.
    fn note_driver(&mut self, device: Option<&str>) {
        if let (Some(part), Some(device)) = (self.plan.0.last_mut(), device) {
            part["device"] = device.into();
        }
    }

    fn join(&mut self, from: (usize, usize), model: usize, input: usize, names: [&str; 2], label: &str) {
        self.engine.wire(from.0, from.1, End::Input { model, input });
        self.draw(names[0], names[1], label);
    }

    fn draw(&mut self, from: &str, to: &str, label: &str) {
        self.plan.1.push(json!({ "from": from, "to": to, "label": label }));
    }

    /// Looks up a pin that the device drives.
    fn source_pin(&self, name: &Spanned<String>) -> Result<u16, String> {
        let pad = self.pad(name)?;
        if !pad.drives {
            let text = format!("the device does not drive its pin {}", self.pins.name(pad));
            return self.fail(name.span(), &text);
        }
        Ok(pad.index)
    }

    /// Rejects a cable whose ends are one pin under two names.
    fn leads_elsewhere(&self, from: &Spanned<String>, to: &Spanned<String>) -> Done {
        let (source, target) = (self.pad(from)?, self.pad(to)?);
        if source.index != target.index {
            return Ok(());
        }
        let shown = self.pins.name(target);
        let other = [from, to].into_iter().find(|name| *name.get_ref() != shown);
        let other = other.map_or(String::new(), |name| {
            format!(": {} is another name of it", name.get_ref())
        });
        self.fail(to.span(), &format!("a cable from the pin {shown} to itself{other}"))
    }

    /// Rejects a list of names with a duplicate.
    fn once(&self, names: &[Spanned<String>]) -> Done {
        let twice = (1..names.len()).find(|n| names[..*n].iter().any(|name| name.get_ref() == names[*n].get_ref()));
        twice.map_or(Ok(()), |n| {
            self.fail(names[n].span(), &format!("{} is given twice", names[n].get_ref()))
        })
    }

    fn pad(&self, name: &Spanned<String>) -> Result<&Pad, String> {
        let text = name.get_ref();
        self.pins.find(text).or_else(|missing| match missing {
            Missing::Several(names) => {
                let text = format!("several boards have a pin {text}: say which, {}", names.join(" or "));
                self.fail(name.span(), &text)
            }
            Missing::Unknown => {
                let inputs = self.pins.all().filter(|pad| pad.reads);
                let inputs: Vec<String> = inputs.map(|pad| self.pins.name(pad)).collect();
                let inputs: Vec<&str> = inputs.iter().map(String::as_str).collect();
                let text = format!("the device has no pin {text}; its inputs are {}", listed(&inputs));
                self.fail(name.span(), &text)
            }
        })
    }

    /// Lets a part drive a pin that the device reads.
    fn drive(&mut self, name: &Spanned<String>, from: (usize, usize), by: &str) -> Done {
        let pad = self.pad(name)?;
        let (index, shown) = (pad.index, self.pins.name(pad));
        if !pad.reads {
            let text = format!("{by} cannot drive {shown}: it is an output of the device");
            return self.fail(name.span(), &text);
        }
        if let Some(other) = self.driven.get(&index) {
            let text = format!("{by} and {other} both drive the pin {shown}");
            return self.fail(name.span(), &text);
        }
        self.driven.insert(index, by.into());
        self.engine.wire(from.0, from.1, End::Pin(index));
        self.draw(by, &shown, "");
        Ok(())
    }

    /// The name of a pin in diagrams.
    fn shown(&self, pad: u16) -> String {
        self.pins.at(pad).map_or(String::new(), |pad| self.pins.name(pad))
    }

    fn aoms(&mut self, file: &File) -> Done {
        for (name, aom) in &file.aom {
            let passes = *aom.passes.get_ref();
            if !(1..=2).contains(&passes.abs()) {
                return self.fail(
                    aom.passes.span(),
                    "light passes a modulator once or twice: 1, 2, -1 or -2",
                );
            }
            let options = aom::Options {
                centre_hz: aom.centre_hz.0,
                bandwidth_hz: aom.bandwidth_hz.0,
                saturation_dbm: aom.saturation_dbm.0 .0,
                passes,
                delay_ns: Ns::from(aom.delay_ns),
            };
            let (card, channel, from) = self.output(&aom.tone, Kind::Tone)?;
            let label = self.called(&from, channel);
            let model = self.add(
                name,
                "AOM",
                1,
                OutputKinds::only(Kind::Light, 1),
                Box::new(Aom::new(options)),
            )?;
            self.join((card, channel), model, 0, [&from, name.get_ref()], &label);
        }
        Ok(())
    }
}

/// Formats a list of names for a message.
fn listed(names: &[&str]) -> String {
    if names.is_empty() {
        return "none".into();
    }
    names.join(", ")
}

#[cfg(test)]
#[path = "assemble_tests.rs"]
mod tests;
