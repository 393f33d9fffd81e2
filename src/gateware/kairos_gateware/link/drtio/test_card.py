"""The card's end for simulation, at the master's end, with a real RTIO core behind it: bring-up as the firmware does
it, outputs, their room, inputs, resets and errors."""

from types import SimpleNamespace

import pytest
from migen import *

from kairos_gateware.contracts.drtio import AuxiliaryPacket
from kairos_gateware.link.drtio.card import ROOM, CardServer
from kairos_gateware.link.drtio.end import DrtioEnd
from kairos_gateware.moninj.moninj import MonitorInjector, TtlInjector
from kairos_gateware.pad import Pad
from kairos_gateware.rtio.core import RtioCore
from kairos_gateware.rtio.cri import INPUT_OVERFLOW, INPUT_TIMEOUT
from kairos_gateware.rtio.link import Channel, InputLink, OutputLink
from kairos_gateware.rtio.timing import TimeBase
from kairos_gateware.testbenches.simulator import run_simulation

WIDTH, DEPTH, DESTINATION = 70, 8, 3
WIDE = 0x0123456789ABCDEF
"""Value of a probe."""
BEFORE = 1000
"""Cycles by which the master's counter is ahead when both boards start."""


class Pair(Module):
    """Both ends, on a line of three cycles each way; the card has an output, which is busy with data 13, and an
    input. plain: as of the `LinkLayer`."""

    def __init__(self, plain):
        self.submodules.timebase = timebase = TimeBase(loadable=True)
        self.submodules.end = end = DrtioEnd(timebase, WIDTH, 1, DESTINATION, plain=plain)
        self.near, self.mailbox, self.time = end.near, end.mailbox, timebase.coarse
        self.link, self.source = OutputLink(WIDTH, 8), InputLink(32)
        channels = [Channel(0, self.link), Channel(1, None, self.source)]
        self.submodules.core = core = RtioCore(channels, lanes=2, depth=DEPTH, input_depth=4, loadable=True)
        self.submodules.card = card = CardServer(core, plain)
        self.plugged = Signal(reset=1)
        self.submodules.injector = TtlInjector(Pad("led", "out", 0))
        wide = SimpleNamespace(probes=[C(0), C(WIDE, 64)])
        self.submodules.monitor = MonitorInjector({0: self.injector, 300: wide})
        answers = [(getattr(card.cri, name), getattr(core.cri, name)) for name in ("output_done", "output_status")]
        answers += [(getattr(card.cri, name), getattr(core.cri, name)) for name in ("input_done", "input_status")]
        self.comb += [
            self.link.busy.eq(self.link.stb & (self.link.data == 13)),
            card.cri.output.connect(core.cri.output),
            card.cri.input.connect(core.cri.input),
            card.cri.response.eq(core.cri.response),
            [theirs.eq(ours) for theirs, ours in answers],
            core.reset.eq(card.reset),
            core.abort_input.eq(card.abort),
            core.timebase.load.eq(card.time_load),
            core.timebase.load_value.eq(card.time_value),
            [each.up.eq(self.plugged) for each in (end, card)],
            card.watches(self.monitor),
        ]
        for here, there in ((end, card), (card, end)):
            sent = here.out.raw_bits() if plain else here.sent
            into = Cat(there.into.valid, there.into.word) if plain else there.received
            stages = [Signal(len(sent)) for _ in range(3)]
            self.sync += [stage.eq(before) for stage, before in zip(stages, [sent, *stages], strict=False)]
            if plain:
                self.comb += [here.out.ready.eq(1), into.eq(Cat(stages[-1][0], stages[-1][2:]))]
            else:
                self.comb += into.eq(stages[-1])

    def run(self, *benches):
        def first():
            yield self.timebase.load.eq(1)
            yield self.timebase.load_value.eq(BEFORE)
            yield
            yield self.timebase.load.eq(0)
            yield from wait(40)
            yield from benches[0]

        run_simulation(self, [first(), *benches[1:]])

    def send(self, kind, *fields):
        """Sends an auxiliary packet of these bytes."""
        sender, content = self.mailbox.sender, bytes([kind, *fields])
        for place in range(0, len(content), 4):
            word = int.from_bytes(content[place : place + 4], "little")
            yield from pulse(sender.append, (sender.word, word))
        yield from pulse(sender.go)

    def ask(self, kind, *fields, words=1):
        """Sends an auxiliary packet; returns the first words of the answer, as a number."""
        assert (yield from self.waiting()) == 0
        yield from self.send(kind, *fields)
        return (yield from self.take(words))

    def waiting(self):
        return (yield self.mailbox.receiver.waiting)

    def take(self, words=1):
        """The first words of the next auxiliary packet, as a number."""
        for _ in range(400):
            if (yield from self.waiting()):
                break
            yield
        else:
            raise AssertionError("there is no packet from the card")
        found = 0
        for n in range(words):
            yield from wait(2)
            found |= (yield self.mailbox.receiver.word) << 32 * n
            yield from pulse(self.mailbox.receiver.take)
        yield from pulse(self.mailbox.receiver.release)
        return found

    def status(self):
        return (yield from self.ask(AuxiliaryPacket.DESTINATION_STATUS_REQUEST, DESTINATION))

    def bring_up(self):
        """As the firmware does it."""
        assert (yield from self.ask(AuxiliaryPacket.ECHO_REQUEST)) == AuxiliaryPacket.ECHO_REPLY
        yield from pulse(self.near.set_time)
        assert (yield from self.take()) == AuxiliaryPacket.TIME_ACK
        for kind in (AuxiliaryPacket.ROUTING_SET_PATH, AuxiliaryPacket.ROUTING_SET_RANK):
            assert (yield from self.ask(kind, 1)) == AuxiliaryPacket.ROUTING_ACK
        assert (yield from self.status()) == AuxiliaryPacket.DESTINATION_OK
        yield self.near.reachable.eq(1)
        yield

    def output(self, coarse, data, limit=4000):
        """Returns the status of an output at that time."""
        output = self.near.cri.output
        yield output.channel.eq(DESTINATION << 16)
        yield output.timestamp.eq(coarse << 3)
        yield output.data.eq(data)
        yield output.valid.eq(1)
        yield
        while not (yield output.ready):
            limit -= 1
            assert limit, "the output is not taken"
            yield
        yield output.valid.eq(0)
        yield
        return (yield self.near.cri.output_status)

    def read(self, timeout):
        """Returns (status, timestamp, data) of an input."""
        asked, response = self.near.cri.input, self.near.cri.response
        yield from pulse(asked.valid, (asked.channel, DESTINATION << 16 | 1), (asked.timeout, timeout << 3))
        while not (yield self.near.cri.input_done):
            yield
        return (yield response.status), (yield response.timestamp), (yield response.data)

    def watch(self, seen, cycles):
        """Appends (time of the master's counter, data) of the outputs that the PHY gets."""
        for _ in range(cycles):
            yield
            if (yield self.link.stb):
                seen.append(((yield self.time), (yield self.link.data)))


