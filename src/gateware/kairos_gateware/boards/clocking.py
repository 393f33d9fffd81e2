"""The clocks of the logic on a 7-series chip (UG472): sys, and `fast` at four times its frequency
for serialisers.

`FixedClock` derives them from the processing system's clock. `SwitchedClock` derives them from that
or from a synthesiser's clock, as selected by `soc/clock.py`:

    FCLK0 ─ BUFG ─ domain boot ─┐              ┌─ BUFG ─ fast
                                ├─ MMCME2_ADV ─┼─ BUFG ─ FDCE, FDCE ─┐ CE
    synthesiser ─ BUFG ─────────┘              └─ BUFGCE ────────────┴─── sys

The gate in sys is closed in step with its clock, and by force while the clock manager is in reset:
so there is no runt pulse, and no pulse before the lock. `fast` has no gate, but serialisers are in
reset while the clock changes, and restart in step with each other afterwards. An external clock is
forwarded to the synthesiser through a DDR register next to the pin.
"""

from dataclasses import dataclass

from migen import *
from migen.genlib.cdc import BusSynchronizer
from migen.genlib.resetsync import AsyncResetSynchronizer

from ..link.line.phase import PhaseMover
from ..soc.clock import MEASURED_BITS, Activity, ClockControl, Frequency
from .io import FAST_DOMAIN

__all__ = ["BOOT_DOMAIN", "FixedClock", "SwitchedClock", "Synthesiser", "connect", "reference"]

BOOT_DOMAIN = "boot"
_PERIOD_NS = 8.0


@dataclass(frozen=True)
class Synthesiser:
    """A Si5324 and its pins, by names of Migen's platform (each a pair `p`, `n`). number: as in the
    descriptor (1, 2: input that the external clock is connected to). clock: from the chip to the
    logic. transceiver: that pair is a reference clock of transceivers. external: the external
    clock. forward: from the logic to the chip's input. reset: a reset of the chip, active low.
    always: used in every variant of the board."""

    number: int
    clock: str
    external: str
    forward: str
    transceiver: bool = False
    reset: tuple[str, str] | None = None
    always: bool = False


def _manager(source, clk, clk_fast, locked, kind="MMCME2_BASE", **ports):
    """A clock manager with outputs at one and four times the input's frequency."""
    feedback = Signal()
    return Instance(
        kind,
        p_CLKIN1_PERIOD=_PERIOD_NS,
        p_CLKFBOUT_MULT_F=8.0,  # 1 GHz, within the range of every speed grade
        p_CLKOUT0_DIVIDE_F=8.0,
        p_CLKOUT1_DIVIDE=2,
        i_CLKIN1=source,
        i_CLKFBIN=feedback,
        i_PWRDWN=0,
        o_CLKFBOUT=feedback,
        o_CLKOUT0=clk,
        o_CLKOUT1=clk_fast,
        o_LOCKED=locked,
        **ports,
    )


class FixedClock(Module):
    """fclk, fclk_reset_n: of the processing system. fast: there are serialisers."""

    def __init__(self, fclk, fclk_reset_n, fast):
        self.clock_domains.cd_sys = ClockDomain()

        # # #

        locked = Signal(reset=1)
        if fast:
            clk, clk_fast = Signal(), Signal()
            self.clock_domains.cd_fast = ClockDomain(FAST_DOMAIN)
            self.specials += [
                _manager(fclk, clk, clk_fast, locked, i_RST=0),
                Instance("BUFG", i_I=clk, o_O=self.cd_sys.clk),
                Instance("BUFG", i_I=clk_fast, o_O=self.cd_fast.clk),
            ]
            self.comb += self.cd_fast.rst.eq(ResetSignal())
        else:
            self.specials += Instance("BUFG", i_I=fclk, o_O=self.cd_sys.clk)
        self.specials += AsyncResetSynchronizer(self.cd_sys, ~fclk_reset_n | ~locked)


