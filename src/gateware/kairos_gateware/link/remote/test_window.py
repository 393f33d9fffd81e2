"""Plain pointers: loads and stores at a port of the processing system, and errors on its bus."""

import pytest
from migen import *

from kairos_gateware.testbenches.simulator import run_simulation

from ...testbenches.bridge import PortMaster
from ...testbenches.remote import MEMORY_WORDS, ServedMemory
from .requester import RemoteInitiator
from .server import RemoteServer
from .window import NO_LINK, RemoteAskers, RemoteWindow
from .words import REFUSED, UNREACHABLE, remote_streams

OKAY, SLAVE, DECODE = 0, 2, 3
END = 1 << 28
LAST = MEMORY_WORDS * 8


class Boards(Module):
    """A window whose second link of three leads to board 3 with a memory, of which the first half
    is readable, and writable if `writable`, and to board 4. While `plugged` is 0, requests are
    lost."""

    def __init__(self, **options):
        requests, answers = (
            Record([("valid", 1), ("ready", 1), *stream.forms.layout()]) for stream in remote_streams()
        )
        arriving = Record(requests.layout)
        self.plugged, self.writable = Signal(reset=1), Signal(reset=1)
        self.submodules.initiator = RemoteInitiator(requests, answers, self.plugged, **options)
        self.submodules.server = server = RemoteServer(arriving, answers, 1)
        self.submodules.memory = ServedMemory(server)
        self.submodules.askers = askers = RemoteAskers(self.initiator, 2)
        self.submodules.window = RemoteWindow([None, askers.askers[1], None], lambda board, end: end.eq(board >= 3))
        self.comb += [
            server.board.eq(3),
            arriving.valid.eq(requests.valid & self.plugged),
            arriving.form.eq(requests.form),
            arriving.data.eq(requests.data),
            requests.ready.eq(arriving.ready | ~self.plugged),
            server.regions[0].enable.eq(1),
            server.regions[0].writable.eq(self.writable),
            server.regions[0].last.eq(MEMORY_WORDS // 2 - 1),
        ]


class Master(PortMaster):
    """The processing system at the port; `failures` as the window reports them."""

    def __init__(self, dut):
        self.dut, self.failures = dut, []
        super().__init__(dut.window.axi, self._watch)

    def _watch(self):
        yield
        if (yield self.dut.window.failed):
            window = self.dut.window
            self.failures.append(((yield window.why), (yield window.write), (yield window.address)))


def simulate(play, **options):
    """play: generator function of the boards and their master. Returns the failures."""
    dut = Boards(**options)
    master = Master(dut)

    def run():
        yield from play(dut, master)
        yield from master.step()
        yield from master.step()
        assert (yield dut.window.settled)

    run_simulation(dut, run())
    return master.failures


def test_words_halves_and_bursts_are_stored_and_loaded():
    def play(dut, master):
        assert (yield from master.store(END, 0x11223344)) == OKAY
        assert (yield from master.store(END + 4, 0x55667788)) == OKAY
        assert (yield from master.store(END + 4, 0xAA0000, strobes=4)) == OKAY
        assert (yield from master.load(END)) == [(0x11223344, OKAY)]
        assert (yield from master.load(END + 4)) == [(0x55AA7788, OKAY)]
        assert (yield from master.store(END + 12, 1, 2, 3, 4)) == OKAY
        words = yield from master.load(END + 8, 6)
        assert [word for word, _ in words[1:5]] == [1, 2, 3, 4]

    assert simulate(play) == []


def test_refused_beat_is_a_slave_error_of_that_beat():
    def play(dut, master):
        edge = END + LAST // 2
        words = yield from master.load(edge - 4, 2)
        assert [response for _, response in words] == [OKAY, SLAVE]
        assert (yield from master.store(edge - 4, 1, 2)) == SLAVE
        assert (yield from master.load(edge - 4))[0] == (1, OKAY)
        yield dut.writable.eq(0)
        assert (yield from master.store(END, 1)) == SLAVE
        assert (yield from master.load(END))[0][1] == OKAY

    edge = END + LAST // 2
    assert simulate(play) == [(REFUSED, 0, edge), (REFUSED, 1, edge), (REFUSED, 1, END)]


@pytest.mark.parametrize("end", [0, 2, 3])
def test_access_without_link_fails_with_decode_error(end):
    def play(dut, master):
        assert (yield from master.load(0x8000_0000 + end * END))[0][1] == DECODE
        assert (yield from master.store(0x8000_0000 + end * END, 1)) == DECODE
        assert (yield from master.load(END))[0][1] == OKAY

    failures = simulate(play)
    assert failures == [(NO_LINK, write, 0x8000_0000 + end * END) for write in (0, 1)]


def test_last_window_end_reaches_the_selected_board():
    def play(dut, master):
        assert (yield from master.store(END + 8, 7)) == OKAY
        yield dut.window.far.eq(3)
        assert (yield from master.load(3 * END + 8)) == [(7, OKAY)]
        assert (yield from master.store(3 * END + 8, 9)) == OKAY
        yield dut.window.far.eq(4)
        assert (yield from master.load(3 * END + 8))[0][1] == SLAVE
        assert (yield from master.load(END + 8)) == [(9, OKAY)]

    assert simulate(play) == [(REFUSED, 0, 3 * END + 8)]


def test_window_fails_on_lost_link_and_works_when_it_is_back():
    def play(dut, master):
        yield dut.plugged.eq(0)
        assert (yield from master.load(END))[0][1] == SLAVE
        assert (yield from master.store(END, 1)) == SLAVE
        yield dut.plugged.eq(1)
        assert (yield from master.store(END, 7)) == OKAY
        assert (yield from master.load(END))[0] == (7, OKAY)

    assert simulate(play, timeout=64, attempts=2) == [(UNREACHABLE, write, END) for write in (0, 1)]


def test_posted_stores_are_answered_while_the_line_is_cut():
    """They are carried out when it is back; stores to both halves of a word do not wait for each other."""

    def play(dut, master):
        yield dut.window.posted.eq(1)
        yield dut.plugged.eq(0)
        for n in range(16):
            assert (yield from master.store(END + 4 * n, n + 1)) == OKAY
        assert not (yield dut.initiator.idle)
        yield dut.plugged.eq(1)
        while not (yield dut.initiator.idle):
            yield from master.step()
        yield dut.window.posted.eq(0)
        assert [word for word, _ in (yield from master.load(END, 16))] == list(range(1, 17))
        assert not (yield dut.window.late)

    assert simulate(play, timeout=256, attempts=4) == []


def test_loads_and_overlapping_stores_wait_for_posted_ones():
    def play(dut, master):
        yield dut.window.posted.eq(1)
        for n in range(8):
            assert (yield from master.store(END, n)) == OKAY
            assert (yield from master.store(END + 4, n << 16, strobes=4)) == OKAY
            assert (yield from master.load(END))[0] == (n, OKAY)

    assert simulate(play) == []


@pytest.mark.parametrize("why", [UNREACHABLE, REFUSED])
def test_failed_posted_store_spoils_further_accesses_until_known(why):
    address = END + 24 if why == UNREACHABLE else END + LAST // 2 + 8

    def play(dut, master):
        yield dut.window.posted.eq(1)
        yield dut.plugged.eq(why != UNREACHABLE)
        assert (yield from master.store(address + 4, 1)) == OKAY
        while not (yield dut.window.late):
            yield from master.step()
        assert (yield dut.window.late_address) == 0x8000_0000 + address and (yield dut.window.late_status) == why
        yield dut.plugged.eq(1)
        assert (yield from master.load(END))[0][1] == SLAVE
        assert (yield from master.store(END, 1, 2)) == SLAVE
        yield dut.window.late_clear.eq(1)
        yield from master.step()
        yield dut.window.late_clear.eq(0)
        yield from master.step()
        assert not (yield dut.window.late)
        assert (yield from master.store(END, 7)) == OKAY
        assert (yield from master.load(END))[0] == (7, OKAY)

    spoiled = [(0, END), (1, END), (1, END + 4)]
    assert simulate(play, timeout=64, attempts=2) == [(why, write, at) for write, at in spoiled]
