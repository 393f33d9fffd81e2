"""What a run shows of a bench that cannot be meant: inputs that are read and that nothing drives,
detectors whose pins nobody reads, counts without light, cameras without a trigger, voltages without a
source.

The parts themselves cannot tell: they know neither which inputs kernels read nor what the others do.
A warning needs both, so that a bench of which an experiment uses a part gives none.
"""

import json
from collections.abc import Iterator
from typing import NamedTuple

from ..contracts.cards import MEASURING
from ..contracts.descriptor import ChannelKind
from ..errors import EmulatorError
from . import artifacts

__all__ = ["bench_warnings"]

GATES = (2, 3)
"""Addresses of a TTL input that open a gate or sample the pin."""
LEVEL = 0
"""Address of a TTL input with which the device drives the pin itself."""
COUNTERS = {"photomultiplier": "photons", "line trigger": "edges", "loopback": "edges"}
"""Kinds of parts whose pin only a TTL input can read."""
CAMERA_CABLES = ("Camera Link", "CoaXPress")
"""Labels of the wires from cameras to grabbers."""
LIGHT = ("detection", "cooling", "pumping")
"""Labels of light that makes an ion scatter photons."""


class Read(NamedTuple):
    """The first time, in ns since power-up, at which a kernel read an input, and from where: library and
    addresses (`Kernels.frames`)."""

    at: int
    chain: tuple | None


def bench_warnings(device, state: dict, names: dict[int, str], inputs: frozenset[int]) -> list[tuple]:
    """Return warnings of a run on an emulated `device`, in the format of the others in the `state` of its
    bench: time in ns, text, origin in a kernel.

    names: RTIO channels of devices in the database. inputs: those of `TTLInOut`.
    """
    plan = state["plan"]
    kinds = {part["kind"] for part in plan["parts"]}
    if not kinds & {*COUNTERS, "camera", "photodiode", "AOM"}:
        # Only what a bench file describes; without one, nobody has said what is connected.
        return []
    bench = _Bench(plan, state["parts"], names)
    used = _Used(device, inputs)
    return [*bench.unread(used), *bench.dark(used), *bench.untriggered(used), *bench.unconnected()]


class _Used:
    """The channels that kernels used: `read`, inputs with their first gates; `written`, all with an output.

    `counted`: the input of each edge counter, if `is_known`.
    """

    def __init__(self, device, inputs: frozenset[int]):
        import numpy as np  # imported late: it takes 0.15 s, in which a device boots

        sources = device.sources()
        targets, firsts = np.unique(sources.outputs["target"], return_index=True)
        first = {int(target): int(index) for target, index in zip(targets, firsts, strict=True)}
        self.counted, self.is_known = _inputs_of_counters(device.variant)
        self.written = {target >> 8 for target in first}
        self.read: dict[int, Read] = {}
        driven = {target >> 8 for target in first if target & 0xFF == LEVEL}
        for target, index in first.items():
            channel, address = target >> 8, target & 0xFF
            pin = channel if channel in inputs and address in GATES else self.counted.get(channel)
            if pin is not None and pin not in driven:
                output = sources.outputs[index]
                at = Read(int(output["time_ns"]), sources.origin(int(output["chain"])))
                self.read[pin] = min(self.read.get(pin, at), at, key=lambda read: read.at)


def _inputs_of_counters(variant: str) -> tuple[dict[int, int], bool]:
    """Return the input of each edge counter of a gateware by their channels, and whether they are known."""
    try:
        channels = json.loads(artifacts.gateware(variant, "descriptor.json").read_text())["channels"]
    except (EmulatorError, OSError, ValueError, KeyError):
        return {}, False
    kind = ChannelKind.EDGE_COUNTER.name.lower()
    found = {each["number"]: each["parameters"].get("input") for each in channels if each["kind"] == kind}
    return found, True


