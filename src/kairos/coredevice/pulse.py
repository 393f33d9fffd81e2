"""The pulse core on an RTIO channel: gates played at exact times, changed between shots, and chosen by results.

    def build(self):
        self.setattr_device("pulse0")
        self.gates = self.pulse0.define({"x": [Pulse(channel=0, duration=1e-6, freq0=200e6, amp0=Adjustable(80.0))]})
        self.x = self.gates["x"]

    @kernel
    def run(self):
        self.core.reset()
        self.pulse0.load(self.gates)
        delay(10*us)
        with parallel:
            self.pulse0.play(self.x)
            self.ttl4.pulse(1*us)

A gate begins at the time cursor: its first value appears at the output then. Its words are sent
earlier, so the cursor must be some microseconds ahead of the counter (RTIOUnderflow otherwise).
"""

from numpy import int32, int64

from ..contracts import pulse as facts
from ..contracts.pulse import Error
from ..emulator import acquire
from ..language import TBool, TInt32, at_mu, delay_mu, host_only, kernel, now_mu, portable
from ..pulse.gateset import Core
from ..pulse.program import SLOTS_CYCLES, START_CYCLES, Program
from ..pulse.recording import Recording
from .parts.channel import Address, RTIODevice
from .parts.firmware import NOWRITE, firmware_function
from .parts.numbers import nearest, to_wide_word
from .rtio import rtio_input_data, rtio_output, rtio_output_wide

__all__ = ["Pulse", "PulseError", "PulseUnderrun"]

WORDS = 8
"""int32 per word of the stream."""
ALL_ERRORS = sum(Error)
STOPPED = int(Error.UNDERRUN | Error.MISALIGN)
MODE, COUNT, TAU0, TRIGGER_EARLY, BRANCH_TIMEOUT = (
    int(error) for error in (Error.MODE, Error.COUNT, Error.TAU0, Error.TRIGGER_EARLY, Error.BRANCH_TIMEOUT)
)
CYCLE_MU = 8
CLOCK = 125e6
SAMPLES_PER_CYCLE = 8
ASK_MU = 4000
"""Requests to the core are issued this long after the present."""
KEPT = 8
"""Number of words that the core can keep."""
STOP_CYCLES = 1
"""Cycles from an error's timestamp to the first cycle in which the output shows it."""

pulse_update = firmware_function("pulse_update", "gate parameter target value", NOWRITE)
pulse_update_all = firmware_function("pulse_update_all", "gate parameters values target", NOWRITE)
pulse_stream = firmware_function("pulse_stream", "words", NOWRITE)


TURN = float(1 << facts.VALUE_BITS)
FACTOR_BITS = facts.CROSSTALK_BITS
FACTOR_ONE = float(1 << facts.CROSSTALK_FRACTION)
DELAY_AT, OFFSET_AT, CHANNEL_AT = 4, 10, 12
"""Bit positions in the upper 32 bits of a coupling."""


@portable
def _factor(part) -> TInt32:
    """Encode the real or imaginary part of a coupling's factor."""
    steps = nearest(part * FACTOR_ONE)
    if steps >= int32(FACTOR_ONE):
        steps = int32(FACTOR_ONE) - 1
    return steps & (1 << FACTOR_BITS) - 1


class PulseError(Exception):
    """The pulse core has reported an error; the text describes it and contains the bits of all
    errors so far (`kairos.contracts.pulse.Error`)."""


class PulseUnderrun(PulseError):
    """A channel of the pulse core ran out of segments, or its parameters had pulses of different
    lengths: the text has the channel, the first parameter that ran out (-1: none), and the time in
    machine units.
    """


