"""Images and the viewer against NumPy: pixels of each format, over any number of packets, also spoilt ones."""

import numpy as np
import pytest
from migen import *

from kairos_gateware.coaxpress.camera import image, words_of
from kairos_gateware.coaxpress.downlink import PacketReader, Words
from kairos_gateware.coaxpress.image import Images
from kairos_gateware.coaxpress.viewer import Viewer
from kairos_gateware.contracts import coaxpress as facts
from kairos_gateware.testbenches.simulator import run_simulation


class Camera(Module):
    def __init__(self):
        self.submodules.words = words = Words()
        self.submodules.packets = packets = PacketReader(words)
        self.submodules.images = images = Images(words, packets)
        self.submodules.viewer = Viewer(images)


PAUSE = [None] * 8
"""Cycles without a word, after which an image has ended."""


def play(lines, region=None, pause=0):
    """Sends lists of characters, a word in a cycle, with a `pause` of cycles after each. Returns as arrays the images
    that arrived whole, the state (images, spoilt ones, size, format), and the words of the viewer, which keeps the
    `region` of the first image, or None."""
    dut, found, state, kept = Camera(), [], [], []

    def take(pixels):
        images = dut.images
        valid = yield images.valid
        if valid and (yield images.first):
            pixels.clear()
        for place, pixel in enumerate(images.pixels):
            if valid >> place & 1:
                pixels.append(((yield images.y), (yield images.x) + place, (yield pixel)))
        if (yield images.end):
            height, width = (yield images.height), (yield images.width)
            whole = np.full((height, width), -1)
            for y, x, pixel in pixels:
                assert whole[y, x] == -1
                whole[y, x] = pixel
            found.append(whole)

    def bench():
        pixels = []
        viewer = dut.viewer
        if region:
            for corner, value in zip((viewer.x0, viewer.y0, viewer.x1, viewer.y1), region, strict=True):
                yield corner.eq(value)
            yield viewer.start.eq(1)
            yield
            yield viewer.start.eq(0)
        for line in lines:
            for word in [*words_of(line), *PAUSE]:
                for sent in [word, *[None] * pause]:
                    yield dut.words.take.eq(sent is not None)
                    if sent is not None:
                        yield dut.words.characters.eq(sent)
                    yield
                    yield from take(pixels)
        images = dut.images
        for signal in (images.frames, images.spoilt, images.width, images.height, images.format):
            state.append((yield signal))
        if (yield viewer.kept):
            for index in range(12):
                yield viewer.index.eq(index)
                yield
                yield
                kept.append((yield viewer.word))

    run_simulation(dut, bench())
    return found, state, kept or None


@pytest.mark.parametrize("pause", [0, 1, 3])
def test_pixels_of_each_format_arrive_over_any_packets(pause):
    """Widths that fill words and that do not, packets that divide headers and lines anywhere."""
    noise, frames, lines = np.random.default_rng(5), [], []
    for depth, width, height, words in [(8, 5, 3, 7), (10, 8, 2, 9), (12, 1, 4, 31), (14, 11, 2, 5), (16, 4, 3, 60)]:
        frames.append(noise.integers(0, 2**depth, (height, width)))
        lines.append(image(frames[-1], depth, words))
    found, state, _ = play(lines, pause=pause)
    assert [each.tolist() for each in found] == [frame.tolist() for frame in frames]
    assert state == [5, 0, 4, 3, facts.MONO8 + 4]


def test_image_with_a_spoilt_or_missing_packet_has_no_end():
    """Nor has one whose next image begins before its last line; the one after it has."""
    frame = np.arange(64).reshape(8, 8)
    whole = image(frame, packet_words=20)
    size = 4 * (1 + 1 + 1 + 4 + 20 + 1 + 1)  # idle word, start, type, header, words, CRC, end
    missing = whole[:size] + whole[2 * size :]
    found, state, _ = play([image(frame, packet_words=20, spoilt=[1]), missing, whole[: 2 * size], whole])
    assert [each.tolist() for each in found] == [frame.tolist()]
    assert state[:2] == [1, 3]


def test_unknown_format_counts_as_spoilt():
    whole = image(np.ones((2, 4)))
    at = next(n for n in range(len(whole)) if whole[n : n + 8] == [1] * 8 and n > 100)
    other = list(whole)
    other[at + 4 : at + 8] = [6] * 4
    found, state, _ = play([other])
    assert found == [] and state[:2] == [0, 1]


def unpacked(words, width, height):
    stride = (width + 3) // 4
    return [[words[y * stride + x // 4] >> 16 * (x % 4) & 0xFFFF for x in range(width)] for y in range(height)]


@pytest.mark.parametrize(
    "region", [(2, 1, 8, 4), (4, 2, 30, 9), (3, 0, 7, 2), (1, 1, 9, 4), (5, 1, 6, 3), (8, 0, 9, 5), (0, 0, 9, 4)]
)
def test_viewer_keeps_a_region_of_the_next_complete_image(region):
    noise = np.random.default_rng(7)
    first, second = noise.integers(0, 2**12, (2, 5, 9))
    x0, y0, x1, y1 = region
    _, _, kept = play([image(first, 12, 12, spoilt=[1]), image(first, 12, 40), image(second, 12)], region)
    expected = first[y0:y1, x0:x1]
    assert unpacked(kept, expected.shape[1], expected.shape[0]) == expected.tolist()


def test_viewer_without_a_complete_image_waits():
    assert play([image(np.ones((2, 2)), spoilt=[0])], (0, 0, 2, 2))[2] is None
