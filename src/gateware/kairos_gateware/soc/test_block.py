"""Regions that show a block of the logic: what other boards read and write arrives there or in memory, by its
address, and each client's answers keep their order."""

from dataclasses import replace

import pytest
from migen import *

from kairos_gateware.contracts.memory import PL_BLOCK
from kairos_gateware.contracts.remote import ADDER_AREA_BYTES, ADDER_IDENTITY, AdderArea
from kairos_gateware.hp import HpRead, HpWrite
from kairos_gateware.link.remote.words import BUS_ERROR, DONE
from kairos_gateware.soc.soc import Soc
from kairos_gateware.testbenches.simulator import run_simulation
from kairos_gateware.variants import VARIANTS

from .block import BoardBlock

_FIRST, _SECOND, _SUMS = (
    PL_BLOCK.start + area * ADDER_AREA_BYTES for area in (AdderArea.FIRST, AdderArea.SECOND, AdderArea.SUMS)
)
MEMORY = 0x0FE0_0000
DELAY = 7


class Clients(Module):
    """Two readers and two writers beside a block, with a memory behind each that answers after `DELAY`."""

    def __init__(self):
        self.readers, self.writers = [HpRead() for _ in range(2)], [HpWrite() for _ in range(2)]
        self.submodules.block = BoardBlock("adder", self.readers, self.writers)


def writes(port, bursts, answers):
    """Issues bursts (address, words), all before the first is answered; notes their responses."""
    yield port.bready.eq(1)
    offered, data = 0, [(word, n == len(words) - 1) for _, words in bursts for n, word in enumerate(words)]
    sent = 0
    while len(answers) < len(bursts):
        yield port.awvalid.eq(offered < len(bursts))
        if offered < len(bursts):
            yield port.awaddr.eq(bursts[offered][0])
            yield port.awlen.eq(len(bursts[offered][1]) - 1)
        yield port.wvalid.eq(sent < len(data))
        if sent < len(data):
            yield port.wdata.eq(data[sent][0])
            yield port.wlast.eq(data[sent][1])
        yield port.wstrb.eq(0xFF)
        yield
        offered += (yield port.awvalid) and (yield port.awready)
        sent += (yield port.wvalid) and (yield port.wready)
        if (yield port.bvalid):
            answers.append((yield port.bresp))
    yield port.awvalid.eq(0)


def reads(port, bursts, beats):
    """Issues reads (address, beats), all before the first is answered; notes (data, response, last)."""
    yield port.rready.eq(1)
    offered = 0
    while len(beats) < sum(count for _, count in bursts):
        yield port.arvalid.eq(offered < len(bursts))
        if offered < len(bursts):
            yield port.araddr.eq(bursts[offered][0])
            yield port.arlen.eq(bursts[offered][1] - 1)
        yield
        offered += (yield port.arvalid) and (yield port.arready)
        if (yield port.rvalid):
            beats.append(((yield port.rdata), (yield port.rresp), (yield port.rlast)))
    yield port.arvalid.eq(0)


def own(asker, accesses, found):
    """Accesses of the board's own processors: (address, word to store or None), one at a time."""
    request, answer = asker.request, asker.answer
    for address, word in accesses:
        yield request.valid.eq(1)
        yield request.write.eq(word is not None)
        yield request.address.eq(address >> 3)
        yield request.data.eq(word or 0)
        yield request.strobes.eq(0x0F)
        yield
        while not (yield request.ready):
            yield
        yield request.valid.eq(0)
        while not (yield answer.valid):
            yield
        found.append(((yield answer.status), (yield answer.data)))
        yield


@passive
def memory_reads(port):
    """Answers with the address of each word."""
    while True:
        yield port.arready.eq(1)
        yield
        if (yield port.arvalid):
            address, beats = (yield port.araddr), (yield port.arlen) + 1
            yield port.arready.eq(0)
            for _ in range(DELAY):
                yield
            for n in range(beats):
                yield port.rvalid.eq(1)
                yield port.rdata.eq(address + 8 * n)
                yield port.rlast.eq(n == beats - 1)
                yield
            yield port.rvalid.eq(0)


@passive
def memory_writes(port, log):
    while True:
        yield port.awready.eq(1)
        yield
        if (yield port.awvalid):
            address = yield port.awaddr
            yield port.awready.eq(0)
            yield port.wready.eq(1)
            last = False
            while not last:
                yield
                if (yield port.wvalid):
                    log.append((address, (yield port.wdata)))
                    address, last = address + 8, (yield port.wlast)
            yield port.wready.eq(0)
            for _ in range(DELAY):
                yield
            yield port.bvalid.eq(1)
            yield
            yield port.bvalid.eq(0)


def test_accesses_to_the_block_and_to_memory_arrive_each_at_its_place():
    dut = Clients()
    stored, answers, other, beats, words, mine = [], [], [], [], [], []
    first, second = [3 * n | 5 << 32 for n in range(8)], [100 + n | 7 << 32 for n in range(8)]
    begin = [ADDER_IDENTITY | 16 << 32, 1 << 32]

    def asks():
        fed = [(_FIRST, first), (MEMORY, [1, 2]), (MEMORY + 16, [3]), (_SECOND, second), (PL_BLOCK.start, begin)]
        yield from writes(dut.writers[0], fed, answers)
        for _ in range(20):
            yield
        asked = [(MEMORY, 2), (_SUMS, 8), (_SUMS + 64, 1), (MEMORY + 64, 1), (PL_BLOCK.start + 8, 1)]
        yield from reads(dut.readers[0], asked, beats)
        sums = AdderArea.SUMS * ADDER_AREA_BYTES
        yield from own(dut.block.own, [(sums, None), (0x1008, 6), (0x1008, None), (sums, 1), (1 << 20, None)], mine)

    def beside():
        """The other link's accesses, among them refused ones."""
        yield from writes(dut.writers[1], [(MEMORY + 0x100, [9] * 4), (_SUMS, [1]), (PL_BLOCK.stop - 8, [1])], other)
        yield from reads(dut.readers[1], [(PL_BLOCK.start, 1), (PL_BLOCK.start + 16, 1), (MEMORY, 1)], words)

    memories = [memory_reads(port) for port in dut.block.readers]
    memories += [memory_writes(port, stored) for port in dut.block.writers]
    run_simulation(dut, [asks(), beside(), *memories])
    assert answers == [0] * 5 and other == [0, 2, 3]
    assert {at: word for at, word in stored if at < MEMORY + 0x100} == {MEMORY: 1, MEMORY + 8: 2, MEMORY + 16: 3}
    sums = [a + b for a, b in zip(first, second, strict=True)]
    assert [beat[0] for beat in beats] == [MEMORY, MEMORY + 8, *sums, 0, MEMORY + 64, 2]
    assert [beat[2] for beat in beats] == [0, 1, *[0] * 7, 1, 1, 1, 1]
    assert [status for status, _ in mine] == [DONE] * 3 + [BUS_ERROR] * 2
    assert (mine[0][1], mine[2][1]) == (sums[0], first[1] >> 32 << 32 | 6)
    assert [beat[1] for beat in words] == [0, 3, 0] and words[0][0] & 0xFFFF_FFFF == ADDER_IDENTITY


def test_block_without_remote_memory_is_refused():
    with pytest.raises(ValueError, match="other boards reach its block by remote memory, and no link has any"):
        Soc(replace(VARIANTS["store"], remote=False))