def wait(cycles):
    for _ in range(cycles):
        yield


def pulse(signal, *values):
    """Sets a signal for a cycle, with values of others."""
    for other, value in values:
        yield other.eq(value)
    yield signal.eq(1)
    yield
    yield signal.eq(0)
    yield


@pytest.mark.parametrize("plain", [True, False])
def test_card_is_brought_up_and_executes_outputs_at_their_times(plain):
    pair, seen = Pair(plain), []
    wide = [1, 2**16, 2**WIDTH - 1, 0]

    def master():
        yield from pair.bring_up()
        begin = (yield pair.time) + 200
        for n, data in enumerate(wide):
            assert (yield from pair.output(begin + 20 * n, data)) == 0
        while len(seen) < len(wide):
            yield
        late = {time - begin - 20 * n for n, (time, _) in enumerate(seen)}
        assert [data for _, data in seen] == wide
        # The card's counter is late by the line and the packet that has set it
        assert len(late) == 1 and 5 < late.pop() < 20

    pair.run(master(), pair.watch(seen, 1800))


def test_outputs_beyond_the_room_of_a_card_wait_and_none_is_lost():
    """More than there are places in the card's queue and in its lanes."""
    pair, seen, count = Pair(True), [], ROOM + 4 * DEPTH

    def master():
        yield from pair.bring_up()
        begin = (yield pair.time) + 3000
        for n in range(count):
            assert (yield from pair.output(begin + 20 * n, 20 + n)) == 0
        assert (yield pair.near.settled) == 0 or (yield pair.near.blocked)

    pair.run(master(), pair.watch(seen, 8000))
    assert [data for _, data in seen] == [20 + n for n in range(count)]


def test_inputs_of_a_card_are_read_with_their_times_or_time_out():
    pair, found = Pair(True), []

    def master():
        yield from pair.bring_up()
        now = yield pair.time
        found.append((yield from pair.read(now + 100)))
        for data in range(6):  # one more than there is room for
            yield from pulse(pair.source.stb, (pair.source.data, 7 + data))
        for _ in range(7):
            found.append((yield from pair.read((yield pair.time) + 100)))

    pair.run(master())
    assert found[0][0] == found[7][0] == INPUT_TIMEOUT
    statuses = [status for status, *_ in found[1:7]]
    assert sorted(statuses) == [0, 0, 0, 0, 0, INPUT_OVERFLOW]
    assert [data for status, _, data in found[1:7] if status == 0] == [7, 8, 9, 10, 11]


