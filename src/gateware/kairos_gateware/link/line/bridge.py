"""AXI between two boards: transactions enter at the near end and leave at the far end; responses
return.

Five streams carry the five AXI channels, one the interrupts, one the credits. The common beats have
a short form: 64 bits for a write beat with all its bytes, or for a read beat with the
identification of the one before and no error; the tag also marks the last beat of a burst. All
other beats have the long form. Supports AXI4, and AXI3, whose write beats also have an
identification and may be interleaved; 64 bits of data; interrupts pass from the far end to the near
one.
"""

from functools import reduce
from operator import or_

from litex.soc.interconnect.axi import AXIInterface
from migen import *

from .endpoint import Endpoint, Stream
from .gearbox import Forms

__all__ = ["BridgeChannels", "BridgeRequester", "BridgeServer", "LevelsSender", "bridge_streams"]

_DATA, _STROBES = 64, 8
_OKAY = 0
_ADDRESS = "addr burst len size lock prot cache qos id"
_FIELDS = {"aw": _ADDRESS, "ar": _ADDRESS, "w": "data strb last", "b": "resp id", "r": "data last resp id"}
"""Fields of each channel that cross the link, the first one lowest."""
_OUTGOING = ("aw", "ar", "w")
"""Channels from the near end to the far end."""


def _identified(axi, name):
    """Whether beats of a channel have an identification."""
    return name == "r" or (name == "w" and axi.version == "axi3")


def _fields(axi, name):
    names = _FIELDS[name].split() + (["id"] if name == "w" and _identified(axi, name) else [])
    return Cat(*[getattr(getattr(axi, name), field) for field in names])


def bridge_streams(axi, interrupts, depth, packed=True):
    """(streams towards the far end, streams towards the near end). axi: `AXIInterface`; interrupts:
    number of interrupts; depth: of the FIFOs at the receiving end. packed: with the gearbox; otherwise
    each vector has words of its own."""
    width = {name: len(_fields(axi, name)) for name in _FIELDS}

    def one(**widths):
        forms = Forms(**widths)
        return forms if packed else forms.unpacked()

    def beats(name):
        return one(beat=_DATA, last=_DATA, other=width[name])

    downstream = [
        Stream("aw", 1, one(address=width["aw"]), 2, depth),
        Stream("w", 2, beats("w"), 2, depth),
        Stream("ar", 3, one(address=width["ar"]), 2, depth),
    ]
    upstream = [
        Stream("interrupts", 1, one(levels=interrupts), 0),
        Stream("b", 2, one(answer=width["b"]), 2, depth),
        Stream("r", 3, beats("r"), 2, depth),
    ]
    return downstream, upstream


class BridgeChannels(Module):
    """The five channels of `axi` on the vectors of their streams. near: the end where transactions enter,
    with `axi` a slave; at the other, `axi` is a master. ports: of the endpoint, by channel: those to send
    to, and those to take from; channels without one are left alone. tags: of each channel's forms, by
    channel. up: of the link.
    """

    def __init__(self, near, axi, ports, tags, up):
        self.axi, self._up = axi, up

        # # #

        for name in [name for name in _FIELDS if name in ports]:
            join = self._send if (name in _OUTGOING) == near else self._take
            join(name, getattr(axi, name), tags[name], ports[name])

    def _send(self, name, channel, tags, sink):
        self.comb += [
            sink.valid.eq(channel.valid),
            channel.ready.eq(sink.ready),
            sink.data.eq(_fields(self.axi, name)),
            sink.form.eq(next(iter(tags.values()))),
        ]
        if "other" in tags:
            other = Signal()
            usual = self._usual(name, channel, other)
            self.comb += [
                other.eq(reduce(or_, [field != value for field, value in usual])),
                If(other, sink.form.eq(tags["other"])).Elif(channel.last, sink.form.eq(tags["last"])),
            ]

    def _take(self, name, channel, tags, source):
        self.comb += [
            channel.valid.eq(source.valid),
            source.ready.eq(channel.ready),
            _fields(self.axi, name).eq(source.data),
        ]
        if "other" in tags:
            other = Signal()
            usual = self._usual(name, channel, other)
            self.comb += [
                other.eq(source.form == tags["other"]),
                If(~other, channel.last.eq(source.form == tags["last"]), [field.eq(value) for field, value in usual]),
            ]

    def _usual(self, name, channel, other):
        """(field, value) pairs of a beat with the short form. other: this beat has the long
        form."""
        usual = [(channel.strb, 2**_STROBES - 1)] if name == "w" else [(channel.resp, _OKAY)]
        if _identified(self.axi, name):
            id_ = Signal.like(channel.id)
            taken = channel.valid & channel.ready & other
            self.sync += If(~self._up, id_.eq(0)).Elif(taken, id_.eq(channel.id))
            usual.append((channel.id, id_))
        return usual


class LevelsSender(Module):
    """Sends `levels` to `sink`, a stream without credits, when the link has come up and whenever one has
    changed. up: of the link."""

    def __init__(self, sink, levels, up):
        sent = Signal.like(levels)
        known = Signal()  # the other end has `sent`

        # # #

        self.comb += [sink.valid.eq(up & (~known | (sent != levels))), sink.form.eq(1), sink.data.eq(levels)]
        self.sync += If(~up, known.eq(0)).Elif(sink.valid & sink.ready, sent.eq(levels), known.eq(1))


class _Bridge(Module):
    """Common part of both ends: the channels that one end sends, the other receives. near: this is
    the near end. axi3: both are AXI3. `endpoint`: that of the link; when the link goes down,
    transactions in flight are lost and never answered.

    `interrupts` (out, `interrupts` bits at one end, in at the other): levels that are carried along.
    """

    def __init__(self, near, address_width, id_width, interrupts, depth, reliability, axi3, packed):
        version = "axi3" if axi3 else "axi4"
        self.axi = AXIInterface(data_width=_DATA, address_width=address_width, id_width=id_width, version=version)
        self.interrupts = Signal(interrupts)
        downstream, upstream = bridge_streams(self.axi, interrupts, depth, packed)
        sent, taken = (downstream, upstream) if near else (upstream, downstream)
        self.submodules.endpoint = endpoint = Endpoint(sent, taken, reliability)

        # # #

        tags = {stream.name: stream.forms.tags for stream in sent + taken}
        self.submodules += BridgeChannels(near, self.axi, endpoint.sink | endpoint.source, tags, endpoint.up)


class BridgeRequester(_Bridge):
    """The end where transactions enter: `axi` is a slave. `interrupts`: their levels at the far
    end."""

    def __init__(
        self, address_width=32, id_width=6, interrupts=16, depth=512, reliability=None, axi3=False, packed=True
    ):
        super().__init__(True, address_width, id_width, interrupts, depth, reliability, axi3, packed)

        # # #

        levels = self.endpoint.source["interrupts"]
        self.sync += If(levels.valid, self.interrupts.eq(levels.data))


class BridgeServer(_Bridge):
    """The end where transactions leave: `axi` is a master. `interrupts`: levels; each change is
    sent."""

    def __init__(
        self, address_width=32, id_width=6, interrupts=16, depth=512, reliability=None, axi3=False, packed=True
    ):
        super().__init__(False, address_width, id_width, interrupts, depth, reliability, axi3, packed)

        # # #

        sink = self.endpoint.sink["interrupts"]
        self.submodules += LevelsSender(sink, self.interrupts, self.endpoint.up)
