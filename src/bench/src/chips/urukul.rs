//! The Urukul card: logic (CPLD) with a serial port, switches and attenuators, and four AD9910 or
//! AD9912.
//!
//! The function of each line is inferred from the drivers' words and the card's manual: a switch is
//! closed by its pin or by the configuration, and an update is issued by either; a masked chip
//! ignores the common chip select and the update pin.

use kairos_contracts::chips::urukul::{self as words, att, sta};
use kairos_contracts::chips::WideField;
use serde_json::{json, Value};

mod configuration;
mod section;

use self::configuration::Fields;
pub use self::configuration::{Chip, Options, Revision, ServoBus};
pub use self::section::Section;
use super::dds::{Dds, Lines, SyncSignal};
use super::hmc542b::attenuation_db;
use super::shift::{mask, Sent, Shift};
use crate::model::{set_levels, Change, Model, Outbox};
use crate::signal::{turns_of, Ns, Signal, Square, Tone};

/// DDS channels.
pub const CHANNELS: usize = 4;
/// Number of the output to the bus, which follows those of the channels.
pub const MISO: usize = CHANNELS;
/// Names of the inputs, as in the device's channels: `spi_NAME_clk`, `ttl_NAME_io_update`.
pub const INPUTS: [&str; 17] = [
    "clk",
    "mosi",
    "cs0",
    "cs1",
    "cs2",
    "io_update",
    "sw0",
    "sw1",
    "sw2",
    "sw3",
    "sync",
    "nu_clk",
    "nu_cs",
    "nu_mosi0",
    "nu_mosi1",
    "nu_mosi2",
    "nu_mosi3",
];
const CLK: usize = 0;
const MOSI: usize = 1;
const CS0: usize = 2;
const IO_UPDATE: usize = 5;
const SW0: usize = 6;
const SYNC: usize = 10;
const NU_CLK: usize = 11;
const NU_CS: usize = 12;
const NU_MOSI: usize = 13;
/// Time of an edge of SYNC_CLK of unsynchronised chips, in ns: away from updates at multiples of 4
/// ns, as in chips whose delays have been calibrated.
const SYNC_EDGE: Ns = 2;
/// Tolerance, in turns, for regarding a phase as the continuation of the previous tone.
const SAME_PHASE: f64 = 1e-6;

const DISABLED: &str =
    "its attenuator is disabled (att_en): what a card outputs then is not documented; here it attenuates as before";

/// The card.
pub struct Urukul {
    options: Options,
    fields: Fields,
    lines: [bool; INPUTS.len()],
    selected: u32,
    configuration: u64,
    attenuators: u64,
    shift: Shift,
    sent: Sent,
    chips: [Box<dyn Dds>; CHANNELS],
    /// As last sent to what is wired to the channels.
    tones: [Tone; CHANNELS],
    since: [Ns; CHANNELS],
    updating: [bool; CHANNELS],
    /// Time of the last write to each chip that awaits an update.
    written: [Ns; CHANNELS],
    /// Whether each chip has received anything, and when its switch was first closed.
    addressed: [bool; CHANNELS],
    closed: [Option<Ns>; CHANNELS],
    /// The warning that no chip receives the current message has been given.
    unselected: bool,
    miso: bool,
    /// The device's clock for the synchronisation of the chips.
    clock: Option<Square>,
    /// The selected synchronisation signal, without the skew of each chip.
    sync: Option<SyncSignal>,
    now: Ns,
}

impl Urukul {
    /// The state after power-up: switches open, attenuators at maximum.
    pub fn new(options: Options) -> Self {
        let mut card = Self {
            fields: options.revision.fields(),
            options,
            lines: [false; INPUTS.len()],
            selected: 0,
            configuration: 0,
            attenuators: 0,
            shift: Shift::default(),
            sent: Sent::default(),
            chips: std::array::from_fn(|_| options.chip.make()),
            tones: [Tone::OFF; CHANNELS],
            since: [0; CHANNELS],
            updating: [false; CHANNELS],
            written: [0; CHANNELS],
            addressed: [false; CHANNELS],
            closed: [None; CHANNELS],
            unselected: false,
            miso: false,
            clock: None,
            sync: None,
            now: 0,
        };
        // The reference is present from the beginning.
        for chip in &mut card.chips {
            chip.set_reference(0, reference(&card.fields, &options, 0));
        }
        card
    }

    fn of(&self, field: WideField, channel: usize) -> bool {
        field.at(channel as u32).get(self.configuration) != 0
    }

