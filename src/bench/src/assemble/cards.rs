//! Assembly of cards: each card that the device has pins for gets its model, with settings from the
//! bench file or else the device database.

use serde::de::DeserializeOwned;
use serde_json::Value;
use toml::Spanned;

use super::gives::{Gives, Kind};
use super::{listed, Bench, Done};
use crate::cards::Found;
use crate::chips::ad53xx;
use crate::chips::ad9834::{self, Ad9834};
use crate::chips::ddsbus::{self, DdsBus};
use crate::chips::fastino::{self, Fastino};
use crate::chips::fastlink;
use crate::chips::hmc542b::{self, Hmc542b};
use crate::chips::mirny::{self, Mirny};
use crate::chips::phaser::{self, Phaser};
use crate::chips::serial_dac::{self, SerialDac};
use crate::chips::shuttler::{self, Shuttler};
use crate::chips::urukul::{self, ServoBus, Urukul};
use crate::engine::End;
use crate::file::{File, Parts};
use crate::model::Model;

/// A model of a card with its inputs and outputs.
pub(super) struct Made {
    pub kind: &'static str,
    pub model: Box<dyn Model>,
    /// Names of the lines that it receives, by input.
    pub inputs: &'static [&'static str],
    /// Its outputs to other parts; the lines of `answers` follow them.
    pub gives: Gives,
    pub answers: &'static [&'static str],
}

/// A card's name, with its place in the file, its settings in the file, and those of the device
/// database.
pub(super) type Said<'a, T> = (Spanned<String>, Option<&'a T>, T);

/// Name and settings of a part that exists even if the file does not name it; the name has a place
/// if the file does.
pub(super) fn named<'a, T>(parts: &'a Parts<T>, name: &str) -> (Spanned<String>, Option<&'a T>) {
    match parts.get_key_value(name) {
        Some((place, said)) => (place.clone(), Some(said)),
        None => (Spanned::new(0..0, name.into()), None),
    }
}

