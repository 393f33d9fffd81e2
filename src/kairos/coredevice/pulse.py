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

from numpy import int64

from ..contracts import pulse as facts
from ..contracts.pulse import Error
from ..emulator import acquire
from ..language import TBool, TInt32, at_mu, delay_mu, host_only, kernel, now_mu
from ..pulse.gateset import Core
from ..pulse.program import START_CYCLES, Program
from ..pulse.recording import Recording
from .parts.channel import Address
from .parts.firmware import NOWRITE, QUIET, firmware_function
from .parts.pulse_samples import SAMPLES_PER_CYCLE
from .parts.pulse_tables import ASK_MU, CYCLE_MU, PulseError, TableLoader, pulse_note, pulse_noted
from .rtio import rtio_input_data, rtio_output, rtio_output_wide

__all__ = ["Pulse", "PulseError", "PulseUnderrun"]

WORDS = 8
"""int32 per word of the stream."""
ALL_ERRORS = sum(Error)
STOPPED = int(Error.UNDERRUN | Error.MISALIGN)
MODE, COUNT, TAU0, TRIGGER_EARLY, BRANCH_TIMEOUT = (
    int(error) for error in (Error.MODE, Error.COUNT, Error.TAU0, Error.TRIGGER_EARLY, Error.BRANCH_TIMEOUT)
)
CLOCK = 125e6
FAR_MU = 125_000
"""Requests to a core on another board are issued this long after the present, behind any length of
fibre that `break_realtime` allows for."""
DESTINATION_AT = 16
"""Lowest bit of a board's destination in its channels."""
KEPT = 8
"""Number of words that the core can keep."""
STOP_CYCLES = 1
"""Cycles from an error's timestamp to the first cycle in which the output shows it."""

pulse_update = firmware_function("pulse_update", "gate parameter target value", NOWRITE)
pulse_update_all = firmware_function("pulse_update_all", "gate parameters values target", NOWRITE)
pulse_stream = firmware_function("pulse_stream", "words", NOWRITE)
rtio_get_destination_status = firmware_function("rtio_get_destination_status", "destination", QUIET)

RESULT_BITS = facts.BRANCH_STATE_BITS
RESULTS = 1 << RESULT_BITS


class PulseUnderrun(PulseError):
    """A channel of the pulse core ran out of segments, or its parameters had pulses of different
    lengths: the text has the channel, the first parameter that ran out (-1: none), and the time in
    machine units.
    """


