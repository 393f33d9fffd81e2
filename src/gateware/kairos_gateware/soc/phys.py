"""The PHYs of a variant's channels, between the RTIO core and the pads, and their observers."""

from dataclasses import replace

from migen import *

from ..moninj.moninj import TtlInjector
from ..phy.cxp_grabber import CxpGrabber, CxpRegions
from ..phy.kinds import KINDS, make_phys
from ..phy.mtdds import Mtdds, MtddsTone
from ..phy.mtdds import Shown as MtddsShown
from ..phy.pulse import Pulse
from ..phy.shuttler import Shown, Shuttler, ShuttlerSpline
from ..phy.songbird import Shown as SongbirdShown
from ..phy.songbird import Songbird, SongbirdTone
from ..phy.spi_aside import SpiAside
from ..phy.ttl import InOut
from ..rtio.link import Channel
from .resting import FEED, INPUTS, NETWORK, PLAY

__all__ = ["Phys"]


def _resettable(phy, simulation):
    """The PHY with its `reset`, and in simulation with other clocks for a part of it."""
    if simulation and isinstance(phy, Pulse):
        return _playing(phy)
    if simulation and isinstance(phy, Shuttler):
        return _showing(phy)
    if simulation and isinstance(phy, Songbird):
        phy.submodules.shown = SongbirdShown(phy)
    if simulation and isinstance(phy, Mtdds):
        phy.submodules.shown = MtddsShown(phy)
    if simulation and isinstance(phy, (ShuttlerSpline, Songbird, SongbirdTone, Mtdds, MtddsTone)):
        phy = ClockDomainsRenamer(NETWORK)(phy)  # only events change it
    if isinstance(phy, (CxpGrabber, CxpRegions)):
        # The part with the clock of a camera's line has the line's reset
        phy = ResetInserter(["sys"])(phy)
        phy.reset = phy.reset_sys
        return phy
    return ResetInserter()(phy)


def _playing(phy):
    """A pulse core has clocks of its own, which keep running while nothing else changes
    (verilated/clocks.h)."""
    for part in phy.sequencing.feeding:
        ClockDomainsRenamer(FEED)(part)
    core = ClockDomainsRenamer(PLAY)(ResetInserter(["sys", FEED])(phy.sequencing))
    phy = ResetInserter(["sys"])(phy)
    phy.reset = phy.reset_sys
    phy.comb += [core.reset_sys.eq(phy.reset), core.reset_feed.eq(phy.reset)]
    return phy


def _showing(phy):
    """A Shuttler's settings, and what its outputs show, are clocked with events only: these are
    many bits."""
    phy.submodules.shown = Shown(phy)
    for part in (phy.settings, phy.shown):
        ClockDomainsRenamer(NETWORK)(part)
    phy = ResetInserter(["sys", NETWORK])(phy)
    phy.reset = phy.reset_sys
    phy.comb += phy.reset_network.eq(phy.reset)
    return phy


def _simulated(spec):
    """The channel without its transceiver, which is not simulated: a camera's words come from pads instead."""
    if "cage" not in spec.parameters:
        return spec
    parameters = {name: value for name, value in spec.parameters.items() if name != "cage"}
    return replace(spec, parameters=parameters, pins=())


class Phys(Module):
    """specs: of the channels, a `variant.ChannelSpec` each. simulation: with clock domains of their
    own (resting.py).

    `reset` (in): of all PHYs. `channels`: `rtio.link.Channel` of each spec. `pads`: `Pad` of each pin.
    `monitored`: by number, the PHYs and injectors that a `MonitorInjector` observes and overrides.
    `pulses`: the pulse cores. `asides`: by number, PHYs that registers may use too. `outputs`: of pulse
    cores, each the number of its RTIO channel, its own number there, its `pulse.channel.Channel`, and its
    PHY's reset; `settings`: by such a number, `Settings`. `waveforms`: by number, the cards whose
    DACs have no pins (Shuttlers, Songbirds, Phasers as satellites), in simulation with their `shown`.
    `inputs`: the PHYs that sample pins. `grabbers`: each `CxpGrabber` whose camera is at a transceiver.
    """

    def __init__(self, specs, simulation=False):
        self.reset = Signal()

        # # #

        phys = make_phys([_simulated(spec) for spec in specs] if simulation else specs)
        injectors = {
            number: TtlInjector(phy.pads[0]) for number, phy in phys.items() if KINDS[specs[number].kind].injectable
        }
        self.pads = []
        for number, phy in phys.items():
            self.pads += [injectors[number].pad] if number in injectors else phy.pads
        self.waveforms = {number: phy for number, phy in phys.items() if isinstance(phy, (Shuttler, Songbird, Mtdds))}
        phys = {number: _resettable(phy, simulation) for number, phy in phys.items()}
        self.grabbers = [phy for phy in phys.values() if isinstance(phy, CxpGrabber) and phy.domain != "sys"]
        self.inputs = [phy for phy in phys.values() if isinstance(phy, InOut)]
        if simulation:
            for phy in self.inputs:
                ClockDomainsRenamer(INPUTS)(phy)
        self.submodules += [*phys.values(), *injectors.values()]
        self.comb += [phy.reset.eq(self.reset) for phy in phys.values()]

        self.channels = [
            phys[number].channel if number in phys else Channel(number, discard=True) for number in range(len(specs))
        ]
        self.monitored = {
            number: phy for number, phy in phys.items() if hasattr(phy, "probes") or hasattr(phy, "probe_port")
        } | injectors
        cores = {number: phy for number, phy in phys.items() if isinstance(phy, Pulse)}
        self.pulses = list(cores.values())
        self.asides = {number: phy for number, phy in phys.items() if isinstance(phy, SpiAside)}
        self.settings = {number: phy.settings for number, phy in cores.items()}
        self.outputs = [
            (number, n, source, phy.reset)
            for number, phy in phys.items()
            for n, source in enumerate(getattr(phy, "outputs", []))
        ]
