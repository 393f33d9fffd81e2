"""Registers that are read while nothing changes but time, with a clock for the register bus alone:
the values, the number of cycles, and everything that follows are the same as when the whole logic
is clocked."""

import ctypes
import random

import pytest
from migen.fhdl.structure import _Assign
from migen.fhdl.tools import list_inputs, list_targets

from kairos_gateware.soc.soc import Soc
from kairos_gateware.variants import VARIANTS

from .library import Ps
from .test_resting import play

SETTLING = 8
"""Cycles after an external change in which the emulator clocks everything."""
NOTHING = 16
"""Cycles in which nothing may be due (kairos_pl.h)."""


class Reader(Ps):
    """Reads with a clock for the register bus alone where that is allowed, or never. `alone`:
    number of such reads."""

    def __init__(self, library, may, **options):
        super().__init__(library, **options)
        self.may, self.alone = may, 0
        self._same, self._driven = 0, None

    def step(self):
        driven = bytes(self.inputs.pads_i), self.inputs.event_o, self.inputs.emio_o
        self._same = self._same + 1 if driven == self._driven else 0
        self._driven = driven
        super().step()

    def _nothing_comes(self):
        answer, next_pad = self._answer(), [time for time, _, _ in self.schedule[:1]]
        soonest = min([self.out.sim_next_due, *next_pad]) - self.out.sim_tsc
        return answer is not None and min(answer, soonest) > NOTHING and self._same > SETTLING

    def read(self, address):
        for _ in range(100):
            if self.out.sim_quiet and self._nothing_comes():
                break
            self.step()
        else:
            return super().read(address)
        if not self.may:
            return super().read(address)
        word = ctypes.c_uint32()
        cycles = self.library.dll.kairos_pl_read(self.pl, address, 2, ctypes.byref(word))
        assert cycles == 3
        self.alone += 1
        # The counter lags by as much; the cycle that loads it is one of them.
        self.inputs.sim_tsc_load, self.inputs.sim_tsc_value = 1, self.out.sim_tsc + cycles + 1
        self.step()
        self.cycle += cycles - 1
        self._same += cycles - 1
        self.out.sim_tsc += cycles - 1
        return word.value


def compare(built, variant, seed, actions):
    found = []
    for may in [False, True]:
        ps = built(variant).boot(kind=Reader, may=may)
        registers, choose = built(variant).registers, random.Random(seed)
        # Before, everything is at rest; afterwards, some written registers may cause activity
        # forever
        seen = [ps.read(address) for address in registers.values()]
        seen.append(play(ps, registers, variant, choose, actions))
        seen += [ps.read(address) for address in registers.values()]
        # Edges of clock generators within a read are not evaluated: the emulator computes them
        waves = {wave["pad"] for wave in ps.library.info["waves"]}
        changes = [change for change in ps.changes if change[1] not in waves]
        found.append((seen, changes, ps.bursts, bytes(ps.memory)))
        alone = ps.alone
        ps.close()
    for whole, by_itself in zip(*found, strict=True):
        assert whole == by_itself, f"of seed {seed}"
    return alone


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("variant", ["demo", "lab"])
def test_reads_are_the_same_with_and_without_skipping(built, variant, seed):
    assert compare(built, variant, seed, 60) > len(built(variant).registers) // 2


@pytest.mark.long
@pytest.mark.parametrize("variant", ["demo", "lab", "pulse", "ion", "servo"])
def test_many_streams_are_equal_with_stopped_clocks(built, variant):
    for seed in range(100, 150):
        compare(built, variant, seed, 120)


def test_read_is_refused_while_a_part_is_active(built):
    ps = built("demo").boot()
    address, word = built("demo").registers["initiator_ring"], ctypes.c_uint32()

    def read():
        return ps.library.dll.kairos_pl_read(ps.pl, address, 2, ctypes.byref(word))

    ps.advance(ps.out.sim_tsc + 100)
    assert (read(), word.value) == (3, Ps.BASE)
    ps.write(address, Ps.BASE)  # its consequences are not over
    assert read() == 0
    assert ps.read(address) == Ps.BASE
    ps.close()


@pytest.mark.parametrize("variant", [name for name, of in VARIANTS.items() if not (of.satellites or of.uplink)])
def test_register_reads_have_no_strobe(variant):
    """Otherwise a read could have an effect that was not clocked."""
    soc = Soc(VARIANTS[variant], simulation=True)
    fragment = soc.get_fragment()
    banks = soc.bus.banks.banks
    reported = {
        csr.we for _, registers, _, bank in banks for csr in (*registers, *bank.simple_csrs) if hasattr(csr, "we")
    }
    statements = [*fragment.comb, *(s for statements in fragment.sync.values() for s in statements)]
    for statement in statements:
        passes_on = isinstance(statement, _Assign) and list_targets(statement) <= reported
        assert passes_on or not list_inputs(statement) & reported, statement
