"""The measuring block: its reads and writes, to the cycle, on ports of known timing; and ports that
are borrowed."""

import random
import struct

import pytest
from migen import *

from kairos_gateware.hp import HpRead, HpWrite
from kairos_gateware.testbenches.simulator import run_simulation
from kairos_gateware.traffic.engine import TrafficEngine
from kairos_gateware.traffic.lines import WIDTH, Lines
from kairos_gateware.traffic.port_share import PortShare
from kairos_gateware.verilated.hp_memory import HpMemory

BASE = 0x0E00_0000
LATENCY = 30


class Half:
    """The read or the write half of the ACP, as `HpMemory` serves it."""

    def __init__(self, bus, kind):
        for name in kind.OUTPUTS + kind.INPUTS:
            setattr(self, name, getattr(bus, name))


def run(write, coherent, size, cycles, address=BASE, seed=7, content=None, **memory):
    """`engine`'s results by name, and the memory."""
    dut = TrafficEngine()
    memory = HpMemory(bytearray(content or bytes(size + 128)), BASE, LATENCY, **memory)
    results = {}

    def control():
        for name, value in [("write", write), ("coherent", coherent), ("address", address), ("size", size)]:
            yield getattr(dut, name).eq(value)
        yield dut.seed.eq(seed)
        for cycle in range(cycles):
            yield dut.start.eq(cycle == 2)
            yield
        for name in ["busy", "settled", "error", "first", "last", "sum"]:
            results[name] = yield getattr(dut, name)

    reading, writing = (dut.acp, dut.acp) if coherent else (dut.hp_read, dut.hp_write)
    serve = memory.write(Half(writing, HpWrite), cycles) if write else memory.read(Half(reading, HpRead), cycles)
    run_simulation(dut, [control(), serve])
    return results, memory


@pytest.mark.parametrize("coherent, burst", [(False, 16), (True, 4)])
@pytest.mark.parametrize("size", [8, 32, 136, 1024])
def test_a_read_is_as_fast_as_the_port(coherent, burst, size):
    words = [random.Random(size).getrandbits(32) for _ in range(size // 4)]
    results, memory = run(False, coherent, size, size // 8 + 100, content=struct.pack(f"<{len(words)}I", *words))
    assert (results["busy"], results["settled"], results["error"]) == (0, 1, 0)
    assert results["sum"] == sum(words) % 2**32
    # `HpMemory` sets its signals for the cycle after the one in which it samples
    assert results["first"] == 2 + LATENCY
    assert results["last"] == results["first"] + size // 8 - 1
    assert [beats for _, _, beats in memory.bursts[:-1]] == [burst] * (len(memory.bursts) - 1)
    assert sum(beats for _, _, beats in memory.bursts) == size // 8


@pytest.mark.parametrize("coherent, burst", [(False, 16), (True, 4)])
@pytest.mark.parametrize("size", [8, 32, 136, 1024])
def test_a_write_is_as_fast_as_the_port(coherent, burst, size):
    results, memory = run(True, coherent, size, size // 8 + 100)
    assert (results["busy"], results["settled"], results["error"]) == (0, 1, 0)
    beats = struct.unpack_from(f"<{size // 8}Q", memory.content)
    assert list(beats) == [(7 + n) | (0xFFFF_FFFF - 7 - n) << 32 for n in range(size // 8)]
    assert not any(memory.content[size:])
    assert results["first"] == 2 + min(size // 8, burst) + LATENCY
    assert results["last"] == 2 + size // 8 + LATENCY
    assert all(beats <= burst for _, _, beats in memory.writes)


@pytest.mark.parametrize("write", [False, True])
def test_unready_port_is_waited_for_and_bus_error_reported(write):
    results, memory = run(write, False, 512, 1200, ready=lambda cycle: cycle % 5 == 0, bad=[BASE + 128])
    assert (results["busy"], results["error"]) == (0, 1)
    if write:
        assert list(struct.unpack_from("<64I", memory.content))[::2] == list(range(7, 39))
    assert run(write, False, 512, 300)[0]["error"] == 0


class Borrowed(Module):
    def __init__(self):
        self.owner, self.guest, self.wanted = HpWrite(), HpWrite(), Signal()
        self.submodules.port_share = port_share = PortShare(self.owner, self.guest, self.wanted)
        self.bus = port_share.bus


def burst(bus, address, beats, gap, seed):
    """Generator: writes a burst, its address up to `gap` cycles before its data."""
    begin = {"address": 0, "data": random.Random(seed).randrange(gap)}
    sent, beat, cycle = False, 0, 0
    while not (sent and beat == beats):
        yield bus.awvalid.eq(not sent and cycle >= begin["address"])
        yield bus.awaddr.eq(address)
        yield bus.awlen.eq(beats - 1)
        yield bus.wvalid.eq(beat < beats and cycle >= begin["data"])
        yield bus.wdata.eq(address + beat)
        yield bus.wlast.eq(beat == beats - 1)
        yield bus.wstrb.eq(0xFF)
        yield bus.bready.eq(1)
        yield
        cycle += 1
        sent = sent or bool((yield bus.awvalid) and (yield bus.awready))
        beat += bool((yield bus.wvalid) and (yield bus.wready))
    yield bus.awvalid.eq(0)
    yield bus.wvalid.eq(0)


def test_bursts_on_a_shared_port_are_neither_lost_nor_mixed():
    """Bursts of owner and guest at any time: each arrives whole, at its own place, and each is
    answered."""
    dut = Borrowed()
    memory = HpMemory(bytearray(8 * 16 * 200), BASE, 9, ready=lambda cycle: cycle % 3 != 1)
    answers = {"owner": 0, "guest": 0}

    def of_owner():
        rng = random.Random(1)
        for n in range(60):
            yield from burst(dut.owner, BASE + 256 * n, rng.randrange(1, 17), 6, n)
            for _ in range(rng.choice([0, 0, 3, 40])):
                yield

    def of_guest():
        rng = random.Random(2)
        for n in range(20):
            before = answers["guest"]
            yield dut.wanted.eq(1)
            yield from burst(dut.guest, BASE + 256 * n + 128, rng.randrange(1, 17), 1, n)
            while answers["guest"] == before:
                yield
            yield dut.wanted.eq(0)
            for _ in range(rng.randrange(30)):
                yield

    def count():
        for _ in range(6000):
            yield
            for name in answers:
                answers[name] += yield getattr(dut, name).bvalid

    run_simulation(dut, [of_owner(), of_guest(), count(), memory.write(dut.bus, 6000)])
    assert answers == {"owner": 60, "guest": 20} and len(memory.writes) == 80
    for _, address, beats in memory.writes:
        offset = address - BASE
        written = struct.unpack_from(f"<{beats}Q", memory.content, offset)
        assert list(written) == [address + n for n in range(beats)]


def test_looped_back_lines_return_two_cycles_later():
    dut, given, back = Lines(), [random.Random(n).getrandbits(2 * WIDTH) for n in range(30)], []

    def run():
        for lines in given:
            yield dut.o.eq(lines)
            yield
            back.append((yield dut.i))

    run_simulation(dut, run())
    # A signal set before an edge is visible after it
    assert back[2:] == [(lines % 2**WIDTH) << WIDTH for lines in given[:-2]]
