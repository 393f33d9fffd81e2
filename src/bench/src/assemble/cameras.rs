//! Assembly of cameras: at a grabber, with the ions that they see.

use kairos_contracts::chips::coaxpress as facts;
use toml::Spanned;

use super::outputs::{Kind, OutputKinds};
use super::{listed, Bench, Done};
use crate::cards::Found;
use crate::engine::End;
use crate::file::{self, File};
use crate::model::Model;
use crate::numbers::Positive;
use crate::physics::camera::{self, Camera};
use crate::physics::cxp::camera::{self as cxp, Camera as CxpCamera};
use crate::physics::cxp::packets::DEPTHS;
use crate::physics::cxp::registers::Rates;
use crate::physics::sensor::{Options, Spot};

/// Maximum columns and rows of a camera: a larger frame would take minutes.
const MOST_PIXELS: usize = 256;
/// Rates at which a camera begins, in Mbit/s.
const DISCOVERY: [u32; 2] = [1250, 3125];
/// Kinds of cards that a camera can be connected to.
const CAMERA_LINK: &str = "grabber";
const COAXPRESS: &str = "cxp";

/// How a camera is connected to its grabber.
struct Link {
    name: &'static str,
    /// Lines from the camera, which are its outputs, and to it, with the numbers of its inputs.
    lines: &'static [&'static str],
    uplinks: &'static [(&'static str, usize)],
    /// Numbers of its inputs for a trigger and for the first ion.
    trigger: usize,
    photons: usize,
}

const LINKS: [Link; 2] = [
    Link {
        name: "Camera Link",
        lines: &camera::LINES,
        uplinks: &[],
        trigger: 0,
        photons: 1,
    },
    Link {
        name: "CoaXPress",
        lines: &cxp::LINES,
        uplinks: &cxp::UPLINKS,
        trigger: cxp::TRIGGER,
        photons: cxp::INPUTS,
    },
];

/// The cards that cameras can be connected to.
pub(super) fn grabbers(found: &[Found]) -> impl Iterator<Item = &Found> {
    found
        .iter()
        .filter(|card| [CAMERA_LINK, COAXPRESS].contains(&card.kind.as_str()))
}