class _Bench:
    """Parts and wires of a bench: `plan` and their reports."""

    def __init__(self, plan: dict, reports: dict, names: dict[int, str]):
        self._parts, self._wires, self._reports, self._names = plan["parts"], plan["wires"], reports, names
        self._pins = {pin["name"]: pin["channel"] for pin in plan["pins"]}

    def _of_kind(self, *kinds: str) -> Iterator[str]:
        return (part["name"] for part in self._parts if part["kind"] in kinds)

    def _to(self, name: str, *labels: str) -> list[str]:
        """Return the names from which wires with one of these labels lead to a part."""
        return [wire["from"] for wire in self._wires if wire["to"] == name and wire["label"] in labels]

    def _pin_of(self, name: str) -> str:
        return next(wire["to"] for wire in self._wires if wire["from"] == name and wire["to"] in self._pins)

    def unread(self, used: _Used) -> Iterator[tuple]:
        """Detectors that nobody can read or reads, and inputs that are read and that nothing drives."""
        driven = set(self._pins.values())
        open_inputs = {channel: read for channel, read in used.read.items() if channel not in driven}
        detectors = list(self._of_kind("photomultiplier"))
        elsewhere = False
        for name in self._of_kind(*COUNTERS):
            pin = self._pin_of(name)
            channel = self._pins[pin]
            readers = {channel, *(counter for counter, of in used.counted.items() if of == channel)}
            if used.is_known and not readers & self._names.keys():
                yield (
                    0,
                    (
                        f"{name}: no device in the device database reads its pin {pin}: add a TTLInOut with "
                        f"channel={channel} there, or give {name} another pin in bench.toml"
                    ),
                    None,
                )
            elif name in detectors and channel not in used.read and open_inputs and used.is_known:
                elsewhere = True
                other, read = min(open_inputs.items(), key=lambda item: item[1].at)
                yield (
                    read.at,
                    (
                        f"{name}: its pin {pin} was not read, but {self._names.get(other, f'channel {other}')} was, to "
                        f"which nothing is wired: read {pin}, or give {name} the other pin in bench.toml"
                    ),
                    read.chain,
                )
        for channel, read in open_inputs.items() if detectors and not elsewhere else ():
            name = self._names.get(channel, f"channel {channel}")
            yield (
                read.at,
                (
                    f"{name}: it was read, and nothing is wired to its pin, so nothing arrives: give a photomultiplier "
                    f"or another part this pin in bench.toml (pin = {json.dumps(name)})"
                ),
                read.chain,
            )

    def dark(self, used: _Used) -> Iterator[tuple]:
        """Detectors that are read, of ions on which there was never light that makes them scatter."""
        for name in self._of_kind("photomultiplier"):
            read = used.read.get(self._pins[self._pin_of(name)])
            beams = {beam: ion for ion in self._to(name, "photons") for beam in self._to(ion, *LIGHT)}
            if read is None or not beams:
                continue
            reports = [self._reports.get(beam, {}) for beam in beams]
            if not all(report.get("had_tone") is False for report in reports):
                continue
            beam, ion = next(iter(beams.items()))
            wire = next((wire for wire in self._wires if wire["to"] == beam), None)
            source = f" from {wire['from']} {wire['label']}".rstrip() if wire else ""
            yield (
                read.at,
                (
                    f"{name}: it was read and {ion} had no light: {beam} never had a tone{source}; set its tone and "
                    f"switch, or give {beam} another tone in bench.toml"
                ),
                read.chain,
            )

    def untriggered(self, used: _Used) -> Iterator[tuple]:
        """Cameras that wait for a trigger while their grabber is used."""
        for name in self._of_kind("camera"):
            grabber = next(
                wire["to"] for wire in self._wires if wire["from"] == name and wire["label"] in CAMERA_CABLES
            )
            channels = {channel for pin, channel in self._pins.items() if pin.startswith(f"{grabber}_")}
            report, trigger = self._reports[name], self._to(name, "trigger")
            uses = {channel + regions for channel in channels for regions in (0, 1)} & used.written
            if trigger and uses and not report["frames"] and not report["missed"]:
                yield (
                    0,
                    (
                        f"{name}: {grabber} was used, and no edge of {trigger[0]} has triggered the camera: pulse "
                        f"{trigger[0]}, or give {name} another trigger in bench.toml"
                    ),
                    None,
                )

    def unconnected(self) -> Iterator[tuple]:
        """Voltages that nobody measures, and converters that measure nothing."""
        idle = [name for name in self._of_kind("photodiode") if not any(wire["from"] == name for wire in self._wires)]
        for name in idle:
            yield (
                0,
                (
                    f'{name}: nothing measures its voltage: name it at an input in bench.toml, as in ch0 = "{name}" '
                    "of a Sampler"
                ),
                None,
            )
        for name in self._of_kind(*MEASURING):
            report = self._reports[name]
            volts = [
                value["volts"] for key, value in report.items() if key.startswith("ch") and isinstance(value, dict)
            ]
            wired = [wire for wire in self._wires if wire["to"] == name and wire["label"]]
            if report["conversions"] and not wired and not any(volts):
                yield (
                    0,
                    (
                        f"{name}: it has measured, and nothing is wired to its inputs: give them a voltage or a source "
                        "in bench.toml, as in ch0 = 1.5"
                    ),
                    None,
                )
