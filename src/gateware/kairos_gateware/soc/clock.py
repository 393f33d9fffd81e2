"""Clock selection for the logic: the processing system's clock, used at start, or that of a board's
synthesiser.

`ClockControl` switches. It runs on the processing system's clock, which never stops, and controls
the board's clock manager (`boards/clocking.py`; in simulation `boards/emulator.py` has a model of it):

    asked for ─▶ HOLD ─▶ PAUSE ─▶ RESET ─▶ LOCK ─▶ START ─▶ (selected)
                 PHYs    clocks   manager  waits    clocks
                 reset   gated    reset    for it   on
                           ▲
    lock lost ─────────────┘

After power-up it begins with LOCK. The clocks of the logic are off from PAUSE to START, with no
runt pulse at either end, and only the PHYs and the waiting events are reset: a register access in
progress is answered late, but always answered. If there is no lock within LOCK_CYCLES, and whenever
the lock is lost, the processing system's clock is selected instead; the PHYs then stay in reset
until that has been acknowledged.
"""

from litex.soc.interconnect.csr import CSR, AutoCSR, CSRStatus, CSRStorage
from migen import *
from migen.genlib.cdc import MultiReg, PulseSynchronizer
from migen.genlib.fsm import FSM, NextState, NextValue

from ..csr import uses

__all__ = [
    "ClockControl",
    "ClockRegisters",
    "Activity",
    "Frequency",
    "GATE_CYCLES",
    "LOCK_CYCLES",
    "WINDOW",
    "PRESCALE",
    "MEASURED_BITS",
]

GATE_CYCLES = 16
"""Cycles for a request to reach the logic at its slowest possible clock."""

LOCK_CYCLES = 1 << 15
"""262 us: a clock manager of this chip family locks within 100 us (DS187, DS191)."""

PRESCALE = 4
"""Cycles of a measured clock per count."""

WINDOW = 1 << 20
"""Cycles of the processing system's clock in a measurement: 8.4 ms."""

MEASURED_BITS = 20

_REST = 15
"""Cycles, more than an event takes through the core, or a request from one domain to the other."""


class ClockControl(Module):
    """domain: of the processing system's clock. simulation: shorter waits, and `settled` (out).

    To the clock manager, in `domain`: `source` (out, 0 processing system, 1 synthesiser); `reset` (out);
    `enable` (out): of the gates in the logic's clocks; `up` (out): they have been on, until then the logic
    is in reset. From it `locked` (in), asynchronous.

    In domain sys: `switch` (in), a pulse, switches to the clock `select` (in, as `source`). `selected`
    (out): the clock in use; `switching` (out): it is being replaced; `is_locked` (out): the manager is
    locked. `lost` (out): the processing system's clock had to be selected, until `acknowledge` (in), a
    pulse. `hold` (out): PHYs are in reset; `discard` (out): a pulse before it ends, waiting events are
    dropped. `reference`, `synthesiser` (in, 20 bits): measured counts (`Frequency`) of the external clock
    and of the synthesiser's. `settled`, for time skip: no switch is in progress.
    """

    def __init__(self, domain="sys", simulation=False):
        self.source = Signal()
        self.reset = Signal()
        self.enable = Signal()
        self.locked = Signal()
        self.up = Signal()
        self.select = Signal()
        self.switch = Signal()
        self.acknowledge = Signal()
        self.selected = Signal()
        self.switching = Signal()
        self.is_locked = Signal()
        self.lost = Signal()
        self.hold = Signal()
        self.discard = Signal()
        self.reference = Signal(MEASURED_BITS)
        self.synthesiser = Signal(MEASURED_BITS)
        self.settled = Signal()

        # # #

        locked, select, switch, acknowledge = Signal(), Signal(), Signal(), Signal()
        switching, lost, hold = Signal(), Signal(), Signal()
        asked = Signal()
        done, fall_back = Signal(), Signal()
        target = Signal()
        self.specials += [MultiReg(self.locked, locked, domain), MultiReg(self.select, select, domain)]
        for pulse, arrived in [(self.switch, switch), (self.acknowledge, acknowledge)]:
            crossing = PulseSynchronizer("sys", domain)
            self.submodules += crossing
            self.comb += [crossing.i.eq(pulse), arrived.eq(crossing.o)]
        here = getattr(self.sync, domain)
        here += [
            If(self.enable, self.up.eq(1)),
            If(done, asked.eq(0)),
            If(switch, asked.eq(1)),
            If(acknowledge, lost.eq(0)),
            If(fall_back, lost.eq(1)),
            hold.eq(switching | lost | fall_back),
        ]

        count = Signal(max=LOCK_CYCLES + 1)
        limit = LOCK_CYCLES // 64 if simulation else LOCK_CYCLES

        def after(cycles, state, *statements):
            move = [NextValue(count, 0), NextState(state), *statements]
            return If(count == cycles, *move).Else(NextValue(count, count + 1))

        self.submodules.fsm = fsm = ClockDomainsRenamer(domain)(FSM(reset_state="LOCK"))
        self.comb += switching.eq(~fsm.ongoing("RUN"))
        fsm.act(
            "RUN",
            # The clock may misbehave from here on; the logic should see as little of it as possible
            If(~locked, fall_back.eq(1), NextValue(target, 0), NextValue(self.enable, 0), NextState("PAUSE")).Elif(
                asked, done.eq(1), NextValue(target, select), If(select != self.source, NextState("HOLD"))
            ),
        )
        fsm.act("HOLD", after(GATE_CYCLES, "PAUSE", NextValue(self.enable, 0)))
        fsm.act("PAUSE", after(GATE_CYCLES, "RESET", NextValue(self.reset, 1)))
        fsm.act("RESET", NextValue(self.source, target), after(GATE_CYCLES, "LOCK", NextValue(self.reset, 0)))
        fsm.act(
            "LOCK",
            If(
                locked & (count >= GATE_CYCLES),
                NextValue(count, 0),
                NextValue(self.enable, 1),
                NextState("START"),
            ).Else(
                after(limit, "RESET", NextValue(self.reset, 1), NextValue(target, 0), fall_back.eq(target)),
            ),
        )
        fsm.act("START", after(GATE_CYCLES, "RUN"))

        held = Signal()
        rest = Signal(max=_REST + 1)
        for signal, seen in [
            (self.source, self.selected),
            (switching, self.switching),
            (locked, self.is_locked),
            (lost, self.lost),
            (hold, held),
        ]:
            self.specials += MultiReg(signal, seen)
        # Keeps the PHYs in reset while the core executes or drops its waiting events
        self.sync += [
            If(held, rest.eq(_REST)).Elif(rest != 0, rest.eq(rest - 1)),
            self.hold.eq(held | (rest != 0)),
        ]
        self.comb += self.discard.eq(~held & (rest == _REST))
        if simulation:
            # Waits until everything above has settled: requests, and their consequences, take some
            # cycles to cross domains
            still = Signal(max=_REST + 1)
            busy = switching | asked | self.switch | self.acknowledge | ~locked | (hold != self.hold)
            self.sync += If(busy, still.eq(_REST)).Elif(still != 0, still.eq(still - 1))
            self.comb += self.settled.eq(~busy & (still == 0))


