"""The line to a camera, and its answers: against a camera in plain Python."""

import pytest
from migen import *

from kairos_gateware.coaxpress.answer import Answer
from kairos_gateware.coaxpress.camera import Receiver, answer, packet, words_of
from kairos_gateware.coaxpress.command import Command
from kairos_gateware.coaxpress.downlink import PacketReader, Words
from kairos_gateware.coaxpress.uplink import CONTROL, Uplink
from kairos_gateware.contracts import coaxpress as facts
from kairos_gateware.testbenches.simulator import run_simulation


class Line(Module):
    """Commands and triggers on the line."""

    def __init__(self):
        self.submodules.uplink = uplink = Uplink()
        self.submodules.command = command = Command()
        self.comb += [
            uplink.character.eq(command.character),
            uplink.valid.eq(command.valid),
            command.ready.eq(uplink.ready),
        ]


def transmit(cycles, commands=(), triggers=(), simulated=False):
    """commands: {cycle: (tag or None, write, length, address, value)}; triggers: {cycle of the event: (fine, falling,
    upper)}. Returns the receiver, and by cycle whether the line was settled."""
    dut, receiver, settled = Line(), Receiver(), []
    commands, triggers = dict(commands), dict(triggers)

    def bench():
        uplink, command = dut.uplink, dut.command
        yield uplink.free_running.simulated.eq(simulated)
        for cycle in range(cycles):
            event = triggers.get(cycle + 1)
            yield uplink.fire.eq(event is not None)
            for signal, value in zip((uplink.fine, uplink.falling, uplink.upper), event or (), strict=False):
                yield signal.eq(value)
            yield command.start.eq(cycle in commands)
            if cycle in commands:
                tag, write, length, address, value = commands[cycle]
                yield command.tagged.eq(tag is not None)
                yield command.tag.eq(tag or 0)
                for signal, given in zip(
                    (command.write, command.length, command.address, command.value),
                    (write, length, address, value),
                    strict=True,
                ):
                    yield signal.eq(given)
            yield
            settled.append((yield uplink.settled))
            receiver.receive(cycle + 1, (yield uplink.output))

    run_simulation(dut, bench())
    assert not receiver.errors
    return receiver, settled


@pytest.mark.parametrize("simulated", [False, True])
def test_commands_arrive_as_packets_with_their_crc(simulated):
    commands = {300: (None, 1, 4, 0x4000, 1), 3300: (0xA5, 0, 100, 0x12345678, 0)}
    receiver, settled = transmit(6000, commands, simulated=simulated)
    repeated = 0xA5A5A5A5
    assert receiver.commands == [
        (None, 1 << 24 | 4, 0x4000, 1),
        (repeated, 100, 0x12345678, None),
    ]
    # Simulation: an idle word before and one after each; the line rests in between.
    assert receiver.idle == 4 if simulated else receiver.idle > 8
    assert settled[3200] == settled[5900] == simulated


@pytest.mark.parametrize("simulated", [False, True])
def test_time_of_each_trigger_reaches_the_camera_within_two_nanoseconds(simulated):
    """Also within a packet, and at any place of a character. The time follows from that of the packet and the delay,
    within 2 ns."""
    triggers = {
        cycle: (fine, n & 1, n >> 1 & 1)
        for n, (cycle, fine) in enumerate([(1000, 3), (1439, 0), (1859, 7), (2280, 0), (2701, 5), (3150, 2)])
    }
    receiver, _ = transmit(5300, {100: (None, 0, 4, 0x4004, 0)}, triggers, simulated)
    assert receiver.commands == [(None, 4, 0x4004, None)] and len(receiver.triggers) == len(triggers)
    for (began, first, delay), (cycle, (fine, falling, upper)) in zip(receiver.triggers, triggers.items(), strict=True):
        assert first == (facts.TRIGGER_FALL if falling else facts.TRIGGER_RISE)
        assert delay & 1 == upper
        # The receiver counts from the first cycle in which something changes
        event = 8 * (began - 1) - 2 * (delay & ~1) + 6
        assert abs(event - (8 * cycle + fine)) <= 2, (began, delay, cycle, fine)


