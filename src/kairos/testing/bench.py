"""An emulated device and its bench for a test: runs experiments and returns their activity."""

import copy
import inspect
from pathlib import Path

from .. import emulator, pyon
from ..cli.bench import NAME
from ..cli.experiments import Experiment
from ..contracts.cards import WIRING
from ..devices import DeviceDB
from ..emulator.bench_warnings import bench_warnings
from ..errors import UsageError
from ..experiment.datasets import DatasetDB
from ..waveform import Channel, Recording
from .signals import Dac, Dds, Pin

__all__ = ["Bench"]

FIRST_DDS = WIRING["AD9910"]["first"]
"""Chip select of an Urukul's channel 0."""


class Bench:
    """The booted device of a device database, with its bench; ends with `close`, or a ``with``
    statement.

    `file`: bench file; None: ``bench.toml`` next to the database if it exists, else the chips of
    the database's cards. UsageError if the device is not emulated, or if this process already runs
    it.
    """

    def __init__(self, device_db, file=None, settings=None):
        self.database = DeviceDB.load(device_db)
        host = self.database.arguments("core").get("host")
        if not emulator.is_emulated(host):
            raise UsageError(f"the core device of {device_db} is not emulated; only emulated devices have a bench")
        if emulator.is_running(host):
            raise UsageError(f"this process already has a device {host}: close that one first")
        beside = Path(device_db).parent / NAME
        chosen = file or (beside if beside.is_file() else None)
        if file and not Path(file).is_file():
            raise UsageError(f"there is no bench file {file}")
        bench = None if chosen is None else str(chosen)
        options = emulator.Options(bench=bench, entries=self.database.entries, settings=dict(settings or {}))
        self.device = emulator.acquire(host, options)
        self.datasets: dict = {}
        """Datasets of the last run, by key."""
        self.persistent: dict = {}
        """Datasets with ``persist=True``, by key: each run finds those of the runs before it, and what
        the test has set here, as with ``kairos datasets set``."""
        self._warned = 0
        self._recording: Recording | None = None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        """Stop the device."""
        self.device.stop()

    def run(self, experiment, class_name: str | None = None, **arguments):
        """Run an experiment, given as a class or a file, to its end, including `analyze`; returns
        its object.

        class_name: the class in the file, if it has several. Exceptions of the experiment
        propagate.
        """
        file = inspect.getfile(experiment) if inspect.isclass(experiment) else experiment
        name = experiment.__name__ if inspect.isclass(experiment) else class_name
        texts = [f"{key}={pyon.encode(value)}" for key, value in arguments.items()]
        cls = experiment if inspect.isclass(experiment) else None
        kept = DatasetDB()
        for key, value in self.persistent.items():
            kept.set(key, value, persist=True)
        made = Experiment(file, name, texts, self.database, kept, cls=cls)
        self._warned = self._state()["next"]
        self._recording = None
        self.device.mark_start()
        try:
            made.instance.prepare()
            made.instance.run()
            made.devices.notify_run_end()
            made.instance.analyze()
        finally:
            self.datasets = dict(made.datasets.local)
            # As a file would keep them: later changes of a list are not part of them.
            self.persistent = {key: copy.deepcopy(entry.value) for key, entry in kept.data.items() if entry.persist}
            made.devices.close_devices()
            if self.device.is_alive():
                self.device.wait_idle(clocks=self.database.free_running)
        return made.instance

    # Results

    @property
    def warnings(self) -> list[str]:
        """Warnings of bench parts in the last run, including inputs for which they are still waiting."""
        state = self._state(self._warned)
        found = bench_warnings(self.device, state, self.database.channel_names(), self.database.channels_of("TTLInOut"))
        return [text for _, text, _ in (*state["warnings"], *state["unfinished"], *found)]

    def lost_outputs(self) -> list[str]:
        """Failed outputs of the device so far, from its log: ``RTIO collision
        involving channel 0x0000:ttl0``. This takes about 0.1 ms of device time, so call it last."""
        return self.device.lost_outputs()

    @property
    def recording(self) -> Recording:
        """Recording of the pins in the last run."""
        if self._recording is None:
            self._recording = self.device.recording(self.database.channel_names())
        return self._recording

    def pin(self, name: str) -> Pin:
        """A pin, by the name of its device: the signal of the bench if the bench drives it, otherwise that of the
        device. KeyError if there is none, or several of that name."""
        channels, wanted = self.recording.channels, self._channel(name)
        found = [channel for channel in channels if channel.name == name]
        found = found or [channel for channel in channels if wanted is not None and channel.number == wanted]
        if len(found) > 1:
            raise KeyError(f"{name} has several pins: {', '.join(channel.name for channel in found)}")
        if not found:
            raise KeyError(f"the device has no pin {name}; it has {', '.join(channel.name for channel in channels)}")
        return Pin(self._driven(found[0]) or found[0])

    def dds(self, name: str) -> Dds:
        """Return a DDS channel, by the name of its device or as in a bench file (``urukul0.ch0``).
        KeyError if there is none."""
        return Dds(name, self._history("tones", name), self.recording.origin_ns)

    def dac(self, name: str, channel: int | None = None) -> Dac:
        """Return a channel of a DAC, by the name of its device and its number, or as in a bench
        file (``zotino0.ch3``). KeyError if there is none."""
        return Dac(name, self._history("volts", name, channel), self.recording.origin_ns)

    def part(self, name: str) -> dict:
        """Settings and state of a part, by its name in the bench or that of the card's device. KeyError if there is
        none."""
        state = self._state()
        found = self._part(name, state["plan"]["parts"])
        if found is None:
            raise KeyError(f"the bench has no part {name}; it has {', '.join(state['parts'])}")
        return state["parts"][found["name"]]

    # Requests

    def _state(self, first: int = 0) -> dict:
        return self.device.control.request("bench", **{"from": first})

    def _driven(self, channel: Channel) -> Channel | None:
        """Return the levels that the bench applied to a pin in the last run; None if no part drives
        it."""
        pins = [pin for pin in self._state()["plan"]["pins"] if pin["channel"] == channel.number]
        # A channel's only pin has its name in the database; a pin of a bus its name in the
        # gateware.
        alone = sum(other.number == channel.number for other in self.recording.channels) == 1
        named = [pin["index"] for pin in pins if alone or pin["name"] == channel.name]
        if not named:
            return None
        start, origin = self.device.trace_start_ns, self.recording.origin_ns
        edges = [(at, level) for at, pad, level in self.device.control.request("driven")["edges"] if pad == named[0]]
        before = [level for at, level in edges if at < start]
        changes = [(at - origin, level) for at, level in edges if at >= start]
        return Channel(channel.name, channel.number, before[-1] if before else 0, changes)

    def _channel(self, name: str):
        return self.database.channel_of(name)

    def _part(self, name: str, parts: list) -> dict | None:
        """Find the part with this name, or the part of the card that this device drives."""
        entry = self._entry(name)
        bus = self.database.arguments(name).get("bus_channel") if entry else None
        for part in parts:
            device = part["device"]
            if part["name"] == name or (entry and device is not None and self._entry(device) is entry):
                return part
            # All chips on a bus belong to the bus's part.
            if bus is not None and device is not None and self.database.arguments(device).get("bus_channel") == bus:
                return part
        return None

    def _entry(self, name: str) -> dict | None:
        try:
            return self.database.get(name)
        except (KeyError, ValueError):
            return None

    def _history(self, kind: str, name: str, channel: int | None = None) -> list:
        """Return the tones or voltages of an output of a part since power-up."""
        part, output = self._output(kind, name, channel)
        return self.device.control.request(kind, part=part, output=output)[kind]

    def _output(self, kind: str, name: str, channel: int | None) -> tuple[str, int]:
        """Resolve a name and a channel to a part's name and the number of its output."""
        parts = self._state()["plan"]["parts"]
        card, _, said = name.rpartition(".")
        number: int | str = said.removeprefix("ch")
        part = self._part(card or name, parts)
        if not card and channel is None and part is not None and part[kind] == 1:
            number = 0
        elif not card:
            place, number = self._place(name, channel)
            part = self._part(place, parts)
        elif part is not None and said in part["names"]:
            return part["name"], part["names"][said]
        if part is None or not str(number).isdecimal() or int(number) >= part[kind]:
            output = {"tones": "tone", "volts": "voltage"}[kind]
            raise KeyError(f"the bench has no {output} {name}; it has {', '.join(_outputs(kind, parts)) or 'none'}")
        # Voltages follow the tones
        return part["name"], int(number) + (part["tones"] if kind == "volts" else 0)

    def _place(self, name: str, channel: int | None) -> tuple[str, int | str]:
        """Return card and channel of a device."""
        arguments = self.database.arguments(name)
        if "cpld_device" in arguments:
            select = arguments.get("chip_select")
            return arguments["cpld_device"], arguments["channel"] if select is None else select - FIRST_DDS
        if "bus_channel" in arguments:
            return name, arguments["channel"]
        return name, "" if channel is None else channel


def _outputs(kind: str, parts: list) -> list[str]:
    """List the outputs of a kind, named as in a bench file."""
    found = []
    for part in parts:
        first = part["tones"] if kind == "volts" else 0
        names = {number: name for name, number in part["names"].items()}
        found += [f"{part['name']}.{names.get(first + n, f'ch{n}')}" for n in range(part[kind])]
    return found
