//! A camera on a Camera Link in base configuration.
//!
//! A frame is sent directly after its exposure, with 28 bits for each pixel on four lanes, seven bits
//! of 4 ns per period of the clock lane. The clock stops between frames, which then cost nothing; it
//! starts early enough for a receiver to detect the rate.

use kairos_contracts::chips::cameralink::{self as link, LANES, PORTS};
use rand_pcg::Pcg64Mcg;
use serde_json::Value;

use super::sensor::{Options, Sensor};
use crate::model::{Change, Model, Outbox};
use crate::signal::{Ns, Signal};

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

/// The camera: input 0 is the trigger, the others are photons; the outputs are the lines.
pub struct Camera {
    sensor: Sensor,
}

impl Camera {
    /// A camera before its first exposure.
    pub fn new(options: Options, random: Pcg64Mcg) -> Self {
        Self {
            sensor: Sensor::new(options, random),
        }
    }

    /// The words of the frame.
    fn words(&self) -> Vec<u32> {
        let mut words = vec![0; BEFORE];
        for row in self.sensor.rows() {
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
        self.sensor.sends_until(at + length);
    }
}

impl Model for Camera {
    fn input(&mut self, at: Ns, changes: &[Change], out: &mut Outbox) {
        self.sensor.count(at);
        for (input, signal) in changes {
            match signal {
                Signal::Photons(rate) if *input > 0 => self.sensor.see(input - 1, *rate),
                Signal::Level(level) if *input == 0 => self.sensor.trigger(at, *level, out),
                _ => {}
            }
        }
    }

    fn next(&self) -> Option<Ns> {
        self.sensor.next()
    }

    fn act(&mut self, at: Ns, out: &mut Outbox) {
        if self.sensor.end(at) {
            self.send(at, out);
        }
        self.sensor.begin(at, out);
    }

    fn reseed(&mut self, random: Pcg64Mcg) {
        self.sensor.reseed(random);
    }

    fn report(&self, _at: Ns) -> Value {
        self.sensor.report()
    }
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;

    use super::super::sensor::Spot;
    use super::*;

    /// The last image.
    fn image(camera: &Camera) -> Vec<u16> {
        camera.sensor.rows().flatten().copied().collect()
    }

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
        let image = image(&camera);
        let sum: u32 = image.iter().map(|pixel| u32::from(*pixel)).sum();
        // 20,000 photons in half of the exposure, of which half are counted
        assert!((9_500..10_500).contains(&sum), "{sum}");
        let brightest = (0..48).max_by_key(|pixel| image[*pixel]).expect("pixels");
        assert_eq!((brightest % 8, brightest / 8), (2, 3));
        let pixels: Vec<u16> = received(&out)
            .into_iter()
            .filter(|word| word & DATA_VALID != 0)
            .map(|word| (0..16).fold(0, |pixel, n| pixel | ((word >> PORTS[n / 8][n % 8] & 1) as u16) << n))
            .collect();
        assert_eq!(pixels, image);
    }

    #[test]
    fn untriggered_camera_exposes_periodically_with_dark_level() {
        let mut camera = camera(100.0, Some(5_000_000));
        let mut out = Outbox::default();
        for at in [5_000_000, 6_000_000, 10_000_000, 11_000_000] {
            assert_eq!(camera.next(), Some(at));
            camera.act(at, &mut out);
        }
        assert_eq!(camera.report(0)["frames"], 2);
        let mean = image(&camera).iter().map(|pixel| f64::from(*pixel)).sum::<f64>() / 48.0;
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
        assert_eq!((out.warnings.len(), camera.report(0)["missed"].as_u64()), (1, Some(1)));
    }
}
