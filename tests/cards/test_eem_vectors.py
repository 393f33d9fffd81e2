"""DRTIO over EEM: the bits of characters on the four pairs of a connector."""

import re

from kairos_gateware.code8b10b import control
from kairos_gateware.link.line.eem import CHARACTER_BITS, LANE_BITS, LANES, Transmitter
from kairos_gateware.testbenches.simulator import run_simulation

from tests.support.vectors import GROUPS, vectors

GAP = 0xFF
"""D31.7, on lanes that are not looked at."""


def character(name):
    kind, x, y = re.fullmatch(r"([KD])(\d+)\.(\d)", name).groups()
    return control(int(x), int(y)) if kind == "K" else int(y) << 5 | int(x)


def levels(words):
    """Return the levels of each lane from the first word on, for a link word in each cycle."""
    dut, found = Transmitter(), ["" for _ in range(LANES)]

    def bench():
        yield  # what is set now would be the word of an odd cycle
        for word in words:
            yield dut.word.eq(word)
            yield
            for n, lane in enumerate(dut.lanes):
                found[n] += f"{(yield lane):0{LANE_BITS}b}"[::-1]

    run_simulation(dut, bench())
    return found


def on_lane(lane, names):
    """Return a lane's levels while these characters are sent on it."""
    codes = [character(name) for name in names]
    words = []
    for code in codes:
        mine = code << CHARACTER_BITS * (lane // 2) | GAP << CHARACTER_BITS * (1 - lane // 2)
        words += [mine, GAP] if lane % 2 == 0 else [GAP, mine]
    return levels([*words, 0, 0, 0])[lane]


@vectors("drtio_eem", only=(0, 2))
def test_characters_are_sent_with_their_disparity(vector):
    bits = re.sub(r"[ |]", "", vector["bits"])
    assert bits in on_lane(vector["lane"], vector["chars"])


@vectors("drtio_eem", only=(1,))
def test_odd_words_are_sent_a_cycle_later(vector):
    """The bits given for D4.0 are those of D15.0: a D4 that follows is 110101 in IEEE 802.3, table 36-1."""
    first, second = re.sub(r" ", "", vector["bits"].partition("(")[0]).split("|")
    sent = on_lane(vector["lane"], vector["chars"])
    assert first + "0010101011" in sent and second == "0010111010"
    assert first + second in on_lane(vector["lane"], ["D0.0", "D15.0"])


@vectors("drtio_eem", only=(3,))
def test_words_take_turns_on_two_pairs_of_lanes(vector):
    assert vector["rule"].startswith("16-bit link word n = (c0, c1): n even -> c0 on lane 0, c1 on lane 2")
    low, high = character("K28.5"), character("K28.1")
    quiet = 0x4A
    for n in range(2):
        words = [quiet | quiet << CHARACTER_BITS] * 4
        words[2 + n] = low | high << CHARACTER_BITS
        lanes = levels([*words, quiet, quiet])
        commas = [("1010000011" in lane or "0101111100" in lane) for lane in lanes]
        others = [("0110000011" in lane or "1001111100" in lane) for lane in lanes]
        assert commas == [n == 0, n == 1, False, False], "K28.5"
        assert others == [False, False, n == 0, n == 1], "K28.1"


def test_every_vector_of_the_group_is_one_of_these():
    assert len(GROUPS["drtio_eem"]) == 4