    /// Whether the attenuator of a channel has been disabled by the new configuration.
    fn is_disabled(&self, channel: usize, before: u64) -> bool {
        let enabled = |configuration| {
            let of = self.fields.att_en.map(|field| field.at(channel as u32));
            of.is_some_and(|field| field.get(configuration) != 0)
        };
        enabled(before) && !enabled(self.configuration)
    }

    /// The profile that a channel's pins select.
    fn profile(&self, channel: usize) -> usize {
        let index = if self.fields.each { channel as u32 } else { 0 };
        self.fields.profile.at(index).get(self.configuration) as usize
    }

    /// Whether the update line of a channel is high.
    fn is_updating(&self, channel: usize) -> bool {
        let index = if self.fields.each { channel } else { 0 };
        let pin = self.lines[IO_UPDATE] && !self.of(self.fields.mask_nu, channel);
        pin || self.of(self.fields.io_update, index)
    }

    /// Lines from the configuration to a chip.
    fn chip_lines(&self, channel: usize) -> Lines {
        let Some(fields) = self.fields.lines else {
            return Lines::default();
        };
        let [osk, drctl, drhold] = fields.map(|field| self.of(field, channel));
        Lines { osk, drctl, drhold }
    }

    fn switch(&self, channel: usize) -> bool {
        self.lines[SW0 + channel] || self.of(self.fields.rf_sw, channel)
    }

    /// Attenuation of a channel in dB.
    fn attenuation(&self, channel: usize) -> f64 {
        attenuation_db(att::ATT.at(channel as u32).get(self.attenuators) as u32)
    }

    fn status(&self, at: Ns) -> u64 {
        let bits = |of: &dyn Fn(usize) -> bool| (0..CHANNELS).fold(0, |word, n| word | u64::from(of(n)) << n);
        let word = sta::RF_SW.put(0, bits(&|n| self.switch(n)));
        let word = sta::PLL_LOCK.put(word, bits(&|n| self.chips[n].is_locked(at)));
        let word = sta::SMP_ERR.put(word, bits(&|n| self.chips[n].is_out_of_step()));
        let word = match self.options.revision {
            Revision::Eight => word,
            Revision::Nine => sta::DROVER.put(word, bits(&|n| self.chips[n].is_over(at))),
        };
        sta::PROTO_REV.put(word, self.options.revision.number())
    }

    fn masked(&self) -> [bool; CHANNELS] {
        std::array::from_fn(|n| self.of(self.fields.mask_nu, n))
    }

    /// The chips that a chip select value selects.
    fn listening(&self, select: u32) -> impl Iterator<Item = usize> {
        let masked = self.masked();
        let servo = self.options.servo.is_some();
        (0..CHANNELS).filter(move |n| match select {
            // Chips of a servo are not on this bus, and vice versa.
            words::CS_DDS_MULTI => masked[*n] == servo,
            _ => select == words::CS_DDS_CH0 + *n as u32,
        })
    }

    /// Handles a change of the chip select.
    fn select(&mut self, at: Ns, select: u32, out: &mut Outbox) {
        match self.selected {
            words::CS_CFG if self.shift.count != 0 => self.configure(at, out),
            words::CS_ATT if self.shift.count != 0 => self.attenuate(out),
            _ => {}
        }
        for n in self.listening(self.selected) {
            out.warn_of(n, self.chips[n].end());
            self.written[n] = at;
            self.addressed[n] |= self.shift.count != 0;
        }
        self.unselected = false;
        self.selected = select;
        self.shift = Shift::default();
        self.sent = match select {
            words::CS_CFG => Sent::new(self.status(at), self.fields.width),
            words::CS_ATT => Sent::new(self.attenuators, words::ATT.width),
            _ => Sent::default(),
        };
        for n in self.listening(select) {
            self.chips[n].begin();
        }
        if matches!(select, words::CS_CFG | words::CS_ATT) {
            self.miso = self.sent.take();
        }
    }

    /// Loads the attenuators: a single shift register, in which bits that are not shifted out
    /// remain.
    fn attenuate(&mut self, out: &mut Outbox) {
        let (Shift { bits, count }, width) = (self.shift, words::ATT.width);
        // Drivers read them by shifting in zeros, and write them back immediately.
        if count % width != 0 {
            out.warn(format!("{count} bits for the attenuators: they have {width}"));
        }
        let kept = if count < width { self.attenuators << count } else { 0 };
        self.attenuators = (kept | bits) & mask(width);
    }

