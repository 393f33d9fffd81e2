//! What sees light, what tells of the mains, and cables from pin to pin.

use super::{Bench, Done};
use crate::file::File;
use crate::physics::line::Line;
use crate::physics::loopback::Loopback;
use crate::physics::photodiode::Photodiode;
use crate::physics::photomultiplier::{self, Photomultiplier};

/// Probability of an afterpulse that a detector may have.
const MOST_AFTERPULSES: f64 = 0.5;

impl Bench<'_> {
    pub(super) fn photomultipliers(&mut self, file: &File) -> Done {
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
            if detector.afterpulses.0 .0 > MOST_AFTERPULSES {
                let text = format!(
                    "afterpulses of {} would never end: at most {MOST_AFTERPULSES}",
                    detector.afterpulses.0 .0
                );
                return self.fail(detector.pin.span(), &text);
            }
            let options = photomultiplier::Options {
                efficiency: detector.efficiency.0,
                dark_hz: detector.dark_hz.0 .0,
                pulse_ns: pulse.max(1).into(),
                dead_ns: dead.map_or(pulse, |dead| *dead.get_ref()).into(),
                afterpulses: detector.afterpulses.0 .0,
                afterpulse_ns: detector.afterpulse_ns.0,
            };
            let random = self.random(name.get_ref());
            let made = Photomultiplier::new(options, detector.sees.len(), random);
            let model = self.add(name, "photomultiplier", 1, Box::new(made))?;
            for (input, ion) in detector.sees.iter().enumerate() {
                let from = self.part(ion, &["ion", "crystal"])?;
                self.join((from, 0), model, input, [ion.get_ref(), name.get_ref()], "photons");
            }
            self.drive(&detector.pin, (model, 0), name.get_ref())?;
        }
        Ok(())
    }

    pub(super) fn photodiodes(&mut self, file: &File) -> Done {
        for (name, diode) in &file.photodiode {
            let (volts, dark) = (diode.volts.0, diode.dark_volts.0 .0);
            let made = Photodiode::new(volts, dark, diode.delay_ns.into(), diode.sees.len());
            let model = self.add(name, "photodiode", 1, Box::new(made))?;
            if let Some(known) = self.parts.get_mut(name.get_ref()) {
                known.volts = 1;
            }
            for (input, light) in diode.sees.iter().enumerate() {
                let from = self.part(light, &["AOM"])?;
                self.join((from, 0), model, input, [light.get_ref(), name.get_ref()], "light");
            }
        }
        Ok(())
    }

    pub(super) fn lines(&mut self, file: &File) -> Done {
        for (name, line) in &file.line {
            let (hz, pulse) = (line.hz.0, *line.pulse_ns.get_ref());
            if f64::from(pulse) * hz >= 1e9 {
                let text = format!("pulses of {pulse} ns do not fit into periods of {hz} Hz");
                return self.fail(line.pulse_ns.span(), &text);
            }
            let made = Line::new(
                hz,
                line.jitter_ns.0 .0,
                pulse.max(1).into(),
                self.random(name.get_ref()),
            );
            let model = self.add(name, "line trigger", 1, Box::new(made))?;
            self.drive(&line.pin, (model, 0), name.get_ref())?;
        }
        Ok(())
    }

    pub(super) fn loopbacks(&mut self, file: &File) -> Done {
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