class Activity(Module):
    """In domain `measured`: `toggle` (out) changes every PRESCALE cycles. counts: level there; 0: as if the
    clock had stopped."""

    def __init__(self, measured, counts=1):
        self.toggle = Signal()

        # # #

        count = Signal(max=PRESCALE)
        edge = getattr(self.sync, measured)
        edge += If(counts, count.eq(count + 1), If(count == 0, self.toggle.eq(~self.toggle)))


class Frequency(Module):
    """Frequency of a clock: `count` (out, 20 bits) is the number of changes of `toggle` in the latest
    window of WINDOW cycles of sys. The unit is PRESCALE * 125 MHz / WINDOW = 477 Hz; for a clock that has
    stopped, it becomes 0 after at most two windows."""

    def __init__(self, toggle, window=WINDOW):
        self.count = Signal(MEASURED_BITS)

        # # #

        now, before = Signal(), Signal()
        running = Signal(MEASURED_BITS)
        time = Signal(max=window)
        self.specials += MultiReg(toggle, now)
        self.sync += [
            before.eq(now),
            time.eq(time + 1),
            If(now != before, running.eq(running + 1)),
            If(time == window - 1, time.eq(0), self.count.eq(running), running.eq(now != before)),
        ]


class ClockRegisters(Module, AutoCSR):
    """Present only if a board's synthesiser can provide the logic clock."""

    USES = uses("clock")

    def __init__(self, control):
        self.select = CSRStorage(name="select")
        self.status = CSRStatus(4, name="status")
        self.lost = CSR(2, name="lost")
        self.synthesiser = CSRStatus(MEASURED_BITS, name="synthesiser")
        self.reference = CSRStatus(MEASURED_BITS, name="reference")

        # # #

        self.comb += [
            control.select.eq(self.select.storage),
            control.switch.eq(self.select.re),
            control.acknowledge.eq(self.lost.re),
            self.status.status.eq(Cat(control.selected, control.switching, control.is_locked, control.hold)),
            self.lost.w.eq(control.lost),
            self.synthesiser.status.eq(control.synthesiser),
            self.reference.status.eq(control.reference),
        ]
