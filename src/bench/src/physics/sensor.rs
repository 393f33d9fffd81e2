//! The sensor of a camera: from photons to an image.
//!
//! The light of each ion is spread over the pixels around its position; each pixel counts with shot
//! noise. The cameras, which differ in their links, are `camera.rs` and `cxp/camera.rs`.

use rand_distr::{Distribution, Poisson};
use rand_pcg::Pcg64Mcg;
use serde_json::{json, Value};

use crate::model::Outbox;
use crate::signal::{seconds, Ns};

/// The image of a source.
#[derive(Debug, Clone, Copy)]
pub struct Spot {
    /// Its centre in pixels: column and row.
    pub position: [f64; 2],
}

/// Parameters of a camera.
#[derive(Debug, Clone)]
pub struct Options {
    /// Number of pixels: columns and rows.
    pub size: [usize; 2],
    /// Standard deviation of a spot in pixels.
    pub spread: f64,
    /// Counts per scattered photon, over all pixels.
    pub efficiency: f64,
    /// Dark counts per pixel and frame.
    pub dark: f64,
    /// Duration of the exposure.
    pub exposure_ns: Ns,
    /// Frame period of a free-running camera; `None`: triggered.
    pub period_ns: Option<Ns>,
    /// The spot of each input.
    pub spots: Vec<Spot>,
}

/// A sensor, and the times of its exposures.
pub struct Sensor {
    options: Options,
    /// The greatest number that a pixel has.
    pub most: u16,
    random: Pcg64Mcg,
    /// Photons per second of each source, and photons since the exposure began.
    rates: Vec<f64>,
    collected: Vec<f64>,
    /// Time up to which they are counted.
    counted: Ns,
    /// End of the exposure.
    ends: Option<Ns>,
    /// Start of the next exposure without a trigger.
    begins: Option<Ns>,
    /// Level of the trigger.
    trigger: bool,
    /// End of the last frame's transmission.
    busy: Ns,
    image: Vec<u16>,
    frames: u64,
    missed: u64,
}

impl Sensor {
    /// A sensor before its first exposure.
    pub fn new(options: Options, random: Pcg64Mcg) -> Self {
        let sources = options.spots.len();
        Self {
            begins: options.period_ns,
            image: vec![0; options.size[0] * options.size[1]],
            options,
            most: u16::MAX,
            random,
            rates: vec![0.0; sources],
            collected: vec![0.0; sources],
            counted: 0,
            ends: None,
            trigger: false,
            busy: 0,
            frames: 0,
            missed: 0,
        }
    }

    /// Counts photons up to a time.
    pub fn count(&mut self, at: Ns) {
        let time = seconds(at - self.counted);
        for (sum, rate) in self.collected.iter_mut().zip(&self.rates) {
            *sum += rate * time;
        }
        self.counted = at;
    }

    /// Sets the photons per second of a source, after [`Self::count`].
    pub fn see(&mut self, source: usize, rate: f64) {
        self.rates[source] = rate;
    }

    /// Takes the level of the trigger, whose rising edge starts an exposure.
    pub fn trigger(&mut self, at: Ns, level: bool, out: &mut Outbox) {
        if level && !self.trigger {
            self.expose(at, out);
        }
        self.trigger = level;
    }

    /// Starts an exposure if possible.
    pub fn expose(&mut self, at: Ns, out: &mut Outbox) {
        if self.ends.is_some() || at + self.options.exposure_ns < self.busy {
            self.missed += 1;
            return out.warn("it is triggered during an exposure, or before the previous frame was sent: ignored");
        }
        self.collected.fill(0.0);
        self.counted = at;
        self.ends = Some(at + self.options.exposure_ns);
    }

    /// The time at which an exposure begins or ends by itself.
    pub fn next(&self) -> Option<Ns> {
        self.ends.into_iter().chain(self.begins).min()
    }

    /// Ends an exposure that is due; returns whether there is an image to be sent.
    pub fn end(&mut self, at: Ns) -> bool {
        let due = self.ends == Some(at);
        if due {
            self.count(at);
            self.ends = None;
            self.draw_image();
        }
        due
    }

    /// Begins an exposure that is due, after [`Self::end`].
    pub fn begin(&mut self, at: Ns, out: &mut Outbox) {
        if self.begins == Some(at) {
            self.begins = self.options.period_ns.map(|period| at + period);
            self.expose(at, out);
        }
    }

    /// Notes that the image is sent up to a time.
    pub fn sends_until(&mut self, end: Ns) {
        self.busy = end;
        self.frames += 1;
    }

    /// Columns and rows.
    pub fn size(&self) -> [usize; 2] {
        self.options.size
    }

    /// The rows of the last image.
    pub fn rows(&self) -> impl Iterator<Item = &[u16]> {
        self.image.chunks(self.options.size[0])
    }

    /// Takes other random numbers from now on.
    pub fn reseed(&mut self, random: Pcg64Mcg) {
        self.random = random;
    }

    /// Its state.
    pub fn report(&self) -> Value {
        let rows: Vec<&[u16]> = self.rows().collect();
        json!({ "part": "camera", "frames": self.frames, "missed": self.missed, "image": rows })
    }

    /// The fraction of a spot's light on each column or row.
    fn profile(&self, middle: f64, pixels: usize) -> Vec<f64> {
        let part = |n: usize| {
            let off = (n as f64 + 0.5 - middle) / self.options.spread;
            (-0.5 * off * off).exp()
        };
        let parts: Vec<f64> = (0..pixels).map(part).collect();
        // Relative to the whole spot, including light beside the sensor
        let whole = self.options.spread * std::f64::consts::TAU.sqrt();
        parts.iter().map(|part| part / whole).collect()
    }

    /// Draws the image from the collected photons.
    fn draw_image(&mut self) {
        let [columns, rows] = self.options.size;
        let mut expected = vec![self.options.dark; columns * rows];
        for (spot, photons) in self.options.spots.iter().zip(&self.collected) {
            let across = self.profile(spot.position[0], columns);
            let down = self.profile(spot.position[1], rows);
            for (pixel, mean) in expected.iter_mut().enumerate() {
                *mean += photons * self.options.efficiency * across[pixel % columns] * down[pixel / columns];
            }
        }
        for (pixel, mean) in self.image.iter_mut().zip(expected) {
            let drawn = Poisson::new(mean).map_or(0.0, |counts| counts.sample(&mut self.random));
            *pixel = drawn.min(f64::from(self.most)) as u16;
        }
    }
}
