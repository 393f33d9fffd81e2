//! The whole core: the stream, its channels, trigger, counter and samples.

use super::{
    frame, saturate, Channel, Config, Crosstalk, FeedForward, Iq, Segments, Sequencer, Sine, Status, Synthesiser,
    PARAMETERS,
};
use crate::{word, Segment, Word};
use alloc::collections::VecDeque;
use alloc::vec::Vec;
use kairos_contracts::pulse::{Parameter, State, TONES, VALUE_BITS};

/// Maximum number of cycles processed at once.
const BLOCK: u64 = 1024;
const FRAMES: [usize; 2] = [Parameter::Z0 as usize, Parameter::Z1 as usize];

/// Values of a parameter in the cycles of a block.
#[derive(Clone, Debug, Default)]
pub struct Run {
    /// The value of all cycles; if `None`, `values` holds that of each cycle.
    constant: Option<i64>,
    values: Vec<i64>,
}

impl Run {
    /// Creates a run with one value for all cycles.
    pub(super) const fn of(value: i64) -> Self {
        Self {
            constant: Some(value),
            values: Vec::new(),
        }
    }

    /// Whether the value does not change.
    pub fn is_constant(&self) -> bool {
        self.constant.is_some()
    }

    /// The value in a cycle.
    #[inline]
    pub fn at(&self, cycle: usize) -> i64 {
        match self.constant {
            Some(value) => value,
            None => self.values[cycle],
        }
    }
}

/// Outputs of a channel's engines in a number of cycles; segments start in the first one only.
#[derive(Clone, Debug, Default)]
pub struct Block {
    /// Number of cycles.
    pub cycles: u64,
    /// Values of each parameter; for frames, including the accumulated rotation.
    pub values: [Run; PARAMETERS],
    /// Frames as applied to each tone.
    pub applied: [Run; TONES],
    /// The tone's phase is set to the global phase in the first cycle.
    pub sync: [bool; TONES],
    /// Feed-forward is added to the tone's phase.
    pub feed_forward: [bool; TONES],
}

impl Block {
    /// A tone's frequency.
    pub fn frequency(&self, tone: usize) -> &Run {
        &self.values[Parameter::F0 as usize + 3 * tone]
    }

    /// A tone's amplitude.
    pub fn amplitude(&self, tone: usize) -> &Run {
        &self.values[Parameter::A0 as usize + 3 * tone]
    }

    /// A tone's phase.
    pub fn phase(&self, tone: usize) -> &Run {
        &self.values[Parameter::P0 as usize + 3 * tone]
    }

    fn take(&mut self, channel: &mut Channel, cycles: u64) {
        let shown = channel.shown();
        let flags = FRAMES.map(|p| channel.flags()[p]);
        self.cycles = cycles;
        (self.sync, self.feed_forward) = (shown.sync, shown.feed_forward);
        for (p, run) in self.values.iter_mut().enumerate() {
            run.constant = channel.constant(p);
            if run.constant.is_none() {
                run.values.resize(cycles as usize, 0);
                channel.fill(p, &mut run.values);
            }
        }
        let [z0, z1] = FRAMES.map(|p| &self.values[p]);
        for (t, applied) in self.applied.iter_mut().enumerate() {
            let both = |cycle| frame::applied(t, [z0.at(cycle), z1.at(cycle)], flags);
            applied.constant = (z0.is_constant() && z1.is_constant()).then(|| both(0));
            if applied.constant.is_none() {
                applied.values.clear();
                applied.values.extend((0..cycles as usize).map(both));
            }
        }
    }
}

/// The whole core.
#[derive(Clone)]
pub struct Machine {
    config: Config,
    /// Words that have not been passed to a channel.
    stream: VecDeque<Word>,
    channels: Vec<(Sequencer, Channel, Synthesiser)>,
    /// Errors since the last clear.
    pub status: Status,
    /// Feed-forward of all channels.
    pub forward: FeedForward,
    /// Crosstalk compensation, if it is built.
    pub crosstalk: Option<Crosstalk>,
    sine: Sine,
    cycle: u64,
    counter: u64,
    early_trigger: bool,
    block: Block,
    signals: Vec<Vec<Iq>>,
    sums: Vec<Vec<i32>>,
}

