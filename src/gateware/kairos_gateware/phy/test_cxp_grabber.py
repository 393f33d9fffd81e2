"""CoaXPress grabber at its pads: triggers with their times, sums over regions, commands and viewer."""

import numpy as np
import pytest
from migen import *

from kairos_gateware.coaxpress.camera import answer, image, words_of
from kairos_gateware.contracts import coaxpress as facts
from kairos_gateware.pad import Pad
from kairos_gateware.phy.kinds import make_phys
from kairos_gateware.testbenches.cxp import GATE, REGIONS, TRIGGER, CxpBench
from kairos_gateware.testbenches.simulator import run_simulation
from kairos_gateware.variant import ChannelSpec

ROIS = [(0, 0, 5, 4), (1, 1, 3, 2), (4, 0, 9, 3), (2, 2, 2, 4)]


class Bench(CxpBench):
    """With pads for words."""

    def __init__(self):
        rates = [Pad(f"rate{n}", "out", 0) for n in range(3)]
        self.words = [Pad(f"d{n}", "in", 0) for n in range(32 + 4 + 2)]
        super().__init__(len(ROIS), self.words, rates)

    def put(self, word):
        """A word at the pads, or None."""
        *bits, valid, _ = self.words
        yield valid.i.eq(0 if word is None else 0xFF)
        for n, pad in enumerate(bits if word is not None else ()):
            place, bit = divmod(n, 8) if n < 32 else (n - 32, 8)
            yield pad.i.eq(0xFF * (word >> 9 * place + bit & 1))

    def send(self, characters):
        for word in [*words_of(characters), None]:
            yield from self.put(word)
            yield from self.step()

    def settled(self):
        for channel in self.channels:
            if not (yield channel.settled):
                return False
        return True

    def run(self, bench):
        run_simulation(self, bench())
        assert not self.camera.errors

    def command(self, tag, address, value, command):
        ports = (facts.PORT_ADDRESS, facts.PORT_VALUE, facts.PORT_TAG, facts.PORT_COMMAND)
        for port, data in zip(ports, (address, value, tag, command), strict=True):
            yield from self.write(REGIONS, data, port)


def test_images_give_the_sums_of_the_regions_in_the_mask():
    frames = np.random.default_rng(3).integers(0, 2**14, (3, 4, 6))
    dut, ends = Bench(), []

    def bench():
        yield from dut.select(ROIS)
        for mask, spoilt in [(0b1111, []), (0b0101, [0]), (0b0101, [])]:
            yield from dut.write(GATE, mask)
            yield from dut.send(image(frames[len(ends)], 14, spoilt=spoilt))
            ends.append(dut.cycle)
            yield from dut.step(20)

    dut.run(bench)
    sums = [[int(frame[y0:y1, x0:x1].sum()) for x0, y0, x1, y1 in ROIS] for frame in frames]
    assert [data for _, data in dut.events] == [1 << 31, *sums[0], 1 << 31, sums[2][0], sums[2][2]]
    # The last word was at the pads two cycles before `send` ended
    assert dut.events[0][0] == ends[0] - 2 + 8


def test_trigger_is_sent_at_once_and_a_second_one_refused():
    dut = Bench()

    def bench():
        yield from dut.step(100)
        yield from dut.write(TRIGGER, 0b101)
        yield from dut.step(20)
        yield from dut.write(TRIGGER, 0b000)
        yield from dut.step(7 * facts.CHARACTER_CYCLES)
        yield from dut.write(TRIGGER, 0b000)
        yield from dut.step(8 * facts.CHARACTER_CYCLES)

    dut.run(bench)
    assert [(first, delay & 1) for _, first, delay in dut.camera.triggers] == [
        (facts.TRIGGER_FALL, 1),
        (facts.TRIGGER_RISE, 0),
    ]
    assert len(dut.busy) == 1


