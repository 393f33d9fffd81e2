"""Ports of a top module that becomes a shared library: named as the shims expect, collected in
`ios`."""

from migen import *
from migen.fhdl import tracer

__all__ = ["TopLevel"]


class TopLevel(Module):
    """`ios`: the set of ports. To be called before the parts are created."""

    def __init__(self):
        # Migen numbers names by everything that the process has created: the second time the
        # Verilog would differ and be recompiled.
        tracer.name_to_idx.clear()
        tracer.classname_to_objs.clear()
        self.ios = set()

    def port(self, name, width=1):
        """A new port."""
        signal = Signal(width, name_override=name)
        self.ios.add(signal)
        return signal

    def inward(self, signal, name):
        """The port drives the signal."""
        self.comb += signal.eq(self.port(name, len(signal)))

    def outward(self, value, name, width=None):
        """The port outputs the value, with the value's width if no width is given."""
        self.comb += self.port(name, len(value) if width is None else width).eq(value)

    def pad_ports(self, pads):
        """`pads_o`, `pads_oe`, `pads_i`: list of `Pad`, in the order of the ports' bits. A driven
        pin reads back its own level, like the buffers of the chip: `pads_i` applies to pins that
        are not driven."""
        self.outward(Cat(*[pad.o for pad in pads]), "pads_o")
        self.outward(Cat(*[pad.oe for pad in pads]), "pads_oe")
        external = self.port("pads_i", 8 * len(pads))
        for n, pad in enumerate(pads):
            self.comb += pad.i.eq(Mux(pad.oe, pad.o, external[8 * n : 8 * n + 8]))
