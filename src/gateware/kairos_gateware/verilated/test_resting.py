"""Parts that are idle most of the time, with and without a clock meanwhile: every output of every
cycle is the same."""

import ctypes
import random

import pytest

from kairos_gateware.dma.format import COMPACT, RECORDED, compact, recorded
from kairos_gateware.variants import VARIANTS
from kairos_gateware.verilated.hp_port import HpPort

from .library import Ps
from .test_playing import Watched

TRACE, RING, RING_SIZE = 0x1000, 0x8_0000, 0x4_0000
FIXED = "initiator_ring initiator_input_ring initiator_enable analyzer_base analyzer_last dma_base".split()
REMOTE = ("satellite", "remote", "exports", "bulk", "mailbox")
"""Registers that are not changed, since memory would be written anywhere, or the link would not be
re-established."""


class Linked(Watched):
    """A board with a satellite behind its link, both with the same clocks."""

    def together(self, together):
        self.library.dll.kairos_pl_together(self.satellite.pl, together, ctypes.byref(ctypes.c_uint64()))
        return super().together(together)

    def step(self):
        super().step()
        self.seen.append(bytes(self.satellite.out))


def boot(built, variant, together, skip):
    """An instance whose parts may or may not rest."""
    if variant != "pair":
        return built(variant).boot(kind=Watched, together=together, skip=skip)
    ps = Linked(built("pair").library, together, skip=skip, satellite=built("satellite").library)
    for name, value in [("rtio_phy_reset", 0), ("initiator_ring", Ps.BASE), ("initiator_enable", 1)]:
        ps.write(built("pair").registers[name], value)
    while ps.read(built("pair").registers["satellite_state"]) & 2 == 0:
        pass
    return ps


def play(ps, registers, variant, rng, actions):
    """Outputs with and without wait, also late ones and ones to no channel; gates, edges and reads;
    playbacks; any register with any value; pauses. Returns what the processor has seen."""
    channels = len(VARIANTS[variant].channels)
    writable = [name for name in registers if name not in FIXED and not name.startswith(REMOTE)]
    seen = []
    for name, value in [("base", RING), ("last", RING + RING_SIZE - 1)]:
        ps.write(registers[f"analyzer_{name}"], HpPort.BASE + value)
    ps.write(registers["analyzer_enable"], 1)
    for _ in range(actions):
        kind, time = rng.random(), 8 * (ps.out.sim_tsc + rng.choice([5, 60, 200, 3000])) + rng.randrange(8)
        channel = rng.randrange(channels + 1)
        if variant == "pair" and rng.random() < 0.5:
            channel |= 1 << 16
            time += 1600
        if kind < 0.3:
            words = [rng.getrandbits(rng.choice([1, 2, 32])) for _ in range(rng.choice([1, 1, 1, 2, 9]))]
            seen.append(ps.output(channel, time, *words, address=rng.choice([0, 0, 1, 2, 3, rng.randrange(256)])))
        elif kind < 0.5:
            # Only events that are in time: an error blocks everything posted after it.
            for n in range(rng.randrange(1, 12)):
                while ps.sequence + 1 - ps.status()[0] >= 12:
                    ps.step()
                ps.submit(2, rng.randrange(12) << 8, time + 24_000 + 8 * n * rng.randrange(3), [rng.randrange(2)])
                for _ in range(rng.randrange(3, 9)):
                    ps.step()
            ps.wait(ps.sequence)
        elif kind < 0.6:
            pads = len(ps.library.info["pads"])
            at = ps.out.sim_tsc + 1
            ps.schedule += sorted((at + rng.randrange(400), rng.randrange(pads), rng.getrandbits(8)) for _ in range(6))
            ps.schedule.sort()
        elif kind < 0.7:
            seen.append(ps.input(rng.randrange(4), time))
        elif kind < 0.75:
            encode, format = rng.choice([(recorded, RECORDED), (compact, COMPACT)])
            events = [(rng.randrange(12), 0, 80 * (n + 1), bytes([n % 2, 0, 0, 0])) for n in range(rng.randrange(40))]
            trace = encode(events)
            ps.hp.memory[TRACE : TRACE + len(trace)] = trace
            ps.write(registers["dma_base"], HpPort.BASE + TRACE)
            for part, value in enumerate([0, time + 8 * rng.choice([0, 400])]):
                ps.write(registers["dma_time_offset"] + 4 * part, value)
            ps.write(registers["dma_format"], format)
            ps.write(registers["dma_enable"], 1)
        elif kind < 0.85:
            name = rng.choice(writable)
            ps.write(registers[name], rng.choice([0, 1, 1, rng.getrandbits(32)]))
            if name in ("rtio_reset", "rtio_phy_reset"):
                ps.write(registers["rtio_phy_reset"], 0)
        elif kind < 0.93:
            seen.append(ps.read(registers[rng.choice(list(registers))]))
        else:
            ps.advance(ps.out.sim_tsc + rng.choice([20, 500, 5000]))
    ps.advance(ps.out.sim_tsc + 5000)
    return seen


def compare(built, variant, seed, actions, skip):
    found = []
    for together in [True, False]:
        ps = boot(built, variant, together, skip)
        found.append((play(ps, built(variant).registers, variant, random.Random(seed), actions), ps.seen))
        ps.close()
    (one, cycles), (other, fewer) = found
    first = next((n for n, both in enumerate(zip(cycles, fewer, strict=False)) if both[0] != both[1]), None)
    assert first is None and len(cycles) == len(fewer), f"of seed {seed}, in cycle {first}"
    assert one == other


@pytest.mark.parametrize("skip", [False, True], ids=["stepped", "skipping"])
@pytest.mark.parametrize("seed", [0, 1, *(pytest.param(n, marks=pytest.mark.long) for n in (2, 3))])
@pytest.mark.parametrize("variant", ["demo", "lab", "pair"])
def test_resting_parts_change_no_output(built, variant, seed, skip):
    compare(built, variant, seed, 60, skip)


@pytest.mark.long
@pytest.mark.parametrize("variant", ["demo", "lab", "pair", "pulse", "ion"])
def test_many_streams_are_equal_with_resting_parts(built, variant):
    for seed in range(100, 200):
        compare(built, variant, seed, 120, seed % 2 == 0)