impl Machine {
    /// Creates the core in the state after power-up.
    pub fn new(config: Config) -> Self {
        let per_cycle = config.rates.samples_per_cycle;
        let channel = |_| {
            (
                Sequencer::new(&config),
                Channel::new(&config),
                Synthesiser::new(per_cycle),
            )
        };
        Self {
            stream: VecDeque::new(),
            channels: (0..config.channels).map(channel).collect(),
            status: Status::default(),
            forward: FeedForward::default(),
            crosstalk: config
                .crosstalk
                .map(|latency| Crosstalk::new(config.channels, per_cycle, latency)),
            sine: Sine::new(),
            cycle: 0,
            counter: 0,
            early_trigger: false,
            block: Block::default(),
            signals: alloc::vec![Vec::new(); config.channels],
            sums: alloc::vec![Vec::new(); config.channels],
            config,
        }
    }

    /// Adds words to the stream.
    pub fn feed(&mut self, words: impl IntoIterator<Item = Word>) {
        self.stream.extend(words);
    }

    /// Passes a segment to parameters of a channel, bypassing its sequencer; the engines see it
    /// from this cycle on, as in recorded logic. Returns false if there was no room.
    pub fn give(&mut self, channel: usize, parameters: u8, segment: Segment) -> bool {
        let (_, channel, _) = &mut self.channels[channel];
        let room = channel.has_room(parameters);
        if room {
            channel.push(parameters, segment);
        }
        room
    }

    /// Cycles since power-up.
    pub fn cycle(&self) -> u64 {
        self.cycle
    }

    /// The global sample counter in this cycle, 40 bits.
    pub fn counter(&self) -> u64 {
        self.counter
    }

    /// Loads the global sample counter.
    pub fn set_counter(&mut self, counter: u64) {
        self.counter = counter & ((1 << VALUE_BITS) - 1);
    }

    /// A channel's engines.
    pub fn channel(&self, channel: usize) -> &Channel {
        &self.channels[channel].1
    }

    /// A channel's sequencer and tables.
    pub fn sequencer(&self, channel: usize) -> &Sequencer {
        &self.channels[channel].0
    }

    /// A channel's phases and harmonics.
    pub fn synthesiser(&mut self, channel: usize) -> &mut Synthesiser {
        &mut self.channels[channel].2
    }

    /// Sets a measurement result for the channels in the mask.
    pub fn result(&mut self, channels: u8, state: u8) {
        for (c, (sequencer, ..)) in self.channels.iter_mut().enumerate() {
            if channels >> c & 1 != 0 {
                sequencer.result(state);
            }
        }
    }

    /// Whether all engines of all channels required for the trigger are waiting for it.
    pub fn armed(&self) -> bool {
        let asked = |c: usize| self.config.trigger_channels >> c & 1 != 0;
        self.channels
            .iter()
            .enumerate()
            .all(|(c, (_, channel, _))| !asked(c) || channel.armed())
    }

    /// Whether the stream is empty and all sequencers are idle.
    pub fn is_fed(&self) -> bool {
        self.stream.is_empty() && self.channels.iter().all(|(sequencer, ..)| sequencer.is_idle())
    }

    /// Runs one cycle with this level of the trigger. Samples of each channel are appended to its
    /// row of `out`.
    pub fn step(&mut self, trigger: bool, out: &mut [Vec<i16>]) {
        self.advance(1, trigger, &mut |_, _| (), out);
    }

    /// Runs a number of cycles without a trigger. Calls `see` with the outputs of each channel's
    /// engines, block by block; samples are appended to `out`, which has a row for each channel, or
    /// none if samples are not wanted.
    pub fn run(&mut self, cycles: u64, see: &mut impl FnMut(usize, &Block), out: &mut [Vec<i16>]) {
        let mut left = cycles;
        while left != 0 {
            left -= self.advance(left, false, see, out);
        }
    }

    /// Runs, for at most `limit` cycles, until the core only waits for a trigger, a result or
    /// words.
    pub fn run_until_idle(&mut self, limit: u64) {
        let end = self.cycle.saturating_add(limit);
        while self.cycle < end && self.quiet() != u64::MAX {
            self.advance(end - self.cycle, false, &mut |_, _| (), &mut []);
        }
    }

