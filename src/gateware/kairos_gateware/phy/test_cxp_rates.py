"""CoaXPress grabber behind the bits of a line at each rate: sums, viewer, answers, triggers."""

from itertools import count

import numpy as np
import pytest
from migen import *

from kairos_gateware.coaxpress.camera import LineCoder, answer, image
from kairos_gateware.coaxpress.line import LINE_BITS, LineReceiver
from kairos_gateware.coaxpress.uplink import IDLE_WORD
from kairos_gateware.contracts import coaxpress as facts
from kairos_gateware.testbenches.cxp import GATE, TRIGGER, CxpBench
from kairos_gateware.testbenches.simulator import run_simulation

LINE, CYCLE_PS = "line", 8000
ROIS = [(0, 0, 13, 5), (2, 1, 9, 4), (5, 0, 6, 3)]
VIEW = (3, 1, 12, 5)


class Bench(CxpBench):
    """With the receiver of a line."""

    def __init__(self):
        super().__init__(len(ROIS), domain=LINE)
        self.submodules.line = line = ClockDomainsRenamer(LINE)(LineReceiver())
        self.comb += [self.grabber.reception.word.eq(line.word), self.grabber.reception.stb.eq(line.stb)]


def play(mbit_s, sent, logic):
    """Sends characters behind each other as bits, and idle words before and after them, while `logic` runs with the
    bench, which it gets with a list: its numbers of bytes are sent when they are in it."""
    dut, due, done = Bench(), [], []

    def line():
        coder, bits = LineCoder(), [0] * 7
        parts = iter(sent)
        for _ in count():
            while len(bits) < LINE_BITS:
                bits += coder.bits(next(parts) if due and due.pop() is None else [*IDLE_WORD])
            yield dut.line.line.eq(sum(bit << n for n, bit in enumerate(bits[:LINE_BITS])))
            del bits[:LINE_BITS]
            if done:
                return
            yield

    def bench():
        yield from logic(dut, due)
        done.append(True)

    # 200 ppm more than it says
    period = round(LINE_BITS * 1e6 / mbit_s / 1.0002)
    run_simulation(dut, {LINE: line(), "sys": bench()}, {LINE: (period, 1234), "sys": CYCLE_PS})
    assert not dut.camera.errors
    return dut


@pytest.mark.parametrize("mbit_s", [mbit_s for mbit_s, _ in facts.RATES])
def test_images_answers_and_triggers_are_right_at_each_rate(mbit_s):
    """Of three images the second one has a wrong CRC; they follow each other without a gap."""
    frames = np.random.default_rng(3).integers(0, 2**12, (3, 5, 13))
    images = [image(frame, 12, packet_words=23, spoilt=[2] if n == 1 else []) for n, frame in enumerate(frames)]
    sent, found, kept = [[*images[0], *images[1], *images[2]], answer(facts.ANSWER_DATA, b"CoaX", tag=3)], [], []
    words = sum(map(len, images)) // 4
    length = round(words * LINE_BITS * 1e6 / mbit_s / CYCLE_PS)

    def logic(dut, due):
        yield from dut.select(ROIS, VIEW)
        yield from dut.write(GATE, 0b111)
        yield from dut.step(120)
        due.append(None)
        yield from dut.step(40)
        yield from dut.write(TRIGGER, 0b101)
        yield from dut.step(length + 200)
        for port in (facts.PORT_SIZE, facts.PORT_FRAMES, facts.PORT_SPOILT, facts.PORT_VIEWER_STATE):
            found.append((yield from dut.read(port)))
        for index in range(2 * 3 * 4):
            kept.append((yield from dut.read(facts.PORT_PIXELS, index)))
        dut.answers.clear()
        due.append(None)
        yield from dut.step(200)
        found.append([data for _, data in dut.answers])
        for index in range(2):
            found.append((yield from dut.read(facts.PORT_WORD, index)))
        yield from dut.step(400)

    dut = play(mbit_s, sent, logic)
    expected = []
    for frame in (frames[0], frames[2]):
        expected += [1 << 31, *(int(frame[y0:y1, x0:x1].sum()) for x0, y0, x1, y1 in ROIS)]
    assert [data for _, data in dut.events] == expected
    assert found[:4] == [5 << 16 | 13, 2, 1, 0b11111 << facts.LINE_RATES | facts.VIEWER_KEPT]
    event = facts.EVENT_GOOD | facts.EVENT_TAGGED | 3 << facts.EVENT_TAG | facts.ANSWER_DATA
    assert found[4:] == [[event], 4, int.from_bytes(b"CoaX", "big")]
    pixels = [half >> shift & 0xFFFF for half in kept for shift in (0, 16)]
    x0, y0, x1, y1 = VIEW
    assert [pixels[12 * row : 12 * row + x1 - x0] for row in range(y1 - y0)] == frames[0][y0:y1, x0:x1].tolist()
    assert [(first, delay & 1) for _, first, delay in dut.camera.triggers] == [(facts.TRIGGER_FALL, 1)]
