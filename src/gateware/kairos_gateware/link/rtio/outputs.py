"""RTIO over the link, the master's end: outputs are accepted or rejected, wait in a short queue, and are converted to
vectors (`words`). Clock domain sys.
"""

from migen import *
from migen.genlib.fifo import SyncFIFO

from ...rtio.cri import OUTPUT_UNDERFLOW, OUTPUT_UNREACHABLE
from ...rtio.timing import COARSE_BITS, FINE_BITS
from .words import LONG, MEDIUM, MORE_BITS, OFFSET_BITS, SHORT, more_vectors

__all__ = ["EventSender", "OutputQueue", "QUEUE"]

QUEUE = 2
"""Events between the CRI and the link."""
_AHEAD = 2 ** (LONG[1][1] - 2)
"""Cycles by which an event may be ahead of the counter when it is sent: a day and a half. Later
ones wait."""
_SHORT_AHEAD = SHORT[1][1] - 2


class OutputQueue(Module):
    """Decides whether an output is accepted, and queues those that are. cri: whose `output` is served.
    reaches: as of the `RtioRequester`. destination: of the satellite.

    `hold` (in): nothing is taken. `refuse` (in): outputs are rejected as unreachable. `blocked` (in): none can
    be sent at present. `joined` (in): the link is established; otherwise the queue is emptied. `taken` (out):
    a command is taken, and answered in the next cycle; `queued` (out): it was accepted. queue: FIFO, whose head
    is `entry` (out). dues: for time skip, as of the `RtioRequester`.
    """

    def __init__(self, timebase, cri, reaches, destination, data_width):
        self.hold, self.refuse, self.blocked, self.joined = Signal(), Signal(), Signal(), Signal()
        self.taken, self.queued = Signal(), Signal()
        layout = [("timestamp", 64), ("channel", 16), ("address", 8), ("data", data_width)]
        layout += [("offset", OFFSET_BITS)] if len(reaches) > 1 else []
        self.entry = entry = Record(layout)
        self.submodules.queue = queue = ResetInserter()(SyncFIFO(sum(width for _, width in layout), QUEUE))

        # # #

        output, coarse = cri.output, cri.output.timestamp[FINE_BITS:]
        offset = Signal(OFFSET_BITS)
        self.comb += offset.eq(output.channel[16:] - destination)
        earliest, latest = [Signal(COARSE_BITS) for _ in reaches], Signal(COARSE_BITS)
        up, outputs, least = [Array(values)[offset] for values in zip(*reaches, strict=True)]
        unreachable = ~up | self.refuse
        no_channel, underflow, refused = Signal(), Signal(), Signal()
        free = queue.writable & ~self.blocked & (coarse < latest)
        self.comb += [
            no_channel.eq(output.channel[:16] >= outputs),
            underflow.eq(output.timestamp[63] | (coarse < Array(earliest)[offset])),
            refused.eq(unreachable | no_channel | underflow),
            output.ready.eq(~self.hold & (refused | free)),
            self.taken.eq(output.valid & output.ready),
            self.queued.eq(self.taken & ~refused),
            queue.reset.eq(~self.joined),
            queue.we.eq(self.queued),
            queue.din.eq(Cat(output.timestamp, output.channel[:16], output.address, output.data, offset)),
            entry.raw_bits().eq(queue.dout),
        ]
        self.sync += [
            [first.eq(timebase.coarse + least + 1) for first, (*_, least) in zip(earliest, reaches, strict=True)],
            latest.eq(timebase.coarse + _AHEAD),
            # Avoids stale values after a jump of time, which occurs only in simulation
            If(
                timebase.load,
                [first.eq(timebase.load_value + least) for first, (*_, least) in zip(earliest, reaches, strict=True)],
            ),
            cri.output_done.eq(self.taken),
            cri.output_status.eq(0),
            If(unreachable | no_channel, cri.output_status.eq(OUTPUT_UNREACHABLE)).Elif(
                underflow, cri.output_status.eq(OUTPUT_UNDERFLOW)
            ),
        ]
        stuck = output.valid & ~output.ready
        self.dues = [
            (stuck & (coarse < latest), coarse - least - 2),
            (stuck & (coarse >= latest), coarse - _AHEAD),
        ]


class EventSender(Module):
    """Converts the queued events to vectors; data beyond 32 bits are sent first. outputs: `OutputQueue`. events:
    the stream to the satellite, tags: of its forms. boards, data_width: as of the `RtioRequester`.

    `joined` (in): the link is established.
    """

    def __init__(self, timebase, outputs, events, tags, boards, data_width):
        self.joined = Signal()

        # # #

        queue, entry = outputs.queue, outputs.entry
        coarse, fine = entry.timestamp[FINE_BITS:], entry.timestamp[:FINE_BITS]
        delta = Signal(COARSE_BITS)
        medium, short, wide, aims = Signal(), Signal(), Signal(), Signal()
        count = more_vectors(data_width)
        part = Signal(max=count + 2)
        values = {"fine": fine, "coarse": coarse, "channel": entry.channel, "address": entry.address}
        data = {
            name: Cat(
                *[
                    Cat(Cat(value, C(0, 64))[:width])
                    for (_, width), value in zip(layout, [*values.values(), entry.data], strict=True)
                ]
            )
            for name, layout in (("short", SHORT), ("medium", MEDIUM), ("long", LONG))
        }
        self.comb += [
            delta.eq(coarse - timebase.coarse),
            medium.eq((delta[_SHORT_AHEAD:] == 0) & (entry.channel[SHORT[2][1] :] == 0)),
            short.eq(medium & (entry.data[SHORT[4][1] :] == 0)),
            wide.eq((entry.data[32:] != 0) & (part != count) if count else 0),
            events.valid.eq(queue.readable),
            events.form.eq(tags["long"]),
            events.data.eq(data["long"]),
            If(medium, events.form.eq(tags["medium"]), events.data.eq(data["medium"])),
            If(short, events.form.eq(tags["short"]), events.data.eq(data["short"])),
            queue.re.eq(events.ready & ~wide & ~aims),
        ]
        if count:
            rest = Cat(entry.data[32:], C(0, MORE_BITS))
            cases = {n: events.data.eq(rest[n * MORE_BITS : (n + 1) * MORE_BITS]) for n in range(count)}
            self.comb += If(wide, events.form.eq(tags["more"]), Case(part, cases))
            self.sync += If(events.valid & events.ready & ~aims, If(wide, part.eq(part + 1)).Else(part.eq(0)))
        if boards > 1:
            aimed = Signal(OFFSET_BITS)
            self.comb += [
                aims.eq(entry.offset != aimed),
                If(aims, events.form.eq(tags["aim"]), events.data.eq(entry.offset)),
            ]
            self.sync += [
                If(events.valid & events.ready, aimed.eq(entry.offset)),
                If(~self.joined, aimed.eq(0)),
            ]