    /// Applies a received configuration.
    fn configure(&mut self, at: Ns, out: &mut Outbox) {
        let Shift { bits, count } = self.shift;
        if count != self.fields.width {
            let (width, revision) = (self.fields.width, self.options.revision.number());
            return out.warn(format!(
                "a configuration of {count} bits: one of protocol revision {revision} has {width} (proto_rev)"
            ));
        }
        let masked = self.masked();
        let before = std::mem::replace(&mut self.configuration, bits & mask(self.fields.width));
        for n in (0..CHANNELS).filter(|n| self.is_disabled(*n, before)) {
            out.warn_of(n, [DISABLED.into()]);
        }
        let changed = self.masked();
        for n in (0..CHANNELS).filter(|n| self.options.servo.is_some() && masked[*n] != changed[*n]) {
            self.chips[n].begin();
        }
        let hz = reference(&self.fields, &self.options, self.configuration);
        for n in 0..CHANNELS {
            if self.of(self.fields.rst, 0) {
                self.chips[n].reset(at);
            }
            if self.of(self.fields.io_rst, 0) {
                self.chips[n].begin();
            }
            let (profile, lines) = (self.profile(n), self.chip_lines(n));
            self.chips[n].set_profile(at, profile);
            self.chips[n].set_lines(at, lines);
            out.warn_of(n, self.chips[n].set_reference(at, hz));
        }
    }

    fn rise(&mut self, at: Ns, out: &mut Outbox) {
        let bit = self.lines[MOSI];
        self.shift.take(bit);
        let is_received = matches!(self.selected, words::CS_CFG | words::CS_ATT);
        if !is_received && !self.unselected && self.listening(self.selected).next().is_none() {
            self.unselected = true;
            out.warn(match self.selected {
                0 => "a message without a chip select (cs is 0): no chip receives it".into(),
                select => format!("a message to chip select {select}, the chips of mask_nu, which selects none"),
            });
        }
        for n in self.listening(self.selected) {
            out.warn_of(n, self.chips[n].rise(at, bit));
        }
    }

    /// Handles the bus of a servo; `before` are its previous levels.
    fn serve(&mut self, at: Ns, before: &[bool; INPUTS.len()], out: &mut Outbox) {
        let Some(bus) = self.options.servo else { return };
        let selects = before[NU_CS] != self.lines[NU_CS];
        let rises = !before[NU_CLK] && self.lines[NU_CLK];
        let hears = bus == ServoBus::Counts || self.lines[NU_CS];
        if !(selects || rises && hears) {
            return;
        }
        let masked = self.masked();
        for n in (0..CHANNELS).filter(|n| !masked[*n]) {
            let warnings = match selects {
                true => self.chips[n].end(),
                false => self.chips[n].rise(at, self.lines[NU_MOSI + n]),
            };
            out.warn_of(n, warnings);
        }
    }

    fn fall(&mut self) {
        match self.selected {
            words::CS_CFG => self.miso = self.sent.take(),
            // The attenuators are one shift register: the bits just received follow the previous
            // contents.
            words::CS_ATT if self.shift.count >= words::ATT.width => {
                self.miso = self.shift.bits >> (words::ATT.width - 1) & 1 != 0
            }
            words::CS_ATT => self.miso = self.sent.take(),
            _ => {
                for n in self.listening(self.selected) {
                    self.miso = self.chips[n].fall().unwrap_or(false);
                }
            }
        }
    }

    /// Updates the chips whose update line has risen.
    fn update(&mut self, at: Ns, out: &mut Outbox) {
        for n in 0..CHANNELS {
            let high = self.is_updating(n);
            let warnings = match (self.updating[n], high) {
                (false, true) => self.chips[n].update(at),
                (true, false) => self.chips[n].end_update(at),
                _ => None,
            };
            out.warn_of(n, warnings);
            self.updating[n] = high;
        }
    }

    /// Sends the tones of channels that have changed.
    fn sound(&mut self, at: Ns, out: &mut Outbox) {
        // An update, a PLL that has locked or a configuration may have started or stopped the
        // SYNC_OUT of chip 0.
        self.synchronise();
        for n in 0..CHANNELS {
            let gain = if self.switch(n) {
                self.closed[n].get_or_insert(at);
                -self.attenuation(n)
            } else {
                f64::NEG_INFINITY
            };
            let chip = &mut self.chips[n];
            chip.set_gain(at, gain);
            let fresh = chip.act(at);
            let (before, after) = (self.tones[n], chip.tone(at));
            // The phase advances by itself.
            let jumps = || {
                let turned = before.turns + turns_of(before.hz, at - self.since[n]) - after.turns;
                (turned - turned.round()).abs() > SAME_PHASE
            };
            let same = (before.hz, before.dbm) == (after.hz, after.dbm);
            if !same || fresh && after != Tone::OFF && jumps() {
                (self.tones[n], self.since[n]) = (after, at);
                out.send(n, Signal::Tone(after));
            }
            out.warn_of(n, chip.complaints());
        }
    }