class Camera(Module):
    """Its answers, from words."""

    def __init__(self):
        self.submodules.words = words = Words()
        self.submodules.packets = packets = PacketReader(words)
        self.submodules.answer = Answer(words, packets)
        self.answered, self.clear = Signal(), Signal()
        self.sync += If(self.answer.answered, self.answered.eq(1)).Elif(self.clear, self.answered.eq(0))

    def send(self, characters):
        """Gives its words, one per cycle."""
        for word in words_of(characters):
            yield self.words.characters.eq(word)
            yield self.words.take.eq(1)
            yield
        yield self.words.take.eq(0)
        for _ in range(4):
            yield

    def seen(self):
        """(code, tag or None, words) of the answer; None without one, False for one with a wrong CRC."""
        if not (yield self.answered):
            return None
        if not (yield self.answer.good):
            return False
        found = []
        for index in range((yield self.answer.count)):
            yield self.answer.index.eq(index)
            yield
            yield
            found.append((yield self.answer.word))
        tag = (yield self.answer.tag) if (yield self.answer.tagged) else None
        return (yield self.answer.code), tag, found[:-1]


def received(*lines):
    """What is seen after each of these lists of characters."""
    dut, found = Camera(), []

    def bench():
        for characters in lines:
            yield from dut.send(characters)
            found.append((yield from dut.seen()))
            yield dut.clear.eq(1)
            yield
            yield dut.clear.eq(0)
            yield

    run_simulation(dut, bench())
    return found


def test_answers_are_kept_with_code_tag_and_data():
    data = bytes(range(100))
    words = [int.from_bytes(data[n : n + 4], "big") for n in range(0, 100, 4)]
    assert received(
        answer(facts.ANSWER_DATA, (0xC0A79AE5).to_bytes(4, "big")),
        answer(facts.ANSWER_DONE),
        answer(facts.ANSWER_DATA, data, tag=0xFE),
        answer(facts.ANSWER_DATA, b"abcde"),
        [],
    ) == [
        (0, None, [4, 0xC0A79AE5]),
        (1, None, []),
        (0, 0xFE, [100, *words]),
        (0, None, [5, 0x61626364, 0x65000000]),
        None,
    ]


def test_one_wrong_character_of_four_is_outvoted():
    """Of start, type, tag, code and end; of data it is a wrong CRC, and so is a packet whose CRC is wrong."""
    whole = answer(facts.ANSWER_DONE, tag=0x37)
    lines, repeated = [], [n for n in range(4, len(whole)) if not 20 <= n < 24]
    for n in repeated:
        wrong = list(whole)
        wrong[n] ^= 0x81
        lines.append(wrong)
    assert len(repeated) == 20
    covered = range(12, 20)  # tag and code are repeated, but the CRC covers each
    assert received(*lines) == [False if n in covered else (1, 0x37, []) for n in repeated]
    data = answer(facts.ANSWER_DATA, b"1234")
    data[22] ^= 4
    assert received(data, answer(facts.ANSWER_DONE, spoilt=True)) == [False, False]


def test_packets_of_other_types_and_idle_words_are_passed_over():
    done = answer(facts.ANSWER_DATA, b"abcd")
    idle = done[:4]
    inserted = [*done[:20], *idle, *idle, *done[20:]]
    too_long = packet(facts.ANSWER, [0, 200, *range(50)])
    assert received(packet(facts.TEST, [1, 2, 3]), inserted, too_long, packet(9, [])) == [
        None,
        (0, None, [4, 0x61626364]),
        False,
        None,
    ]


def test_half_a_packet_does_not_disturb_the_next_one():
    done = answer(facts.ANSWER_DONE)
    assert received(done[:12], done, [CONTROL | facts.PACKET_END] * 4, done[8:]) == [
        None,
        (1, None, []),
        None,
        None,
    ]
