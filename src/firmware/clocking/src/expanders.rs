//! The I/O expanders of a Kasli-SoC: until their pins are set, the transmitters of its SFP cages may
//! be off, and from hardware revision 1.2 on its cards have no power.
//!
//! Boards have chips of either of two types, which are told apart by their addresses.

use kairos_contracts::chips::kasli_soc::{CHANNEL, CLOCK, CLOSED, EXPANDERS, LEDS, POWER, SWITCH, TX_DISABLE};

use crate::si5324::{Bus, Stuck};

/// Why the expanders are not set up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    /// A line of the bus is held low.
    Stuck,
    /// The expander with this number (0 or 1) does not answer.
    Absent(usize),
}

impl From<Stuck> for Error {
    fn from(_: Stuck) -> Self {
        Self::Stuck
    }
}

impl core::fmt::Display for Error {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::Stuck => write!(f, "the I2C bus is held low"),
            Self::Absent(n) => write!(f, "I/O expander {n} does not answer on the I2C bus"),
        }
    }
}

/// The minor number of a board's hardware revision, from the descriptor's text, as in
/// `kasli_soc;v1.2`. `None` if it is another board.
pub fn revision(board: &str) -> Option<u8> {
    let (name, revision) = board.split_once(';')?;
    let known = ["v1.0", "v1.1", "v1.2"];
    let found = known.iter().position(|each| *each == revision)?;
    (name == "kasli_soc").then_some(found as u8)
}

/// Directions (1: input) and levels of the pins of an expander's ports.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Pins {
    pub directions: [u8; 2],
    pub levels: [u8; 2],
}

/// The pins of an expander (0 or 1): transmitters on, LEDs off, cards with power; others stay
/// inputs. `own_clock`: the clock is that of a Si549, which the board selects then.
pub fn pins(expander: usize, revision: u8, own_clock: bool) -> Pins {
    let mut pins = Pins {
        directions: [0xff; 2],
        levels: [0; 2],
    };
    let low = TX_DISABLE.iter().chain(&LEDS).map(|row| (row, 0));
    let clock = CLOCK.iter().filter(|_| own_clock);
    let high = POWER.iter().chain(clock).map(|row| (row, 1));
    for ([at, port, bit, first, last], level) in low.chain(high) {
        if usize::from(*at) == expander && (*first..=*last).contains(&revision) {
            pins.directions[usize::from(*port)] &= !(1 << bit);
            pins.levels[usize::from(*port)] |= level << bit;
        }
    }
    pins
}

/// Sets up both expanders, `own_clock` as for [`pins`]. The switches are left disconnected.
pub fn set_up(bus: &mut impl Bus, revision: u8, own_clock: bool) -> Result<(), Error> {
    bus.write(CLOSED, &[0])?;
    let found = match bus.write(SWITCH, &[1 << CHANNEL])? {
        true => (0..2).try_for_each(|n| set_pins(bus, n, pins(n, revision, own_clock))),
        false => Err(Error::Absent(0)),
    };
    bus.write(SWITCH, &[0])?;
    found
}

/// Sets the pins of an expander of either type: levels first, so that no output has another one.
fn set_pins(bus: &mut impl Bus, expander: usize, pins: Pins) -> Result<(), Error> {
    for chip in EXPANDERS {
        let [direction, output] = [[chip[2], chip[3]], [chip[4], chip[5]]];
        let settings = [(output, pins.levels), (direction, pins.directions)];
        let mut writes = settings
            .into_iter()
            .flat_map(|(registers, values)| registers.into_iter().zip(values));
        let answers = writes.try_fold(true, |answers, (register, value)| match answers {
            true => bus.write(chip[expander], &[register, value]),
            false => Ok(false),
        })?;
        if answers {
            return Ok(());
        }
    }
    Err(Error::Absent(expander))
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use std::collections::BTreeMap;
    use std::vec::Vec;

    /// A bus with the switches, and expanders at these addresses.
    struct Board {
        fitted: [u8; 2],
        switches: BTreeMap<u8, u8>,
        registers: BTreeMap<(u8, u8), u8>,
        log: Vec<(u8, u8, u8)>,
    }

    impl Board {
        fn new(fitted: [u8; 2]) -> Self {
            let switches = [(CLOSED, 0xff), (SWITCH, 0)].into();
            Self {
                fitted,
                switches,
                registers: BTreeMap::new(),
                log: Vec::new(),
            }
        }
    }

    impl Bus for Board {
        fn write(&mut self, address: u8, bytes: &[u8]) -> Result<bool, Stuck> {
            if let Some(open) = self.switches.get_mut(&address) {
                *open = bytes[0];
                return Ok(true);
            }
            let reached = self.switches[&SWITCH] == 1 << CHANNEL && self.switches[&CLOSED] == 0;
            if !reached || !self.fitted.contains(&address) {
                return Ok(false);
            }
            self.registers.insert((address, bytes[0]), bytes[1]);
            self.log.push((address, bytes[0], bytes[1]));
            Ok(true)
        }

        fn read(&mut self, _: u8, _: u8) -> Result<Option<u8>, Stuck> {
            Ok(None)
        }

        fn wait_ms(&mut self, _: u32) {}
    }

    #[test]
    fn transmitters_and_power_are_switched_on_for_each_revision() {
        let cases = EXPANDERS
            .into_iter()
            .flat_map(|chip| (0..6).map(move |n| (chip, n / 2, n % 2 != 0)));
        for (chip, revision, own_clock) in cases {
            let mut board = Board::new([chip[0], chip[1]]);
            assert_eq!(set_up(&mut board, revision, own_clock), Ok(()));
            let level = |expander: usize, port: usize, bit: u8| {
                let of = |register| board.registers[&(chip[expander], register)] >> bit & 1;
                (of(chip[2 + port]) == 0).then(|| of(chip[4 + port]))
            };
            for (expander, port) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
                assert_eq!(level(expander, port, 1), Some(0), "TX_DISABLE");
            }
            assert_eq!(level(1, 0, 7), (revision == 2).then_some(1), "EEM_PWR_EN");
            assert_eq!(level(0, 1, 7), own_clock.then_some(1), "CLK_SEL");
            let led = if revision == 0 { 6 } else { 7 };
            assert_eq!((level(0, 0, led), level(0, 0, 13 - led)), (Some(0), None), "LED 0");
            assert_eq!(board.switches, [(CLOSED, 0), (SWITCH, 0)].into());
        }
    }

    #[test]
    fn output_levels_are_set_before_directions() {
        let mut board = Board::new([0x20, 0x21]);
        set_up(&mut board, 2, false).unwrap();
        let registers: Vec<u8> = board.log.iter().map(|write| write.1).collect();
        assert_eq!(registers, [0x12, 0x13, 0x00, 0x01, 0x12, 0x13, 0x00, 0x01]);
    }

    #[test]
    fn missing_expander_is_reported_and_the_switch_closed() {
        let mut board = Board::new([0x20, 0x99]);
        assert_eq!(set_up(&mut board, 1, false), Err(Error::Absent(1)));
        assert_eq!(board.switches[&SWITCH], 0);
        let mut board = Board::new([0x98, 0x99]);
        assert_eq!(set_up(&mut board, 1, false), Err(Error::Absent(0)));
    }

    #[test]
    fn revision_is_that_of_a_kasli_soc_only() {
        assert_eq!(revision("kasli_soc;v1.2"), Some(2));
        for other in ["", "kasli_soc", "kasli_soc;v9", "zc706;v1.2"] {
            assert_eq!(revision(other), None, "{other}");
        }
    }
}
