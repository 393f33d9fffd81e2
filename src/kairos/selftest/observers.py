"""Who says what is at the connectors: the bench of an emulated device, or a person with instruments."""

import sys

from ..contracts.cards import CARDS
from ..contracts.pulse import VALUE_BITS, Parameter
from ..pulse.recording import Recording

__all__ = ["ByHand", "OnBench", "Unattended", "wiring_of"]

VOLTS = (1.0, -2.0, 3.0, -4.0, 0.5, -0.25, 7.0, -8.5)
"""What the inputs of an ADC get on a bench."""
INPUTS = ("sampler", "novogorny")
_CAMERA = {"width": 8, "height": 8, "dark": 100.0, "exposure_s": 1e-4, "hz": 3000}
"""A camera that sees its dark counts only."""
DARK_SUM = _CAMERA["width"] * _CAMERA["height"] * _CAMERA["dark"]


class Unattended:
    """No person and no bench: what only instruments can tell is not known."""

    wired = False
    """Whether the cables of a test are there without being asked for."""

    def volts(self, card: str, channel: int) -> float | None:
        """Return the voltage at an output, in V."""

    def tone(self, card: str, channel: int) -> tuple[float | None, float | None]:
        """Return frequency in Hz and power in dBm at an output; None for what is not known."""
        return None, None

    def attenuation(self, card: str, channel: int) -> float | None:
        """Return by how much an attenuator attenuates, in dB."""

    def applied(self, card: str, channel: int) -> float | None:
        """Return the voltage that is now at an input, in V."""

    def cable(self, source: str, target: str) -> bool:
        """Return whether there is now a cable from one connector to another."""
        return False

    def pulses(self, name: str) -> int | None:
        """Return the number of pulses at an output since `watch`."""

    def watch(self):
        """Observe the outputs from now on."""

    def rate(self, name: str) -> float | None:
        """Return the frequency of a clock output, in Hz."""

    def image(self, card: str) -> float | None:
        """Return the sum of the pixels of the images that a grabber gets; None: there is no camera."""

    def played(self, core) -> list[float]:
        """Return the last frequency of tone 0 at each output of a pulse core, in Hz: only a bench tells."""
        return []

    def state(self, card: str) -> dict | None:
        """Return what the card itself knows of its state: only a model tells."""

    def agreed(self, deed: str) -> bool:
        """Return whether something may be done that outlasts the test."""
        return False


class ByHand(Unattended):
    """A person at the terminal: `ask` prints a request and returns the answer; an empty one skips the check."""

    def __init__(self, ask=input):
        self._ask = ask

    def _number(self, request: str) -> float | None:
        while True:
            answer = self._ask(f"{request} (Enter: skip): ").strip()
            if not answer:
                return None
            try:
                return float(answer)
            except ValueError:
                print(f"'{answer}' is not a number", file=sys.stderr)

    def _confirmed(self, request: str) -> bool:
        return self._ask(f"{request}: Enter when done, or s to skip: ").strip().lower() not in ("s", "skip", "n", "no")

    def agreed(self, deed):
        return self._ask(f"{deed}? y or N: ").strip().lower() in ("y", "yes")

    def volts(self, card, channel):
        return self._number(f"{card}: measure the voltage at output {channel}, in V")

    def tone(self, card, channel):
        frequency = self._number(f"{card}: measure the frequency at RF output {channel}, in MHz")
        power = None if frequency is None else self._number(f"{card}: and its power, in dBm")
        return frequency and frequency * 1e6, power

    def attenuation(self, card, channel):
        return self._number(f"{card}: measure the attenuation of channel {channel}, compared with 0 dB, in dB")

    def applied(self, card, channel):
        return self._number(f"{card}: apply a voltage within ±9 V to input {channel}; what is it, in V")

    def cable(self, source, target):
        return self._confirmed(f"connect {source} to {target}")

    def pulses(self, name):
        count = self._number(f"{name}: count its pulses with a counter or an oscilloscope")
        return None if count is None else int(count)

    def rate(self, name):
        frequency = self._number(f"{name}: measure its frequency, in MHz")
        return frequency and frequency * 1e6

    def image(self, card):
        wanted = f"{card}: let the camera send frames; what is the sum of the pixels in columns and rows 0 to 7"
        return self._number(wanted)


