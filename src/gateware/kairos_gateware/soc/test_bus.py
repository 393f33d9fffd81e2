"""Port GP0: how many cycles a register takes, and that our bridge to the register bus is LiteX's, cycle by cycle."""

import random

import pytest
from litex.soc.interconnect import csr_bus
from litex.soc.interconnect.axi import AXI2AXILite, AXIInterface, AXILite2CSR, AXILiteInterface
from migen import *

from kairos_gateware.simulation import run_simulation
from kairos_gateware.soc.bus import CsrBridge

WORDS = 16
INCREMENTING = 1


class Bench(Module):
    """An AXI slave with `WORDS` words on the register bus. Word n holds 100 + n at first."""

    def __init__(self, bridge):
        self.axi = axi = AXIInterface(data_width=32, address_width=32, id_width=12)
        lite = AXILiteInterface(data_width=32, address_width=32)
        self.csr = csr = csr_bus.Interface(data_width=32, address_width=15)
        self.submodules.burst = AXI2AXILite(axi, lite)
        self.submodules.bridge = bridge(lite, csr)
        words = Array(Signal(32, reset=100 + n, name=f"word_{n}") for n in range(WORDS))
        place = csr.adr[: log2_int(WORDS)]
        self.sync += [csr.dat_r.eq(words[place]), If(csr.we, words[place].eq(csr.dat_w))]


def play(bridge, orders, seed=0):
    """orders: (first word, values to be written or None, beats). seed: of pauses between and within them; with 0
    there are none. Returns (trace, answers): of each cycle what the slave says and does, and of each order (cycle of
    its address, cycles of its beats, values read or cycle of the write's answer)."""
    dut = Bench(bridge)
    axi = dut.axi
    told = [axi.ar.ready, axi.aw.ready, axi.w.valid & axi.w.ready, dut.csr.we, dut.csr.re]
    told += [axi.r.valid, axi.r.last, axi.r.id, Mux(axi.r.valid, axi.r.data, 0), axi.b.valid, axi.b.id]
    pauses = random.Random(seed)
    trace, answers = [], []
    cycle = -1

    def pause():
        return 0 if seed == 0 else pauses.choice([0, 0, 1, 3])

    def tick():
        nonlocal cycle
        yield
        cycle += 1
        trace.append((yield Cat(*told)))

    def until(ready, valid):
        yield valid.eq(1)
        yield from tick()
        while not (yield ready):
            yield from tick()
        yield valid.eq(0)
        return cycle

    def address(channel, order, number):
        first, _, beats = order
        yield channel.addr.eq(4 * first)
        yield channel.len.eq(beats - 1)
        yield channel.size.eq(2)
        yield channel.burst.eq(INCREMENTING)
        yield channel.id.eq(number)
        return (yield from until(channel.ready, channel.valid))

    def read(order, number):
        began = yield from address(axi.ar, order, number)
        beats, values = [], []
        for _ in range(order[2]):
            for _ in range(pause()):
                yield from tick()
            beats.append((yield from until(axi.r.valid, axi.r.ready)))
            values.append((yield axi.r.data))
        answers.append((began, beats, values))

    def write(order, number):
        # Address and data are taken in cycles of their own, and the data may come late
        beats, began = [], None
        values = list(order[1])
        yield axi.aw.addr.eq(4 * order[0])
        yield axi.aw.len.eq(len(values) - 1)
        yield axi.aw.size.eq(2)
        yield axi.aw.burst.eq(INCREMENTING)
        yield axi.aw.id.eq(number)
        yield axi.aw.valid.eq(1)
        yield axi.w.strb.eq(15)
        yield axi.b.ready.eq(1)
        wait = pause()
        while len(beats) < len(values) or not (yield axi.b.valid):
            offered = not wait and len(beats) < len(values)
            wait = max(0, wait - 1)
            yield axi.w.valid.eq(offered)
            yield axi.w.data.eq(values[min(len(beats), len(values) - 1)])
            yield axi.w.last.eq(len(beats) == len(values) - 1)
            yield from tick()
            if (yield axi.aw.valid) and (yield axi.aw.ready):
                began = cycle
                yield axi.aw.valid.eq(0)
            if offered and (yield axi.w.ready):
                beats.append(cycle)
                wait = pause()
        yield axi.w.valid.eq(0)
        answers.append((began, beats, cycle))

    def master():
        for number, order in enumerate(orders):
            yield from (write if order[1] is not None else read)(order, number)
            for _ in range(pause()):
                yield from tick()

    run_simulation(dut, master())
    return trace, answers


def test_a_read_is_answered_in_the_fourth_cycle_a_write_in_the_third():
    _, [(read_at, beats, values), (write_at, _, written)] = play(CsrBridge, [(3, None, 1), (3, [7], 1)])
    assert (beats[0] - read_at, values) == (3, [103])
    assert written - write_at == 2


def test_words_of_a_burst():
    orders = [(4, [1, 2, 3, 4], 4), (3, None, 6)]
    _, [_, (_, beats, values)] = play(CsrBridge, orders)
    assert values == [103, 1, 2, 3, 4, 108]
    assert {after - before for before, after in zip(beats, beats[1:], strict=False)} == {3}


@pytest.mark.parametrize("seed", range(8))
def test_the_bridge_does_what_litexs_does_in_the_same_cycles(seed):
    choose = random.Random(seed)
    orders = []
    for _ in range(25):
        beats = choose.choice([1, 1, 2, 5])
        values = [choose.getrandbits(32) for _ in range(beats)] if choose.random() < 0.5 else None
        orders.append((choose.randrange(WORDS - beats), values, beats))
    assert play(CsrBridge, orders, seed) == play(AXILite2CSR, orders, seed)