def test_reset_drops_outputs_in_the_card_and_those_that_follow_wait_for_it():
    pair, seen, status = Pair(True), [], []

    def master():
        yield from pair.bring_up()
        begin = (yield pair.time) + 3000
        for n in range(4):
            yield from pair.output(begin + n, 20 + n)
        yield from wait(60)
        yield from pulse(pair.near.reset)
        assert (yield pair.near.resetting)
        yield pair.near.cri.output.valid.eq(1)
        for _ in range(200):
            yield
            assert not (yield pair.near.cri.output.ready), "an output would be lost with those before"
        yield pair.near.cri.output.valid.eq(0)
        assert (yield from pair.ask(AuxiliaryPacket.RESET_REQUEST)) == AuxiliaryPacket.RESET_ACK
        yield from pulse(pair.near.cleared)
        status.append((yield from pair.output(begin + 100, 99)))

    pair.run(master(), pair.watch(seen, 6000))
    assert status == [0] and [data for _, data in seen] == [99]


def test_error_of_a_card_is_reported_once_with_its_channel():
    pair, found = Pair(True), []

    def master():
        yield from pair.bring_up()
        yield from pair.output((yield pair.time) + 150, 13)
        yield from wait(300)
        for _ in range(2):
            found.append((yield from pair.status()))

    pair.run(master())
    assert found == [AuxiliaryPacket.DESTINATION_BUSY, AuxiliaryPacket.DESTINATION_OK]


def test_card_that_is_unplugged_with_a_read_in_flight_is_brought_up_again():
    pair, found = Pair(True), []

    def master():
        yield from pair.bring_up()
        asked = pair.near.cri.input
        yield from pulse(asked.valid, (asked.channel, DESTINATION << 16 | 1), (asked.timeout, 2**61 - 1 << 3))
        yield from wait(100)
        yield pair.plugged.eq(0)
        yield pair.near.reachable.eq(0)
        yield from wait(100)
        yield pair.plugged.eq(1)
        yield from wait(40)
        yield from pair.bring_up()
        yield from pulse(pair.source.stb, (pair.source.data, 5))
        found.append((yield from pair.read((yield pair.time) + 100))[::2])

    pair.run(master())
    assert found == [(0, 5)]


def test_probes_and_overrides_of_a_card_are_read_and_set():
    pair, found = Pair(True), []
    enable, level = ((0, 0, place) for place in (0, 1))

    def probe(channel, number):
        fields = (DESTINATION, *channel.to_bytes(2, "little"), number)
        answer = yield from pair.ask(AuxiliaryPacket.MONITOR_REQUEST, *fields, words=3)
        assert answer & 0xFF == AuxiliaryPacket.MONITOR_REPLY
        return answer >> 8

    def override(place):
        answer = yield from pair.ask(AuxiliaryPacket.INJECTION_STATUS_REQUEST, DESTINATION, *place)
        assert answer & 0xFF == AuxiliaryPacket.INJECTION_STATUS_REPLY
        return answer >> 8

    def master():
        yield from pair.bring_up()
        found.append((yield from probe(300, 1)))
        found.append((yield from probe(300, 2)))
        found.append((yield from probe(0, 0)))
        # Two that are not answered, one behind the other
        for place in (enable, level):
            yield from pair.send(AuxiliaryPacket.INJECTION_REQUEST, DESTINATION, *place, 1)
            while (yield pair.mailbox.sender.busy):
                yield
        for place in (enable, level):
            found.append((yield from override(place)))
        found.append((yield from probe(0, 0)))
        found.append((yield pair.injector.pad.o))
        assert (yield from pair.status()) == AuxiliaryPacket.DESTINATION_OK
        assert (yield pair.card.settled) == 1

    pair.run(master())
    assert found == [WIDE, 0, 0, 1, 1, 1, 0xFF]


def test_only_bus_of_a_card_acknowledges_no_byte():
    pair, found = Pair(True), []
    kinds = (AuxiliaryPacket.I2C_START_REQUEST, AuxiliaryPacket.I2C_WRITE_REQUEST, AuxiliaryPacket.I2C_READ_REQUEST)

    def master():
        yield from pair.bring_up()
        for bus in (0, 1):
            for kind in kinds:
                found.append((yield from pair.ask(kind, DESTINATION, bus, 1)))

    pair.run(master())
    replies = [AuxiliaryPacket.I2C_BASIC_REPLY, AuxiliaryPacket.I2C_WRITE_REPLY, AuxiliaryPacket.I2C_READ_REPLY]
    fields = [1 << 8, 1 << 8, 0xFF << 16 | 1 << 8]
    assert found == [reply | more for reply, more in zip(replies, fields, strict=True)] + replies