impl Bench<'_> {
    /// Adds all cards of the device.
    pub(super) fn cards(&mut self, file: &File, found: &[Found]) -> Done {
        self.known("urukul", &file.urukul, found)?;
        self.known("zotino", &file.zotino, found)?;
        self.known("ad53xx", &file.ad53xx, found)?;
        self.known("fastino", &file.fastino, found)?;
        self.known("mirny", &file.mirny, found)?;
        self.known("sampler", &file.sampler, found)?;
        self.known("novogorny", &file.novogorny, found)?;
        self.known("ad9834", &file.ad9834, found)?;
        self.known("hmc542b", &file.hmc542b, found)?;
        self.known("ddsbus", &file.ddsbus, found)?;
        self.known("phaser", &file.phaser, found)?;
        self.known("shuttler", &file.shuttler, found)?;
        for card in found {
            match card.kind.as_str() {
                "urukul" => self.urukul(file, card)?,
                "zotino" => self.zotino(file, card)?,
                "ad53xx" => self.ad53xx(file, found, card)?,
                "ad9834" => self.ad9834(file, card)?,
                "hmc542b" => self.hmc542b(file, card)?,
                "fastino" => self.fastino(file, card)?,
                "mirny" => self.mirny(file, card)?,
                "ddsbus" => self.ddsbus(file, card)?,
                "phaser" => self.phaser(file, card)?,
                "shuttler" => self.shuttler(file, card)?,
                _ => {}
            }
        }
        Ok(())
    }

    /// Rejects cards in the file that the device does not have.
    fn known<T>(&self, kind: &str, cards: &Parts<T>, found: &[Found]) -> Done {
        let of_kind: Vec<&str> = found
            .iter()
            .filter(|card| card.kind == kind)
            .map(|card| card.name.as_str())
            .collect();
        match cards.keys().find(|name| !of_kind.contains(&name.get_ref().as_str())) {
            None => Ok(()),
            Some(name) => {
                let text = format!("the device has no card {}; it has {}", name.get_ref(), listed(&of_kind));
                self.fail(name.span(), &text)
            }
        }
    }

    pub(super) fn said<'a, T: DeserializeOwned + Default>(
        &self,
        cards: &'a Parts<T>,
        card: &Found,
    ) -> Result<Said<'a, T>, String> {
        let own = match &card.settings {
            Value::Null => T::default(),
            settings => serde_json::from_value(settings.clone())
                .map_err(|error| format!("{}: {error}", card.device.as_deref().unwrap_or(&card.name)))?,
        };
        let (name, said) = named(cards, &card.name);
        Ok((name, said, own))
    }

    fn urukul(&mut self, file: &File, card: &Found) -> Done {
        let (name, said, own) = self.said(&file.urukul, card)?;
        let has = |line| card.lines.contains_key(line);
        let options = urukul::Options {
            servo: match (has("nu_clk"), has("nu_cs")) {
                (false, _) => None,
                (_, true) => Some(ServoBus::Selects),
                (_, false) => Some(ServoBus::Counts),
            },
            ..said.unwrap_or(&own).options(&own)
        };
        let made = Made {
            kind: "Urukul",
            model: Box::new(Urukul::new(options)),
            inputs: &urukul::INPUTS,
            gives: Gives::only(Kind::Tone, urukul::CHANNELS),
            answers: &["miso"],
        };
        self.card(&name, card, made).map(drop)
    }

    fn ad9834(&mut self, file: &File, card: &Found) -> Done {
        let (name, said, own) = self.said(&file.ad9834, card)?;
        let clock = said.and_then(|said| said.clock_hz).or(own.clock_hz);
        let options = ad9834::Options {
            clock_hz: clock.map_or(75e6, |clock| clock.0),
            full_scale_dbm: said.unwrap_or(&own).full_scale_dbm.0 .0,
        };
        let made = Made {
            kind: "AD9834",
            model: Box::new(Ad9834::new(options)),
            inputs: &ad9834::INPUTS,
            gives: Gives::only(Kind::Tone, 1),
            answers: &[],
        };
        self.card(&name, card, made).map(drop)
    }

    fn hmc542b(&mut self, file: &File, card: &Found) -> Done {
        let (name, ..) = self.said(&file.hmc542b, card)?;
        let made = Made {
            kind: "HMC542B",
            model: Box::new(Hmc542b::new()),
            inputs: &hmc542b::INPUTS,
            gives: Gives::only(Kind::Tone, 1),
            answers: &[],
        };
        self.card(&name, card, made).map(drop)
    }

    /// Connects the inputs of attenuators; the sources must already be assembled.
    pub(super) fn attenuated(&mut self, file: &File) -> Done {
        for (name, attenuator) in &file.hmc542b {
            let Some(tone) = &attenuator.tone else { continue };
            let model = self.parts[name.get_ref()].model;
            let (source, output, of) = self.output(tone, Kind::Tone)?;
            if source == model {
                return self.fail(tone.span(), "an attenuator cannot be its own source");
            }
            let label = self.called(&of, output);
            self.join(
                (source, output),
                model,
                hmc542b::INPUTS.len(),
                [&of, name.get_ref()],
                &label,
            );
        }
        Ok(())
    }

    fn fastino(&mut self, file: &File, card: &Found) -> Done {
        let (name, ..) = self.said(&file.fastino, card)?;
        let made = Made {
            kind: "Fastino",
            model: Box::new(Fastino::new()),
            inputs: &fastlink::INPUTS,
            gives: Gives::only(Kind::Volts, fastino::CHANNELS),
            answers: &["miso"],
        };
        self.card(&name, card, made).map(drop)
    }

    fn mirny(&mut self, file: &File, card: &Found) -> Done {
        let (name, said, own) = self.said(&file.mirny, card)?;
        let made = Made {
            kind: "Mirny",
            model: Box::new(Mirny::new(said.unwrap_or(&own).options(&own))),
            inputs: &mirny::INPUTS,
            gives: Gives::only(Kind::Tone, mirny::CHANNELS),
            answers: &["miso"],
        };
        self.card(&name, card, made).map(drop)
    }

    fn ddsbus(&mut self, file: &File, card: &Found) -> Done {
        let (name, said, own) = self.said(&file.ddsbus, card)?;
        let chips = card.lines.keys().filter(|line| line.starts_with("sel_n")).count();
        let clock = said.and_then(|said| said.clock_hz).or(own.clock_hz);
        let options = ddsbus::Options {
            chips: chips.min(ddsbus::CHANNELS),
            clock: clock.map_or(3e9, |clock| clock.0),
            synchronised: said.and_then(|said| said.sync_in).unwrap_or(false),
        };
        let made = Made {
            kind: "AD9914 bus",
            model: Box::new(DdsBus::new(options)),
            inputs: &ddsbus::INPUTS,
            gives: Gives::only(Kind::Tone, options.chips),
            answers: &[],
        };
        self.card(&name, card, made).map(drop)
    }

    fn phaser(&mut self, file: &File, card: &Found) -> Done {
        let (name, ..) = self.said(&file.phaser, card)?;
        let made = Made {
            kind: "Phaser",
            model: Box::new(Phaser::new()),
            inputs: &fastlink::INPUTS,
            gives: Gives::only(Kind::Tone, phaser::TONES),
            answers: &["miso"],
        };
        self.card(&name, card, made).map(drop)
    }

    fn shuttler(&mut self, file: &File, card: &Found) -> Done {
        let (name, said, _) = self.said(&file.shuttler, card)?;
        let mut volts = [0.0; shuttler::ADC_INPUTS];
        if let Some(given) = said.and_then(|said| said.adc_volts.as_ref()) {
            if given.get_ref().len() > volts.len() {
                return self.fail(given.span(), "the ADC of a Shuttler has 16 inputs");
            }
            for (input, volt) in volts.iter_mut().zip(given.get_ref()) {
                *input = volt.0;
            }
        }
        let mut update = 1000;
        if let Some(given) = said.and_then(|said| said.update_ns.as_ref()) {
            update = *given.get_ref();
            if update == 0 || update % 8 != 0 {
                let text = format!("{update} ns is invalid: it must be a multiple of 8 ns, the time of a sample");
                return self.fail(given.span(), &text);
            }
        }
        let options = shuttler::Options {
            adc_volts: volts,
            relays: card.lines.contains_key(shuttler::INPUTS[0]),
            update: update.into(),
        };
        let mut gives = Gives::default();
        for output in 0..shuttler::OUTPUTS {
            gives.add(&format!("tone{output}"), Kind::Tone);
            gives.add(&format!("ch{output}"), Kind::Volts);
        }
        let made = Made {
            kind: "Shuttler",
            model: Box::new(Shuttler::new(options)),
            inputs: &shuttler::INPUTS,
            gives,
            answers: &shuttler::ANSWERS,
        };
        let model = self.card(&name, card, made)?;
        if let Some(first) = card.words {
            for word in 0..shuttler::WORDS {
                self.engine
                    .wire_pin(first + word as u16, model, shuttler::INPUTS.len() + word);
            }
        }
        Ok(())
    }

    fn zotino(&mut self, file: &File, card: &Found) -> Done {
        let (name, said, own) = self.said(&file.zotino, card)?;
        let vref = said.and_then(|said| said.vref).or(own.vref);
        let options = serial_dac::Options {
            chip: ad53xx::AD5372,
            leds: true,
            shares: false,
            vref: vref.map_or(5.0, |vref| vref.0),
            wired: ["ldac", "clr"].map(|line| card.lines.contains_key(line)),
            selected: true,
        };
        self.serial_dac("Zotino", &name, card, options)
    }

    /// Adds a single chip: one line of the bus selects it, the others select other chips.
    fn ad53xx(&mut self, file: &File, found: &[Found], card: &Found) -> Done {
        let (name, said, own) = self.said(&file.ad53xx, card)?;
        let vref = said.and_then(|said| said.vref).or(own.vref);
        let select = said.and_then(|said| said.select).or(own.select).unwrap_or(0);
        let select = card.lines.get(&format!("cs{select}")).copied();
        let mut lines = card.lines.clone();
        lines.retain(|line, _| !line.starts_with("cs"));
        lines.extend(select.map(|pad| ("cs0".to_string(), pad)));
        let on_bus = |other: &&Found| other.lines.get("clk") == card.lines.get("clk");
        let options = serial_dac::Options {
            chip: said.and_then(|said| said.chip).or(own.chip).unwrap_or(ad53xx::AD5370),
            leds: false,
            shares: found.iter().filter(on_bus).count() > 1,
            vref: vref.map_or(5.0, |vref| vref.0),
            wired: ["ldac", "clr"].map(|line| card.lines.contains_key(line)),
            selected: select.is_some(),
        };
        let card = Found { lines, ..card.clone() };
        self.serial_dac("AD53xx", &name, &card, options)
    }

    fn serial_dac(
        &mut self,
        kind: &'static str,
        name: &Spanned<String>,
        card: &Found,
        options: serial_dac::Options,
    ) -> Done {
        let made = Made {
            kind,
            model: Box::new(SerialDac::new(options)),
            inputs: &serial_dac::INPUTS,
            gives: Gives::only(Kind::Volts, options.chip.channels),
            answers: &serial_dac::ANSWERS,
        };
        self.card(name, card, made).map(drop)
    }

    /// Adds a card and the wires to its pins. Returns its number.
    pub(super) fn card(&mut self, name: &Spanned<String>, card: &Found, made: Made) -> Result<usize, String> {
        let signals = made.gives.total();
        let model = self.add(name, made.kind, signals + made.answers.len(), made.gives, made.model)?;
        let name = name.get_ref();
        self.note_driver(card.device.as_deref());
        for (input, line) in made.inputs.iter().enumerate() {
            if let Some(pad) = card.lines.get(*line) {
                self.engine.wire_pin(*pad, model, input);
            }
        }
        for (output, line) in made.answers.iter().enumerate() {
            if let Some(pad) = card.lines.get(*line) {
                self.driven.insert(*pad, name.clone());
                self.engine.wire(model, signals + output, End::Pin(*pad));
            }
        }
        // A servo has separate lines to its Urukuls and to its Sampler.
        let clocks = made
            .inputs
            .iter()
            .filter(|line| line.ends_with("clk") || **line == "sck");
        let pads = clocks.filter_map(|line| card.lines.get(*line));
        let mut buses: Vec<String> = pads.filter_map(|pad| self.bus_of(*pad)).collect();
        if buses.is_empty() {
            // A parallel bus has no clock: its lines are named after the card.
            buses.push(card.name.clone());
        }
        for bus in buses {
            self.draw(&bus, name, "");
        }
        Ok(model)
    }

    /// The bus that a pad belongs to, from the pad's name.
    fn bus_of(&self, pad: u16) -> Option<String> {
        let known = self.pins.name(self.pins.at(pad)?);
        known.rsplit_once('_').map(|(bus, _)| bus.to_string())
    }
}

#[cfg(test)]
#[path = "cards_tests.rs"]
mod tests;
