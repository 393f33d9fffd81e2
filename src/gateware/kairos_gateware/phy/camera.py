"""For tests: a camera on Camera Link, in plain Python: pixels to words of 28 bits, words to samples
of the lanes."""

from ..contracts.cameralink import DATA_VALID, FRAME_VALID, LANES, LINE_VALID, PORTS, WORD_BITS
from ..pad import SAMPLES

__all__ = ["frame_words", "lane_samples"]

CLOCK = [1, 1, 0, 0, 0, 1, 1]


def frame_words(frame, line_gap=2, frame_gap=10, holes=0):
    """Words of a frame (rows of pixels of 16 bits), with `line_gap` words between lines and
    `frame_gap` around it. holes: words without a valid pixel after each pixel."""
    words = [0] * frame_gap
    for row in frame:
        for pixel in row:
            word = 1 << FRAME_VALID | 1 << LINE_VALID
            for n, number in enumerate(n for port in PORTS for n in port):
                word |= (int(pixel) >> n & 1) << number
            words += [word | 1 << DATA_VALID] + [word ^ 0x7F] * holes
        words += [1 << FRAME_VALID] * line_gap
    assert all(word < 2**WORD_BITS for word in words)
    return words + [0] * frame_gap


def lane_samples(words, period, phase=0.0, jitter=lambda: 0.0):
    """Clock and data lanes of these words: a list of cycles, each with five words of eight samples;
    the last one contains the last bits only. period: of the pixel clock, in ns. phase: of the first
    word, in ns. jitter: added to the start time of each bit, in ns."""
    levels = []
    for word in words:
        for n in range(7):
            levels.append([CLOCK[n]] + [word >> numbers[n] & 1 for numbers in LANES])
    starts = [phase + period * n / 7 + jitter() for n in range(len(levels))]
    samples, n = [], 0
    for time in range((int(starts[-1]) // SAMPLES + 3) * SAMPLES):
        while n + 1 < len(starts) and starts[n + 1] <= time + 0.5:
            n += 1
        samples.append(levels[n] if starts[0] <= time + 0.5 else [0] * 5)
    return [
        [sum(samples[first + i][lane] << i for i in range(SAMPLES)) for lane in range(5)]
        for first in range(0, len(samples), SAMPLES)
    ]