class SwitchedClock(Module):
    """fclk, fclk_reset_n: of the processing system. control: `ClockControl` in domain `boot`.
    synthesiser: its clock, not buffered; after the buffer it is domain `synthesiser`. mover:
    `PhaseMover` in domain `boot`, which shifts the logic's clocks, or None."""

    def __init__(self, fclk, fclk_reset_n, control, synthesiser, mover=None):
        self.clock_domains.cd_sys = ClockDomain()
        self.clock_domains.cd_fast = ClockDomain(FAST_DOMAIN)
        self.clock_domains.cd_boot = ClockDomain(BOOT_DOMAIN, reset_less=True)
        self.clock_domains.cd_synthesiser = ClockDomain(reset_less=True)

        # # #

        clk, clk_fast, running = Signal(), Signal(), Signal()
        waiting, gate = Signal(), Signal()
        self.specials += [
            Instance("BUFG", i_I=fclk, o_O=self.cd_boot.clk),
            Instance("BUFG", i_I=synthesiser, o_O=self.cd_synthesiser.clk),
            _manager(
                self.cd_boot.clk,
                clk,
                clk_fast,
                control.locked,
                kind="MMCME2_ADV",
                p_CLKIN2_PERIOD=_PERIOD_NS,
                p_COMPENSATION="INTERNAL",
                i_CLKIN2=self.cd_synthesiser.clk,
                i_CLKINSEL=~control.source,
                i_RST=control.reset,
                i_DADDR=0,
                i_DCLK=0,
                i_DEN=0,
                i_DI=0,
                i_DWE=0,
                **self._moved(mover, control),
            ),
            Instance("BUFG", i_I=clk, o_O=running),
            Instance("FDCE", i_C=running, i_CE=1, i_CLR=control.reset, i_D=control.enable, o_Q=waiting),
            Instance("FDCE", i_C=running, i_CE=1, i_CLR=control.reset, i_D=waiting, o_Q=gate),
            Instance("BUFGCE", i_I=clk, i_CE=gate, o_O=self.cd_sys.clk),
            Instance("BUFG", i_I=clk_fast, o_O=self.cd_fast.clk),
            AsyncResetSynchronizer(self.cd_sys, ~fclk_reset_n | ~control.up),
        ]
        self.comb += self.cd_fast.rst.eq(ResetSignal() | control.hold)

    def _moved(self, mover, control):
        """Parameters and ports of the clock manager for shifting its outputs."""
        if mover is None:
            return {"i_PSCLK": 0, "i_PSEN": 0, "i_PSINCDEC": 0}
        self.comb += mover.reset.eq(control.reset)
        return {
            "p_CLKOUT0_USE_FINE_PS": "TRUE",
            "p_CLKOUT1_USE_FINE_PS": "TRUE",
            "i_PSCLK": ClockSignal(BOOT_DOMAIN),
            "i_PSEN": mover.enable,
            "i_PSINCDEC": mover.increase,
            "o_PSDONE": mover.done,
        }


def _measure(module, domain, count, counts=1):
    """`count`, in sys, is the frequency of the clock of a domain. counts: level in that domain; 0:
    as if the clock had stopped."""
    module.submodules += (activity := Activity(domain, counts))
    frequency = ClockDomainsRenamer(BOOT_DOMAIN)(Frequency(activity.toggle))
    crossing = BusSynchronizer(MEASURED_BITS, BOOT_DOMAIN, "sys")
    module.submodules += frequency, crossing
    module.comb += [crossing.i.eq(frequency.count), count.eq(crossing.o)]


def reference(module, platform, synthesiser: Synthesiser):
    """The synthesiser's pins, and its clock after their buffer."""
    clock, from_chip = platform.request(synthesiser.clock), Signal(name="from_synthesiser")
    buffer = dict(i_I=clock.p, i_IB=clock.n, o_O=from_chip)
    if synthesiser.transceiver:
        module.specials += Instance("IBUFDS_GTE2", i_CEB=0, **buffer)
    else:
        module.specials += Instance("IBUFDS", **buffer)
    return clock, from_chip


def connect(module, platform, synthesiser: Synthesiser, control: ClockControl, ps7, clock, received=None, steps=None):
    """Adds to a module `SwitchedClock`, a synthesiser's pins, and the measurement of its clock and
    the external one. clock: as returned by `reference`. received: domain of the clock that is
    forwarded to the synthesiser instead of the external one, and a level in it: the clock is
    usable; otherwise the synthesiser gets none. steps: target position of the logic's clocks
    (`PhaseMover`), or None."""
    clock, from_chip = clock
    forward = platform.request(synthesiser.forward)
    if synthesiser.reset is not None:
        name, signal = synthesiser.reset
        module.comb += getattr(platform.request(name), signal).eq(1)
    to_chip, pairs, silent = Signal(), [("synthesiser", clock)], Signal(reset=received is not None)
    module.clock_domains.cd_external = ClockDomain("external", reset_less=True)
    if received is None:
        external, from_outside = platform.request(synthesiser.external), Signal()
        module.specials += [
            Instance("IBUFDS", i_I=external.p, i_IB=external.n, o_O=from_outside),
            Instance("BUFG", i_I=from_outside, o_O=ClockSignal("external")),
        ]
        pairs.append(("external", external))
    else:
        domain, used = received
        module.comb += ClockSignal("external").eq(ClockSignal(domain))
        # A receiver without a signal still outputs some clock: the synthesiser must not follow it
        module.sync.external += silent.eq(~used)
    module.specials += [
        Instance(
            "ODDR",
            p_DDR_CLK_EDGE="SAME_EDGE",
            i_C=ClockSignal("external"),
            i_CE=1,
            i_D1=1,
            i_D2=0,
            i_R=silent,
            i_S=0,
            o_Q=to_chip,
        ),
        Instance("OBUFDS", i_I=to_chip, o_O=forward.p, o_OB=forward.n),
    ]
    mover = None
    if steps is not None:
        module.submodules += (mover := PhaseMover(BOOT_DOMAIN))
        module.comb += mover.steps.eq(steps)
    module.submodules += SwitchedClock(ps7.fclk[0], ps7.fclk_reset_n[0], control, from_chip, mover)
    _measure(module, "synthesiser", control.synthesiser)
    _measure(module, "external", control.reference, ~silent)
    for name, pair in pairs:
        platform.add_platform_command(f"create_clock -name {name} -period {_PERIOD_NS} [get_ports {{pin}}]", pin=pair.p)
        platform.add_platform_command(
            f"set_clock_groups -asynchronous -group [get_clocks -include_generated_clocks {name}]"
        )
