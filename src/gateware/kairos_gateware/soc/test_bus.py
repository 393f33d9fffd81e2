"""Port GP0: cycles per register access, and the same register behaviour as behind LiteX's
bridges."""

import random
from types import SimpleNamespace
from typing import NamedTuple

import pytest
from litex.soc.interconnect import csr_bus
from litex.soc.interconnect.axi import (
    BURST_FIXED,
    BURST_INCR,
    BURST_WRAP,
    AXI2AXILite,
    AXIInterface,
    AXILite2CSR,
    AXILiteInterface,
)
from migen import *

from kairos_gateware.soc.bus import Gp0Bus
from kairos_gateware.soc.registers_port import RegistersPort
from kairos_gateware.testbenches.simulator import run_simulation

WORDS = 16


class LitexPort(Module):
    """LiteX's equivalent of `RegistersPort`."""

    def __init__(self, axi, csr):
        lite = AXILiteInterface(data_width=32, address_width=32)
        self.submodules += AXI2AXILite(axi, lite), AXILite2CSR(lite, csr)


class Bench(Module):
    """An AXI slave with `WORDS` words on the register bus. Word n initially holds 100 + n. `asked`:
    how often a word has been read."""

    def __init__(self, port):
        self.axi = axi = AXIInterface(data_width=32, address_width=32, id_width=12)
        self.csr = csr = csr_bus.Interface(data_width=32, address_width=15)
        self.submodules.port = port(axi, csr)
        words = Array(Signal(32, reset=100 + n, name=f"word_{n}") for n in range(WORDS))
        self.asked = Signal(32)
        place = csr.adr[: log2_int(WORDS)]
        self.sync += [
            # Like a bank: 0 unless it is selected, and updated in each cycle
            csr.dat_r.eq(Mux(csr.adr[log2_int(WORDS) :] == 0, words[place], 0)),
            If(csr.we, words[place].eq(csr.dat_w)),
            If(csr.re, self.asked.eq(self.asked + 1)),
        ]


class Request(NamedTuple):
    """A burst from word `first` on; `values` are written, or None."""

    first: int
    beats: int = 1
    values: list[int] | None = None
    burst: int = BURST_INCR
    strobes: int = 15


def play(port, requests, seed=0):
    """seed: of pauses between and within the requests; with 0 there are none. Returns for each request
    (cycle of its address, cycles of its beats, values read or cycle of the write's answer), and how
    often a word was read."""
    dut = Bench(port)
    axi = dut.axi
    answer = [axi.r.valid, axi.r.last, axi.r.id, axi.r.data]
    pauses = random.Random(seed)
    answers, asked = [], []
    cycle = -1

    def pause():
        return 0 if seed == 0 else pauses.choice([0, 0, 1, 3])

    def tick():
        nonlocal cycle
        yield
        cycle += 1

    def until(ready, valid):
        yield valid.eq(1)
        yield from tick()
        while not (yield ready):
            yield from tick()
        yield valid.eq(0)
        return cycle

    def set_address(channel, request, number):
        yield channel.addr.eq(4 * request.first)
        yield channel.len.eq(request.beats - 1)
        yield channel.size.eq(2)
        yield channel.burst.eq(request.burst)
        yield channel.id.eq(number)

    def read(request, number):
        yield from set_address(axi.ar, request, number)
        began = yield from until(axi.ar.ready, axi.ar.valid)
        beats, values = [], []
        for beat in range(request.beats):
            before = None
            for _ in range(pause()):
                yield from tick()
                now = (yield Cat(*answer)) if (yield axi.r.valid) else None
                assert before in (None, now), "an answer that nobody has taken has changed"
                before = now
            beats.append((yield from until(axi.r.valid, axi.r.ready)))
            values.append((yield axi.r.data))
            assert ((yield axi.r.id), (yield axi.r.last)) == (number, beat == request.beats - 1)
        answers.append((began, beats, values))

    def write(request, number):
        # Address and data are accepted in separate cycles, and each may be late
        beats, began, answered = [], None, False
        values = list(request.values)
        yield from set_address(axi.aw, request, number)
        yield axi.w.strb.eq(request.strobes)
        late, wait, patience = pause(), pause(), pause()
        while not answered:
            offered = not wait and len(beats) < len(values)
            wait = max(0, wait - 1)
            if late == 0 and began is None:
                yield axi.aw.valid.eq(1)
            late = max(0, late - 1)
            yield axi.w.valid.eq(offered)
            yield axi.w.data.eq(values[min(len(beats), len(values) - 1)])
            yield axi.w.last.eq(len(beats) == len(values) - 1)
            yield axi.b.ready.eq(patience == 0)
            yield from tick()
            if (yield axi.b.valid):
                assert len(beats) == len(values) and began is not None and (yield axi.b.id) == number
                answered = (yield axi.b.ready) == 1
                patience = max(0, patience - 1)
            if (yield axi.aw.valid) and (yield axi.aw.ready):
                began = cycle
                yield axi.aw.valid.eq(0)
            if offered and (yield axi.w.ready):
                beats.append(cycle)
                wait = pause()
        yield axi.w.valid.eq(0)
        yield axi.b.ready.eq(0)
        answers.append((began, beats, cycle))

    def master():
        for number, request in enumerate(requests):
            yield from (read if request.values is None else write)(request, number)
            for _ in range(pause()):
                yield from tick()
        yield
        asked.append((yield dut.asked))

    run_simulation(dut, master())
    return answers, asked[0]


