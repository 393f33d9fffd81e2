"""The gate set in a pulse core's tables: loaded, changed into another one, and known to kernels."""

import re

from numpy import int64

from ...language import at_mu, delay_mu, kernel
from ...pulse.program import SLOTS_CYCLES, set_name
from .firmware import NOWRITE, QUIET, firmware_function
from .pulse_builder import CYCLE_MU, PulseBuilder

__all__ = ["ASK_MU", "CYCLE_MU", "PulseError", "TableLoader", "pulse_note", "pulse_noted"]

ASK_MU = 4000
"""Requests to the core are issued this long after the present."""

pulse_change = firmware_function("pulse_change", "known wanted target", NOWRITE)
pulse_note = firmware_function("pulse_note", "target value", QUIET)
pulse_noted = firmware_function("pulse_noted", "target", QUIET)

_GATE_SET = re.compile(r"gate set ([0-9a-f]{8})\b(?! \()")


class PulseError(Exception):
    """The pulse core has reported an error; the text describes it and contains the bits of all
    errors so far (`kairos.contracts.pulse.Error`). Or a gate is played whose gate set is not loaded;
    the text has both."""

    def __init__(self, *arguments):
        if arguments and isinstance(arguments[0], str):
            # Kernels have numbers of gate sets.
            text = _GATE_SET.sub(lambda found: f"gate set {set_name(int(found[1], 16))}", arguments[0])
            arguments = (text, *arguments[1:])
        super().__init__(*arguments)


class TableLoader(PulseBuilder):
    """Loads programs (`kairos.pulse.program.Program`) into a core."""

    @kernel
    def load(self, program):
        """Load a program's tables into the core and bring all its channels to rest. Takes 64 ns of
        the timeline per word, for a core on another board from at least 125 us ahead on.

        PulseError if the core is not at rest afterwards, PulseUnderrun if it ran out of segments
        before.
        """
        if self.ask_mu != ASK_MU:
            self._get_ahead()
        if pulse_noted(self.word) != program.gates:
            pulse_note(self.keep, 0)
        # If this is interrupted, nothing is known about the tables.
        pulse_note(self.word, 0)
        self.set_trigger_channels(program.channels)
        delay_mu(CYCLE_MU)
        self.send(program.programming, SLOTS_CYCLES)
        self.set_loaded(program)
        armed = self.status(0) >> 16 & program.channels
        at_mu(self.core.get_rtio_counter_mu() + self.ask_mu)
        if armed != program.channels:
            self.send(program.rest, SLOTS_CYCLES)
        self.wait_armed(program.channels)

    @kernel
    def set_loaded(self, program):
        """Let gates of a program be played, whose `programming` has been sent by other means than `load`,
        such as `stream_from`."""
        pulse_note(self.start, program.tables)
        pulse_note(self.word, program.gates)

    @kernel
    def change(self, old, new):
        """Turn the loaded program `old` into `new` by the words in which their tables differ: from the
        cursor on, 64 ns of the timeline per word. What is being played is not affected; gates and
        sequences of `new` can be played at once. What kernels have changed in `old` is as defined again.

        If one is the other's `successor`, the host has made these words, which are fewer. Otherwise the
        kernel core finds them. PulseError if `old` is not loaded with all its sequences.
        """
        self._require(old.gates)
        if pulse_noted(self.start) != old.tables:
            raise PulseError(
                "sequences of gate set {0:08x} were built after it was loaded: call load again", int64(old.gates)
            )
        pulse_note(self.word, 0)
        pulse_note(self.keep, 0)
        if new.previous == old.gates and new.previous_tables == old.tables:
            self.send(new.changes, SLOTS_CYCLES)
        elif old.previous == new.gates and old.previous_tables == new.tables:
            self.send(old.changes_back, SLOTS_CYCLES)
        else:
            pulse_change(old.known, new.programming, self.word)
        self.set_loaded(new)

    @kernel
    def _require(self, gates):
        """Raise PulseError if the gate set with this number is not loaded."""
        loaded = pulse_noted(self.word)
        if loaded != gates:
            if loaded == 0:
                raise PulseError("no gates are loaded, but one of gate set {0:08x} is used: call load", int64(gates))
            raise PulseError(
                "a gate of gate set {0:08x} is used, but gate set {1:08x} is loaded: call load with the former",
                int64(gates),
                int64(loaded),
            )
