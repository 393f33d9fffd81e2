"""Loads and stores through registers: a store that fails after its early acknowledgement is not passed over."""

import pytest

from kairos_gateware.testbenches.simulator import run_simulation

from .registers import RemoteRegisters
from .test_window import LAST, Boards, Master
from .words import DONE, REFUSED, UNREACHABLE

SLOTS = 16


class Registered(Boards):
    """Boards whose processor uses the registers, too; the others are those of `Boards`."""

    def __init__(self, **options):
        super().__init__(**options)
        self.submodules.registers = RemoteRegisters(self.initiator, self.askers.askers[0], self.plugged)


class Registers:
    """The registers as a processor uses them. master: of the port, which watches the window meanwhile."""

    def __init__(self, block, master):
        self.block, self.step = block, master.step

    def write(self, strobe):
        yield strobe.eq(1)
        yield from self.step()
        yield strobe.eq(0)
        yield from self.step()

    def begin(self, address, value=None):
        """Begin to store, or to load."""
        yield self.block.address.storage.eq(address)
        if value is not None:
            yield self.block.data.storage.eq(value)
        yield from self.write((self.block.load if value is None else self.block.store).re)

    def busy(self):
        return (yield self.block.state.status) >> 1 & 1

    def access(self, address, value=None):
        """Return the status of a store or load, the loaded word, and the cycles it was waited for."""
        yield from self.begin(address, value)
        cycles = 0
        while (yield from self.busy()):
            yield from self.step()
            cycles += 1
        return (yield self.block.state.status) >> 3, (yield self.block.value.status), cycles

    def until(self, signal):
        while not (yield signal):
            yield from self.step()


def simulate(play):
    dut = Registered(timeout=64, attempts=2)
    master = Master(dut)
    run_simulation(dut, play(dut, Registers(dut.registers, master)))
    assert master.failures == []


@pytest.mark.parametrize("why", [UNREACHABLE, REFUSED])
def test_failed_early_store_holds_further_accesses_until_known(why):
    address = 24 if why == UNREACHABLE else LAST // 2 + 8

    def play(dut, processor):
        block = dut.registers
        assert (yield from processor.access(0, 5))[0] == DONE
        yield block.early_acknowledge.storage.eq(1)
        yield dut.plugged.eq(why != UNREACHABLE)
        assert (yield from processor.access(address, 1))[0] == DONE, "answered early"
        assert not (yield block.irq)
        yield from processor.until(block.irq)
        yield dut.plugged.eq(1)
        assert (yield block.late.status) == 1 | why << 1 and (yield block.late_address.status) == address
        for value in (None, 7):
            status, _, cycles = yield from processor.access(0, value)
            assert status == why and cycles < 3 and (yield dut.initiator.idle)
        yield from processor.write(block.late_clear.re)
        assert not (yield block.irq)
        assert (yield from processor.access(0))[:2] == (DONE, 5), "nothing was stored in between"
        assert (yield from processor.access(0, 9))[0] == DONE
        assert (yield from processor.access(0))[:2] == (DONE, 9)
        assert (yield block.failed.status) == 1 and not (yield dut.window.late)

    simulate(play)


def test_store_that_waits_for_room_is_not_issued_after_a_failure():
    def play(dut, processor):
        block = dut.registers
        yield block.early_acknowledge.storage.eq(1)
        yield block.destination.storage.eq(8 | 3)
        yield dut.plugged.eq(0)
        for n in range(SLOTS):
            assert (yield from processor.access(8 * n, n + 1))[0] == DONE
        yield from processor.begin(8 * SLOTS, 77)
        assert (yield from processor.busy()) and not (yield block.irq)
        yield from processor.until(block.irq)
        yield from processor.step()
        assert not (yield from processor.busy()) and (yield block.state.status) >> 3 == UNREACHABLE
        assert (yield block.late.status) == 1 | UNREACHABLE << 1 | 8, "for a board that was named"
        yield from processor.until(dut.initiator.idle)
        assert (yield block.failed.status) == SLOTS and (yield block.late_address.status) == 0, "of the first"
        yield dut.plugged.eq(1)
        yield from processor.write(block.late_clear.re)
        assert (yield from processor.access(8 * SLOTS))[:2] == (DONE, 0)

    simulate(play)