    /// Detects a closed switch of a channel whose chip received nothing: it has never been
    /// initialised; or, if another chip was programmed behind an open switch, the driver combines
    /// the chip of one channel with the switch of the other.
    fn silent(&self) -> Option<(Ns, String)> {
        let silent = (0..CHANNELS).find_map(|n| Some((n, self.closed[n].filter(|_| !self.addressed[n])?)));
        let (n, at) = silent.filter(|_| self.options.servo.is_none())?;
        let reason = match (0..CHANNELS).find(|n| self.addressed[*n] && self.closed[*n].is_none()) {
            Some(other) => format!(", while ch{other} was set behind an open switch: check chip_select and sw_device"),
            None => ": initialise it with init() and set its tone".into(),
        };
        Some((
            at,
            format!("ch{n}: its switch was closed and nothing sent to its chip{reason}"),
        ))
    }

    /// Passes the synchronisation clock, from the device or from chip 0, to the chips if it has
    /// changed.
    fn synchronise(&mut self) {
        let signal = match self.of(self.fields.sync_sel, 0) {
            false => self.clock.map(|wave| SyncSignal { wave, skew_ps: 0.0 }),
            true => self.chips[0].sync_out(),
        };
        if signal == self.sync {
            return;
        }
        self.sync = signal;
        for (chip, skew) in self.chips.iter_mut().zip(self.options.sync_skew_ps) {
            chip.set_sync(signal.map(|signal| signal.later(skew)));
        }
    }
}

/// The reference at the chips in Hz; 0: none.
fn reference(fields: &Fields, options: &Options, configuration: u64) -> f64 {
    let [low, high] = fields.clk_sel.map(|field| field.get(configuration));
    // Bit 0 selects the SMA connector; otherwise bit 1 selects the MMCX connector or the
    // oscillator.
    let source = match (low, high) {
        (1, _) => 1,
        (_, 1) => 2,
        _ => 0,
    };
    let divider = options.chip.dividers()[fields.clk_div.get(configuration) as usize];
    options.clocks[source] / divider
}

impl Model for Urukul {
    fn input(&mut self, at: Ns, changes: &[Change], out: &mut Outbox) {
        let before = self.lines;
        set_levels(&mut self.lines, changes);
        let mut clocked = false;
        for (input, signal) in changes {
            if let (SYNC, Signal::Clock(wave)) = (*input, signal) {
                self.clock = *wave;
                self.synchronise();
                clocked = true;
            }
        }
        self.now = at;
        let miso = self.miso;
        let select = (0..3).fold(0, |select, n| select | u32::from(self.lines[CS0 + n]) << n);
        let selected = select != self.selected;
        if selected {
            self.select(at, select, out);
        }
        match (before[CLK], self.lines[CLK]) {
            (false, true) => self.rise(at, out),
            (true, false) => self.fall(),
            _ => {}
        }
        self.serve(at, &before, out);
        if selected || clocked || before[IO_UPDATE..SYNC] != self.lines[IO_UPDATE..SYNC] {
            self.update(at, out);
            self.sound(at, out);
        }
        if miso != self.miso {
            out.send(MISO, Signal::Level(self.miso));
        }
    }

    fn next(&self) -> Option<Ns> {
        self.chips.iter().filter_map(|chip| chip.next(self.now)).min()
    }

    fn under_way(&self) -> Option<Ns> {
        self.chips.iter().filter_map(|chip| chip.under_way()).min()
    }

    /// A PLL locks, or a chip acts by itself otherwise.
    fn act(&mut self, at: Ns, out: &mut Outbox) {
        self.now = at;
        self.sound(at, out);
    }

    fn unfinished(&self) -> Vec<(Ns, String)> {
        let waits = |n: usize| {
            let registers = self.chips[n].waiting();
            let text = format!(
                "ch{n}: {} written but not applied: no update (IO_UPDATE) followed",
                registers.join(", ")
            );
            (!registers.is_empty()).then_some((self.written[n], text))
        };
        (0..CHANNELS).filter_map(waits).chain(self.silent()).collect()
    }

    fn report(&self, at: Ns) -> Value {
        let channel = |n: usize| {
            let mut chip = self.chips[n].report(at);
            chip["attenuation_db"] = self.attenuation(n).into();
            chip["switch"] = self.switch(n).into();
            chip
        };
        json!({
            "card": "Urukul",
            "proto_rev": self.options.revision.number(),
            "configuration": self.configuration,
            "registers": { "CFG": self.configuration, "ATT": self.attenuators },
            "ch0": channel(0), "ch1": channel(1), "ch2": channel(2), "ch3": channel(3),
        })
    }
}

#[cfg(test)]
#[path = "urukul_tests.rs"]
mod tests;