class Pulse(RTIODevice):
    """The pulse core on RTIO channel `channel`, with `channels` output channels, and the address
    bits of its tables."""

    kernel_invariants = {"channels", "sample_rate"}
    word = Address(0)
    start = Address(1)
    branch = Address(2)
    control = Address(3)
    misalign = Address(4)
    timeout = Address(5)
    trigger_channels = Address(6)
    state = Address(7)
    inputs = Address(8)
    takers = Address(9)
    dry = Address(10)
    memory = Address(11)
    thresholds = Address(12)
    keep = Address(16)
    discard_kept = Address(17)
    change = Address(18)
    error = Address(19)
    harmonic = Address(20)
    coupling = Address(21)
    couple = Address(22)
    counter = Address(23)

    def __init__(
        self,
        dmgr,
        channel,
        core_device="core",
        channels=8,
        mlut_bits=facts.MLUT_ADDRESS_BITS,
        plut_bits=facts.PLUT_ADDRESS_BITS,
    ):
        super().__init__(dmgr, channel, core_device)
        self.channels = channels
        self.sample_rate = CLOCK * SAMPLES_PER_CYCLE
        self._tables = (1 << mlut_bits, 1 << plut_bits)

    @host_only
    def define(self, gates):
        """Compile gates (name to list of `kairos.pulse.Pulse`) to a
        :class:`kairos.pulse.program.Program` for this core."""
        return Program(gates, self.gate_core(), CYCLE_MU)

    @host_only
    def gate_core(self):
        """Return the compilation target of gates: :class:`kairos.pulse.Core`."""
        entries, segments = self._tables
        return Core(CLOCK, SAMPLES_PER_CYCLE, self.channels, map=entries, pulses=segments)

    @host_only
    def recording(self):
        """Return what the core has done so far, as :class:`kairos.pulse.Recording`; UsageError if
        the device is not emulated."""
        return Recording.of(acquire(self.core.host))

    @kernel
    def load(self, program):
        """Load a program's tables into the core and bring all its channels to rest. Takes 64 ns of
        the timeline per word.

        PulseError if the core is not at rest afterwards, PulseUnderrun if it ran out of segments
        before.
        """
        self.set_trigger_channels(program.channels)
        delay_mu(CYCLE_MU)
        self.send(program.programming, SLOTS_CYCLES)
        armed = self.status(0) >> 16 & program.channels
        at_mu(self.core.get_rtio_counter_mu() + ASK_MU)
        if armed != program.channels:
            self.send(program.rest, SLOTS_CYCLES)
        self.wait_armed(program.channels)

    @kernel
    def play(self, gate):
        """Play a gate of the loaded program, starting at the cursor, which advances by the gate's
        length.

        The next gate may begin 2 * REST_CYCLES + 1 cycles later at the earliest; put gates that
        follow without a gap into a sequence.
        """
        begin = now_mu()
        at_mu(begin - START_CYCLES * CYCLE_MU - gate.lead_mu)
        self.send(gate.words)
        at_mu(begin - START_CYCLES * CYCLE_MU)
        rtio_output(self.start, 0)
        at_mu(begin + gate.duration_mu)

    @kernel
    def play_sequence(self, sequence):
        """Play a sequence of the loaded program, starting at the cursor, which advances by its
        length."""
        begin = now_mu()
        trigger = begin - START_CYCLES * CYCLE_MU
        for i in range(len(sequence.times_mu)):
            if i == sequence.ahead:
                at_mu(trigger)
                rtio_output(self.start, 0)
            at_mu(trigger + sequence.times_mu[i])
            rtio_output_wide(self.word, sequence.words[WORDS * i : WORDS * (i + 1)])
        if sequence.ahead == len(sequence.times_mu):
            at_mu(trigger)
            rtio_output(self.start, 0)
        at_mu(begin + sequence.duration_mu)

    @kernel
    def update(self, gate, parameter, value):
        """Change the `Adjustable` values of a gate: `parameter` (number of
        `kairos.contracts.pulse.Parameter`), on all of the gate's channels. A constant is replaced
        by `value` (Hz, parts of 200, degrees); any other shape is the defined shape times `value`.

        Applies to everything sent afterwards; 8 ns of the timeline per segment. The words are
        computed by the firmware of the kernel core. ValueError, with nothing changed, if the value
        is out of range, or nothing of that parameter is adjustable.
        """
        pulse_update(gate.adjustable, parameter, self.word, value)

    @kernel
    def update_course(self, gate, parameter, values):
        """As `update`, with a different course: one constant per segment, or one more value as
        knots of a spline at equal distances. ValueError also if the number of values matches
        neither.
        """
        pulse_update_all(gate.adjustable, [parameter for _ in range(len(values))], values, self.word)

    @kernel
    def update_all(self, gate, parameters, values):
        """As `update`, for several parameters with one value each."""
        pulse_update_all(gate.adjustable, parameters, values, self.word)

    @kernel
    def prepare(self, gate):
        """Store a gate of the loaded program in the core, for `play_changed`. ValueError if it has
        more words than the core can keep; 8 ns of the timeline per word."""
        if len(gate.words) > KEPT * WORDS:
            raise ValueError("the gate has too many words to be stored")
        rtio_output(self.discard_kept, 0)
        delay_mu(CYCLE_MU)
        for i in range(len(gate.words) // WORDS):
            rtio_output_wide(self.keep, gate.words[WORDS * i : WORDS * (i + 1)])
            delay_mu(CYCLE_MU)

    @kernel
    def play_changed(self, gate, parameter, value):
        """Change the `Adjustable` values of a gate, as `update` does, and play the prepared gate
        immediately: the fastest way from a number to the output. One event per changed segment, 8
        ns apart; the gate begins some 20 cycles after the last event plus one per segment of the
        gate, once the core has all of them.

        The cursor advances to the latest possible end of the gate; until the gate begins, the core
        rejects words. ValueError as for `update`. After an RTIOUnderflow the gate has not been
        played.
        """
        pulse_update(gate.adjustable, parameter, self.change, value)
        delay_mu(gate.changed_mu)

    @kernel
    def play_all_changed(self, gate, parameters, values):
        """As `play_changed`, for several parameters with one value each."""
        pulse_update_all(gate.adjustable, parameters, values, self.change)
        delay_mu(gate.changed_mu)

    @kernel
    def send(self, words, cycles=1):
        """Send `words` (list of int32, eight per word) to the core, one every `cycles` of 8 ns from
        the cursor on."""
        for i in range(len(words) // WORDS):
            rtio_output_wide(self.word, words[WORDS * i : WORDS * (i + 1)])
            delay_mu(int64(cycles * CYCLE_MU))

    @kernel
    def trigger(self):
        """Start all waiting engines, 8 ns after the cursor."""
        rtio_output(self.start, 0)

    @kernel
    def result(self, state):
        """Supply a measurement result, 0 to 15, to the branches waiting for it."""
        rtio_output(self.branch, state)

    @kernel
    def set_trigger_channels(self, channels):
        """Report triggers that arrive before all channels of this mask are armed as early."""
        rtio_output(self.trigger_channels, channels)

    @kernel
    def set_branch_timeout(self, cycles):
        """Let branches continue with result 0 after the given number of 8 ns cycles; 0: never. 8 ns
        of the timeline."""
        rtio_output(self.timeout, cycles)
        delay_mu(CYCLE_MU)

    @kernel
    def set_misalign_limit(self, cycles):
        """Stop a channel whose engines wait for others longer than this; 0: never. 8 ns of the
        timeline."""
        rtio_output(self.misalign, cycles)
        delay_mu(CYCLE_MU)

    @kernel
    def status(self, clear=ALL_ERRORS) -> TInt32:
        """Return the errors so far and clear those in the mask `clear`: bits of
        `kairos.contracts.pulse.Error`; bits 16 to 23: channels waiting for a trigger; 24 to 31:
        running channels.
        """
        rtio_output(self.state, clear)
        return rtio_input_data(self.channel)

    @kernel
    def is_armed(self, channels=0xFF) -> TBool:
        """Return whether all existing channels of the mask are waiting for the trigger."""
        channels &= (1 << self.channels) - 1
        return self.status(0) >> 16 & channels == channels

    @kernel
    def wait_armed(self, channels=0xFF, timeout_mu=1000000):
        """Wait until all existing channels of the mask wait for the trigger; the cursor is then at
        least 4 us ahead.

        PulseUnderrun or PulseError after an error, or if the channels do not become armed within
        `timeout_mu` machine units.
        """
        self._get_ahead()
        end = now_mu() + timeout_mu
        while not self.is_armed(channels):
            if now_mu() > end:
                self.check()
                raise PulseError("the channels of the pulse core are not armed")
            self._get_ahead()
        self._get_ahead()

    @kernel
    def _get_ahead(self):
        """Move the cursor far enough ahead for a request to the core."""
        soonest = self.core.get_rtio_counter_mu() + ASK_MU
        if now_mu() < soonest:
            at_mu(soonest)

    @kernel
    def check(self):
        """Raise PulseUnderrun or PulseError if an error has occurred, and clear the errors. If
        necessary the cursor moves to 4 us ahead."""
        self._get_ahead()
        errors = self.status(0) & ALL_ERRORS
        if errors != 0:
            self._explain(errors)

    @kernel
    def results_from(self, inputs, channels=0xFF):
        """Derive results from the inputs of the mask `inputs`, for the branches of the channels in
        `channels`, without a kernel.

        Input n is the gateware's `result<n>`: an edge counter, which delivers its count when
        requested to send it, or a TTL input, which counts while its gate is open. 0: no inputs.
        """
        rtio_output(self.inputs, inputs)
        delay_mu(CYCLE_MU)
        rtio_output(self.takers, channels)
        delay_mu(CYCLE_MU)

    @kernel
    def set_threshold(self, number, count):
        """Set bit `number` of results when that input has counted at least `count`; 1 after a
        reset."""
        rtio_output(self.thresholds + number, count)
        delay_mu(CYCLE_MU)

    @kernel
    def stream_from(self, words):
        """Let the core fetch `words` (list of int32, eight per word) from memory: 8 bytes per
        cycle, with one event for all of them, where `send` needs one each. Words streamed while a
        stream is running are lost.

        The words are first copied to 512 KiB of uncached memory that the logic reads; they remain
        there until another 512 KiB have been copied. ValueError for more than 16380 words, or an
        incomplete word.
        """
        rtio_output(self.memory, pulse_stream(words))

    @kernel
    def set_frequency_error(self, error):
        """Let the feed-forward accumulate a frequency error in Hz, for segments that request it
        (`feed_forward`).

        This, harmonics, couplings and the global counter are settings of sample generation: in the
        logic of boards with converter cards, and in an emulated device's recording.
        """
        word = to_wide_word(error / self.sample_rate * TURN)
        rtio_output_wide(self.error, [int32(word), int32(word >> 32)])

    @kernel
    def set_harmonic(self, channel, tone, harmonic):
        """Multiply the feed-forward of a channel's tone by `harmonic`, -32768 to 32767."""
        rtio_output(self.harmonic, harmonic & 0xFFFF | tone << 16 | channel << 17)

    @kernel
    def set_coupling(self, channel, offset, real, imaginary, delay=0):
        """Add to `channel` the signal of the channel at `offset` (-2, -1, 1 or 2) times a complex
        factor, with parts from -1 to below 1, once `use_couplings` is called; `delay`, up to 63
        cycles, delays the signal. ValueError if the factor or the offset is out of range.
        """
        if offset == 0 or abs(offset) > 2 or not (-1.0 <= real < 1.0 and -1.0 <= imaginary < 1.0):
            raise ValueError("a coupling is to a channel at -2, -1, 1 or 2, with parts of -1 to below 1")
        number = offset + 2 if offset < 0 else offset + 1
        high = _factor(imaginary)
        low = _factor(real) | high << FACTOR_BITS
        place = delay << DELAY_AT | number << OFFSET_AT | channel << CHANNEL_AT
        rtio_output_wide(self.coupling, [low, high >> (32 - FACTOR_BITS) | place])

    @kernel
    def use_couplings(self, zero=0):
        """Apply all couplings set so far simultaneously; `zero` is the delay setting that means no
        delay."""
        rtio_output(self.couple, zero)

    @kernel
    def set_counter(self, samples):
        """Set the global sample counter, to which tones synchronise, to `samples` (int64) in the
        next cycle."""
        rtio_output_wide(self.counter, [int32(samples), int32(samples >> 32)])

    @kernel
    def first_underrun(self, channel):
        """Return the parameters of a channel that ran out of segments since the error was cleared,
        as a mask, 0 for none; and the time of the first occurrence, in machine units, with a
        resolution of one cycle and at most 34 s ago.
        """
        asked = now_mu()
        rtio_output(self.dry, channel)
        age = int64(rtio_input_data(self.channel)) & 0xFFFFFFFF
        parameters = rtio_input_data(self.channel)
        return parameters, (asked & -CYCLE_MU) - CYCLE_MU * age

    @kernel
    def _explain(self, errors):
        """Raise the exception for `errors`, and clear them."""
        first_channel, first_parameter, first_time = -1, -1, int64(-1)
        for channel in range(self.channels):
            self._get_ahead()
            parameters, time = self.first_underrun(channel)
            if parameters != 0 and (first_time < 0 or time < first_time):
                first_channel, first_time, first_parameter = channel, time, 0
                if parameters == 0xFF:
                    parameters = 1
                while parameters & 1 == 0:
                    parameters >>= 1
                    first_parameter += 1
        self._get_ahead()
        self.status(errors)
        at_mu(self.core.get_rtio_counter_mu() + ASK_MU)
        if errors & STOPPED != 0 and first_channel >= 0:
            raise PulseUnderrun(
                "channel {0} of the pulse core ran out of segments of parameter {1} at {2} mu",
                int64(first_channel),
                int64(first_parameter),
                first_time + STOP_CYCLES * CYCLE_MU,
            )
        # In kernels messages are constants; they equal those of `ERROR_TEXTS`.
        if errors & STOPPED != 0:
            raise PulseError(
                "pulse core: parameters of a channel had pulses of different lengths (errors {0})", int64(errors)
            )
        if errors & MODE != 0:
            raise PulseError("pulse core: a word of no known mode was dropped (errors {0})", int64(errors))
        if errors & COUNT != 0:
            raise PulseError("pulse core: a word counts more slots than it has (errors {0})", int64(errors))
        if errors & TAU0 != 0:
            raise PulseError("pulse core: a segment of no cycles was skipped (errors {0})", int64(errors))
        if errors & TRIGGER_EARLY != 0:
            raise PulseError("pulse core: the trigger came before all channels were armed (errors {0})", int64(errors))
        if errors & BRANCH_TIMEOUT != 0:
            raise PulseError("pulse core: a branch had no result in time and took 0 (errors {0})", int64(errors))
        raise PulseError("pulse core: a table was written beyond its end (errors {0})", int64(errors))
