"""Lanes of the parts connected to the pins of an emulated device: tones of synthesisers, voltages, photons,
upper-state population of each ion, camera frames, and signals at inputs."""

import math
import re
from collections import Counter
from collections.abc import Iterator

from ..waveform import Recording
from .lanes import Lane, Levels, Steps, Words

__all__ = ["lanes_of_bench", "lanes_of_tone"]

QUANTITIES = (("frequency", "Hz"), ("power", "dBm"), ("phase", "turns"))
"""Quantities of a tone, in the order of the emulator's answer, after its time."""
CLOCK_RESTS = 1000
"""Nanoseconds without an edge after which a camera's clock counts as stopped."""
POWER = 2
"""Index of the power in a tone; None or NaN: the tone is off."""
LABELS = {"photodiode": "light"}
"""Name of the voltage, by kind of part."""
_BUS = re.compile(r"((master|satellite\d+)_)?spi_")
"""Prefix of a bus pad's name, preceded by the board's name where boards have pads of equal names.
"""


def lanes_of_bench(device, recording: Recording) -> Iterator[Lane]:
    """Yield the lanes of the bench of a `kairos.emulator.Emulator`, if any; `recording` supplies
    the page's time 0 and the names of pins."""
    if not device.has_bench:
        return
    control, origin = device.control, recording.origin_ns
    plan = control.request("bench", **{"from": 0})["plan"]
    for part in plan.get("parts", ()):
        name, kind = part["name"], part["kind"]
        names = {number: output for output, number in part["names"].items()}
        for output in range(part["tones"]):
            tones = control.request("tones", part=name, output=output)["tones"]
            if tones:
                yield from lanes_of_tone(f"{name}.{names.get(output, f'ch{output}')}", tones, origin)
        for number in range(part["volts"]):
            # After the tones
            output = part["tones"] + number
            label = LABELS.get(kind, names.get(output, f"ch{number}"))
            yield from _numbers(control, part, output, label, "V", origin)
        if "ions" in part:
            # The first output is the sum of all photons; the upper-state population of each ion
            # follows
            yield from _numbers(control, part, 0, "photons", "/s", origin)
            for ion in range(part["ions"]):
                yield from _numbers(control, part, 1 + ion, f"upper state of ion {ion}", "", origin)
    edges = control.request("driven")["edges"]
    yield from _frames(edges, plan, recording)
    yield from _inputs(edges, plan.get("pins", ()), recording)


def _numbers(control, part, output: int, label: str, unit: str, origin_ns: int) -> Iterator[Lane]:
    rows = control.request("numbers", part=part["name"], output=output)["numbers"]
    if rows:
        times = [max(time - origin_ns, 0) for time, _ in rows]
        yield Steps(label, ("bench", part["name"]), unit, times, [number for _, number in rows])


def _frames(edges, plan, recording: Recording) -> Iterator[Lane]:
    """Yield the frames of each camera: the intervals in which its clock runs."""
    pads = {pin["name"]: pin["index"] for pin in plan.get("pins", ())}
    cameras = {part["name"] for part in plan.get("parts", ()) if part["kind"] == "camera"}
    for wire in plan.get("wires", ()):
        if wire["from"] not in cameras:
            continue
        clock = pads.get(f"{wire['to']}_clk")
        times = [time - recording.origin_ns for time, pad, _ in edges if pad == clock]
        times = [time for time in times if time >= 0]
        begins = [at for before, at in zip([-CLOCK_RESTS, *times], times, strict=False) if at - before >= CLOCK_RESTS]
        ends = [at for at, behind in zip(times, [*times[1:], math.inf], strict=True) if behind - at >= CLOCK_RESTS]
        if begins:
            texts = [f"frame {number}" for number in range(1, len(begins) + 1)]
            yield Words("frames", ("bench", wire["from"]), begins, ends, texts)


def _inputs(edges, pins, recording: Recording) -> Iterator[Lane]:
    """Yield the pins that the bench drives, grouped by board if there are several: pads of buses
    are omitted, since they are shown with their buses; lines of a link form their own group."""
    names = {channel.number: channel.name for channel in recording.channels}
    pads_of = Counter(channel.number for channel in recording.channels)
    boards = recording.board_names()
    for pin in pins:
        own = [(time - recording.origin_ns, level) for time, pad, level in edges if pad == pin["index"]]
        own = [(time, level) for time, level in own if time >= 0]
        if own and not _BUS.match(pin["name"]):
            times, levels = zip(*own, strict=True)
            name, group = names.get(pin["channel"], pin["name"]), ["inputs"]
            if len(boards) > 1:
                group.append(boards[pin["channel"] >> 16])
            if pads_of[pin["channel"]] > 1:
                name = pin["name"]
                group.append(name.rpartition("_")[0])
            yield Levels(name, tuple(group), times=list(times), levels=list(levels))


def lanes_of_tone(name: str, tones: list, origin_ns: int) -> Iterator[Lane]:
    """Yield the lanes of a tone, from rows of time in ns, Hz, dBm and turns; it has no frequency while off. Changes
    before the page's time 0 are shown at 0."""
    times = [max(tone[0] - origin_ns, 0) for tone in tones]
    for number, (quantity, unit) in enumerate(QUANTITIES, 1):
        values = [math.nan if _is_off(tone[POWER]) else tone[number] for tone in tones]
        yield Steps(quantity, ("bench", name), unit, times, values)


def _is_off(power: float | None) -> bool:
    return power is None or math.isnan(power)
