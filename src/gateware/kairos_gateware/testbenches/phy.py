"""For the tests of PHYs: plays events and pad levels into a PHY in Migen's simulator, and records
its outputs."""

from dataclasses import dataclass, field

from migen import *

from ..rtio.timing import INPUT_LATENCY
from .simulator import run_simulation

__all__ = ["Record", "play"]


@dataclass
class Record:
    """outputs[pad][cycle]: (samples, driven); inputs: (cycle of the stamp, fine, data); busy:
    cycles of rejected events; settled[cycle]."""

    outputs: list = field(default_factory=list)
    inputs: list = field(default_factory=list)
    busy: list = field(default_factory=list)
    settled: list = field(default_factory=list)


def play(phy, events, cycles, levels=None, dut=None, wires=()):
    """events: {cycle of the time: (address, data, fine)}; the strobe is one cycle ahead. levels:
    {(pad's index, cycle): samples from then on}. dut: the module to simulate if it is not the PHY
    itself. wires: (from, to) pads connected without delay."""
    link, inputs = phy.channel.output, phy.channel.input
    record = Record([[] for _ in phy.pads])
    levels = levels or {}

    def bench():
        for cycle in range(cycles):
            event = events.get(cycle + 1)
            yield link.stb.eq(event is not None)
            if event:
                address, data, fine = event
                yield link.address.eq(address)
                yield link.data.eq(data)
                yield link.fine.eq(fine)
            for i, pad in enumerate(phy.pads):
                if (i, cycle) in levels:
                    yield pad.i.eq(levels[i, cycle])
            yield
            if event and (yield link.busy):
                record.busy.append(cycle + 1)
            for i, pad in enumerate(phy.pads):
                record.outputs[i].append(((yield pad.o), (yield pad.oe)))
            if inputs is not None and (yield inputs.stb):
                record.inputs.append((cycle - INPUT_LATENCY, (yield inputs.fine), (yield inputs.data)))
            record.settled.append((yield phy.channel.settled))

    top = Module()
    top.submodules.dut = dut or phy
    top.comb += [phy.pads[b].i.eq(phy.pads[a].o) for a, b in wires]
    run_simulation(top, bench())
    return record
