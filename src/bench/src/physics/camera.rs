//! A camera that observes ions: from photons to an image, and to the signals of a Camera Link in
//! base configuration.
//!
//! The light of each ion is spread over the pixels around its position; each pixel counts with shot
//! noise. A frame is sent directly after its exposure, with 28 bits for each pixel on four lanes,
//! seven bits of 4 ns per period of the clock lane. The clock stops between frames, which then cost
//! nothing; it starts early enough for a receiver to detect the rate.

use kairos_contracts::chips::cameralink::{self as link, LANES, PORTS};
use rand_distr::{Distribution, Poisson};
use rand_pcg::Pcg64Mcg;
use serde_json::{json, Value};

use crate::model::{Change, Model, Outbox};
use crate::signal::{seconds, Ns, Signal};

/// Names of the lines to the grabber, as in its channels.
pub const LINES: [&str; 5] = ["clk", "x0", "x1", "x2", "x3"];
/// Duration of a bit, and bits on a lane per clock period.
const BIT: Ns = 4;
const BITS: usize = 7;
/// Pattern of the clock lane in a period.
const CLOCK: [bool; BITS] = [true, true, false, false, false, true, true];
/// Valid flags of a word.
const LINE_VALID: u32 = 1 << link::LINE_VALID;
const FRAME_VALID: u32 = 1 << link::FRAME_VALID;
const DATA_VALID: u32 = 1 << link::DATA_VALID;
/// Clock periods before a frame, between its lines, and after it.
const BEFORE: usize = 90;
const BETWEEN: usize = 2;
const BEHIND: usize = 12;

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

/// The camera: input 0 is the trigger, the others are photons; the outputs are the lines.
pub struct Camera {
    options: Options,
    random: Pcg64Mcg,
    trigger: bool,
    /// Photons per second of each source, and photons since the exposure began.
    rates: Vec<f64>,
    collected: Vec<f64>,
    /// Time up to which they are counted.
    counted: Ns,
    /// End of the exposure.
    ends: Option<Ns>,
    /// Start of the next exposure without a trigger.
    begins: Option<Ns>,
    /// End of the last frame's transmission.
    busy: Ns,
    image: Vec<u16>,
    frames: u64,
    missed: u64,
}

impl Camera {
    /// A camera before its first exposure.
    pub fn new(options: Options, random: Pcg64Mcg) -> Self {
        let sources = options.spots.len();
        Self {
            begins: options.period_ns,
            image: vec![0; options.size[0] * options.size[1]],
            options,
            random,
            trigger: false,
            rates: vec![0.0; sources],
            collected: vec![0.0; sources],
            counted: 0,
            ends: None,
            busy: 0,
            frames: 0,
            missed: 0,
        }
    }

    /// Counts photons up to a time.
    fn count(&mut self, at: Ns) {
        let time = seconds(at - self.counted);
        for (sum, rate) in self.collected.iter_mut().zip(&self.rates) {
            *sum += rate * time;
        }
        self.counted = at;
    }

    /// Starts an exposure if possible.
    fn expose(&mut self, at: Ns, out: &mut Outbox) {
        if self.ends.is_some() || at + self.options.exposure_ns < self.busy {
            self.missed += 1;
            return out.warn("it is triggered during an exposure, or before the previous frame was sent: ignored");
        }
        self.collected.fill(0.0);
        self.counted = at;
        self.ends = Some(at + self.options.exposure_ns);
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
            *pixel = drawn.min(65535.0) as u16;
        }
    }

    /// The words of the frame.
    fn words(&self) -> Vec<u32> {
        let mut words = vec![0; BEFORE];
        for row in self.image.chunks(self.options.size[0]) {
            for pixel in row {
                let bits = PORTS.iter().flatten().enumerate();
                let data = bits.fold(0, |word, (n, input)| word | u32::from(pixel >> n & 1) << input);
                words.push(data | FRAME_VALID | LINE_VALID | DATA_VALID);
            }
            words.extend([FRAME_VALID; BETWEEN]);
        }
        words.extend([0; BEHIND]);
        words
    }

    /// Sends the frame.
    fn send(&mut self, at: Ns, out: &mut Outbox) {
        let mut levels = [false; LINES.len()];
        let mut send = |delay: Ns, now: [bool; LINES.len()]| {
            for line in (0..LINES.len()).filter(|line| now[*line] != levels[*line]) {
                out.send_after(delay, line, Signal::Level(now[line]));
            }
            levels = now;
        };
        let words = self.words();
        for (n, word) in words.iter().enumerate() {
            for (bit, clock) in CLOCK.into_iter().enumerate() {
                let mut now = [clock; LINES.len()];
                for (line, inputs) in now[1..].iter_mut().zip(LANES) {
                    *line = word >> inputs[bit] & 1 != 0;
                }
                send((n * BITS + bit) as Ns * BIT, now);
            }
        }
        let length = (words.len() * BITS) as Ns * BIT;
        send(length, [false; LINES.len()]);
        self.busy = at + length;
        self.frames += 1;
    }
}

