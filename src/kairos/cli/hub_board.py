"""``kairos hub``, what computers with Linux have: buses and buffers from the command line."""

import json

from .. import files
from ..errors import UsageError
from ..waveform.table import aligned
from .hub import _lab as open_lab

__all__ = ["buses", "memory", "spi"]

WORD = 4
"""Bytes of the longest transfer of an SPI master on RTIO."""
RTIO_HERTZ, DIVIDER = 125e6, 125

KINDS = ("unknown", "I2C", "SPI")
"""What is on a bus, by the numbers of the protocol."""


def buses(args):
    """Print the buses of a computer with Linux, as a table or as JSON."""
    with open_lab(args) as lab:
        found = _board(lab, args.device).buses()
    if args.json:
        shown = [{"name": bus.name, "kind": KINDS[bus.kind], "text": bus.text, "usable": bus.usable} for bus in found]
        for bus, entry in zip(found, shown, strict=True):
            chips = [{"address": chip.address, "name": chip.name, "driver": chip.driver} for chip in bus.chips]
            entry["chips"] = chips
        print(json.dumps(shown, indent=2))
        return
    rows = [("bus", "kind", "state", "")]
    for bus in found:
        state = "usable" if bus.usable else "the kernel offers no file for it"
        rows.append((bus.name, KINDS[bus.kind], state, bus.text))
        for chip in bus.chips:
            state = f"used by the driver {chip.driver}" if chip.driver else ""
            rows.append((f"  {chip.address:#04x}", "", state, chip.name))
    print("\n".join(aligned(rows, left=4)))


def spi(args):
    """Print what comes back from a chip on SPI."""
    device, slash, bus = args.bus.partition("/")
    if not slash:
        raise UsageError(f"'{args.bus}' names no bus: DEVICE/BUS, as 'kairos hub buses DEVICE' shows them")
    try:
        data = bytes(int(word, 0) for word in args.bytes)
    except ValueError:
        raise UsageError("bytes are numbers from 0 to 255") from None
    with open_lab(args) as lab:
        if any(known.address for known in lab.devices() if known.name == device):
            answer = _between_events(lab[device], bus, data, args)
        else:
            answer = _board(lab, device).spi(bus, data, round(args.hertz), int(args.mode))
    print(json.dumps(list(answer)) if args.json else answer.hex(" "))


def _between_events(device, bus: str, data: bytes, args) -> bytes:
    """What comes back over an SPI master of RTIO, whose transfers have up to 32 bits."""
    if not 1 <= len(data) <= WORD or bus not in list(device.spi):
        buses = ", ".join(device.spi) or "none"
        raise UsageError(f"SPI of {device.name} sends 1 to {WORD} bytes at a time; it has these buses: {buses}")
    mode = int(args.mode)
    settings = {"clk_polarity": bool(mode & 2), "clk_phase": bool(mode & 1), "divider": DIVIDER, "cs": int(args.cs, 0)}
    if args.hertz:
        settings["divider"] = round(RTIO_HERTZ / args.hertz)
    received = device.spi[bus].transfer(int.from_bytes(data, "big"), 8 * len(data), input=True, **settings)
    return received.to_bytes(len(data), "big")


def memory(args):
    """Print the buffers of a computer with Linux, or save what is in one."""
    device, _, name = args.buffer.partition("/")
    with open_lab(args) as lab:
        found = _board(lab, device).buffers
        if name and name not in found:
            raise UsageError(f"{device} has no buffer '{name}', but {', '.join(found) or 'none'}")
        if name:
            files.write(args.output or f"{name}.bin", found[name].read())
            return
    if args.json:
        keys = ("name", "size", "readable", "writable")
        print(json.dumps([{key: getattr(buffer, key) for key in keys} for buffer in found.values()], indent=2))
        return
    rows = [("buffer", "bytes", "may be")]
    for buffer in found.values():
        may = [word for word, may in (("read", buffer.readable), ("written", buffer.writable)) if may]
        rows.append((buffer.name, str(buffer.size), " and ".join(may)))
    print("\n".join(aligned(rows, left=1)))


def _board(lab, device: str):
    if device not in list(lab):
        raise UsageError(f"this hub has no device '{device}', but {', '.join(lab)}")
    return lab[device].board
