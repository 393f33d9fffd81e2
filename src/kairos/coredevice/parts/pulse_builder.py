"""Pulses that a kernel makes from numbers, without the host: played at once, past the core's tables, or made gates in
them."""

from numpy import int32, int64

from ...contracts.pulse import KernelPulseFlag
from ...language import at_mu, host_only, kernel, now_mu
from ...pulse.gates import PulseError
from ...pulse.program import LEAD_CYCLES, START_CYCLES
from ..rtio import rtio_output
from .firmware import NOWRITE, firmware_function
from .pulse_beat import BeatTracker

__all__ = ["PulseBuilder"]

CYCLE_MU = 8
PARAMETERS = 8
HEAD = 4
"""Numbers of a pulse before those of its courses."""
pulse_make = firmware_function("pulse_make", "pulse values target rate", NOWRITE)
pulse_store = firmware_function("pulse_store", "room pulse values target rate", NOWRITE)
MASKS = ("sync", "enable", "feed_forward", "gpo", "clear", "at_end")
ROUTES = ("forward", "invert")


class PulseBuilder(BeatTracker):
    """Makes pulses for a core with `channels` channels."""

    @host_only
    def flags(self, **masks):
        """Return the flags of a pulse for `play_pulse`, from the masks of :class:`kairos.pulse.Pulse`: ``flags(sync=1,
        forward=(1, 0))``. PulseError for one that is unknown or out of range."""
        flags = 0
        for name, value in masks.items():
            if name not in (*MASKS, *ROUTES):
                raise PulseError(f"there is no flag {name}; there are {', '.join([*MASKS, *ROUTES])}")
            parts = list(value) if name in ROUTES else [value]
            if len(parts) != (2 if name in ROUTES else 1) or any(part not in range(4) for part in parts):
                wanted = "a mask of tones for each frame" if name in ROUTES else "a mask, 0 to 3"
                raise PulseError(f"flag {name}: {value!r} is not {wanted}")
            for frame, part in enumerate(parts):
                prefix = f"{name}{frame}" if name in ROUTES else name
                flags |= sum(KernelPulseFlag[f"{prefix}{bit}".upper()] for bit in range(2) if part >> bit & 1)
        return int32(flags)

    @kernel
    def play_pulse(self, program, channels, duration_mu, flags, parameters, counts, values):
        """Play a pulse that is made of numbers, at the cursor, which advances by its length: on the channels of the
        mask `channels`, for `duration_mu` machine units (a multiple of 8, at least 32), with `flags` (`Pulse.flags`).
        The other channels pause. `program` must be loaded; its gates are not changed.

        Each of `parameters` (numbers of `kairos.contracts.pulse.Parameter`) has a course of `counts` of the `values`:
        one is a constant, more are knots of a spline at equal distances, at most 17. Courses of the same parameter add
        up: with equal counts, or one of a single value. A parameter without a course is 0. Units: Hz, parts of 200,
        degrees.

        The firmware of the kernel core makes the words, about 1 µs for each segment; they are sent before the pulse, so
        the cursor must be that far ahead. ValueError if the pulse cannot be made, and PulseError if the program is not
        loaded; nothing is played.
        """
        self._require(program.gates)
        if channels & ~((1 << self.channels) - 1) != 0 or channels == 0:
            raise ValueError("channels {0} of a pulse: the core has {1}", int64(channels), int64(self.channels))
        if duration_mu % CYCLE_MU != 0 or duration_mu <= 0 or duration_mu >= int64(CYCLE_MU) << 31:
            raise ValueError("a pulse of {0} machine units: a multiple of 8 above 0, below 17 s", int64(duration_mu))
        pulse = [0 for _ in range(HEAD + 2 * len(parameters))]
        self._describe(pulse, channels, flags, parameters, counts)
        pulse[1] = program.channels & ~channels
        pulse[2] = int32(duration_mu // CYCLE_MU)
        begin = now_mu()
        ahead = LEAD_CYCLES + START_CYCLES + PARAMETERS + 1 + len(values) + len(program.rest) // 8
        at_mu(begin - ahead * CYCLE_MU)
        pulse_make(pulse, values, self.word, self.sample_rate)
        self.send(program.rest)
        at_mu(begin - START_CYCLES * CYCLE_MU)
        rtio_output(self.start, 0)
        at_mu(begin + duration_mu)

    @kernel
    def make(self, gate, channels, flags, parameters, counts, values):
        """Make a gate of a loaded program that is `kairos.pulse.Room`: on its channels in the mask `channels`, a pulse
        of numbers as for `play_pulse`. Everything sent afterwards plays it: `play`, and sequences with the gate. On
        other channels it stays what it was. `load` makes it a pause again.

        The firmware of the kernel core makes the words, and writes them to the tables: 64 ns of the timeline for each,
        which is one for each different segment, one for six of these, and one more. ValueError, with nothing changed,
        if the pulse cannot be made, or the gate has no room for it; PulseError if its program is not loaded.
        """
        self._require(gate.gates)
        if gate.room[0] == 0:
            raise ValueError("the gate has no room for a pulse: define it as kairos.pulse.Room")
        if channels & ~gate.channels != 0 or channels == 0:
            raise ValueError("channels {0} of a pulse: the gate has {1}", int64(channels), int64(gate.channels))
        pulse = [0 for _ in range(HEAD + 2 * len(parameters))]
        self._describe(pulse, channels, flags, parameters, counts)
        pulse[2] = gate.room[0]
        pulse_store(gate.room, pulse, values, self.word, self.sample_rate)

    @kernel
    def _describe(self, pulse, channels, flags, parameters, counts):
        """Write a pulse to `pulse` in the form that the firmware reads, without its length and other channels."""
        if len(parameters) != len(counts):
            raise ValueError("a pulse has {0} parameters, but {1} counts", int64(len(parameters)), int64(len(counts)))
        pulse[0] = channels
        pulse[3] = flags
        for i in range(len(parameters)):
            pulse[HEAD + 2 * i] = parameters[i]
            pulse[HEAD + 2 * i + 1] = counts[i]
