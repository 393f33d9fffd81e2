"""Loads and stores of other boards in coherent regions: through the coherent port, in between the owner's
accesses; all others through the high-performance port."""

from types import SimpleNamespace

from migen import *

from kairos_gateware.initiator.port import AcpMaster
from kairos_gateware.link.remote.server import ENTRIES
from kairos_gateware.testbenches.simulator import run_simulation
from kairos_gateware.traffic.port_share import PortShare

from .coherent import ServedWords

COHERENT, PLAIN = 0x40, 0x80
LATENCY = 5


class Served(Module):
    """Words of a server on an ACP that an owner uses as well; `memory` of the ACP answers after `LATENCY`."""

    def __init__(self):
        bus = [("valid", 1), ("ready", 1), ("id", log2_int(ENTRIES)), ("write", 1), ("address", 29)]
        bus = Record([*bus, ("data", 64), ("strobes", 8)])
        reply = Record([("valid", 1), ("ready", 1), ("id", log2_int(ENTRIES)), ("error", 1), ("data", 64)])
        self.server = SimpleNamespace(bus=bus, reply=reply, coherent=Signal())
        self.submodules.words = ServedWords(self.server)
        self.owner = AcpMaster()
        self.submodules.share = PortShare(self.owner, self.words.port, self.words.wanted)
        self.bus, self.reply, self.acp = bus, reply, self.share.bus


def access(dut, id_, address, data=None, coherent=True, strobes=0xFF):
    """Asks, and returns (id, error, data) of the answer."""
    yield dut.bus.valid.eq(1)
    yield dut.bus.id.eq(id_)
    yield dut.bus.write.eq(data is not None)
    yield dut.bus.address.eq(address)
    yield dut.bus.data.eq(data or 0)
    yield dut.bus.strobes.eq(strobes)
    yield dut.server.coherent.eq(coherent)
    yield dut.reply.ready.eq(1)
    yield
    while not (yield dut.bus.ready):
        yield
    yield dut.bus.valid.eq(0)
    while not (yield dut.reply.valid):
        yield
    return ((yield dut.reply.id), (yield dut.reply.error), (yield dut.reply.data))


@passive
def memory(acp, words, log):
    """A memory on the coherent port: one access at a time."""
    yield acp.arready.eq(1)
    yield acp.awready.eq(1)
    yield acp.wready.eq(1)
    while True:
        yield
        if (yield acp.awvalid) and (yield acp.wvalid):
            address = yield acp.awaddr
            words[address] = yield acp.wdata
            log.append((address, (yield acp.wstrb)))
            yield acp.awready.eq(0)
            yield acp.wready.eq(0)
            for _ in range(LATENCY):
                yield
            yield acp.bvalid.eq(1)
            yield acp.bresp.eq(2 if address == 0 else 0)
            yield
            while not (yield acp.bready):
                yield
            yield acp.bvalid.eq(0)
            yield acp.awready.eq(1)
            yield acp.wready.eq(1)
        if (yield acp.arvalid):
            address = yield acp.araddr
            yield acp.arready.eq(0)
            for _ in range(LATENCY):
                yield
            yield acp.rvalid.eq(1)
            yield acp.rlast.eq(1)
            yield acp.rdata.eq(words.get(address, 0))
            yield
            while not (yield acp.rready):
                yield
            yield acp.rvalid.eq(0)
            yield acp.arready.eq(1)


def test_words_of_coherent_regions_go_through_the_coherent_port():
    dut, words, log = Served(), {}, []

    def play():
        assert (yield from access(dut, 3, COHERENT, 0x1234_5678_9ABC_DEF0, strobes=0x0F)) == (3, 0, 0)
        assert (yield from access(dut, 4, COHERENT))[:3] == (4, 0, 0x1234_5678_9ABC_DEF0)
        assert (yield from access(dut, 5, 0, 1))[:2] == (5, 1)
        yield
        yield
        assert (yield dut.words.settled) == 1

    run_simulation(dut, [play(), memory(dut.acp, words, log)])
    assert log == [(8 * COHERENT, 0x0F), (0, 0xFF)]


def test_words_of_other_regions_go_through_the_high_performance_port():
    dut, log = Served(), []

    @passive
    def high_performance():
        port = dut.words.read
        yield port.arready.eq(1)
        while True:
            yield
            if (yield port.arvalid):
                log.append((yield port.araddr))
                yield port.rvalid.eq(1)
                yield port.rdata.eq(77)
                yield
                yield port.rvalid.eq(0)

    def play():
        assert (yield from access(dut, 2, PLAIN, coherent=False)) == (2, 0, 77)

    run_simulation(dut, [play(), high_performance(), memory(dut.acp, {}, [])])
    assert log == [8 * PLAIN]


def test_owner_of_the_coherent_port_keeps_it_until_it_rests():
    dut, words, log = Served(), {}, []

    def owner():
        yield dut.owner.bready.eq(1)
        for n in range(4):
            yield dut.owner.awvalid.eq(1)
            yield dut.owner.awaddr.eq(0x1000 + 8 * n)
            yield dut.owner.wvalid.eq(1)
            yield dut.owner.wlast.eq(1)
            yield
            while not (yield dut.owner.awready):
                yield
            yield dut.owner.awvalid.eq(0)
            yield dut.owner.wvalid.eq(0)
            while not (yield dut.owner.bvalid):
                yield
            yield
            yield
            yield

    def play():
        for n in range(4):
            assert (yield from access(dut, n, COHERENT + n, n))[:2] == (n, 0)

    run_simulation(dut, [owner(), play(), memory(dut.acp, words, log)])
    assert sorted(words) == sorted([8 * (COHERENT + n) for n in range(4)] + [0x1000 + 8 * n for n in range(4)])
