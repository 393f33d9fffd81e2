"""Probes and overrides, selected by channel and number (wire protocols, section 3).

TTL: probe 0 is the level (of the pin for in/out channels, else of the output), probe 1 the output
enable (in/out only); override 0 enables, 1 is the level, 2 the output enable (in/out only). Other
PHYs may have `probes` of up to 64 bits, or a `probe_port`: the read port of a memory whose words
are the probes. Nonexistent ones read as 0, and writing them has no effect.

An override acts between PHY and pin, without latency: the PHY's state continues to follow the
experiment, and is restored to the pin when the override ends. Clock domain sys.
"""

from migen import *

from ..pad import Pad

__all__ = ["TtlInjector", "MonitorInjector", "OVERRIDE_ENABLE", "OVERRIDE_LEVEL", "OVERRIDE_OUTPUT_ENABLE"]

OVERRIDE_ENABLE, OVERRIDE_LEVEL, OVERRIDE_OUTPUT_ENABLE = range(3)


class TtlInjector(Module):
    """Inserted between a TTL PHY's `inner` pad and the pin: `pad` is passed to the board. A pin's
    level is probed two cycles late (synchroniser)."""

    def __init__(self, inner):
        self.pad = pad = Pad(inner.name, inner.direction, inner.channel, inner.serialised)
        pad.pin = inner.pin
        enable = Signal()
        level = Signal()
        output_enable = Signal()
        self.overrides = [enable, level]
        self.probes = []

        # # #

        self.comb += [
            pad.o.eq(Mux(enable, Replicate(level, len(pad.o)), inner.o)),
            inner.i.eq(pad.i),
        ]
        if inner.direction == "out":
            self.comb += pad.oe.eq(inner.oe)
            self.probes += [pad.o[-1]]
        else:
            pin = [Signal(name=f"probe_{i}", attr={"async_reg"}) for i in range(2)]
            self.sync += [pin[0].eq(pad.i[-1]), pin[1].eq(pin[0])]
            self.comb += pad.oe.eq(Mux(enable, output_enable, inner.oe))
            self.overrides += [output_enable]
            self.probes += [pin[1], pad.oe]


class MonitorInjector(Module):
    """blocks: {channel number: object with `probes`, and possibly `overrides` (one bit each)}.

    Monitor: `update` (in, one cycle) copies probe `probe` (in, 8 bits) of channel `channel` (in, 16 bits)
    to `value` (out, 64 bits), in the next cycle. Injector: `write` (in, one cycle) sets override `override`
    (in, 8 bits) of channel `inject_channel` (in, 16 bits) to bit 0 of `inject_value` (in, 8 bits);
    `inject_current` (out, 8 bits) is always its present value.
    """

    def __init__(self, blocks):
        self.channel, self.probe = Signal(16), Signal(8)
        self.update = Signal()
        self.value = Signal(64)
        self.inject_channel, self.override = Signal(16), Signal(8)
        self.write = Signal()
        self.inject_value = Signal(8)
        self.inject_current = Signal(8)

        # # #

        selected = Signal(64)
        probes, overrides, writes = {}, {}, {}
        for number, block in blocks.items():
            injected = getattr(block, "overrides", [])
            probes[number] = self._probed(block, selected)
            if injected:
                current = {i: self.inject_current.eq(signal) for i, signal in enumerate(injected)}
                set_ = {i: signal.eq(self.inject_value[0]) for i, signal in enumerate(injected)}
                overrides[number] = Case(self.override, current)
                writes[number] = Case(self.override, set_)
        self.comb += [Case(self.channel, probes), Case(self.inject_channel, overrides)]
        self.sync += [
            If(self.update, self.value.eq(selected)),
            If(self.write, Case(self.inject_channel, writes)),
        ]

    def _probed(self, block, selected):
        """Statement: the selected probe of a block."""
        port = getattr(block, "probe_port", None)
        if port is None:
            return Case(self.probe, {i: selected.eq(probe) for i, probe in enumerate(block.probes)})
        self.comb += port.adr.eq(self.probe)
        return If(self.probe[len(port.adr) :] == 0, selected.eq(port.dat_r))
