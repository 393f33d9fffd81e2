//! Assembly of ions and the light on them.

use toml::Spanned;

use super::outputs::{Kind, OutputKinds};
use super::{Bench, Done};
use crate::file::{self, File};
use crate::numbers::{shown, Positive};
use crate::physics::crystal::{self, wave::Mode, Crystal};
use crate::physics::four_levels::Levels;
use crate::physics::ion::{self, Ion};

/// Supported numbers of motional states: at the maximum, a propagator of two ions takes a fraction
/// of a second.
const STATES: std::ops::RangeInclusive<usize> = 2..=40;
/// Beyond these limits, which no real ion exceeds, single quanta and phase turns would be simulated
/// for minutes.
const MOST_ETA: f64 = 3.0;
const MOST_QUANTA: f64 = 1e5;
const MOST_HEATING_HZ: f64 = 1e6;
const MOST_LINEWIDTH_HZ: f64 = 1e9;
const LEAST_COHERENCE_S: f64 = 1e-7;

/// The rate that corresponds to a lifetime.
fn rate(time: Option<Positive>) -> f64 {
    time.map_or(0.0, |time| 1.0 / time.0)
}

/// The frequency offset of light whose modulator's tone has `hz`; other light has `hz` itself.
fn of_light(file: &File, light: &Spanned<String>, hz: f64) -> f64 {
    let aom = file.aom.get(light.get_ref().as_str());
    f64::from(aom.map_or(1, |aom| *aom.passes.get_ref())) * hz
}

