"""Failing copies, loads and stores of another board's memory, in the verilated whole: a halted engine does
nothing until the firmware clears it, so time may be skipped; and everything ends at the same time
as without skipping, after a pause of any length, since timers resume from the same place."""

import struct

import pytest

from kairos_gateware.link.bulk.engine import INVALID
from kairos_gateware.link.bulk.slots import UNREADABLE
from kairos_gateware.link.remote.words import REFUSED, UNREACHABLE

from .hp_port import HpPort
from .library import Ps

RING, SOURCE = HpPort.BASE, HpPort.BASE + 0x1000
QUIET = 5003
"""Cycles in which an idle board is observed."""
FAILING = {
    "refused": ((SOURCE, 64, 0x1000), REFUSED),
    "invalid": ((SOURCE, 0, 0x1000), INVALID),
    "unreadable": ((HpPort.BASE + (1 << 20), 64, 0x1000), UNREADABLE),
    "unreachable": ((SOURCE, 64, 0x1000), UNREACHABLE),
}
"""(address here, bytes, address there) of a copy, and the cause of its failure. The satellite
exports nothing."""


class Recorded(Ps):
    """`recorded`: (counter, interrupts, event) whenever a wake-up signal of the processors changes."""

    def __init__(self, *arguments, **options):
        self.recorded = []
        super().__init__(*arguments, **options)

    def step(self):
        super().step()
        now = self.out.irq_f2p, self.out.event_i
        if not self.recorded or self.recorded[-1][1:] != now:
            self.recorded.append((self.out.sim_tsc, *now))


@pytest.fixture
def joined(built):
    """Starts a board with remote memory and a satellite that agree on the time; the fibre is
    unplugged afterwards if not `plugged`."""
    started = []

    def start(skip, plugged):
        ps = Recorded(built("memory").library, skip=skip, satellite=built("store").library)
        started.append(ps)
        ps.write(built("memory").registers["rtio_phy_reset"], 0)
        while ps.read(built("memory").registers["satellite_state"]) & 2 == 0:
            pass
        ps.satellite.plugged = plugged
        return ps

    yield start
    for ps in started:
        ps.close()


def copies(ps, registers, kind):
    """Three copies that fail, twice: returns what the board's processors observed, and the number
    of cycles of `QUIET` that were clocked."""
    copy, _ = FAILING[kind]
    ps.write(registers["bulk_base"], RING)
    ps.write(registers["bulk_interrupt"], 1)
    found = []
    for posted in (0, 3):
        for number in range(posted, posted + 3):
            here, size, there = copy
            struct.pack_into("<4I", ps.hp.memory, 16 * number, here, size, there, 1)
        ps.write(registers["bulk_posted"], posted + 3)
        ps.advance(ps.out.sim_tsc + (40_000 if kind == "unreachable" else 4000))
        clocked = ps.cycle
        ps.advance(ps.out.sim_tsc + QUIET)
        clocked = ps.cycle - clocked
        names = ("bulk_state", "bulk_completed", "bulk_posted", "bulk_notification")
        found.append([ps.out.sim_tsc, *[ps.read(registers[name]) for name in names]])
        # Descriptors after the failed one are dropped
        ps.write(registers["bulk_notification_clear"], 1)
        ps.write(registers["bulk_clear"], 1)
        found.append([ps.read(registers[name]) for name in names])
    return found, clocked


@pytest.mark.parametrize("kind", FAILING)
def test_halted_engine_allows_time_to_be_skipped(built, joined, kind):
    registers = built("memory").registers
    ps, exact = [joined(skip, plugged=kind != "unreachable") for skip in (True, False)]
    found, clocked = copies(ps, registers, kind)
    halted = 1 | 2 | FAILING[kind][1] << 2
    assert [seen[1:] for seen in found[::2]] == [[halted, 0, 3, 1], [halted, 3, 6, 1]]
    assert found[1::2] == [[2, 3, 3, 0], [2, 6, 6, 0]]
    assert clocked < 100, "with nothing to do"
    assert copies(exact, registers, kind)[0] == found and exact.recorded == ps.recorded


def test_unanswered_loads_end_as_without_skipping(built, joined):
    registers = built("memory").registers

    def ends(ps):
        """The times at which loads have failed, from `remote_state`."""
        found = []
        for pause in (0, 1003, 2010):
            ps.advance(ps.out.sim_tsc + QUIET + pause)
            ps.write(registers["remote_load"], 1)
            ps.advance(ps.out.sim_tsc + 16_300)
            while (state := ps.read(registers["remote_state"])) & 2:
                pass
            found.append((ps.out.sim_tsc, state >> 3))
        return found

    found = ends(joined(skip=True, plugged=False))
    assert [status for _, status in found] == [UNREACHABLE] * 3
    assert ends(joined(skip=False, plugged=False)) == found


def test_early_store_that_fails_interrupts_until_it_is_known(built, joined):
    """Its attempts are exhausted at the same time as without skipping."""
    registers = built("memory").registers

    def ends(ps):
        """What the registers say of the store, and of a load after it."""
        ps.advance(ps.out.sim_tsc + QUIET)
        ps.write(registers["remote_early_acknowledge"], 1)
        ps.write(registers["remote_address"], SOURCE)
        ps.write(registers["remote_store"], 1)
        found = [ps.read(registers["remote_state"]) >> 3, ps.out.irq_f2p]
        ps.advance(ps.out.sim_tsc + 16_300)
        while not ps.out.irq_f2p:
            ps.step()
        ps.write(registers["remote_load"], 1)
        found += [ps.read(registers[name]) for name in ("remote_late", "remote_late_address", "remote_state")]
        ps.write(registers["remote_late_clear"], 1)
        ps.advance(ps.out.sim_tsc + QUIET)
        return [*found, ps.out.irq_f2p]

    ps, exact = [joined(skip, plugged=False) for skip in (True, False)]
    late, state = 1 | UNREACHABLE << 1, 4 | UNREACHABLE << 3
    assert ends(ps) == [0, 0, late, SOURCE, state, 0] == ends(exact)
    assert [levels for _, levels, _ in ps.recorded] == [0, 2, 0]
    assert exact.recorded == ps.recorded
