"""Variant `pulse`, with and without clocks that stop while nothing but the pulse core is active:
every output of every cycle is the same, and so is the recording (clocks.h)."""

import ctypes
import random

import pytest

from kairos_gateware.contracts.pulse import Error
from kairos_gateware.phy import pulse as phy
from kairos_gateware.testbenches.pulse_programs import random_program
from kairos_gateware.variants import VARIANTS

from .library import Ps

CHANNEL = {spec.name: number for number, spec in enumerate(VARIANTS["pulse"].channels)}
CORE = CHANNEL["pulse0"]
RISING, SEND = 0b1001, 0b0100
"""Configurations of an edge counter."""


class Watched(Ps):
    """`seen`: the outputs in each cycle."""

    def __init__(self, library, together, **options):
        self.seen = []
        super().__init__(library, **options)
        self.together(together)

    def together(self, together):
        """Whether all clocks run in every cycle; returns the number of cycles in which only the
        pulse core's ran, and of these, those in which only its engines' did."""
        engines = ctypes.c_uint64()
        return self.library.dll.kairos_pl_together(self.pl, together, ctypes.byref(engines)), engines.value

    def step(self):
        super().step()
        self.seen.append(bytes(self.out))

    def shown(self):
        """The recorded outputs of the core."""
        words, complete = ctypes.POINTER(ctypes.c_uint64)(), ctypes.c_uint32()
        count = self.library.dll.kairos_pl_shown(self.pl, ctypes.byref(words), ctypes.byref(complete))
        assert complete.value
        return words[:count]


def play(ps, registers, pads, seed):
    """A random program, with triggers, results, TTLs, counted edges at inputs, reads of registers,
    and pauses in which only the core is active."""
    rng = random.Random(seed)
    program = random_program(seed, 11, 10)
    at = start = 8 * (ps.out.sim_tsc + 400)
    for name in ["ttl0", "ttl1"]:
        edges = sorted(rng.sample(range(at // 8, at // 8 + 4000), 20))
        ps.schedule += [(edge, pads[name], 0xFF * (n % 2 == 0)) for n, edge in enumerate(edges)]
    ps.schedule.sort()
    ps.output(CHANNEL["ttl0_counter"], at, RISING)
    ps.output(CORE, at, rng.choice([0, 1, 3]), address=phy.RESULT_INPUTS)
    ps.output(CORE, at + 8, program.settings["branch_timeout"], address=phy.BRANCH_TIMEOUT)
    ps.output(CORE, at + 16, program.settings["misalign_limit"], address=phy.MISALIGN_LIMIT)
    for word in program.words:
        at = max(at + 8 * rng.choice([1, 1, 2, 60]), 8 * (ps.out.sim_tsc + 60))
        parts = [word >> 32 * part & 0xFFFF_FFFF for part in range(8)]
        ps.output(CORE, at, *parts, address=phy.WORD)
        kind = rng.random()
        if kind < 0.1:
            ps.output(CORE, at + 400, 0, address=phy.TRIGGER)
        elif kind < 0.2:
            ps.output(CORE, at + 200, rng.randrange(16), address=phy.RESULT)
        elif kind < 0.25:
            ps.output(CHANNEL["ttl4"], at + 4000, rng.randrange(2))
        elif kind < 0.3:
            ps.read(registers[rng.choice(["running", "armed", "error"])])
        elif kind < 0.35:
            ps.advance(ps.out.sim_tsc + rng.randrange(200))
        elif kind < 0.45:
            ps.inputs.emio_o = rng.getrandbits(32)
        elif kind < 0.5:
            ps.output(CHANNEL["ttl0_counter"], at + 100, SEND)
    for n in range(4):
        ps.output(CORE, at + 8000 * (n + 1), 0, address=rng.choice([phy.TRIGGER, phy.RESULT]))
    ps.output(CORE, at + 40_000, Error.UNDERRUN, address=phy.STATUS)
    ps.input(CORE, at + 50_000)
    ps.advance(max(at, start) // 8 + 5500)
    ps.write(registers["cycle_update"], 1)
    return [ps.read(registers[name]) for name in ["cycle", "error", "first_cycle", "underrun", "running"]]


@pytest.fixture(scope="module")
def of_core(built):
    """Addresses of the core's registers, without their prefix."""
    found = built("pulse").registers.items()
    return {name.removeprefix("pulse_"): address for name, address in found if name.startswith("pulse_")}


def compare(built, registers, seed, skip):
    found = []
    for together in [True, False]:
        ps = built("pulse").boot(kind=Watched, together=together, skip=skip)
        pads = {entry["name"]: entry["index"] for entry in ps.library.info["pads"]}
        read = play(ps, registers, pads, seed)
        alone, engines = ps.together(together)
        found.append((read, ps.shown(), ps.seen))
        # Where time is skipped, few cycles are left in which no segments move.
        assert (alone, engines) == (0, 0) if together else alone >= engines + (not skip) >= 2 * (not skip)
        ps.close()
    for one, other in zip(*found, strict=True):
        assert one == other, f"of program {seed}"
    return alone


@pytest.mark.parametrize("skip", [False, True], ids=["stepped", "skipping"])
@pytest.mark.parametrize("seed", range(6))
def test_stopped_clocks_change_no_output(built, of_core, seed, skip):
    compare(built, of_core, seed, skip)


@pytest.mark.long
def test_many_programs_run_alike_on_stopped_clocks(built, of_core):
    assert sum(compare(built, of_core, seed, seed % 2 == 0) for seed in range(100, 400)) > 100_000
