"""Messages to an AD9834: control, frequencies and phases."""

from ...coredevice.chips import ad9834
from .common import Chip, Settings, fields_text

__all__ = ["CHIP"]


def _phase(message) -> tuple[int, float] | None:
    """Return number and turns of a phase register being set."""
    register = ad9834.PHASE
    if message.bits != register.width or message.written & register.reset != register.reset:
        return None
    word = register.decode(message.written)
    return word["register"], word["pow"]


def _text(message, arguments) -> str | None:
    """Describe a write to the control register, a phase register, or half of a frequency register."""
    if message.bits != ad9834.CONTROL.width:
        return None
    phase = _phase(message)
    if phase is not None:
        return f"PHASE{phase[0]}: {phase[1]:.9g} turns"
    word = ad9834.FREQUENCY.decode(message.written)
    if word["first"] or word["second"]:
        return f"FREQUENCY{word['second']}: {word['half']:#x}"
    return f"CONTROL: {fields_text(ad9834.CONTROL, message.written)}"


def _settings(message, arguments) -> Settings:
    phase = _phase(message)
    return {} if phase is None else {f"phase {phase[0]}": ("turns", phase[1])}


def _frequency(before, message, arguments) -> Settings:
    """Return the frequency register set by two messages, the lower half of its word first."""
    words = [ad9834.FREQUENCY.decode(one.written) for one in (before, message)]
    registers = {(word["second"], word["first"]) for word in words}
    clock = arguments["clk_freq"]
    whole = registers in ({(0, 1)}, {(1, 0)}) and before.bits == message.bits == ad9834.FREQUENCY.width
    if not (whole and isinstance(clock, int | float)):
        return {}
    ftw = words[1]["half"] << ad9834.FREQUENCY.half.width | words[0]["half"]
    return {f"frequency {words[1]['second']}": ("Hz", ftw * clock / (1 << ad9834.FTW_BITS))}


CHIP = Chip(_text, _settings, _frequency)
