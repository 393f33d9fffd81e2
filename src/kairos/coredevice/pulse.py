"""The pulse core on an RTIO channel: a kernel gives it words, triggers it at exact times, and asks how it does.

Words are made by `kairos.pulse`; a kernel has them as one list of int32, eight to a word, the lowest first. Sending a
word takes 8 ns of the timeline, as does each setting of the inputs that make results; a trigger, a result and other
settings take no time.
"""

from numpy import int64

from ..contracts.pulse import Error
from ..language import delay_mu, kernel, now_mu
from .parts.channel import Address, RTIODevice
from .rtio import rtio_input_data, rtio_output, rtio_output_wide

__all__ = ["Pulse", "PulseError"]

WORDS = 8
"""int32 in a word of the stream."""
ALL_ERRORS = sum(Error)


class PulseError(Exception):
    """The pulse core has found something wrong; the text has the bits of `kairos.contracts.pulse.Error`."""


class Pulse(RTIODevice):
    """The pulse core on RTIO channel `channel`, with `channels` output channels."""

    kernel_invariants = {"channels"}
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

    def __init__(self, dmgr, channel, core_device="core", channels=8):
        super().__init__(dmgr, channel, core_device)
        self.channels = channels

    @kernel
    def send(self, words):
        """Give the core `words` (list of int32, eight to a word), one each 8 ns from now on."""
        for i in range(len(words) // WORDS):
            rtio_output_wide(self.word, words[WORDS * i : WORDS * (i + 1)])
            delay_mu(8)

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
    def status(self):
        """Errors up to now, which are cleared: bits of `kairos.contracts.pulse.Error`; bits 16 to 23: channels that
        wait for a trigger; 24 to 31: channels that run."""
        rtio_output(self.state, ALL_ERRORS)
        return rtio_input_data(self.channel)

    @kernel
    def check(self):
        """PulseError if something has gone wrong up to now."""
        errors = self.status() & ALL_ERRORS
        if errors != 0:
            raise PulseError("errors of the pulse core: {0}", int64(errors))

    @kernel
    def results_from(self, inputs, channels=0xFF):
        """Make results of the inputs of this mask, for the branches of the channels of the other: without a kernel.

        Input n is the gateware's `result<n>`: an edge counter, whose count comes when it is told to send it, or a TTL
        input, which counts while its gate is open. 0: of none.
        """
        rtio_output(self.inputs, inputs)
        delay_mu(8)
        rtio_output(self.takers, channels)
        delay_mu(8)

    @kernel
    def set_threshold(self, number, count):
        """Make bit `number` of results 1 when that input has counted at least `count`; 1 after a reset."""
        rtio_output(self.thresholds + number, count)
        delay_mu(8)

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
        return parameters, (asked & -8) - 8 * age
