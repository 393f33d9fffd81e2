//! From a bench file and the pins of a device to models and wires.

use std::collections::BTreeMap;
use std::ops::Range;

use rand::SeedableRng;
use rand_pcg::Pcg64Mcg;
use serde_json::{json, Value};
use toml::Spanned;

mod cards;

use crate::cards::Card;
use crate::engine::{End, Engine};
use crate::file::{File, Source};
use crate::model::Model;
use crate::pad::Pad;
use crate::physics::aom::{self, Aom};
use crate::physics::ion::{self, Ion};
use crate::physics::loopback::Loopback;
use crate::physics::photomultiplier::{self, Photomultiplier};
use crate::signal::Ns;

/// A bench that is put together.
pub struct Assembly {
    /// That runs it.
    pub engine: Engine,
    /// Its parts and wires, for pictures: `parts` [{name, kind, device}] and `wires` [{from, to, label}]. `device`: its driver's
    /// entry in the device database, or null.
    pub plan: Value,
}

/// Puts together what a file says, for a device with these pins, and with these cards in its database. The error is a line with
/// the place in the file.
pub fn assemble(source: Source, pads: &[Pad], cards: &[Card]) -> Result<Assembly, String> {
    let file = source.parse()?;
    let mut bench = Bench {
        source,
        pads: pads.iter().map(|pad| (pad.name.as_str(), pad)).collect(),
        seed: file.seed,
        engine: Engine::default(),
        parts: BTreeMap::new(),
        driven: BTreeMap::new(),
        plan: (Vec::new(), Vec::new()),
    };
    bench.cards(&file, &crate::cards::find(pads, cards))?;
    bench.aoms(&file)?;
    bench.ions(&file)?;
    bench.photomultipliers(&file)?;
    bench.loopbacks(&file)?;
    let (parts, wires) = bench.plan;
    Ok(Assembly {
        engine: bench.engine,
        plan: json!({ "parts": parts, "wires": wires }),
    })
}

/// A part by its name.
struct Known {
    kind: &'static str,
    model: usize,
    /// How many of its outputs, from the first on, are tones, and how many are voltages.
    tones: usize,
    volts: usize,
}

struct Bench<'a> {
    source: Source<'a>,
    pads: BTreeMap<&'a str, &'a Pad>,
    seed: u64,
    engine: Engine,
    parts: BTreeMap<String, Known>,
    /// Pins that are driven, and by whom.
    driven: BTreeMap<u16, String>,
    plan: (Vec<Value>, Vec<Value>),
}

type Done = Result<(), String>;

