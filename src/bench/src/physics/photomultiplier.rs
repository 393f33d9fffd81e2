//! A photomultiplier with its discriminator, which outputs pulses at random times.

use rand_distr::{Distribution, Exp1, StandardUniform};
use rand_pcg::Pcg64Mcg;
use serde_json::{json, Value};

use crate::model::{Change, Model, Outbox};
use crate::signal::{Ns, Signal};

/// Parameters of the detector.
#[derive(Debug, Clone, Copy)]
pub struct Options {
    /// Fraction of the photons that are counted: solid angle, losses, quantum efficiency.
    pub efficiency: f64,
    /// Dark counts per second.
    pub dark_hz: f64,
    /// Length of a pulse.
    pub pulse_ns: Ns,
    /// Dead time after a count.
    pub dead_ns: Ns,
    /// Probability that a count is followed by an afterpulse…
    pub afterpulses: f64,
    /// …and the mean delay of that in ns, exponentially distributed.
    pub afterpulse_ns: f64,
}

/// The detector: each input is a source of photons, output 0 the pulses.
pub struct Photomultiplier {
    options: Options,
    random: Pcg64Mcg,
    photons: Vec<f64>,
    next: Option<Ns>,
    /// Time of the next afterpulse.
    after: Option<Ns>,
    /// End of the dead time.
    blind: Ns,
    counts: u64,
}

impl Photomultiplier {
    /// A detector of `sources` sources.
    pub fn new(options: Options, sources: usize, random: Pcg64Mcg) -> Self {
        let mut detector = Self {
            options,
            random,
            photons: vec![0.0; sources],
            next: None,
            after: None,
            blind: 0,
            counts: 0,
        };
        detector.draw(0);
        detector
    }

    fn rate(&self) -> f64 {
        self.options.dark_hz + self.options.efficiency * self.photons.iter().sum::<f64>()
    }

    /// Draws the next count from `at` on. A draw for another rate may be discarded, as waiting
    /// times are memoryless.
    fn draw(&mut self, at: Ns) {
        let rate = self.rate();
        self.next = (rate > 0.0).then(|| {
            let wait: f64 = Exp1.sample(&mut self.random);
            at.max(self.blind)
                .saturating_add((wait / rate * 1e9).min(1e18) as Ns + 1)
        });
    }
}

impl Photomultiplier {
    /// Draws whether a count at `at` causes an afterpulse, and when.
    fn draw_after(&mut self, at: Ns) {
        if self.options.afterpulses == 0.0 {
            return;
        }
        let drawn: f64 = StandardUniform.sample(&mut self.random);
        let wait: f64 = Exp1.sample(&mut self.random);
        if drawn < self.options.afterpulses && self.after.is_none() {
            self.after = Some(at + (wait * self.options.afterpulse_ns).min(1e18) as Ns + 1);
        }
    }
}

impl Model for Photomultiplier {
    fn input(&mut self, at: Ns, changes: &[Change], _out: &mut Outbox) {
        let before = self.rate();
        for (source, signal) in changes {
            if let Signal::Photons(rate) = signal {
                self.photons[*source] = *rate;
            }
        }
        if self.rate() != before {
            self.draw(at);
        }
    }

    fn next(&self) -> Option<Ns> {
        self.next.into_iter().chain(self.after).min()
    }

    fn act(&mut self, at: Ns, out: &mut Outbox) {
        if self.after == Some(at) {
            self.after = None;
        }
        if at < self.blind {
            return; // an afterpulse within the dead time
        }
        self.counts += 1;
        self.draw_after(at);
        self.blind = at + self.options.dead_ns;
        out.send(0, Signal::Level(true));
        out.send_after(self.options.pulse_ns, 0, Signal::Level(false));
        self.draw(at);
    }

    fn reseed(&mut self, random: Pcg64Mcg) {
        self.random = random;
    }

    fn report(&self, _at: Ns) -> Value {
        json!({ "part": "photomultiplier", "counts": self.counts, "rate_hz": self.rate() })
    }
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;

    use super::*;

    /// Counts in each of `windows` windows of a source.
    fn counts(options: Options, photons: f64, window: Ns, windows: usize) -> Vec<u64> {
        let mut detector = Photomultiplier::new(options, 1, Pcg64Mcg::seed_from_u64(7));
        detector.input(0, &[(0, Signal::Photons(photons))], &mut Outbox::default());
        let mut counts = vec![0; windows];
        while let Some(at) = detector.next().filter(|at| *at < window * windows as Ns) {
            counts[(at / window) as usize] += 1;
            detector.act(at, &mut Outbox::default());
        }
        counts
    }

    fn moments(counts: &[u64]) -> (f64, f64) {
        let of =
            |value: &dyn Fn(f64) -> f64| counts.iter().map(|n| value(*n as f64)).sum::<f64>() / counts.len() as f64;
        let mean = of(&|n| n);
        (mean, of(&|n| (n - mean).powi(2)))
    }

    const OPTIONS: Options = Options {
        efficiency: 0.01,
        dark_hz: 1000.0,
        pulse_ns: 20,
        dead_ns: 0,
        afterpulses: 0.0,
        afterpulse_ns: 500.0,
    };

    #[test]
    fn counts_have_a_poisson_distribution() {
        // 5 million photons per second with 1 % efficiency, and dark counts: 51 in a ms
        let (mean, variance) = moments(&counts(OPTIONS, 5e6, 1_000_000, 4000));
        assert!((mean - 51.0).abs() < 0.5, "{mean}");
        assert!((variance / mean - 1.0).abs() < 0.1, "{variance}");
    }

    #[test]
    fn dead_time_reduces_the_counts() {
        let dead = Options {
            dead_ns: 5_000,
            ..OPTIONS
        };
        let rate: f64 = 51e3;
        let (mean, variance) = moments(&counts(dead, 5e6, 1_000_000, 4000));
        assert!((mean - 1e-3 * rate / (1.0 + rate * 5e-6)).abs() < 0.5, "{mean}");
        assert!(variance < 0.75 * mean, "{variance}: more regular than Poisson");
    }

    /// Each count causes p others, which cause p each: 1/(1 - p) times as many counts, in groups.
    #[test]
    fn afterpulses_increase_mean_and_variance() {
        let twice = Options {
            afterpulses: 0.05,
            ..OPTIONS
        };
        let (mean, variance) = moments(&counts(twice, 5e6, 1_000_000, 4000));
        assert!((mean - 51.0 / 0.95).abs() < 0.5, "{mean}");
        assert!(variance / mean > 1.04, "{}", variance / mean);
    }

    #[test]
    fn no_light_gives_no_counts() {
        let silent = Options {
            dark_hz: 0.0,
            ..OPTIONS
        };
        assert_eq!(counts(silent, 0.0, 1_000_000, 1), [0]);
    }
}
