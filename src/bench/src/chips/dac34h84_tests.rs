use super::*;

struct Bus {
    chip: Dac34h84,
    at: Ns,
    out: Outbox,
}

impl Bus {
    fn new() -> Self {
        let mut bus = Self {
            chip: Dac34h84::new(),
            at: 0,
            out: Outbox::default(),
        };
        bus.send(2, 0x80, 24); // read-back at a pin of its own
        bus
    }

    fn set(&mut self, line: usize, level: bool) {
        self.at += 40;
        self.chip.input(self.at, &[(line, Signal::Level(level))], &mut self.out);
    }

    /// Sends the highest bits of a message of 24, and returns what is sampled at rising edges.
    fn send(&mut self, address: u32, data: u32, count: u32) -> u32 {
        let word = address << 16 | data;
        self.set(CS, false);
        let answer = (0..count).fold(0, |answer, bit| {
            self.set(MOSI, word << bit & 1 << 23 != 0);
            let sampled = u32::from(self.chip.miso);
            self.set(CLK, true);
            self.set(CLK, false);
            answer << 1 | sampled
        });
        self.set(CS, true);
        answer & 0xffff
    }

    fn read(&mut self, address: u32) -> u32 {
        self.send(address | dac::READ, 0, 24)
    }
}

#[test]
fn registers_are_read_back_as_written() {
    let mut bus = Bus::new();
    assert_eq!(bus.read(dac::ID.address.into()), dac::VERSION);
    assert_eq!(bus.read(0), dac::AFTER_RESET);
    bus.send(0x14, 0xa5c3, 24);
    assert_eq!(bus.read(0x14), 0xa5c3);
    assert_eq!(bus.read(dac::TEMPERATURE.address.into()) >> 8, u32::from(CELSIUS));
    assert!(bus.out.warnings.is_empty());
}

#[test]
fn lock_and_alarms_follow_the_settings() {
    let mut bus = Bus::new();
    assert_ne!(bus.read(dac::ALARMS.address.into()), 0, "it is not locked");
    bus.send(0x18, config24::PLL_ENA.put(0, 1), 24);
    bus.send(0x19, config25::PLL_N.put(config25::PLL_M.put(0, 16), 1), 24);
    bus.send(9, config9::FIFO_OFFSET.put(0, 4), 24);
    bus.send(dac::ALARMS.address.into(), 0, 24);
    assert!(bus.chip.dac.is_locked());
    assert_eq!(bus.read(dac::ALARMS.address.into()), 0);
    assert_eq!(config24::LFVOLT.get(bus.read(0x18)), LOCKED);
}

#[test]
fn truncated_message_has_a_warning_and_no_effect() {
    let mut bus = Bus::new();
    bus.send(0x14, 0xffff, 12);
    bus.send(dac::ID.address.into(), 1, 24);
    assert_eq!(
        bus.out.warnings,
        [
            "a message for a DAC34H84 ends 4 bits after a byte",
            "a message of 1 bytes for a DAC34H84, which has 3",
            "register 0x7f of a DAC34H84 cannot be written",
        ]
    );
    assert_eq!(bus.read(0x14), 0);
}
