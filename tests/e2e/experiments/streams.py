"""Plays a stream of RTIO commands supplied by the host, and reports the result of each."""

from artiq.coredevice.exceptions import RTIODestinationUnreachable, RTIOOverflow, RTIOUnderflow
from artiq.experiment import *
from numpy import int64

from kairos.coredevice.ttl import rtio_output
from kairos.language import syscall

OUTPUT, READ, WAIT, POLL = range(4)
"""Commands: an output at a time; an input event up to a time; wait until a time; read the counter.
"""
UNDERFLOW, OVERFLOW, UNREACHABLE = 2, 3, 4
"""Status codes besides 0."""
LEAD = 300_000
"""Machine units from the core's reset to time 0 of the stream; its outputs may begin that much earlier."""


@syscall(flags={"nowrite"})
def rtio_input_timestamped_data(timeout_mu: TInt64, channel: TInt32) -> TTuple([TInt64, TInt32]):
    raise NotImplementedError("runs on the core device only")


class Streams(EnvExperiment):
    """`commands` is flat: command, target (channel << 8 | address), time in machine units, data for each; `end`
    is a time after everything has ended. After the run `start` is time 0, and `answers` has (status, time,
    data, counter) flat.
    """

    def build(self):
        self.setattr_device("core")
        self.commands, self.end = [], 0
        self.start, self.answers = 0, []

    def fetch(self) -> TList(TInt32):
        return self.commands

    def fetch_end(self) -> TInt32:
        return self.end

    def report(self, start, answers):
        self.start, self.answers = int(start), [int(answer) for answer in answers]

    @kernel
    def run(self):
        commands = self.fetch()
        end = self.fetch_end()
        count = len(commands) // 4
        answers = [int64(0)] * (4 * count)
        self.core.reset()
        start = (self.core.get_rtio_counter_mu() + LEAD) & ~int64(7)
        for i in range(count):
            command = commands[4 * i]
            target = commands[4 * i + 1]
            time = start + int64(commands[4 * i + 2])
            data = commands[4 * i + 3]
            status = 0
            try:
                if command == OUTPUT:
                    at_mu(time)
                    rtio_output(target, data)
                elif command == READ:
                    stamp, level = rtio_input_timestamped_data(time, target >> 8)
                    answers[4 * i + 1] = stamp
                    answers[4 * i + 2] = int64(level)
                elif command == WAIT:
                    self.core.wait_until_mu(time)
            except RTIOUnderflow:
                status = UNDERFLOW
            except RTIOOverflow:
                status = OVERFLOW
            except RTIODestinationUnreachable:
                status = UNREACHABLE
            if command != OUTPUT or status != 0:
                answers[4 * i + 3] = self.core.get_rtio_counter_mu()
            answers[4 * i] = int64(status)
        self.core.wait_until_mu(start + int64(end))
        self.report(start, answers)