impl Model for Camera {
    fn input(&mut self, at: Ns, changes: &[Change], out: &mut Outbox) {
        self.count(at);
        for (input, signal) in changes {
            match signal {
                Signal::Photons(rate) if *input > 0 => self.rates[input - 1] = *rate,
                Signal::Level(level) if *input == 0 => {
                    if *level && !self.trigger {
                        self.expose(at, out);
                    }
                    self.trigger = *level;
                }
                _ => {}
            }
        }
    }

    fn next(&self) -> Option<Ns> {
        self.ends.into_iter().chain(self.begins).min()
    }

    fn act(&mut self, at: Ns, out: &mut Outbox) {
        if self.ends == Some(at) {
            self.count(at);
            self.ends = None;
            self.draw_image();
            self.send(at, out);
        }
        if self.begins == Some(at) {
            self.begins = self.options.period_ns.map(|period| at + period);
            self.expose(at, out);
        }
    }

    fn reseed(&mut self, random: Pcg64Mcg) {
        self.random = random;
    }

    fn report(&self, _at: Ns) -> Value {
        let rows: Vec<&[u16]> = self.image.chunks(self.options.size[0]).collect();
        json!({ "part": "camera", "frames": self.frames, "missed": self.missed, "image": rows })
    }
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;

    use super::*;

    fn camera(dark: f64, period_ns: Option<Ns>) -> Camera {
        let options = Options {
            size: [8, 6],
            spread: 0.8,
            efficiency: 0.5,
            dark,
            exposure_ns: 1_000_000,
            period_ns,
            spots: vec![Spot { position: [2.5, 3.5] }],
        };
        Camera::new(options, Pcg64Mcg::seed_from_u64(7))
    }

    /// Receives a frame: samples the bits in the middle, and checks the clock lane's pattern.
    fn received(out: &Outbox) -> Vec<u32> {
        let end = out.sent.iter().map(|sent| sent.0).max().expect("a frame");
        let mut edges = out.sent.clone();
        edges.sort_by_key(|sent| sent.0);
        let mut levels = [false; LINES.len()];
        let (mut words, mut word, mut edge) = (Vec::new(), 0, 0);
        for bit in 0..(end / BIT) as usize {
            while edge < edges.len() && edges[edge].0 <= bit as Ns * BIT + BIT / 2 {
                if let (_, line, Signal::Level(level)) = edges[edge] {
                    levels[line] = level;
                }
                edge += 1;
            }
            assert_eq!(levels[0], CLOCK[bit % BITS]);
            for (lane, inputs) in LANES.iter().enumerate() {
                word |= u32::from(levels[1 + lane]) << inputs[bit % BITS];
            }
            if bit % BITS == BITS - 1 {
                words.push(std::mem::take(&mut word));
            }
        }
        words
    }

    #[test]
    fn photons_during_exposure_become_a_frame() {
        let mut camera = camera(0.0, None);
        let mut out = Outbox::default();
        camera.input(1000, &[(1, Signal::Photons(4e7))], &mut out);
        camera.input(2000, &[(0, Signal::Level(true))], &mut out);
        camera.input(502_000, &[(1, Signal::Photons(0.0))], &mut out);
        assert_eq!(camera.next(), Some(1_002_000));
        camera.act(1_002_000, &mut out);
        let sum: u32 = camera.image.iter().map(|pixel| u32::from(*pixel)).sum();
        // 20,000 photons in half of the exposure, of which half are counted
        assert!((9_500..10_500).contains(&sum), "{sum}");
        let brightest = (0..48).max_by_key(|pixel| camera.image[*pixel]).expect("pixels");
        assert_eq!((brightest % 8, brightest / 8), (2, 3));
        let pixels: Vec<u16> = received(&out)
            .into_iter()
            .filter(|word| word & DATA_VALID != 0)
            .map(|word| (0..16).fold(0, |pixel, n| pixel | ((word >> PORTS[n / 8][n % 8] & 1) as u16) << n))
            .collect();
        assert_eq!(pixels, camera.image);
    }

    #[test]
    fn untriggered_camera_exposes_periodically_with_dark_level() {
        let mut camera = camera(100.0, Some(5_000_000));
        let mut out = Outbox::default();
        for at in [5_000_000, 6_000_000, 10_000_000, 11_000_000] {
            assert_eq!(camera.next(), Some(at));
            camera.act(at, &mut out);
        }
        assert_eq!(camera.frames, 2);
        let mean = camera.image.iter().map(|pixel| f64::from(*pixel)).sum::<f64>() / 48.0;
        assert!((90.0..110.0).contains(&mean), "{mean}");
        assert!(out.warnings.is_empty());
    }

    #[test]
    fn early_camera_trigger_is_reported() {
        let mut camera = camera(0.0, None);
        let mut out = Outbox::default();
        for (at, level) in [(0, true), (10, false), (20, true)] {
            camera.input(at, &[(0, Signal::Level(level))], &mut out);
        }
        assert_eq!((out.warnings.len(), camera.missed), (1, 1));
    }
}