class Pulse(TableLoader):
    """The pulse core on RTIO channel `channel`, with `channels` output channels, and the address
    bits of its tables."""

    kernel_invariants = {"board", "channels", "sample_rate", "ask_mu"}
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
    change_kept = Address(18)

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
        self.board = channel >> DESTINATION_AT
        self.ask_mu = ASK_MU if self.board == 0 else FAR_MU
        self.sample_rate = CLOCK * SAMPLES_PER_CYCLE
        self._tables = (1 << mlut_bits, 1 << plut_bits)

    @host_only
    def define(self, gates, name=""):
        """Compile gates (name to list of `kairos.pulse.Pulse`) to a
        :class:`kairos.pulse.program.Program` for this core; `name` is for messages."""
        return Program(gates, self.gate_core(), CYCLE_MU, name)

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
    def play(self, gate):
        """Play a gate of the loaded program, starting at the cursor, which advances by the gate's
        length. PulseError if its program is not loaded (by a kernel of this board).

        The next gate may begin 2 * REST_CYCLES + 1 cycles later at the earliest; put gates that
        follow without a gap into a sequence.
        """
        self._require(gate.gates)
        begin = now_mu()
        at_mu(begin - START_CYCLES * CYCLE_MU - gate.lead_mu)
        self.send(gate.words)
        at_mu(begin - START_CYCLES * CYCLE_MU)
        rtio_output(self.start, 0)
        at_mu(begin + gate.duration_mu)

    @kernel
    def play_sequence(self, sequence):
        """Play a sequence of the loaded program, starting at the cursor, which advances by its
        length. PulseError if its program is not loaded, or was loaded before the sequence was built."""
        self._require(sequence.gates)
        if pulse_noted(self.start) != sequence.tables:
            raise PulseError(
                "a sequence of gate set {0:08x} was built after the set was loaded: call load again",
                int64(sequence.gates),
            )
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
        self._require(gate.gates)
        pulse_update(gate.adjustable, parameter, self.word, value)

    @kernel
    def update_course(self, gate, parameter, values):
        """As `update`, with a different course: one constant per segment, or one more value as
        knots of a spline at equal distances. ValueError also if the number of values matches
        neither.
        """
        self._require(gate.gates)
        pulse_update_all(gate.adjustable, [parameter for _ in range(len(values))], values, self.word)

    @kernel
    def update_all(self, gate, parameters, values):
        """As `update`, for several parameters with one value each."""
        self._require(gate.gates)
        pulse_update_all(gate.adjustable, parameters, values, self.word)

    @kernel
    def prepare(self, gate):
        """Store a gate of the loaded program in the core, for `play_changed`. ValueError if it has
        more words than the core can keep; 8 ns of the timeline per word."""
        if len(gate.words) > KEPT * WORDS:
            raise ValueError("the gate has too many words to be stored")
        self._require(gate.gates)
        pulse_note(self.keep, 0)
        rtio_output(self.discard_kept, 0)
        delay_mu(CYCLE_MU)
        for i in range(len(gate.words) // WORDS):
            rtio_output_wide(self.keep, gate.words[WORDS * i : WORDS * (i + 1)])
            delay_mu(CYCLE_MU)
        pulse_note(self.keep, gate.number)

    @kernel
    def _refuse_kept(self, gate):
        """Raise PulseError, since the core has not stored this gate."""
        self._require(gate.gates)
        raise PulseError("the gate to be changed and played is not the one stored: call prepare with it")

    @kernel
    def play_changed(self, gate, parameter, value):
        """Change the `Adjustable` values of a gate, as `update` does, and play the prepared gate
        immediately: the fastest way from a number to the output. One event per changed segment, 8
        ns apart; the gate begins some 20 cycles after the last event plus one per segment of the
        gate, once the core has all of them.

        The cursor advances to the latest possible end of the gate; until the gate begins, the core
        rejects words. ValueError as for `update`. After an RTIOUnderflow the gate has not been
        played. PulseError if the gate was not the last one to be prepared.
        """
        if pulse_noted(self.keep) != gate.number:
            self._refuse_kept(gate)
        pulse_update(gate.adjustable, parameter, self.change_kept, value)
        delay_mu(gate.changed_mu)

    @kernel
    def play_all_changed(self, gate, parameters, values):
        """As `play_changed`, for several parameters with one value each."""
        if pulse_noted(self.keep) != gate.number:
            self._refuse_kept(gate)
        pulse_update_all(gate.adjustable, parameters, values, self.change_kept)
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
        """Supply a measurement result, 0 to 15, to the branches waiting for it. ValueError if it is
        none."""
        if not 0 <= state < RESULTS:
            raise ValueError("a measurement result is 0 to 15, not {0}", int64(state))
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
        least 4 us ahead, or 125 us if the core is on another board.

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
        soonest = self.core.get_rtio_counter_mu() + self.ask_mu
        if now_mu() < soonest:
            at_mu(soonest)

    @kernel
    def check(self):
        """Raise PulseUnderrun or PulseError if an error has occurred, and clear the errors. If
        necessary the cursor moves to 4 us ahead, or 125 us if the core is on another board."""
        self._get_ahead()
        errors = self.status(0) & ALL_ERRORS
        if errors != 0:
            self._explain(errors)

    @kernel
    def results_from(self, inputs, channels=0xFF):
        """Derive results from the inputs of the mask `inputs`, for the branches of the channels in
        `channels`, without a kernel.

        Input n is the gateware's `result<n>`: an edge counter, which delivers its count when
        requested to send it, or a TTL input, which counts while its gate is open. 0: no inputs. ValueError if the mask
        has more than these four.
        """
        if not 0 <= inputs < 1 << RESULT_BITS:
            raise ValueError("a mask of inputs is 0 to 15, not {0}", int64(inputs))
        rtio_output(self.inputs, inputs)
        delay_mu(CYCLE_MU)
        rtio_output(self.takers, channels)
        delay_mu(CYCLE_MU)

    @kernel
    def set_threshold(self, number, count):
        """Set bit `number` (0 to 3) of results when that input has counted at least `count`; 1 after a
        reset. ValueError if there is no such bit."""
        if not 0 <= number < RESULT_BITS:
            raise ValueError("a threshold is that of bit 0 to 3 of results, not {0}", int64(number))
        rtio_output(self.thresholds + number, count)
        delay_mu(CYCLE_MU)

    @kernel
    def stream_from(self, words):
        """Let the core fetch `words` (list of int32, eight per word) from memory: 8 bytes per
        cycle, with one event for all of them, where `send` needs one each. Words streamed while a
        stream is running are lost.

        The words are first copied to 512 KiB of uncached memory that the logic reads; they remain
        there until another 512 KiB have been copied. ValueError for more than 16380 words, or an
        incomplete word, or a core on another board, whose logic does not read this memory.
        """
        if self.board != 0 and rtio_get_destination_status(self.board):
            raise ValueError(
                "stream_from is for pulse cores of the board on which the kernel runs, not for one on destination {0}: "
                "use send, or a subkernel there",
                int64(self.board),
            )
        rtio_output(self.memory, pulse_stream(words))

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
        at_mu(self.core.get_rtio_counter_mu() + self.ask_mu)
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
