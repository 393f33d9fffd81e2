"""Observes the CRI of the RTIO core and converts its traffic to analyzer messages.

Every accepted output produces a message, also one that fails; an underflow then produces an
exception message. A read that returns an event produces an input message, one that reports overflow
an exception message; with pushed inputs, an event or a gap that leaves its FIFO for memory does.
Outputs can occur in every cycle and have priority; an input or exception message waits for a cycle
without one. It waits in a register of its kind; a second one of this kind meanwhile is lost, as
indicated by `lost`.

    cycle          0                     1           2
    CRI            output accepted       (status)
    message                                          valid; exception at the earliest one cycle later

Clock domain sys. Throughput: one message per cycle.
"""

from migen import *

from ..rtio.cri import INPUT_OVERFLOW, OUTPUT_UNDERFLOW
from ..rtio.timing import COARSE_BITS, FINE_BITS
from .format import EXCEPTION, INPUT, OUTPUT, OVERFLOW, STOPPED, UNDERFLOW

__all__ = ["Tap", "message_layout"]

_SLACK_BITS = 32


def message_layout():
    """coarse: counter at the time of the transaction. slack: timestamp - counter, valid if `short`:
    the message can be one of a packed pair. An exception's kind is in `address`."""
    return [
        ("type", 2),
        ("channel", 24),
        ("address", 8),
        ("timestamp", 64),
        ("coarse", COARSE_BITS),
        ("data", 64),
        ("slack", _SLACK_BITS),
        ("short", 1),
    ]


class Tap(Module):
    """cri: of the RTIO core (observed only). coarse: the counter. pusher: of the inputs, or None. `enable`
    (in): messages are produced only while it is high; when it falls, a last message, "stopped", is
    produced. `valid`, `message` (out): no back-pressure. `idle` (out): nothing in transit.

    `lost` (out): for a cycle, a message is dropped, since an earlier one is still pending.
    """

    def __init__(self, cri, coarse, pusher=None):
        self.enable = Signal()
        self.valid = Signal()
        self.message = Record(message_layout())
        self.lost = Signal()
        self.idle = Signal()

        # # #

        # Kinds of messages, by priority, each in a register
        fields = [name for name, *_ in message_layout()[:-2]]
        pending = [Signal(name=f"pending_{i}") for i in range(4)]
        held = [Record(message_layout()[:-2], name=f"held_{i}") for i in range(4)]
        output, underflow, read, stopped = held
        taken = [Signal(name=f"taken_{i}") for i in range(4)]
        accept = Signal()
        was_enabled = Signal()
        failed = Signal()
        ended = Signal()
        finish = Signal()
        self.comb += [
            accept.eq(cri.output.valid & cri.output.ready & self.enable),
            failed.eq(cri.output_done & (cri.output_status == OUTPUT_UNDERFLOW) & self.enable),
            finish.eq(was_enabled & ~self.enable),
            taken[0].eq(pending[0]),
            [taken[n].eq(pending[n] & ~(Cat(*pending[:n]) != 0)) for n in range(1, 4)],
            self.lost.eq((failed & pending[1] & ~taken[1]) | (ended & pending[2] & ~taken[2])),
        ]
        last_channel = Signal(24)
        # An input event, or a gap
        if pusher is None:
            event, event_channel = cri.response, Signal(24)
            overflow = cri.input_status == INPUT_OVERFLOW
            self.sync += If(cri.input.valid & cri.input.ready, event_channel.eq(cri.input.channel))
            self.comb += ended.eq(cri.input_done & ((cri.input_status == 0) | overflow) & self.enable)
        else:
            event, event_channel, overflow = pusher.push, pusher.push.channel, pusher.push.lost
            self.comb += ended.eq(pusher.taken & self.enable)
        self.sync += [
            was_enabled.eq(self.enable),
            [p.eq(0) for p in pending[:1]],
            [If(taken[n], pending[n].eq(0)) for n in range(1, 4)],
            output.type.eq(OUTPUT),
            output.channel.eq(cri.output.channel),
            output.address.eq(cri.output.address),
            output.timestamp.eq(cri.output.timestamp),
            output.coarse.eq(coarse),
            output.data.eq(cri.output.data[:64]),
            last_channel.eq(cri.output.channel),
            If(accept, pending[0].eq(1)),
            underflow.type.eq(EXCEPTION),
            underflow.address.eq(UNDERFLOW),
            If(
                failed & (~pending[1] | taken[1]),
                pending[1].eq(1),
                underflow.channel.eq(last_channel),
                underflow.coarse.eq(coarse),
            ),
            If(
                ended & (~pending[2] | taken[2]),
                pending[2].eq(1),
                read.type.eq(Mux(overflow, EXCEPTION, INPUT)),
                read.channel.eq(event_channel),
                read.address.eq(Mux(overflow, OVERFLOW, 0)),
                read.timestamp.eq(Mux(overflow, 0, event.timestamp)),
                read.coarse.eq(coarse),
                read.data.eq(Mux(overflow, 0, event.data)),
            ),
            stopped.type.eq(STOPPED),
            If(finish, pending[3].eq(1), stopped.coarse.eq(coarse)),
        ]

        # Choice, and slack
        chosen = Record(message_layout()[:-2], name="chosen")
        slack = Signal((65, True))
        self.comb += [
            chosen.raw_bits().eq(output.raw_bits()),
            [If(~pending[0] & taken[n], chosen.raw_bits().eq(held[n].raw_bits())) for n in range(1, 4)],
            slack.eq(chosen.timestamp - Cat(C(0, FINE_BITS), chosen.coarse)),
        ]
        upper = slack[_SLACK_BITS - 1 : 64]
        self.sync += [
            self.valid.eq(Cat(*pending) != 0),
            [getattr(self.message, name).eq(getattr(chosen, name)) for name in fields],
            self.message.slack.eq(slack[:_SLACK_BITS]),
            self.message.short.eq(
                ((upper == 0) | (upper == 2 ** len(upper) - 1))
                & ~chosen.type[1]
                & (chosen.data[32:] == 0)
                & (chosen.channel[16:] == 0)
            ),
        ]
        self.comb += self.idle.eq(~self.valid & (Cat(*pending) == 0) & (self.enable == was_enabled))
