"""``kairos hub``: buses, and memory buffers of Linux computers."""

import json

from .. import files
from ..errors import CommandLineError, UsageError
from .hub_lab import named, number, open_lab
from .tables import print_aligned

__all__ = ["buses", "i2c", "memory", "spi"]

WORD = 4
"""Maximum bytes of a transfer of an SPI master on RTIO."""
RTIO_HERTZ, DIVIDER = 125e6, 125

KINDS = ("unknown", "I2C", "SPI")
"""Kinds of buses, by the numbers of the protocol."""


I2C = "i2c"
"""Name of the I2C bus of a core device's board."""


def buses(args):
    """Print the buses of a device, as a table or as JSON."""
    with open_lab(args) as lab:
        device = named(lab, args.device)
        if _is_core(lab, args.device):
            made = [_bus(I2C, "I2C", text="in turn with the kernel")]
            found = made + [_bus(name, "SPI", text="between the transfers of experiments") for name in device.spi]
        else:
            found = [_described(bus) for bus in device.board.buses()]
    if args.json:
        print(json.dumps(found, indent=2))
        return
    rows = []
    for bus in found:
        state = "usable" if bus["usable"] else "the kernel offers no file for it"
        rows.append((bus["name"], bus["kind"], state, bus["text"]))
        for chip in bus["chips"]:
            state = f"used by the driver {chip['driver']}" if chip["driver"] else ""
            rows.append((f"  {chip['address']:#04x}", "", state, chip["name"]))
    print_aligned(("bus", "kind", "state", ""), rows, 4, "the device has no bus")


def _bus(name: str, kind: str, text: str, usable: bool = True, chips: tuple = ()) -> dict:
    return {"name": name, "kind": kind, "text": text, "usable": usable, "chips": list(chips)}


def _described(bus) -> dict:
    chips = ({"address": chip.address, "name": chip.name, "driver": chip.driver} for chip in bus.chips)
    return _bus(bus.name, KINDS[bus.kind], bus.text, bus.usable, tuple(chips))


def _is_core(lab, device: str) -> bool:
    """Return whether it is a core device: a computer with Linux has no address, since it is the
    hub's computer."""
    return any(known.address for known in lab.devices() if known.name == device)


def _bytes(words: list[str]) -> bytes:
    written = [number(word) for word in words]
    if any(not 0 <= byte < 256 for byte in written):
        raise CommandLineError("bytes must be numbers from 0 to 255")
    return bytes(written)


def i2c(args):
    """Print the bytes read from a chip on an I2C bus, or the addresses that answer."""
    written = _bytes(args.write)
    address = None if args.address is None else number(args.address)
    name, _, bus = args.device.partition("/")
    with open_lab(args) as lab:
        device = named(lab, name)
        if not _is_core(lab, name):
            data = _of_linux(device, bus, address, written, args)
        elif bus not in ("", I2C):
            raise UsageError(f"{name} has no I2C bus '{bus}'; its bus is called {I2C}")
        elif address is None:
            found = device.i2c.scan(_switch(args.switch))
            print(json.dumps(found) if args.json else " ".join(f"{address:#04x}" for address in found))
            return
        else:
            data = device.i2c.transfer(address, written, args.read, _switch(args.switch))
    if args.json:
        print(json.dumps(list(data)))
    elif data:
        print(data.hex(" "))


def _switch(text: str | None) -> tuple[int, int] | None:
    if text is None:
        return None
    address, colon, mask = text.partition(":")
    if not colon:
        raise CommandLineError(f"'{text}' is not a switch: give ADDRESS:MASK, as in 0x74:0x04")
    return number(address), number(mask)


def _of_linux(device, bus: str, address: int | None, written: bytes, args) -> bytes:
    """Return the bytes read from a chip on a bus of a computer with Linux."""
    if not bus:
        known = [f"{device.name}/{each.name}" for each in device.board.buses() if KINDS[each.kind] == "I2C"]
        raise UsageError(
            f"'{device.name}' does not select a bus; available: {', '.join(known) or 'none, it has no I2C'}"
        )
    if args.switch is not None:
        raise UsageError(
            "on a Linux computer the kernel controls bus switches: use the separate bus of the switch's channel"
        )
    if address is None:
        known = f"'kairos hub buses {device.name}' shows those that the kernel knows"
        raise UsageError(f"give the address of a chip: {known}; scanning the bus could disturb other chips")
    return device.board.i2c(bus, address, *([written] if written else []), *([args.read] if args.read else []))


def spi(args):
    """Print the bytes received from a chip on SPI."""
    name, slash, bus = args.bus.partition("/")
    if not slash:
        raise CommandLineError(f"'{args.bus}' is not a bus: give DEVICE/BUS, as listed by 'kairos hub buses DEVICE'")
    data = _bytes(args.bytes)
    with open_lab(args) as lab:
        device = named(lab, name)
        if _is_core(lab, name):
            answer = _between_events(device, bus, data, args)
        else:
            answer = device.board.spi(bus, data, round(args.hertz), int(args.mode))
    print(json.dumps(list(answer)) if args.json else answer.hex(" "))


def _between_events(device, bus: str, data: bytes, args) -> bytes:
    """Return the bytes received over an SPI master of RTIO, whose transfers have up to 32 bits."""
    found = named(device.spi, bus)
    if not 1 <= len(data) <= WORD:
        raise UsageError(f"SPI of {device.name} sends 1 to {WORD} bytes at a time")
    mode = int(args.mode)
    settings = {"clk_polarity": bool(mode & 2), "clk_phase": bool(mode & 1), "divider": DIVIDER, "cs": number(args.cs)}
    if args.hertz:
        settings["divider"] = round(RTIO_HERTZ / args.hertz)
    received = found.transfer(int.from_bytes(data, "big"), 8 * len(data), input=True, **settings)
    return received.to_bytes(len(data), "big")


def memory(args):
    """Print the buffers of a computer with Linux, or save the content of one."""
    device, _, name = args.buffer.partition("/")
    with open_lab(args) as lab:
        found = named(lab, device).board.buffers
        if name and name not in found:
            raise UsageError(f"{device} has no buffer '{name}'; it has {', '.join(found) or 'none'}")
        if name:
            files.write(args.output or f"{name}.bin", found[name].read())
            return
    if args.json:
        keys = ("name", "size", "readable", "writable")
        print(json.dumps([{key: getattr(buffer, key) for key in keys} for buffer in found.values()], indent=2))
        return
    rows = []
    for buffer in found.values():
        may = [word for word, may in (("read", buffer.readable), ("written", buffer.writable)) if may]
        rows.append((buffer.name, str(buffer.size), " and ".join(may)))
    print_aligned(("buffer", "bytes", "may be"), rows, 1, "the device has no buffer")