    /// Runs, for at most `limit` cycles, until the first cycle in which an engine runs, or until
    /// the core only waits.
    pub fn begin(&mut self, limit: u64) {
        let end = self.cycle.saturating_add(limit);
        let running = |(_, channel, _): &(Sequencer, Channel, Synthesiser)| channel.states().contains(&State::Run);
        while self.cycle < end && self.quiet() != u64::MAX && !self.channels.iter().any(running) {
            self.advance(end - self.cycle, false, &mut |_, _| (), &mut []);
        }
    }

    /// Number of cycles, including this one, in which only values of splines change.
    fn quiet(&self) -> u64 {
        let quiet =
            |(sequencer, channel, _): &(Sequencer, Channel, Synthesiser)| channel.quiet().min(sequencer.quiet(channel));
        let cycles = self.channels.iter().map(quiet).min().unwrap_or(u64::MAX);
        let stream = self.stream.front().is_some_and(|word| self.takes(word));
        if stream || self.early_trigger && self.armed() {
            1
        } else {
            cycles
        }
    }

    fn advance(&mut self, most: u64, trigger: bool, see: &mut impl FnMut(usize, &Block), out: &mut [Vec<i16>]) -> u64 {
        let cycles = self.quiet().min(most).min(BLOCK);
        let trigger = self.trigger(trigger);
        let last = self.cycle + cycles - 1;
        for (c, (sequencer, channel, synthesiser)) in self.channels.iter_mut().enumerate() {
            self.block.take(channel, cycles);
            see(c, &self.block);
            if !out.is_empty() && self.crosstalk.is_none() {
                synthesiser.real(&self.block, self.counter, &self.forward, &self.sine, &mut self.sums[c]);
            } else if !out.is_empty() {
                synthesiser.complex(
                    &self.block,
                    self.counter,
                    &self.forward,
                    &self.sine,
                    &mut self.signals[c],
                );
            }
            channel.finish(cycles, trigger, &mut self.status, c, last);
            sequencer.finish(cycles, channel, &mut self.status);
        }
        if let (Some(crosstalk), false) = (&mut self.crosstalk, out.is_empty()) {
            crosstalk.apply(&mut self.signals, &mut self.sums);
        }
        for (c, (out, sums)) in out.iter_mut().zip(&mut self.sums).enumerate() {
            let mut limited = false;
            out.extend(sums.drain(..).map(|sum| {
                let (sample, too_far) = saturate(sum);
                limited |= too_far;
                sample
            }));
            if limited {
                self.status.saturate(c);
            }
        }
        self.pass_word();
        let per_cycle = self.config.rates.samples_per_cycle.into();
        self.forward.advance(cycles, per_cycle);
        self.set_counter(self.counter.wrapping_add(cycles * per_cycle));
        self.cycle += cycles;
        cycles
    }

    /// Whether engines are triggered after this cycle.
    fn trigger(&mut self, trigger: bool) -> bool {
        let armed = self.armed();
        if self.config.trigger_strict {
            self.early_trigger |= trigger;
            return armed && core::mem::take(&mut self.early_trigger);
        }
        if trigger && !armed {
            self.status.errors |= kairos_contracts::pulse::ERROR_TRIGGER_EARLY;
        }
        trigger
    }

    fn addressed(&self, word: &Word) -> u8 {
        word::channels(word) & (u8::MAX >> (8 - self.config.channels))
    }

    /// Whether all channels that a word is for have room.
    fn takes(&self, word: &Word) -> bool {
        let mask = self.addressed(word);
        let mut channels = self.channels.iter().enumerate();
        channels.all(|(c, (sequencer, ..))| mask >> c & 1 == 0 || sequencer.input.has_room())
    }

    /// Passes the next word of the stream to its channels, if all have room.
    fn pass_word(&mut self) {
        let Some(word) = self.stream.front().copied().filter(|word| self.takes(word)) else {
            return;
        };
        let mask = self.addressed(&word);
        for (c, (sequencer, ..)) in self.channels.iter_mut().enumerate() {
            if mask >> c & 1 != 0 {
                sequencer.input.push(word);
            }
        }
        self.stream.pop_front();
    }
}