class OnBench(Unattended):
    """The bench of an emulated device, wired by `wiring_of`."""

    wired = True

    def __init__(self, device, database):
        """`device`: the running emulator."""
        self._device, self._database, self._names = device, database, database.channel_names()
        self._parts = {part["device"]: part["name"] for part in self._state()["plan"]["parts"]}

    def _state(self) -> dict:
        return self._device.control.request("bench", **{"from": 0})

    def played(self, core):
        recording = Recording.of(self._device)
        names = {output.name: output.channel for output in recording.outputs}
        name = next(name for name, channel in names.items() if channel == core.channel)
        words = [recording.changes(Parameter.F0, n, name)[1] for n in range(core.channels)]
        last = [next((int(word) for word in reversed(found) if word), 0) for found in words]
        return [word / 2**VALUE_BITS * core.sample_rate for word in last]

    def agreed(self, deed):
        return True

    def state(self, card):
        return self._state()["parts"].get(self._part(card))

    def _part(self, card: str) -> str:
        """Return the part of a card. All chips on a bus are one part, and a Shuttler that of its relays."""
        if card in self._parts:
            return self._parts[card]
        bus = self._database.arguments(card).get("bus_channel")
        found = [
            (device, part)
            for device, part in self._parts.items()
            if device is not None
            and self._kind(device) == self._kind(card)
            and self._database.arguments(device).get("bus_channel") == bus
        ]
        near = [part for device, part in found if device.partition("_")[0] == card.partition("_")[0]]
        return (near or [part for _, part in found] or [card])[0]

    def _kind(self, device: str) -> str | None:
        return CARDS.get(self._database.get(device).get("class"))

    def _channel(self, card: str, channel: int, *fields: str):
        found = (self.state(card) or {}).get(f"ch{channel}", {})
        return next((found[field] for field in fields if field in found), None)

    def volts(self, card, channel):
        return self._channel(card, channel, "volts", "level_v")

    def tone(self, card, channel):
        part = self._part(card)
        rows = self._device.control.request("tones", part=part, output=channel)["tones"]
        return (rows[-1][1], rows[-1][2]) if rows else (0.0, None)

    def attenuation(self, card, channel):
        mirny = self._database.arguments(card).get("host_mirny")
        if mirny is not None:
            on_top = self._channel(mirny, channel, "almazny") or {}
            return on_top.get("attenuation_db") if on_top.get("output") else None
        return (self.state(card) or {}).get("attenuation_db")

    def applied(self, card, channel):
        return VOLTS[channel]

    def cable(self, source, target):
        return True

    def watch(self):
        self._device.mark_start()

    def _pin(self, name: str):
        self._device.wait_idle()
        channels = self._device.recording(self._names).channels
        return next((channel for channel in channels if channel.name == name), None)

    def pulses(self, name):
        pin = self._pin(name)
        return 0 if pin is None else sum(pulse.end_ns is not None for pulse in pin.pulses())

    def rate(self, name):
        pin = self._pin(name)
        rises = [] if pin is None else [pulse.start_ns for pulse in pin.pulses() if pulse.end_ns is not None]
        return 0.0 if len(rises) < 2 else (len(rises) - 1) * 1e9 / (rises[-1] - rises[0])

    def image(self, card):
        return DARK_SUM


def wiring_of(database, plan: dict, source: str | None, inputs: list[str]) -> str:
    """Return a bench file for the selftest of a device: voltages at the inputs of its ADCs, a camera at each
    grabber, and cables from the output `source` to `inputs`. `plan`: of its bench."""
    lines = []
    for part in plan["parts"]:
        entry = database.entries.get(part["device"]) if part["device"] else None
        kind = CARDS.get(entry.get("class")) if isinstance(entry, dict) else None
        if kind in INPUTS:
            lines += [f'[{kind}."{part["name"]}"]', *(f"ch{n} = {volts}" for n, volts in enumerate(VOLTS))]
        if kind == "mirny" and (mounted := _almazny_on(database, part["device"])):
            lines += [f'[{kind}."{part["name"]}"]', f'almazny = "{mounted}"']
    grabbers = [grabber["device"] for grabber in plan["grabbers"] if grabber["device"]]
    for name in grabbers:
        settings = [f"{name} = {value}" for name, value in _CAMERA.items()]
        sees = 'sees = [{ ion = "dark", x = 4, y = 4 }]'
        lines += [f'[camera."camera_{name}"]', f'grabber = "{name}"', sees, *settings]
    if grabbers:
        lines.insert(0, "[ion.dark]")
    if source is not None:
        for n, name in enumerate(inputs):
            lines += [f"[loopback.cable{n}]", f'from = "{source}"', f'to = "{name}"']
    return "\n".join(lines) + "\n"


def _almazny_on(database, mirny: str) -> str | None:
    """Return the revision of the Almazny on a Mirny, None without one."""
    revisions = {"AlmaznyLegacy": "v1.1", "AlmaznyChannel": "v1.2"}
    for entry in database.entries.values():
        if isinstance(entry, dict) and entry.get("class") in revisions:
            if entry.get("arguments", {}).get("host_mirny") == mirny:
                return revisions[entry["class"]]
    return None
