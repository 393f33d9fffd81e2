"""A bridge over several lanes that are late by different times, verilated."""

import numpy as np
import pytest

from kairos_gateware.figures.place import root
from kairos_gateware.testbenches.link import BondedPair, BridgeTraffic
from kairos_gateware.verilated.lockstep import build_lockstep

UP = 4000
"""Cycles until all lanes are aligned, and their link established."""
SKEWS = (0, 700)
"""Bits: the second lane is 10 cycles and 60 bits late."""


@pytest.fixture(scope="module")
def bonded():
    pair = BondedPair(SKEWS, delay=5, depth=64)
    dut = BridgeTraffic(pair, restarts=True)
    inputs = {"beats": dut.beats, "writes": dut.writes, "reads": dut.reads, "levels": dut.levels, "cut": pair.cut}
    outputs = {"written": dut.written, "read": dut.read, "wrong": dut.wrong, "torn": dut.torn, "seen": dut.levels_seen}
    outputs |= {"near": pair.near.up, "far": pair.far.up}
    outputs["lanes"] = [end.up for end in pair.near.endpoints + pair.far.endpoints]
    return build_lockstep(root() / "link_bonded", dut, inputs, outputs)


def played(bonded, cycles, **into):
    rows = np.zeros(cycles, bonded.inputs)
    for name, value in ({"beats": 7, "writes": 1, "reads": 1} | into).items():
        rows[name] = value
    return bonded.play(rows)


def test_beats_cross_lanes_that_are_late_by_different_times(bonded):
    out = played(bonded, UP + 4000, levels=0xA5)
    assert out["near"][-1] and out["far"][-1] and out["wrong"][-1] == 0
    assert out["seen"][-1] == 0xA5
    for name in ("written", "read"):
        assert out[name][-1] - out[name][UP] > 1000
    assert out["written"][out["near"].argmax()] == 0, "nothing passes before all lanes are up"


@pytest.mark.parametrize("lane", [0, 1])
def test_loss_of_one_lane_ends_all_lanes(bonded, lane):
    cut = np.zeros(3 * UP, "u8")
    cut[UP : UP + 500] = 1 << lane
    out = played(bonded, len(cut), levels=0x11, cut=cut)
    up = out["lanes"].astype(bool)
    assert up[UP - 1].all()
    assert (~up[UP : UP + 500]).any(axis=0).all(), "each has begun anew at both ends"
    assert not out["near"][UP + 499] and not out["far"][UP + 499]
    assert out["near"][-1] and out["far"][-1] and up[-1].all() and out["seen"][-1] == 0x11
    assert not out["torn"][-1], "parts of different beats were joined"
    for name in ("written", "read"):
        assert out[name][UP - 1] and out[name][-1] - out[name][UP + 500] > 500, f"{name} after the loss"