def test_commands_are_sent_and_their_answers_read():
    """Nothing is settled meanwhile, all is before and after it. A second command at the same time is refused."""
    dut, found, settled = Bench(), [], []

    def bench():
        yield dut.grabber.uplink.free_running.simulated.eq(1)
        yield from dut.step(70)
        settled.append((yield from dut.settled()))
        yield from dut.command(0x1AB, 0x4014, 0x10028, facts.WRITE | 4)
        yield from dut.step(1)
        settled.append((yield from dut.settled()))
        yield from dut.write(REGIONS, 8, facts.PORT_COMMAND)
        yield from dut.step(50 * facts.CHARACTER_CYCLES)
        yield from dut.send(answer(facts.ANSWER_DONE, tag=0xAB))
        yield from dut.step(8)
        yield from dut.command(0, 0x0018, 0, 8)
        yield from dut.step(50 * facts.CHARACTER_CYCLES)
        settled.append((yield from dut.settled()))
        yield from dut.send(answer(facts.ANSWER_DATA, b"CoaXPres"))
        yield from dut.step(8)
        yield from dut.send(answer(facts.ANSWER_DONE, spoilt=True))
        yield from dut.step(8)
        found.extend(data for _, data in dut.answers)
        yield from dut.send(answer(facts.ANSWER_DATA, b"CoaXPres"))
        yield from dut.step(8)
        for index in range(3):
            found.append((yield from dut.read(facts.PORT_WORD, index)))
        yield from dut.step(8)
        settled.append((yield from dut.settled()))

    dut.run(bench)
    assert dut.camera.commands == [(0xABABABAB, 1 << 24 | 4, 0x4014, 0x10028), (None, 8, 0x0018, None)]
    assert found[:3] == [
        facts.EVENT_GOOD | facts.EVENT_TAGGED | 0xAB << facts.EVENT_TAG | facts.ANSWER_DONE,
        facts.EVENT_GOOD | 0xAB << facts.EVENT_TAG | facts.ANSWER_DATA,
        0xAB << facts.EVENT_TAG | facts.ANSWER_DONE,
    ]
    assert found[3:] == [8, int.from_bytes(b"CoaX", "big"), int.from_bytes(b"Pres", "big")]
    assert settled == [True, False, True, True] and len(dut.busy) == 1


def test_answer_during_a_read_is_given_after_it():
    """Reads in each of the cycles around an answer's event."""
    dut, found, line = Bench(), [], words_of(answer(facts.ANSWER_DATA, b"1234"))

    def bench():
        link = dut.channels[REGIONS].output
        for offset in range(-6, 6):
            dut.answers.clear()
            for n, word in enumerate([*line, *[None] * 12]):
                yield from dut.put(word)
                yield link.stb.eq(n == len(line) + offset)
                yield link.address.eq(facts.PORT_SPOILT)
                yield from dut.step()
            found.append(sorted(data for _, data in dut.answers))

    dut.run(bench)
    assert found == [[0, facts.EVENT_GOOD | facts.ANSWER_DATA]] * 12


def test_viewer_keeps_a_region_for_reads():
    frame, dut, found = np.arange(40).reshape(5, 8), Bench(), []

    def bench():
        yield from dut.select([], (2, 1, 7, 3))
        yield from dut.step(2)
        found.append((yield from dut.read(facts.PORT_VIEWER_STATE)))
        yield from dut.send(image(frame, spoilt=[0]))
        yield from dut.send(image(frame))
        yield from dut.step(20)
        ports = [facts.PORT_VIEWER_STATE, facts.PORT_SIZE, facts.PORT_FORMAT, facts.PORT_FRAMES, facts.PORT_SPOILT]
        regions, pixels = [(facts.PORT_REGION, n) for n in range(2)], [(facts.PORT_PIXELS, n) for n in range(8)]
        for port, index in [*((port, 0) for port in ports), *regions, *pixels]:
            found.append((yield from dut.read(port, index)))

    dut.run(bench)
    rates = 0b11111 << 8
    assert found[:8] == [rates | 1, rates | 2, 5 << 16 | 8, facts.MONO8, 1, 1, 1 << 16 | 2, 3 << 16 | 7]
    pixels = [half >> shift & 0xFFFF for half in found[8:] for shift in (0, 16)]
    assert [pixels[8 * row : 8 * row + 5] for row in range(2)] == frame[1:3, 2:7].tolist()


@pytest.mark.parametrize(
    "kind, options, text",
    [
        ("cxp_regions", {"grabber": 0, "rois": 61}, "rois of a CoaXPress grabber is 1 to 60, not 61"),
        ("cxp_regions", {"grabber": 1}, "`grabber` must be the number of a cxp_trigger channel before it"),
        ("cxp_gate", {"regions": 0}, "`regions` must be the number of a cxp_regions channel before it"),
    ],
)
def test_impossible_cxp_parameters_are_refused(kind, options, text):
    with pytest.raises(ValueError, match=text):
        make_phys((ChannelSpec("cxp0", "cxp_trigger"), ChannelSpec("camera", kind, options)))