impl Bench<'_> {
    pub(super) fn cameras(&mut self, file: &File, found: &[Found]) -> Done {
        for (name, said) in &file.camera {
            let card = self.grabber(said, found)?;
            let link = &LINKS[usize::from(card.kind == COAXPRESS)];
            let made = self.camera(name, said, link)?;
            let model = self.add(name, "camera", link.lines.len(), OutputKinds::default(), made)?;
            self.light_of(name, said, model, link)?;
            if let Some(trigger) = &said.trigger {
                let pad = self.source_pin(trigger)?;
                self.engine.wire_pin(pad, model, link.trigger);
                self.draw(&self.shown(pad), name.get_ref(), "trigger");
            }
            for (line, input) in link.uplinks {
                if let Some(pad) = card.lines.get(*line) {
                    self.engine.wire_pin(*pad, model, *input);
                }
            }
            for (output, line) in link.lines.iter().enumerate() {
                let Some(pad) = card.lines.get(*line) else { continue };
                if let Some(other) = self.driven.insert(*pad, name.get_ref().clone()) {
                    let text = format!("{} and {other} are both plugged into {}", name.get_ref(), card.name);
                    return self.fail(said.grabber.span(), &text);
                }
                self.engine.wire(model, output, End::Pin(*pad));
            }
            self.draw(name.get_ref(), &card.name, link.name);
        }
        Ok(())
    }

    /// The model of a camera.
    fn camera(&self, name: &Spanned<String>, said: &file::Camera, link: &Link) -> Result<Box<dyn Model>, String> {
        let options = self.options(said, link)?;
        let random = self.random(name.get_ref());
        if link.uplinks.is_empty() {
            let of_coaxpress = [
                ("pixel_bits", said.pixel_bits.as_ref().map(Spanned::span)),
                ("line_hz", said.line_hz.as_ref().map(Spanned::span)),
                ("discovery_hz", said.discovery_hz.as_ref().map(Spanned::span)),
            ];
            for (key, span) in of_coaxpress {
                if let Some(span) = span {
                    let text = format!("a camera on Camera Link has 16 bits and one rate here: {key} is of CoaXPress");
                    return self.fail(span, &text);
                }
            }
            return Ok(Box::new(Camera::new(options, random)));
        }
        let depth = said.pixel_bits.as_ref().map_or(DEPTHS[0], |bits| *bits.get_ref());
        if let Some(bits) = said.pixel_bits.as_ref().filter(|_| !DEPTHS.contains(&depth)) {
            let text = format!("pixels have 8, 10, 12, 14 or 16 bits, not {depth}");
            return self.fail(bits.span(), &text);
        }
        let all: Vec<u32> = facts::RATES.iter().map(|[mbit_s, _]| *mbit_s).collect();
        let rates = Rates {
            discovery: self.rate(said.discovery_hz.as_ref(), &DISCOVERY, DISCOVERY[0], "begins at")?,
            highest: self.rate(said.line_hz.as_ref(), &all, all[all.len() - 1], "has at most")?,
        };
        Ok(Box::new(CxpCamera::new(options, depth, rates, random)))
    }

    /// The number of a rate in bits per second, of those in Mbit/s that are allowed; without one, of the usual one.
    fn rate(&self, said: Option<&Spanned<Positive>>, allowed: &[u32], usual: u32, what: &str) -> Result<usize, String> {
        let wanted = said.map_or(f64::from(usual) * 1e6, |hz| hz.get_ref().0);
        let fits = |mbit_s: u32| (wanted - f64::from(mbit_s) * 1e6).abs() < 1e3;
        let number = facts::RATES
            .iter()
            .position(|[mbit_s, _]| allowed.contains(mbit_s) && fits(*mbit_s));
        match (number, said) {
            (Some(number), _) => Ok(number),
            (None, Some(hz)) => {
                let known: Vec<String> = allowed
                    .iter()
                    .map(|mbit_s| format!("{}e9", f64::from(*mbit_s) / 1e3))
                    .collect();
                let text = format!(
                    "a camera on CoaXPress {what} {} bits per second, not {wanted:e}",
                    known.join(", ")
                );
                self.fail(hz.span(), &text)
            }
            (None, None) => Ok(0),
        }
    }

    /// The parameters of a camera's sensor.
    fn options(&self, said: &file::Camera, link: &Link) -> Result<Options, String> {
        let (width, height) = (*said.width.get_ref(), *said.height.get_ref());
        if !(1..=MOST_PIXELS).contains(&width) || !(1..=MOST_PIXELS).contains(&height) {
            let text = format!("a camera here has 1 to {MOST_PIXELS} columns and rows, not {width} and {height}");
            return self.fail(said.width.span(), &text);
        }
        match (&said.trigger, &said.hz, link.uplinks.is_empty()) {
            (Some(_), None, _) | (None, Some(_), _) | (None, None, false) => {}
            (Some(_), Some(_), false) => {
                let text = "a camera has a trigger or a rate, hz, or is triggered over its link";
                return self.fail(said.grabber.span(), text);
            }
            _ => return self.fail(said.grabber.span(), "a camera has either a trigger or a rate, hz"),
        }
        let exposure = said.exposure_s.0;
        if let Some(hz) = said.hz.as_ref().filter(|hz| exposure * hz.get_ref().0 >= 1.0) {
            let text = format!(
                "an exposure of {exposure} s does not fit into frames at {} Hz",
                hz.get_ref().0
            );
            return self.fail(hz.span(), &text);
        }
        let spots = said.sees.iter().map(|seen| Spot {
            position: [seen.x.0, seen.y.0],
        });
        Ok(Options {
            size: [width, height],
            spread: said.spread.0,
            efficiency: said.efficiency.0,
            dark: said.dark.0 .0,
            exposure_ns: (exposure * 1e9) as u64,
            period_ns: said.hz.as_ref().map(|hz| (1e9 / hz.get_ref().0) as u64),
            spots: spots.collect(),
        })
    }

    /// Connects the ions that a camera sees.
    fn light_of(&mut self, name: &Spanned<String>, said: &file::Camera, model: usize, link: &Link) -> Done {
        for (n, seen) in said.sees.iter().enumerate() {
            let (from, all, of) = self.output(&seen.ion, Kind::Photons)?;
            let ions = self.parts.get(&of).map_or(0, |known| known.ions);
            let number = *seen.number.get_ref();
            if number >= ions.max(1) {
                let text = format!("there is no ion {number} in {}", seen.ion.get_ref());
                return self.fail(seen.number.span(), &text);
            }
            let output = if ions > 0 { 1 + ions + number } else { all };
            let names = [of.as_str(), name.get_ref()];
            self.join((from, output), model, link.photons + n, names, "photons");
        }
        Ok(())
    }

    /// The card that a camera is connected to.
    fn grabber<'a>(&self, camera: &file::Camera, found: &'a [Found]) -> Result<&'a Found, String> {
        let grabbers: Vec<&Found> = grabbers(found).collect();
        let name = camera.grabber.get_ref();
        let card = grabbers
            .iter()
            .find(|card| card.name == *name || card.device.as_ref() == Some(name));
        card.copied().map_or_else(
            || {
                let names: Vec<&str> = grabbers.iter().map(|card| card.name.as_str()).collect();
                let text = format!("the device has no grabber {name}; it has {}", listed(&names));
                self.fail(camera.grabber.span(), &text)
            },
            Ok,
        )
    }
}
