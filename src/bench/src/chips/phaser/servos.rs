//! The servos of a Phaser: in each channel a filter of first order, with four profiles, whose output is the amplitude
//! of the channel's samples, from the voltage at its ADC's input.
//!
//! Every 264 ns, with the profile in use:
//!
//! ```text
//! y = limit((b0 x0 + b1 x1 + a1 y1 + offset 2^14 + 2^13 - 1) >> 14)     0 to 2^15 - 1
//! ```
//!
//! x0 is the latest code of the ADC and x1 the one before, for all profiles; y1 is the profile's last y. As in the
//! card's published gateware, the offset has no sign: a negative one gives full scale. While the servo holds, y stays.
//! Updates are at multiples of 264 ns, since their phase in a card is not known. Nothing is computed while nothing
//! changes.

use kairos_contracts::chips::phaser::{self as chip, servo};
use serde_json::{json, Value};

use crate::signal::Ns;

/// Time between updates.
const PERIOD: Ns = chip::SERVO_PERIOD_NS as Ns;
const PROFILES: usize = chip::SERVO_PROFILES as usize;
/// Bits of fraction of the coefficients.
const UNIT: u32 = chip::SERVO_FRACTION_BITS;
const FULL: i64 = (1 << 15) - 1;

/// Addresses of the registers of all servos.
pub const REGISTERS: std::ops::Range<usize> =
    chip::SERVO.address as usize..(chip::SERVO_COEFFICIENTS + chip::SERVO_SPACING * chip::CHANNELS) as usize;

/// What is wrong with the settings of channel `n` of a card with these registers, after a write to `address`: said
/// with the last byte of the offset, and when the servo is switched on.
pub fn warning(registers: &[u8], n: usize, address: usize) -> Option<String> {
    let last = Setting::first(registers, n) + 7;
    let switched = usize::from(chip::SERVO.address) + n;
    [last, switched]
        .contains(&address)
        .then(|| Setting::of(registers, n).warning())?
}

/// The registers of a servo.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Setting {
    word: u32,
    b0: i16,
    b1: i16,
    a1: i16,
    offset: u16,
}

impl Setting {
    fn word(registers: &[u8], n: usize) -> u32 {
        registers[usize::from(chip::SERVO.address) + n].into()
    }

    /// Address of the first coefficient of the profile in use.
    fn first(registers: &[u8], n: usize) -> usize {
        let profiles = chip::SERVO_COEFFICIENTS as usize + chip::SERVO_SPACING as usize * n;
        profiles + 8 * servo::PROFILE.get(Self::word(registers, n)) as usize
    }

    /// Those of channel `n` of a card with these registers.
    pub fn of(registers: &[u8], n: usize) -> Self {
        let (word, first) = (Self::word(registers, n), Self::first(registers, n));
        let at = |place: usize| u16::from_be_bytes([registers[first + 2 * place], registers[first + 2 * place + 1]]);
        Self {
            word,
            b0: at(0) as i16,
            b1: at(1) as i16,
            a1: at(2) as i16,
            offset: at(3),
        }
    }

    fn profile(&self) -> usize {
        servo::PROFILE.get(self.word) as usize
    }

    /// Whether the servo sets the amplitude of its channel.
    pub fn is_on(&self) -> bool {
        servo::ENABLE.get(self.word) != 0
    }

    fn holds(&self) -> bool {
        servo::HOLD.get(self.word) != 0
    }

    /// What is wrong with the profile in use, if it is.
    pub fn warning(&self) -> Option<String> {
        let negative = self.is_on() && !self.holds() && self.offset >> 15 != 0;
        let (profile, offset) = (self.profile(), self.offset as i16);
        negative.then(|| {
            format!("the offset {offset} of its servo's profile {profile} is negative: in the card it has no sign, and gives full scale")
        })
    }
}

/// The servo of a channel.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Servo {
    /// Codes of the ADC: the latest one, and the one before.
    codes: [i16; 2],
    /// The last output of each profile.
    outputs: [i64; PROFILES],
}

impl Servo {
    /// Takes a code.
    fn update(&mut self, code: i16, by: &Setting) {
        let [before, _] = self.codes;
        self.codes = [code, before];
        if by.holds() {
            return;
        }
        let output = &mut self.outputs[by.profile()];
        let products = i64::from(by.b0) * i64::from(code) + i64::from(by.b1) * i64::from(before);
        let sum = products + i64::from(by.a1) * *output + (i64::from(by.offset) << UNIT);
        *output = ((sum + (1 << (UNIT - 1)) - 1) >> UNIT).clamp(0, FULL);
    }

