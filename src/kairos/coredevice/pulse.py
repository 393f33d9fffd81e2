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

What is played begins at the time cursor: its first value shows there. The words for it are sent before, so the cursor
must be some microseconds ahead of the counter (RTIOUnderflow otherwise).
"""

from numpy import int32, int64

from ..contracts import pulse as facts
from ..contracts.pulse import Error, Parameter
from ..emulator import acquire
from ..language import TBool, TInt32, TInt64, at_mu, delay_mu, host_only, kernel, now_mu, portable
from ..pulse.gateset import Core
from ..pulse.program import REST_CYCLES, SLOTS_CYCLES, Program
from ..pulse.recording import Recording
from .parts.channel import Address, RTIODevice
from .rtio import rtio_input_data, rtio_output, rtio_output_wide

__all__ = ["Pulse", "PulseError", "PulseUnderrun"]

WORDS = 8
"""int32 in a word of the stream."""
ALL_ERRORS = sum(Error)
STOPPED = int(Error.UNDERRUN | Error.MISALIGN)
CYCLE_MU = 8
CLOCK = 125e6
SAMPLES_PER_CYCLE = 8
START_CYCLES = REST_CYCLES + 1
"""From the trigger to the first value of a gate: the rest, and the way from engine to output."""
ASK_MU = 4000
"""What the core is asked is asked so long after now."""
KEPT = 8
"""Words that the core keeps."""
FILL_MU = facts.PARAMETERS * facts.SEGMENT_FIFO * CYCLE_MU
"""In which all FIFOs of a channel are filled."""
STOP_CYCLES = 1
"""From the cycle that an error is stamped with to the first one in which the output shows it."""
FREQUENCY, AMPLITUDE, PHASE = 0, 1, 2
"""Parameters of a tone, as they follow one another."""
FRAMES = int(Parameter.Z0)
TURN = 1 << facts.VALUE_BITS
COEFFICIENT_END = 1 << (facts.VALUE_BITS - 1)


class PulseError(Exception):
    """The pulse core has found something wrong; the text has the bits of `kairos.contracts.pulse.Error`."""


class PulseUnderrun(PulseError):
    """A channel of the pulse core ran out of segments, or its parameters had pulses of different lengths: the text has
    the channel, the first of the parameters that ran out (-1: none did), and the time in machine units."""


class Pulse(RTIODevice):
    """The pulse core on RTIO channel `channel`, with `channels` output channels, and address bits of its tables."""

    kernel_invariants = {"channels", "sample_rate"}
    word = Address(0)
    start = Address(1)
    branch = Address(2)
    control = Address(3)
    misalign = Address(4)
    timeout = Address(5)
    asked = Address(6)
    state = Address(7)
    inputs = Address(8)
    takers = Address(9)
    dry = Address(10)
    memory = Address(11)
    thresholds = Address(12)
    keep = Address(16)
    forget = Address(17)
    change = Address(18)

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
        """The :class:`kairos.pulse.program.Program` of gates (name to list of `kairos.pulse.Pulse`) on this core."""
        return Program(gates, self.gate_core(), CYCLE_MU)

    @host_only
    def gate_core(self):
        """What gates are compiled for: :class:`kairos.pulse.Core`."""
        entries, segments = self._tables
        return Core(CLOCK, SAMPLES_PER_CYCLE, self.channels, map=entries, pulses=segments)

    @host_only
    def recording(self):
        """What the core has done up to now, as :class:`kairos.pulse.Recording`; UsageError if the device is not
        emulated."""
        return Recording.of(acquire(self.core.host))

    @kernel
    def load(self, program):
        """Bring a program's tables to the core, and have all its channels rest. Takes 64 ns of the timeline a word.

        PulseError if the core does not rest at its end, PulseUnderrun if it ran out of segments before.
        """
        self.ask_for(program.channels)
        delay_mu(CYCLE_MU)
        self._send_slowly(program.programming)
        armed = self.status(0) >> 16 & program.channels
        at_mu(self.core.get_rtio_counter_mu() + ASK_MU)
        if armed != program.channels:
            self._send_slowly(program.rest)
        self.wait_armed(program.channels)

    @kernel
    def _send_slowly(self, words):
        for i in range(len(words) // WORDS):
            rtio_output_wide(self.word, words[WORDS * i : WORDS * (i + 1)])
            delay_mu(SLOTS_CYCLES * CYCLE_MU)

    @kernel
    def play(self, gate):
        """Play a gate of the program that is loaded, from now on; the cursor advances by its length.

        The next one may begin 2 * REST_CYCLES + 1 cycles later at the earliest; put gates that follow at once into a
        sequence.
        """
        begin = now_mu()
        at_mu(begin - START_CYCLES * CYCLE_MU - gate.lead_mu)
        self.send(gate.words)
        at_mu(begin - START_CYCLES * CYCLE_MU)
        rtio_output(self.start, 0)
        at_mu(begin + gate.duration_mu)

    @kernel
    def play_sequence(self, sequence):
        """Play a sequence of the program that is loaded, from now on; the cursor advances by its length."""
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
        """Change what is `Adjustable` of a gate: `parameter` (number of `kairos.contracts.pulse.Parameter`), on all of
        the gate's channels. A number is replaced by `value` (Hz, parts of 200, degrees); any other shape is what was
        defined times `value`.

        It counts for what is sent from now on; 8 ns of the timeline for each segment. ValueError if the value is out
        of range, or nothing of that parameter is adjustable.
        """
        found = False
        for i in range(len(gate.own_parameters)):
            if gate.own_parameters[i] == parameter:
                self._send_own(self.word, gate, i, parameter, value)
                found = True
        if not found:
            raise ValueError("parameter {0} of the gate is not adjustable", int64(parameter))

    @kernel
    def _send_own(self, target, gate, i, parameter, value):
        """Send segment `i` of those of a gate that are its own, with a new value."""
        words = [int32(0)] * WORDS
        for n in range(5, WORDS):
            words[n] = gate.own_words[WORDS * i + n]
        if gate.own_shaped[i] != 0:
            self._scale(words, gate.own_coefficients, 4 * i, value)
        else:
            self._put(words, self.parameter_to_mu(parameter, value), int64(0), int64(0), int64(0))
        rtio_output_wide(target, words)
        delay_mu(CYCLE_MU)

    @kernel
    def prepare(self, gate):
        """Have the core keep a gate of the program that is loaded, for `play_changed`. ValueError if its words are
        more than it keeps; 8 ns of the timeline for each."""
        if len(gate.words) > KEPT * WORDS:
            raise ValueError("the gate has too many words to be kept")
        rtio_output(self.forget, 0)
        delay_mu(CYCLE_MU)
        for i in range(len(gate.words) // WORDS):
            rtio_output_wide(self.keep, gate.words[WORDS * i : WORDS * (i + 1)])
            delay_mu(CYCLE_MU)

    @kernel
    def play_changed(self, gate, parameter, value):
        """Change what is `Adjustable` of a gate, as `update` does, and play the gate that is prepared at once: the
        quickest way from a number to the output. One event for each segment that is changed, 8 ns apart; the gate
        begins some 20 cycles behind the last, and one for each segment of the gate, as soon as the core has all.

        The cursor advances to where the gate has ended at the latest; until it begins, the core refuses words.
        ValueError as `update`.
        """
        last = -1
        for i in range(len(gate.own_parameters)):
            if gate.own_parameters[i] == parameter:
                if last >= 0:
                    self._send_own(self.word, gate, last, parameter, value)
                last = i
        if last < 0:
            raise ValueError("parameter {0} of the gate is not adjustable", int64(parameter))
        self._send_own(self.change, gate, last, parameter, value)
        # Each of the parameters may have a segment in four cycles, and one is read in a cycle.
        filled = 2 * gate.duration_mu if 2 * gate.duration_mu < FILL_MU else int64(FILL_MU)
        delay_mu(gate.lead_mu + filled + START_CYCLES * CYCLE_MU + gate.duration_mu)

    @portable
    def parameter_to_mu(self, parameter, value) -> TInt64:
        """The word of a parameter's value in Hz, parts of 200 or degrees. ValueError if it is out of range."""
        word = int64(0)
        kind = parameter % 3 if parameter < FRAMES else PHASE
        if kind == FREQUENCY:
            if not abs(value) < self.sample_rate / 2:
                raise ValueError("a frequency is outside of half the sample rate")
            word = int64(round(value / self.sample_rate * TURN))
        elif kind == AMPLITUDE:
            if not abs(value) <= facts.AMPLITUDE_UNITS:
                raise ValueError("an amplitude is outside of -200 to 200, full scale")
            word = int64(value / facts.AMPLITUDE_UNITS * facts.AMPLITUDE_MAX) << facts.AMPLITUDE_FRACTION
        else:
            if not abs(value) < 1e9:
                raise ValueError("an angle is not a number, or beyond 1e9 degrees")
            turns = value / 360.0
            word = int64(round((turns - int64(turns)) * TURN))
        return word

    @portable
    def _scale(self, words, coefficients, first, factor):
        """Coefficients of a segment times `factor`, with a smaller shift where they do not fit."""
        if not abs(factor) < 1e6:
            raise ValueError("a factor is not a number, or beyond 1e6")
        u0 = float(coefficients[first]) * factor
        u1 = float(coefficients[first + 1]) * factor
        u2 = float(coefficients[first + 2]) * factor
        u3 = float(coefficients[first + 3]) * factor
        if abs(u0) >= COEFFICIENT_END:
            raise ValueError("a factor takes a parameter out of its range")
        while abs(u1) >= COEFFICIENT_END or abs(u2) >= COEFFICIENT_END or abs(u3) >= COEFFICIENT_END:
            if words[6] >> 16 & 31 == 0:
                raise ValueError("a factor takes a parameter out of its range")
            words[6] -= 1 << 16
            u1, u2, u3 = u1 / 2.0, u2 / 4.0, u3 / 8.0
        self._put(words, int64(u0), int64(u1), int64(u2), int64(u3))

    @portable
    def _put(self, words, u0, u1, u2, u3):
        """Coefficients of 40 bits into the first five int32 of a word."""
        words[0] = int32(u0)
        words[1] = int32(u0 >> 32 & 0xFF | u1 << 8)
        words[2] = int32(u1 >> 24 & 0xFFFF | u2 << 16)
        words[3] = int32(u2 >> 16 & 0xFFFFFF | u3 << 24)
        words[4] = int32(u3 >> 8)

    @kernel
    def send(self, words):
        """Give the core `words` (list of int32, eight to a word), one each 8 ns from now on."""
        for i in range(len(words) // WORDS):
            rtio_output_wide(self.word, words[WORDS * i : WORDS * (i + 1)])
            delay_mu(CYCLE_MU)

    @kernel
    def trigger(self):
        """Start all engines that wait, 8 ns behind now."""
        rtio_output(self.start, 0)

    @kernel
    def result(self, state):
        """Give a measurement's result, 0 to 15, to the branches that wait for it."""
        rtio_output(self.branch, state)

    @kernel
    def ask_for(self, channels):
        """Have triggers before all channels of this mask wait reported as early."""
        rtio_output(self.asked, channels)

    @kernel
    def set_branch_timeout(self, cycles):
        """Have branches go on with result 0 after that many cycles of 8 ns; 0: never."""
        rtio_output(self.timeout, cycles)

    @kernel
    def set_misalign_limit(self, cycles):
        """Stop a channel whose engines wait for others for longer; 0: never."""
        rtio_output(self.misalign, cycles)

    @kernel
    def status(self, clear=ALL_ERRORS) -> TInt32:
        """Errors up to now, of which those of the mask `clear` are cleared: bits of `kairos.contracts.pulse.Error`;
        bits 16 to 23: channels that wait for a trigger; 24 to 31: channels that run."""
        rtio_output(self.state, clear)
        return rtio_input_data(self.channel)

    @kernel
    def is_armed(self, channels=0xFF) -> TBool:
        """Whether those channels of the mask that the core has wait for the trigger now."""
        channels &= (1 << self.channels) - 1
        return self.status(0) >> 16 & channels == channels

    @kernel
    def wait_armed(self, channels=0xFF, timeout_mu=1000000):
        """Wait until those channels of the mask that the core has wait for the trigger; the cursor then is 4 us
        ahead or more.

        PulseUnderrun or PulseError if something has gone wrong, or if they do not wait within `timeout_mu` machine
        units from now.
        """
        self._get_ahead()
        end = now_mu() + timeout_mu
        while not self.is_armed(channels):
            if now_mu() > end:
                self.check()
                raise PulseError("the channels of the pulse core do not wait for the trigger")
            self._get_ahead()
        self._get_ahead()

    @kernel
    def _get_ahead(self):
        """Have the cursor so far ahead that the core can be asked."""
        soonest = self.core.get_rtio_counter_mu() + ASK_MU
        if now_mu() < soonest:
            at_mu(soonest)

    @kernel
    def check(self):
        """PulseUnderrun or PulseError if something has gone wrong up to now; the errors are cleared. If need be the
        cursor moves to 4 us ahead."""
        self._get_ahead()
        errors = self.status(0) & ALL_ERRORS
        if errors != 0:
            self._explain(errors)

    @kernel
    def results_from(self, inputs, channels=0xFF):
        """Make results of the inputs of this mask, for the branches of the channels of the other: without a kernel.

        Input n is the gateware's `result<n>`: an edge counter, whose count comes when it is told to send it, or a TTL
        input, which counts while its gate is open. 0: of none.
        """
        rtio_output(self.inputs, inputs)
        delay_mu(CYCLE_MU)
        rtio_output(self.takers, channels)
        delay_mu(CYCLE_MU)

    @kernel
    def set_threshold(self, number, count):
        """Make bit `number` of results 1 when that input has counted at least `count`; 1 after a reset."""
        rtio_output(self.thresholds + number, count)
        delay_mu(CYCLE_MU)

    @kernel
    def stream_from(self, address):
        """Begin the stream of words whose list of descriptors is at this physical address of the memory."""
        rtio_output(self.memory, address)

    @kernel
    def first_underrun(self, channel):
        """The parameters of a channel that ran out of segments since the error was cleared, as a mask, 0 if none did;
        and the time of the first time that one did, in machine units, to the cycle and at most 34 s ago.
        """
        asked = now_mu()
        rtio_output(self.dry, channel)
        age = int64(rtio_input_data(self.channel)) & 0xFFFFFFFF
        parameters = rtio_input_data(self.channel)
        return parameters, (asked & -CYCLE_MU) - CYCLE_MU * age

    @kernel
    def _explain(self, errors):
        """Raises what `errors` are, and clears them."""
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
        raise PulseError("errors of the pulse core: {0}", int64(errors))
