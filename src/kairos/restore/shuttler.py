"""A Shuttler put back into the state of a run: gains, offsets, waveforms and relays. Waveforms begin again: what
changes with time does so from its beginning, and phases are those at which they begin. The relays are open meanwhile.
"""

from collections.abc import Callable, Iterator

from numpy import int32, int64

from ..coredevice.chips.shuttler import FRACTION_BITS, LEVEL_WORDS, OUTPUTS, TONE_WORDS
from ..coredevice.parts.numbers import to_int32
from ..emulator.cards import beside
from ..language import TInt32, TInt64, TList, delay, kernel, ms, us
from .card import Card, Refused, step
from .kernels import Kernels

__all__ = ["shuttler"]

_FIELDS = len(LEVEL_WORDS) + len(TONE_WORDS)
_AMPLITUDE = len(LEVEL_WORDS)
"""Coefficients of the amplitude of a tone, before those of its phase."""
_WORD = 1 << 16
_ALL = (1 << OUTPUTS) - 1
_PHASE = f"WORD{2 * _AMPLITUDE}"


class _Kernels(Kernels):
    """`config`, `start`: the settings and the trigger of a Shuttler; `levels`, `tones`: of its outputs; `relay`, if it
    has one."""

    @kernel
    def relays(self, closed: TInt32):
        """Close relays, and open the others."""
        self.begin()
        self.relay.init()
        delay(10 * us)
        self.relay.enable(closed)
        delay(100 * us)
        self.finish()

    @kernel
    def waveforms(self, coefficients: TList(TInt64), settings: TList(TInt32), clear: TInt32, every: TInt32):
        """Set coefficients and settings (gain, offset) of all outputs, and start them. `clear`: mask of the outputs
        whose phase begins anew from then on."""
        self.begin()
        self.config.set_clr(every)
        delay(10 * us)
        for n in range(len(self.levels)):
            self.config.set_gain(n, settings[2 * n])
            delay(10 * us)
            self.config.set_offset(n, settings[2 * n + 1])
            delay(10 * us)
            a = 11 * n
            self.levels[n].set_waveform(
                int32(coefficients[a]), int32(coefficients[a + 1]), coefficients[a + 2], coefficients[a + 3]
            )
            delay(10 * us)
            b, c = a + 4, a + 8
            self.tones[n].set_waveform(
                int32(coefficients[b]),
                int32(coefficients[b + 1]),
                coefficients[b + 2],
                coefficients[b + 3],
                int32(coefficients[c]),
                int32(coefficients[c + 1]),
                int32(coefficients[c + 2]),
            )
            delay(20 * us)
        self.start.trigger(every)
        delay(1 * ms)
        self.config.set_clr(clear)
        delay(10 * us)
        self.finish()


def shuttler(card: Card) -> Iterator[Callable]:
    """Yield what restores a Shuttler."""
    entries = card.database.entries
    config = card.device if card.driver == "Config" else beside(entries, card.device, "Config")
    relay = card.device if card.driver == "Relay" else None
    if config is None:
        raise Refused("the device database has no device for its settings (Config)")
    start, levels, tones = _channels(card, config)
    coefficients, settings = [], []
    for n in range(OUTPUTS):
        values = card.of(f"ch{n}")
        coefficients += _coefficients([values[f"WORD{number}"] for number in range(_FIELDS)])
        word = values["SETTINGS"]
        settings += [_signed(word % _WORD, 16), _signed(word // _WORD % _WORD, 16)]
        if values[_PHASE] % _WORD:
            card.passing.add(f"ch{n}.{_PHASE}")  # it went on from the phase of a waveform before
    roles = {"config": config, "start": start, "levels": levels, "tones": tones}
    if relay is not None:
        yield step("relays", 0, kernels=_Kernels, relay=relay)
    else:
        card.passing.add("RELAYS")
    clear = card.registers.get("CLEAR", _ALL)
    yield step("waveforms", coefficients, settings, clear, _ALL, kernels=_Kernels, **roles)
    if relay is not None:
        yield step("relays", card.registers["RELAYS"], kernels=_Kernels, relay=relay)


def _channels(card: Card, config: str) -> tuple[str, list[str], list[str]]:
    """Return the devices for trigger, levels and tones of the card with these settings: their channels follow it, in
    the order of its outputs, before those of the next card."""

    def numbered(driver: str) -> list[tuple[int, str]]:
        named = (name for name, each in card.database.entries.items() if isinstance(each, dict))
        found = [name for name in named if card.database.entries[name].get("class") == driver]
        return sorted((card.database.arguments(name).get("channel", -1), name) for name in found)

    first = card.database.arguments(config)["channel"]
    end = min((number for number, _ in numbered("Config") if number > first), default=first + _WORD)
    own = {
        driver: [name for number, name in numbered(driver) if first < number < end]
        for driver in ("Trigger", "DCBias", "DDS")
    }
    for driver, count in (("Trigger", 1), ("DCBias", OUTPUTS), ("DDS", OUTPUTS)):
        if len(own[driver]) != count:
            raise Refused(f"the device database has {len(own[driver])} devices {driver} for it instead of {count}")
    return own["Trigger"][0], own["DCBias"], own["DDS"]


def _signed(word: int, bits: int) -> int:
    return word - (word >> bits - 1 << bits)


def _coefficients(words: list[int]) -> list:
    """Return the coefficients that drivers take, from the words that are loaded, which all have the same fraction."""
    found = []
    rows = [*LEVEL_WORDS, *TONE_WORDS]
    for number, (word, (_, bits, fraction)) in enumerate(zip(words, rows, strict=True)):
        is_phase = number >= 2 * _AMPLITUDE
        missing = FRACTION_BITS - fraction
        value = word >> missing & (1 << bits) - 1
        found.append(int64(to_int32(value) if is_phase else _signed(value, bits)))
    return found