    /// Its output with these settings, of 2^15.
    pub fn output(&self, by: &Setting) -> i64 {
        self.outputs[by.profile()]
    }
}

/// The servos of a card, with their inputs.
pub struct Servos<const N: usize> {
    servos: [Servo; N],
    /// Of the ADC's inputs, and of full scale.
    volts: [f64; N],
    full: f64,
    due: Option<Ns>,
}

impl<const N: usize> Servos<N> {
    /// Servos after power-up, with these voltages at their inputs; `full`: voltage of full scale.
    pub fn new(volts: [f64; N], full: f64) -> Self {
        Self {
            servos: std::array::from_fn(|_| Servo::default()),
            volts,
            full,
            due: None,
        }
    }

    /// The voltages at the inputs.
    pub fn volts(&mut self) -> &mut [f64; N] {
        &mut self.volts
    }

    fn code(&self, n: usize) -> i16 {
        (self.volts[n] / self.full * 32768.0).round().clamp(-32768.0, 32767.0) as i16
    }

    /// The time of the next update that changes something.
    pub fn due(&self) -> Option<Ns> {
        self.due
    }

    /// Plans the next update after `at`, if it changes anything, with these registers of the card.
    pub fn plan(&mut self, at: Ns, registers: &[u8]) {
        let changes = |n: usize| {
            let mut next = self.servos[n].clone();
            next.update(self.code(n), &Setting::of(registers, n));
            next != self.servos[n]
        };
        self.due = (0..N).any(changes).then(|| (at / PERIOD + 1) * PERIOD);
    }

    /// Updates all of them, and plans the next update.
    pub fn update(&mut self, at: Ns, registers: &[u8]) {
        for n in 0..N {
            let code = self.code(n);
            self.servos[n].update(code, &Setting::of(registers, n));
        }
        self.plan(at, registers);
    }

    /// What a channel's servo makes of a sample.
    pub fn applied(&self, n: usize, registers: &[u8], sample: i64) -> i64 {
        let by = Setting::of(registers, n);
        match by.is_on() {
            true => (sample * self.servos[n].output(&by) + FULL / 2) >> 15,
            false => sample,
        }
    }

    /// The factor by which a channel's tones are multiplied.
    pub fn factor(&self, n: usize, registers: &[u8]) -> f64 {
        let by = Setting::of(registers, n);
        match by.is_on() {
            true => self.servos[n].output(&by) as f64 / (FULL + 1) as f64,
            false => 1.0,
        }
    }

    /// State of a channel's.
    pub fn report(&self, n: usize, registers: &[u8]) -> Value {
        let by = Setting::of(registers, n);
        json!({
            "enabled": by.is_on(),
            "hold": by.holds(),
            "profile": by.profile(),
            "input_volts": self.volts[n],
            "code": self.servos[n].codes[0],
            "output": self.servos[n].output(&by),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vectors::vectors;

    #[test]
    fn outputs_of_a_servo_are_those_of_the_card() {
        for vector in vectors("phaser_servo_iir") {
            let number = |name: &str| vector[name].as_i64().unwrap() as i16;
            let by = Setting {
                word: servo::ENABLE.put(0, 1),
                b0: number("b0"),
                b1: number("b1"),
                a1: number("a1"),
                offset: number("offset") as u16,
            };
            assert_eq!(by.warning().is_some(), vector.get("note").is_some());
            let mut servo = Servo::default();
            let inputs = vector["x"].as_array().unwrap();
            let found: Vec<i64> = inputs
                .iter()
                .map(|code| {
                    servo.update(code.as_i64().unwrap() as i16, &by);
                    servo.output(&by)
                })
                .collect();
            assert_eq!(serde_json::Value::from(found), vector["y"]);
        }
    }

    #[test]
    fn profiles_share_their_inputs_and_keep_their_outputs() {
        let by = |word: u32| Setting {
            word,
            b0: 8192,
            b1: 8192,
            a1: 0,
            offset: 0,
        };
        let (first, second) = (by(servo::PROFILE.put(1, 0)), by(servo::PROFILE.put(1, 1)));
        let mut servo = Servo::default();
        servo.update(1000, &first);
        servo.update(2000, &second);
        assert_eq!((servo.output(&first), servo.output(&second)), (500, 1500));
        servo.update(4000, &by(servo::HOLD.put(servo::PROFILE.put(1, 1), 1)));
        assert_eq!(servo.output(&second), 1500, "it holds");
        servo.update(0, &first);
        assert_eq!(servo.output(&first), 2000, "while it held, it took a code");
    }
}