impl Bench<'_> {
    fn fail<T>(&self, span: Range<usize>, text: &str) -> Result<T, String> {
        Err(self.source.error(span.start, text))
    }

    /// Random numbers of a part: they depend on no other part.
    fn random(&self, name: &str) -> Pcg64Mcg {
        // FNV-1a, which is the same everywhere and for ever.
        let hash = name.bytes().fold(0xcbf2_9ce4_8422_2325u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
        Pcg64Mcg::seed_from_u64(hash ^ self.seed.wrapping_mul(0x9e37_79b9_7f4a_7c15))
    }

    fn add(
        &mut self,
        name: &Spanned<String>,
        kind: &'static str,
        outputs: usize,
        model: Box<dyn Model>,
    ) -> Result<usize, String> {
        let text = name.get_ref();
        if let Some(other) = self.parts.get(text) {
            return self.fail(
                name.span(),
                &format!("there is a part of the name {text} already: {}", other.kind),
            );
        }
        let model = self.engine.add(text, outputs, model);
        let (tones, volts) = (0, 0);
        self.parts.insert(
            text.clone(),
            Known {
                kind,
                model,
                tones,
                volts,
            },
        );
        self.plan.0.push(json!({ "name": text, "kind": kind, "device": null }));
        Ok(model)
    }

    fn join(&mut self, from: (usize, usize), model: usize, input: usize, names: [&str; 2], label: &str) {
        self.engine.wire(from.0, from.1, End::Input { model, input });
        self.draw(names[0], names[1], label);
    }

    fn draw(&mut self, from: &str, to: &str, label: &str) {
        self.plan.1.push(json!({ "from": from, "to": to, "label": label }));
    }

    /// A part of this kind.
    fn part(&self, name: &Spanned<String>, kind: &str) -> Result<usize, String> {
        match self.parts.get(name.get_ref()) {
            Some(known) if known.kind == kind => Ok(known.model),
            Some(known) => self.fail(
                name.span(),
                &format!("{} is not of kind {kind}: {}", name.get_ref(), known.kind),
            ),
            None => {
                let all = self.parts.iter().filter(|(_, known)| known.kind == kind);
                let all: Vec<&str> = all.map(|(name, _)| name.as_str()).collect();
                let text = format!("there is no {kind} {}; there is {}", name.get_ref(), listed(&all));
                self.fail(name.span(), &text)
            }
        }
    }

    /// A pin that the device drives.
    fn source_pin(&self, name: &Spanned<String>) -> Result<u16, String> {
        let pad = self.pad(name)?;
        if !pad.drives {
            return self.fail(name.span(), &format!("the device does not drive its pin {}", pad.name));
        }
        Ok(pad.index)
    }

    fn pad(&self, name: &Spanned<String>) -> Result<&Pad, String> {
        match self.pads.get(name.get_ref().as_str()) {
            Some(pad) => Ok(pad),
            None => {
                let inputs: Vec<&str> = self
                    .pads
                    .values()
                    .filter(|pad| pad.reads)
                    .map(|pad| pad.name.as_str())
                    .collect();
                let text = format!(
                    "the device has no pin {}; its inputs are {}",
                    name.get_ref(),
                    listed(&inputs)
                );
                self.fail(name.span(), &text)
            }
        }
    }

    /// A part drives a pin that the device reads.
    fn drive(&mut self, name: &Spanned<String>, from: (usize, usize), by: &str) -> Done {
        let pad = self.pad(name)?.clone();
        if !pad.reads {
            return self.fail(
                name.span(),
                &format!("{by} cannot drive {}: it is an output of the device", pad.name),
            );
        }
        if let Some(other) = self.driven.get(&pad.index) {
            return self.fail(
                name.span(),
                &format!("{by} and {other} both drive the pin {}", pad.name),
            );
        }
        self.driven.insert(pad.index, by.into());
        self.engine.wire(from.0, from.1, End::Pin(pad.index));
        self.draw(by, &pad.name, "");
        Ok(())
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
            let (card, channel, from) = self.tone(&aom.tone)?;
            let model = self.add(name, "AOM", 1, Box::new(Aom::new(options)))?;
            self.join(
                (card, channel),
                model,
                0,
                [&from, name.get_ref()],
                &format!("ch{channel}"),
            );
        }
        Ok(())
    }

    fn ions(&mut self, file: &File) -> Done {
        for (name, ion) in &file.ion {
            let rate = |time: &Option<crate::numbers::Positive>| time.map_or(0.0, |time| 1.0 / time.0);
            let mut options = ion::Options {
                rabi_hz: 0.0,
                resonance_hz: 0.0,
                scattering_hz: 0.0,
                repump_hz: 0.0,
                dephasing: rate(&ion.coherence_s),
                decay: rate(&ion.lifetime_s),
            };
            let mut lights = Vec::new();
            if let Some(drive) = &ion.drive {
                let passes = file
                    .aom
                    .get(drive.light.get_ref().as_str())
                    .map_or(1, |aom| *aom.passes.get_ref());
                options.rabi_hz = drive.rabi_hz.0;
                options.resonance_hz = f64::from(passes) * drive.resonance_hz.0;
                lights.push((&drive.light, ion::DRIVE, "drive"));
            }
            if let Some(detection) = &ion.detection {
                options.scattering_hz = detection.photons_hz.0;
                lights.push((&detection.light, ion::DETECTION, "detection"));
            }
            if let Some(repump) = &ion.repump {
                options.repump_hz = repump.rate_hz.0;
                lights.push((&repump.light, ion::REPUMP, "repump"));
            }
            let random = self.random(name.get_ref());
            let model = self.add(name, "ion", 1, Box::new(Ion::new(options, random)))?;
            for (light, input, label) in lights {
                let from = self.part(light, "AOM")?;
                self.join((from, 0), model, input, [light.get_ref(), name.get_ref()], label);
            }
        }
        Ok(())
    }

    fn photomultipliers(&mut self, file: &File) -> Done {
        for (name, detector) in &file.photomultiplier {
            let pulse = *detector.pulse_ns.get_ref();
            let dead = detector.dead_ns.as_ref();
            if let Some(dead) = dead.filter(|dead| *dead.get_ref() < pulse) {
                let text = format!(
                    "a dead time of {} ns is shorter than a pulse of {pulse} ns",
                    dead.get_ref()
                );
                return self.fail(dead.span(), &text);
            }
            let options = photomultiplier::Options {
                efficiency: detector.efficiency.0,
                dark_hz: detector.dark_hz.0 .0,
                pulse_ns: pulse.max(1).into(),
                dead_ns: dead.map_or(pulse, |dead| *dead.get_ref()).into(),
            };
            let random = self.random(name.get_ref());
            let made = Photomultiplier::new(options, detector.sees.len(), random);
            let model = self.add(name, "photomultiplier", 1, Box::new(made))?;
            for (input, ion) in detector.sees.iter().enumerate() {
                let from = self.part(ion, "ion")?;
                self.join((from, 0), model, input, [ion.get_ref(), name.get_ref()], "photons");
            }
            self.drive(&detector.pin, (model, 0), name.get_ref())?;
        }
        Ok(())
    }

    fn loopbacks(&mut self, file: &File) -> Done {
        for (name, cable) in &file.loopback {
            let from = self.source_pin(&cable.from)?;
            let random = self.random(name.get_ref());
            let made = Loopback::new(cable.delay_ns.into(), cable.jitter_ns.0 .0, random);
            let model = self.add(name, "loopback", 1, Box::new(made))?;
            self.engine.wire_pin(from, model, 0);
            self.draw(cable.from.get_ref(), name.get_ref(), "");
            self.drive(&cable.to, (model, 0), name.get_ref())?;
        }
        Ok(())
    }
}

/// Names for a message.
fn listed(names: &[&str]) -> String {
    if names.is_empty() {
        return "none".into();
    }
    names.join(", ")
}

#[cfg(test)]
#[path = "assemble_tests.rs"]
mod tests;
