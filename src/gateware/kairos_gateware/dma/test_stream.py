"""Streams of words from memory: lists of any descriptors, on a port that is shared with DMA;
errors, stopping."""

import random
import struct

import pytest
from migen import *

from kairos_gateware.dma.engine import DmaEngine
from kairos_gateware.dma.format import COMPACT, compact
from kairos_gateware.dma.port import share
from kairos_gateware.dma.stream import DESCRIPTOR_BYTES, StreamReader
from kairos_gateware.testbenches.simulator import run_simulation
from kairos_gateware.verilated.hp_memory import HpMemory, Playback

BASE = 0x0E00_0000
LATENCY = 30


class Both(Module):
    """The stream's reader beside the DMA engine on one port."""

    def __init__(self):
        self.submodules.dma = dma = DmaEngine(32)
        self.submodules.stream = stream = StreamReader()
        self.bus = share(self, [dma.bus, *stream.buses])


def memory_of(blocks):
    """(content, words): a list of descriptors of `blocks`, [(gap in words, number of words)], and
    the data they refer to."""
    head = -(-DESCRIPTOR_BYTES * (len(blocks) + 1) // 128) * 128
    lists, content, words = b"", bytearray(), []
    for gap, count in blocks:
        content += bytes([0xEE]) * 32 * gap
        lists += struct.pack("<II8x", BASE + head + len(content), count)
        for n in range(count):
            words.append(int.from_bytes(struct.pack("<IIQQQ", n, count, len(words), 2**64 - 1 - n, 5), "little"))
            content += words[-1].to_bytes(32, "little")
    lists += bytes(DESCRIPTOR_BYTES)
    return bytearray(lists.ljust(head, b"\xcc")) + content + bytes(256), words


def words_in(blocks):
    """(content, words): a list, [(whether the words stand in it, their number)], and the other words."""
    size = sum(DESCRIPTOR_BYTES + 32 * count * inside for inside, count in blocks) + DESCRIPTOR_BYTES
    head, lists, content, words = -(-size // 128) * 128, b"", b"", []
    for inside, count in blocks:
        own = [
            int.from_bytes(struct.pack("<IIQQQ", n, count, len(words), 7 * n, inside), "little") for n in range(count)
        ]
        data = b"".join(word.to_bytes(32, "little") for word in own)
        lists += struct.pack("<II8x", 1 if inside else BASE + head + len(content), count)
        if inside:
            lists += data
        else:
            content += data
        words += own
    lists += bytes(DESCRIPTOR_BYTES)
    return bytearray(lists.ljust(head, b"\xcc")) + content + bytes(256), words


class Run:
    """`taken`: (cycle, word); `end`: first cycle that is not busy, or None."""

    def __init__(self, content, cycles=3000, ready=lambda cycle: True, stop=None, trace=b"", **memory):
        self.dut, self.taken, self.end, self.trace = Both(), [], None, len(content)
        self.memory = HpMemory(bytearray(content) + trace, BASE, LATENCY, **memory)
        self.core = Playback(lambda cycle: True, lambda *event: 0)
        self.cycles, self.ready, self.stop = cycles, ready, stop
        run_simulation(
            self.dut,
            [self.memory.read(self.dut.bus, cycles), self.core.serve(self.dut.dma.cri, cycles), self.control()],
        )

    def control(self):
        stream, dma = self.dut.stream, self.dut.dma
        yield stream.base.eq(BASE)
        yield dma.base.eq(BASE + self.trace)
        yield dma.format.eq(COMPACT)
        for cycle in range(self.cycles):
            yield stream.start.eq(cycle == 10)
            yield dma.start.eq((cycle == 40) & (len(self.memory.content) > self.trace))
            yield stream.stop.eq(cycle == self.stop)
            yield stream.ready.eq(self.ready(cycle))
            yield
            if (yield stream.valid) and (yield stream.ready):
                self.taken.append((cycle, (yield stream.word)))
            if cycle > 12 and self.end is None and not (yield stream.busy):
                self.end = cycle
        self.error, self.words = (yield stream.error), (yield stream.words)


@pytest.mark.parametrize("seed, stalls, events", [(1, 1, 0), (2, 3, 0), (3, 1, 60)])
def test_words_of_any_descriptors_arrive_in_order(seed, stalls, events):
    """Any descriptors, with a core that has no room, or beside a trace of RTIO events."""
    rng = random.Random(seed)
    content, words = memory_of([(rng.randrange(6), rng.randrange(1, 9)) for _ in range(9)])
    trace = compact([(n % 3, 0, 8 * n, bytes([n, 0, 0, 0])) for n in range(events)]) if events else b""
    content += bytes(-len(content) % 128)
    run = Run(content, 700 + 4 * stalls * len(words), lambda cycle: cycle % stalls == 0, trace=trace)
    assert [word for _, word in run.taken] == words
    assert (run.error, run.words) == (0, len(words)) and run.end is not None
    assert len(run.core.events) == events


@pytest.mark.parametrize("seed, stalls", [(1, 1), (2, 3), (3, 7)])
def test_words_in_the_list_arrive_in_order_with_others(seed, stalls):
    rng = random.Random(seed)
    content, words = words_in([(rng.random() < 0.6, rng.randrange(1, 7)) for _ in range(12)])
    run = Run(content, 900 + 4 * stalls * len(words), lambda cycle: cycle % stalls == 0)
    assert [word for _, word in run.taken] == words
    assert (run.error, run.words) == (0, len(words)) and run.end is not None


def test_words_in_the_list_need_one_read():
    for count in (1, 2, 3):
        content, words = words_in([(True, count)])
        run = Run(content, 200)
        assert [word for _, word in run.taken] == words and run.taken[0][0] - 10 == LATENCY + 11
    run = Run(content, 200, bad=[BASE + 32])
    assert run.error and run.end is not None and len(run.taken) < 3


def test_words_stream_at_the_rate_of_the_port():
    content, _ = memory_of([(0, 32), (0, 32)])
    cycles = [cycle for cycle, _ in Run(content, 450).taken]
    steps = [b - a for a, b in zip(cycles, cycles[1:], strict=False)]
    assert (cycles[0] - 10, steps[31]) == (2 * LATENCY + 14, LATENCY + 11)
    assert steps[:31] == steps[32:] == [4] * 31


@pytest.mark.parametrize("stop", [11, 45, 90])
def test_stream_stopped_at_any_time_leaves_no_open_burst(stop):
    content, words = memory_of([(0, 100)])
    run = Run(content, 300, stop=stop)
    assert [word for _, word in run.taken] == words[: len(run.taken)]
    assert run.end is not None and run.end < stop + LATENCY + 8 * 16 + 10
    assert not run.error


def test_unreadable_memory_ends_stream_with_bus_error():
    content, words = memory_of([(0, 20)])
    run = Run(content, 300, bad=[BASE + 128 + 32 * 5 + 8])
    assert [word for _, word in run.taken] == words[:5]
    assert run.error and run.end is not None
    run = Run(content, 100, bad=[BASE])
    assert not run.taken and run.error
