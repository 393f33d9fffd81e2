use super::*;

const READ: u32 = trf::READ;
const OUTPUT_ON: u32 = 0x0c;

struct Bus {
    chip: Trf372017,
    at: Ns,
    out: Outbox,
}

impl Bus {
    fn new() -> Self {
        Self {
            chip: Trf372017::new(REFERENCE),
            at: 0,
            out: Outbox::default(),
        }
    }

    fn set(&mut self, line: usize, level: bool) {
        self.at += 40;
        self.chip.input(self.at, &[(line, Signal::Level(level))], &mut self.out);
    }

    /// Exchanges bits, lowest first; answers are sampled at falling edges.
    fn bits(&mut self, word: u32, count: u32) -> u32 {
        (0..count).fold(0, |answer, bit| {
            self.set(MOSI, word.checked_shr(bit).unwrap_or_default() & 1 != 0);
            self.set(CLK, true);
            let answered = u32::from(self.chip.miso).checked_shl(bit).unwrap_or_default();
            self.set(CLK, false);
            answer | answered
        })
    }

    fn send(&mut self, word: u32, count: u32) -> u32 {
        self.set(CS, false);
        let answer = self.bits(word, count);
        self.set(CS, true);
        answer
    }

    fn read(&mut self, number: u32) -> u32 {
        self.send(READ | number << 28, WORD);
        self.bits(0, 1);
        self.send(0, WORD)
    }

    /// Sets 2.875 GHz: 125 MHz / 2, times 23, times 2.
    fn tune(&mut self) {
        self.send(register1::RDIV.put(9, 2), WORD);
        let two = register2::PLL_DIV_SEL.put(register2::NINT.put(10, 23), 1);
        self.send(two, WORD);
        self.send(register2::EN_CAL.put(two, 1), WORD);
    }
}

#[test]
fn written_register_is_read_back_after_a_clock_without_select() {
    let mut bus = Bus::new();
    assert_eq!(bus.read(0), trf::IDENTITY);
    bus.tune();
    assert_eq!(bus.read(1), register1::RDIV.put(9, 2));
    bus.send(READ | 1 << 28, WORD);
    assert_eq!(bus.send(0, WORD), 0, "it had no clock to prepare its answer");
    assert!(bus.out.warnings.iter().all(|text| text.contains("has no register")));
}

#[test]
fn local_oscillator_is_output_once_it_is_calibrated_and_on() {
    let mut bus = Bus::new();
    bus.send(OUTPUT_ON, WORD);
    assert!(bus.out.sent.iter().all(|(_, output, _)| *output != 0));
    bus.tune();
    let tones = bus.out.sent.iter().filter_map(|(_, _, signal)| match signal {
        Signal::Tone(tone) => Some(tone.hz),
        _ => None,
    });
    assert_eq!(tones.collect::<Vec<_>>(), [2.875e9]);
    bus.send(register4::PWD_OUT_BUFF.put(OUTPUT_ON, 1), WORD);
    assert_eq!(bus.chip.output(), 0.0);
}

#[test]
fn message_of_another_length_has_a_warning() {
    let mut bus = Bus::new();
    bus.send(9, 8);
    bus.send(9, 40);
    let texts = [8, 40].map(|count| format!("a message of {count} bits for a TRF372017, which has 32"));
    assert_eq!(bus.out.warnings, texts);
}
