"""The PHYs whose area is measured, one at a time, as listed by their kinds. A function returns
(description, module, ports)."""

from ..phy.kinds import KINDS

__all__ = ["PHYS", "BASELINES"]


def _ios(channel):
    links = [getattr(channel.output, name) for name in "stb data address fine busy".split()]
    inputs = channel.input
    return links if inputs is None else [*links, inputs.stb, inputs.data, inputs.fine]


def _measured(figure):
    def build():
        phy = figure.make()
        ios = [signal for pad in phy.pads for signal in (pad.o, pad.oe, pad.i)]
        for channel in [phy.channel, *getattr(phy, "others", [])]:
            ios += _ios(channel)
        ios += getattr(phy, "outputs", [])
        return figure.what, phy, ios

    return build


_FIGURES = {name: figure for kind in KINDS.values() for name, figure in kind.figures.items()}

PHYS = {name: _measured(figure) for name, figure in _FIGURES.items()}

BASELINES = {name: figure.baseline for name, figure in _FIGURES.items() if figure.baseline}
"""The reference's, where it has the same."""
