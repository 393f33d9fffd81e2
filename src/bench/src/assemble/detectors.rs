//! Assembly of detectors of light, line triggers, beats, and cables from pin to pin.

use toml::Spanned;

use super::outputs::{Kind, OutputKinds};
use super::{Bench, Done};
use crate::file::File;
use crate::numbers::shown;
use crate::physics::comb::{Comb, Course};
use crate::physics::line::Line;
use crate::physics::loopback::Loopback;
use crate::physics::photodiode::Photodiode;
use crate::physics::photomultiplier::{self, Photomultiplier};

/// Maximum mains frequency, which covers aircraft and custom laboratory supplies.
const MOST_MAINS_HZ: f64 = 1e5;
/// Maximum frequency of a beat, whose halves must last some nanoseconds, and of its sway, which is slower.
const MOST_BEAT_HZ: f64 = 62.5e6;
/// Maximum probability of an afterpulse.
const MOST_AFTERPULSES: f64 = 0.5;

impl Bench<'_> {
    pub(super) fn photomultipliers(&mut self, file: &File) -> Done {
        for (name, detector) in &file.photomultiplier {
            let pulse = self.length(&detector.pulse_ns)?;
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
            let (dark, blind) = (detector.dark_hz.0 .0, dead.map_or(pulse, |dead| *dead.get_ref()));
            if dark * f64::from(blind) >= 1e9 {
                let text = format!("dark counts of {} Hz do not fit a dead time of {blind} ns", shown(dark));
                return self.fail(detector.pin.span(), &text);
            }
            let options = photomultiplier::Options {
                efficiency: detector.efficiency.0,
                dark_hz: dark,
                pulse_ns: pulse.into(),
                dead_ns: blind.into(),
                afterpulses: detector.afterpulses.0 .0,
                afterpulse_ns: detector.afterpulse_ns.0,
            };
            let random = self.random(name.get_ref());
            self.once(&detector.sees)?;
            let made = Photomultiplier::new(options, detector.sees.len(), random);
            let model = self.add(name, "photomultiplier", 1, OutputKinds::default(), Box::new(made))?;
            for (input, ion) in detector.sees.iter().enumerate() {
                let (from, output, of) = self.output(ion, Kind::Photons)?;
                self.join((from, output), model, input, [&of, name.get_ref()], "photons");
            }
            self.drive(&detector.pin, (model, 0), name.get_ref())?;
        }
        Ok(())
    }

    pub(super) fn photodiodes(&mut self, file: &File) -> Done {
        for (name, diode) in &file.photodiode {
            let (volts, dark) = (diode.volts.0, diode.dark_volts.0 .0);
            self.once(&diode.sees)?;
            let made = Photodiode::new(volts, dark, diode.delay_ns.into(), diode.sees.len());
            let model = self.add(name, "photodiode", 1, OutputKinds::only(Kind::Volts, 1), Box::new(made))?;
            for (input, light) in diode.sees.iter().enumerate() {
                let (from, output, of) = self.output(light, Kind::Light)?;
                self.join((from, output), model, input, [&of, name.get_ref()], "light");
            }
        }
        Ok(())
    }

    /// The length of a pulse in ns; 0 is rejected.
    fn length(&self, pulse: &Spanned<u32>) -> Result<u32, String> {
        match *pulse.get_ref() {
            0 => self.fail(pulse.span(), "a pulse of 0 ns is invalid: it must be 1 ns or more"),
            length => Ok(length),
        }
    }

    pub(super) fn lines(&mut self, file: &File) -> Done {
        for (name, line) in &file.line {
            let (hz, pulse) = (line.hz.get_ref().0, self.length(&line.pulse_ns)?);
            if hz > MOST_MAINS_HZ {
                let text = format!("mains of {} Hz are invalid: at most {MOST_MAINS_HZ} Hz", shown(hz));
                return self.fail(line.hz.span(), &text);
            }
            let jitter = line.jitter_ns.get_ref().0 .0;
            if jitter * hz > 1e9 / 4.0 {
                let text = format!(
                    "edges with a jitter of {} ns are too irregular for mains of {hz} Hz",
                    shown(jitter)
                );
                return self.fail(line.jitter_ns.span(), &text);
            }
            if f64::from(pulse) * hz >= 1e9 {
                let text = format!("pulses of {pulse} ns do not fit into periods of {hz} Hz");
                // The location of a value that the file specifies.
                let at = [line.pulse_ns.span(), line.hz.span()]
                    .into_iter()
                    .find(|span| span.start > 0);
                return self.fail(at.unwrap_or_default(), &text);
            }
            let made = Line::new(hz, jitter, pulse.into(), self.random(name.get_ref()));
            let model = self.add(name, "line trigger", 1, OutputKinds::default(), Box::new(made))?;
            self.drive(&line.pin, (model, 0), name.get_ref())?;
        }
        Ok(())
    }

    pub(super) fn combs(&mut self, file: &File) -> Done {
        for (name, comb) in &file.comb {
            let course = Course {
                beat_hz: comb.beat_hz.get_ref().0,
                offset_hz: comb.offset_hz.0 .0,
                drift_hz_per_s: comb.drift_hz_per_s.0 .0,
                sway_hz: comb.sway_hz.0 .0,
                sway_rate_hz: comb.sway_rate_hz.0 .0,
            };
            let (beat, off) = (course.beat_hz, course.offset_hz.abs() + course.sway_hz.abs());
            if beat > MOST_BEAT_HZ {
                let text = format!("a beat of {} Hz is invalid: at most {MOST_BEAT_HZ} Hz", shown(beat));
                return self.fail(comb.beat_hz.span(), &text);
            }
            if off > beat / 4.0 || course.sway_rate_hz.abs() > beat / 10.0 {
                let text = format!(
                    "a beat of {} Hz can be off by a quarter of it, and sway at a tenth of its rate",
                    shown(beat)
                );
                return self.fail(comb.beat_hz.span(), &text);
            }
            let made = Comb::new(course, comb.switch.is_some());
            let model = self.add(name, "comb", 1, OutputKinds::default(), Box::new(made))?;
            if let Some(switch) = &comb.switch {
                self.leads_elsewhere(switch, &comb.pin)?;
                let from = self.source_pin(switch)?;
                self.engine.wire_pin(from, model, 0);
                self.draw(&self.shown(from), name.get_ref(), "");
            }
            self.drive(&comb.pin, (model, 0), name.get_ref())?;
        }
        Ok(())
    }

    pub(super) fn loopbacks(&mut self, file: &File) -> Done {
        for (name, cable) in &file.loopback {
            self.leads_elsewhere(&cable.from, &cable.to)?;
            let from = self.source_pin(&cable.from)?;
            let random = self.random(name.get_ref());
            let made = Loopback::new(cable.delay_ns.into(), cable.jitter_ns.0 .0, random);
            let model = self.add(name, "loopback", 1, OutputKinds::default(), Box::new(made))?;
            self.engine.wire_pin(from, model, 0);
            self.draw(&self.shown(from), name.get_ref(), "");
            self.drive(&cable.to, (model, 0), name.get_ref())?;
        }
        Ok(())
    }
}
