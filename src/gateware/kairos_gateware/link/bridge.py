"""AXI between two boards: transactions that go in at the near end come out at the far end, and the answers return.

Five streams carry the five AXI channels, one the interrupts, one the credits. What a channel sends as a rule has a
short form: a write beat with all its bytes 64 bits, a read beat like the one before it (same identification, no error)
64 bits; the tag says also which one is the last of its burst. All that is not the rule has the long form. AXI4, 64 bits
of data; interrupts pass from the far end to the near one.
"""

from litex.soc.interconnect.axi import AXIInterface
from migen import *

from .endpoint import Endpoint, Stream
from .gearbox import Forms

__all__ = ["FarBridge", "NearBridge", "bridge_streams"]

_DATA, _STROBES = 64, 8
_OKAY = 0
_ADDRESS_FIELDS = "addr burst len size lock prot cache qos id".split()


def _address(channel):
    return Cat(*[getattr(channel, name) for name in _ADDRESS_FIELDS])


def bridge_streams(axi, interrupts, depth):
    """(streams towards the far end, streams towards the near end). axi: `AXIInterface`; interrupts: how many; depth: of
    the FIFOs behind the link."""
    address = len(_address(axi.aw))
    answer = len(axi.b.resp) + len(axi.b.id)
    data = Forms(beat=_DATA, last=_DATA, other=_DATA + _STROBES + 1)
    read = Forms(beat=_DATA, last=_DATA, other=_DATA + 1 + answer)
    away = [
        Stream("aw", 1, Forms(address=address), 2, depth),
        Stream("w", 2, data, 2, depth),
        Stream("ar", 3, Forms(address=address), 2, depth),
    ]
    back = [
        Stream("interrupts", 1, Forms(levels=interrupts), 0),
        Stream("b", 2, Forms(answer=answer), 2, depth),
        Stream("r", 3, read, 2, depth),
    ]
    return away, back


def _widths(address_width, id_width):
    return AXIInterface(data_width=_DATA, address_width=address_width, id_width=id_width)


class NearBridge(Module):
    """Where transactions come in: `axi` is a slave. `interrupts`: their levels at the far end."""

    def __init__(self, address_width=32, id_width=6, interrupts=16, depth=512):
        self.axi = axi = _widths(address_width, id_width)
        self.interrupts = Signal(interrupts)
        away, back = bridge_streams(axi, interrupts, depth)
        self.submodules.endpoint = endpoint = Endpoint(away, back)

        # # #

        for name in ("aw", "ar"):
            channel, sink = getattr(axi, name), endpoint.sink[name]
            self.comb += [
                sink.valid.eq(channel.valid),
                sink.form.eq(away[0].forms.tags["address"]),
                sink.data.eq(_address(channel)),
                channel.ready.eq(sink.ready),
            ]
        self._write(axi.w, endpoint.sink["w"], away[1].forms.tags)
        self._answers(axi.b, endpoint.source["b"])
        self._read(axi.r, endpoint.source["r"], back[2].forms.tags)
        levels = endpoint.source["interrupts"]
        self.sync += If(levels.valid, self.interrupts.eq(levels.data))

    def _write(self, w, sink, tags):
        self.comb += [
            sink.valid.eq(w.valid),
            sink.data.eq(Cat(w.data, w.strb, w.last)),
            If(w.strb != 2**_STROBES - 1, sink.form.eq(tags["other"])).Else(
                sink.form.eq(Mux(w.last, tags["last"], tags["beat"]))
            ),
            w.ready.eq(sink.ready),
        ]

    def _answers(self, b, source):
        self.comb += [b.valid.eq(source.valid), Cat(b.resp, b.id).eq(source.data), source.ready.eq(b.ready)]

    def _read(self, r, source, tags):
        id_, last, other = Signal.like(r.id), Signal(), Signal()
        self.comb += [
            other.eq(source.form == tags["other"]),
            r.valid.eq(source.valid),
            source.ready.eq(r.ready),
            r.id.eq(id_),
            r.resp.eq(_OKAY),
            r.last.eq(source.form == tags["last"]),
            Cat(r.data, last).eq(source.data),
            If(other, Cat(r.data, r.last, r.resp, r.id).eq(source.data)),
        ]
        self.sync += If(source.valid & source.ready & other, id_.eq(r.id))


class FarBridge(Module):
    """Where transactions come out: `axi` is a master. `interrupts`: levels, of which each change is sent."""

    def __init__(self, address_width=32, id_width=6, interrupts=16, depth=512):
        self.axi = axi = _widths(address_width, id_width)
        self.interrupts = Signal(interrupts)
        away, back = bridge_streams(axi, interrupts, depth)
        self.submodules.endpoint = endpoint = Endpoint(back, away)

        # # #

        for name in ("aw", "ar"):
            channel, source = getattr(axi, name), endpoint.source[name]
            self.comb += [
                channel.valid.eq(source.valid),
                _address(channel).eq(source.data),
                source.ready.eq(channel.ready),
            ]
        self._write(axi.w, endpoint.source["w"], away[1].forms.tags)
        self._answers(axi.b, endpoint.sink["b"], back[1].forms.tags)
        self._read(axi.r, endpoint.sink["r"], back[2].forms.tags)
        self._levels(endpoint.sink["interrupts"], back[0].forms.tags)

    def _write(self, w, source, tags):
        self.comb += [
            w.valid.eq(source.valid),
            Cat(w.data, w.strb, w.last).eq(source.data),
            If(source.form != tags["other"], w.strb.eq(2**_STROBES - 1), w.last.eq(source.form == tags["last"])),
            source.ready.eq(w.ready),
        ]

    def _answers(self, b, sink, tags):
        self.comb += [
            sink.valid.eq(b.valid),
            sink.form.eq(tags["answer"]),
            sink.data.eq(Cat(b.resp, b.id)),
            b.ready.eq(sink.ready),
        ]

    def _read(self, r, sink, tags):
        id_, other = Signal.like(r.id), Signal()
        self.comb += [
            other.eq((r.id != id_) | (r.resp != _OKAY)),
            sink.valid.eq(r.valid),
            sink.data.eq(Cat(r.data, r.last, r.resp, r.id)),
            sink.form.eq(Mux(other, tags["other"], Mux(r.last, tags["last"], tags["beat"]))),
            r.ready.eq(sink.ready),
        ]
        self.sync += If(r.valid & r.ready & other, id_.eq(r.id))

    def _levels(self, sink, tags):
        sent = Signal.like(self.interrupts)
        self.comb += [
            sink.valid.eq(sent != self.interrupts),
            sink.form.eq(tags["levels"]),
            sink.data.eq(self.interrupts),
        ]
        self.sync += If(sink.valid & sink.ready, sent.eq(self.interrupts))