def test_read_is_answered_in_third_and_write_in_second_cycle():
    [(read_at, beats, values), (write_at, _, written)], _ = play(RegistersPort, [Request(3), Request(3, values=[7])])
    assert (beats[0] - read_at, values) == (2, [103])
    assert written - write_at == 1


def test_burst_transfers_one_word_per_cycle():
    requests = [Request(4, 4, [1, 2, 3, 4]), Request(3, 6)]
    [(_, written, _), (_, beats, values)], _ = play(RegistersPort, requests)
    assert values == [103, 1, 2, 3, 4, 108]
    for cycles in (written, beats):
        assert {after - before for before, after in zip(cycles, cycles[1:], strict=False)} == {1}


@pytest.mark.parametrize("seed", range(8))
def test_registers_behave_as_behind_litex_bridges(seed):
    """Also that a register whose reading has side effects is read once for each word."""
    choose = random.Random(seed)
    requests = []
    for _ in range(40):
        burst = choose.choice([BURST_INCR, BURST_INCR, BURST_FIXED, BURST_WRAP])
        beats = choose.choice([2, 4, 8] if burst == BURST_WRAP else [1, 1, 2, 5])
        values = [choose.getrandbits(32) for _ in range(beats)] if choose.random() < 0.5 else None
        requests.append(
            Request(choose.randrange(WORDS - beats), beats, values, burst, choose.choice([15, 15, 15, 1, 0]))
        )
    (ours, asked), (litexs, _) = play(RegistersPort, requests, seed), play(LitexPort, requests, seed)

    def read(answers):
        return [values for *_, values in answers if isinstance(values, list)]

    assert read(ours) == read(litexs)
    assert asked == sum(request.beats for request in requests if request.values is None)


def test_simultaneous_read_and_write_take_turns():
    dut = Bench(RegistersPort)
    axi, served = dut.axi, []

    def masters():
        for channel in (axi.ar, axi.aw):
            yield channel.burst.eq(BURST_INCR)
            yield channel.valid.eq(1)
        for line in (axi.r.ready, axi.b.ready, axi.w.valid, axi.w.last):
            yield line.eq(1)
        yield
        while len(served) < 8:
            yield
            for name, channel in (("r", axi.r), ("w", axi.b)):
                if (yield channel.valid):
                    served.append(name)

    run_simulation(dut, masters())
    assert "".join(served) in ("rwrwrwrw", "wrwrwrwr")


def test_more_register_blocks_than_pages_are_refused():
    blocks = SimpleNamespace(**{f"block{n}": Module() for n in range(33)})
    with pytest.raises(ValueError, match="room for the registers of 32 blocks, but these are 33; each link of a board"):
        Gp0Bus(blocks, lambda registers: [0], taking=False)