impl Bench<'_> {
    pub(super) fn ions(&mut self, file: &File) -> Done {
        for (name, ion) in &file.ion {
            let mut options = ion::Options {
                rabi_hz: 0.0,
                resonance_hz: 0.0,
                scattering_hz: 0.0,
                repump_hz: 0.0,
                dephasing: rate(ion.coherence_s),
                decay: rate(ion.lifetime_s),
            };
            let mut lights = Vec::new();
            if let Some(drive) = &ion.drive {
                options.rabi_hz = drive.rabi_hz.0;
                options.resonance_hz = of_light(file, &drive.light, drive.resonance_hz.0);
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
            let model = self.add(
                name,
                "ion",
                2,
                OutputKinds::only(Kind::Photons, 1),
                Box::new(Ion::new(options, random)),
            )?;
            self.has_ions(1);
            for (light, input, label) in lights {
                let (from, output, of) = self.output(light, Kind::Light)?;
                self.join((from, output), model, input, [&of, name.get_ref()], label);
            }
        }
        Ok(())
    }

    /// Records the number of ions of the last part in the plan.
    fn has_ions(&mut self, ions: usize) {
        if let Some(part) = self.plan.0.last_mut() {
            part["ions"] = ions.into();
        }
    }

    pub(super) fn crystals(&mut self, file: &File) -> Done {
        for (name, crystal) in &file.crystal {
            let options = self.crystal(file, crystal)?;
            let drives = crystal.drive.iter().enumerate();
            let mut lights: Vec<_> = drives
                .map(|(n, drive)| (&drive.light, crystal::DRIVES + n, "drive"))
                .collect();
            let mut join = |light, input, label| lights.push((light, input, label));
            if let Some(cooling) = &crystal.cooling {
                join(&cooling.light, crystal::COOLING, "cooling");
            }
            if let Some(pumping) = &crystal.pumping {
                join(&pumping.light, crystal::PUMPING, "pumping");
            }
            if let Some(repump) = &crystal.repump {
                join(&repump.light, crystal::REPUMP, "repump");
            }
            let outputs = 1 + 2 * options.mode.ions;
            let random = self.random(name.get_ref());
            let ions = options.mode.ions;
            let model = self.add(
                name,
                "crystal",
                outputs,
                OutputKinds::only(Kind::Photons, 1),
                Box::new(Crystal::new(options, random)),
            )?;
            self.has_ions(ions);
            if let Some(known) = self.parts.get_mut(name.get_ref()) {
                known.ions = ions;
            }
            for (light, input, label) in lights {
                let (from, output, of) = self.output(light, Kind::Light)?;
                self.join((from, output), model, input, [&of, name.get_ref()], label);
            }
        }
        Ok(())
    }

    /// Rejects parameters that no ion has.
    fn of_an_ion(&self, crystal: &file::Crystal) -> Done {
        let (mode, span) = (crystal.mode.get_ref(), crystal.mode.span());
        let linewidth = &crystal.linewidth_hz;
        let limits = [
            (mode.eta.0, MOST_ETA, "a Lamb-Dicke parameter", span.clone()),
            (mode.eta_cooling.0 .0, MOST_ETA, "a Lamb-Dicke parameter", span.clone()),
            (mode.quanta.0 .0, MOST_QUANTA, "a mean number of quanta", span.clone()),
            (
                mode.heating_hz.0 .0,
                MOST_HEATING_HZ,
                "heating in quanta per second",
                span,
            ),
            (
                linewidth.get_ref().0,
                MOST_LINEWIDTH_HZ,
                "a linewidth in Hz",
                linewidth.span(),
            ),
        ];
        for (value, most, what, span) in limits {
            if value > most {
                let text = format!(
                    "{what} of {} is too large for an ion: at most {}",
                    shown(value),
                    shown(most)
                );
                return self.fail(span, &text);
            }
        }
        match &crystal.coherence_s {
            Some(time) if time.get_ref().0 < LEAST_COHERENCE_S => {
                let text = format!(
                    "a coherence time of {} s is too short for an ion: at least {LEAST_COHERENCE_S:e} s",
                    shown(time.get_ref().0)
                );
                self.fail(time.span(), &text)
            }
            _ => Ok(()),
        }
    }

    fn crystal(&self, file: &File, crystal: &file::Crystal) -> Result<crystal::Options, String> {
        let ions = *crystal.ions.get_ref();
        if !(1..=2).contains(&ions) {
            return self.fail(crystal.ions.span(), "a crystal has 1 or 2 ions");
        }
        self.of_an_ion(crystal)?;
        let mode = crystal.mode.get_ref();
        let states = *mode.states.get_ref();
        if !STATES.contains(&states) {
            let text = format!("{} to {} states of a mode are possible", STATES.start(), STATES.end());
            return self.fail(mode.states.span(), &text);
        }
        let (to_lower, to_upper) = (crystal.to_lower.get_ref().0, crystal.to_upper.0);
        if to_lower + to_upper > 1.0 {
            let text =
                format!("{to_lower} of the decays to the lower level and {to_upper} to the upper exceed 1 in total");
            return self.fail(crystal.to_lower.span(), &text);
        }
        let beam = |beam: &Option<file::Beam>| {
            beam.as_ref().map_or_else(crystal::Beam::default, |beam| crystal::Beam {
                saturation: beam.saturation.0,
                resonance_hz: of_light(file, &beam.light, beam.resonance_hz.0),
            })
        };
        let mut drives = Vec::new();
        for drive in &crystal.drive {
            let all: Vec<usize> = (0..ions).collect();
            let lit = drive.ions.as_ref().map_or(&all, Spanned::get_ref);
            if let Some(other) = lit.iter().find(|ion| **ion >= ions) {
                let span = drive.ions.as_ref().map_or(0..0, Spanned::span);
                return self.fail(
                    span,
                    &format!("there is no ion {other}: they are numbered from 0 to {}", ions - 1),
                );
            }
            if let Some(twice) = (1..lit.len()).find(|n| lit[..*n].contains(&lit[*n])) {
                let span = drive.ions.as_ref().map_or(0..0, Spanned::span);
                return self.fail(span, &format!("ion {} is given twice", lit[twice]));
            }
            drives.push(crystal::Drive {
                rabi_hz: drive.rabi_hz.0,
                resonance_hz: of_light(file, &drive.light, drive.resonance_hz.0),
                ions: lit.iter().fold(0, |bits, ion| bits | 1 << ion),
            });
        }
        let linewidth_hz = crystal.linewidth_hz.get_ref().0;
        Ok(crystal::Options {
            mode: Mode {
                ions,
                states,
                hz: mode.hz.0,
                eta: mode.eta.0,
            },
            eta_cooling: mode.eta_cooling.0 .0,
            heating: mode.heating_hz.0 .0,
            quanta: mode.quanta.0 .0,
            levels: Levels {
                linewidth: std::f64::consts::TAU * linewidth_hz,
                branching: [to_lower, 1.0 - to_lower - to_upper, to_upper],
                decay: rate(crystal.lifetime_s),
                dephasing: rate(crystal.coherence_s.as_ref().map(|time| *time.get_ref())),
            },
            linewidth_hz,
            cooling: beam(&crystal.cooling),
            pumping: beam(&crystal.pumping),
            repump: crystal.repump.as_ref().map_or(0.0, |repump| repump.rate_hz.0),
            drives,
        })
    }
}
