"""Lanes of what is wired to the pins of an emulated device: the tones of its synthesisers."""

import math
from collections.abc import Iterator

from .lanes import Lane, Steps

__all__ = ["lanes_of_bench"]

QUANTITIES = (("frequency", "Hz"), ("power", "dBm"), ("phase", "turns"))
"""Of a tone, in the order of the emulator's answer, behind its time."""
POWER = 2
"""Place of the power there; None: the tone is off."""
SYNTHESISERS = {"Urukul": 4}
"""Kind of a part: its number of outputs."""


def lanes_of_bench(device, origin_ns: int) -> Iterator[Lane]:
    """Lanes of the bench of a `kairos.emulator.Emulator`, if it has one; `origin_ns` is the page's time 0."""
    if not device.has_bench:
        return
    control = device.control
    for part in control.request("bench", **{"from": 0})["plan"].get("parts", ()):
        for output in range(SYNTHESISERS.get(part["kind"], 0)):
            tones = control.request("tones", part=part["name"], output=output)["tones"]
            if tones:
                yield from _tone(f"{part['name']}.ch{output}", tones, origin_ns)


def _tone(name: str, tones: list, origin_ns: int) -> Iterator[Lane]:
    """While it is off it has no frequency. A change before the page's time 0 stands at it."""
    times = [max(tone[0] - origin_ns, 0) for tone in tones]
    for number, (quantity, unit) in enumerate(QUANTITIES, 1):
        values = [math.nan if tone[POWER] is None else tone[number] for tone in tones]
        yield Steps(quantity, ("bench", name), unit, times, values)
