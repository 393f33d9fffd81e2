"""``kairos devices``: lists a device database, or generates one from a system description or a device."""

import sys
from pathlib import Path

from .. import emulator as emulation
from .. import files
from ..contracts.descriptor import ChannelKind
from ..devices import DeviceDB, described
from ..emulator.artifacts import SYSTEMS, built_database
from ..errors import CommandLineError, UsageError
from ..network.management import PORT, Management, read_key
from .address import split
from .tables import json_line

__all__ = ["devices"]


def devices(args):
    """List the entries of a device database, or write that of a system description or a device."""
    if args.source is not None:
        if args.host is not None and (not args.host or any(letter.isspace() for letter in args.host)):
            raise CommandLineError(f"--host {args.host!r} is no address: HOST, HOST:PORT or emulator://VARIANT")
        if emulation.is_emulated(args.source):
            text = _of_emulated(args)
        # An address has no slash and does not end with the suffix of a description.
        elif Path(args.source).exists() or "/" in args.source or args.source.endswith(".json"):
            text = _of_description(args.source, args.host)
        else:
            host, port = split(args.source)
            text = _of_device(args, host, (host, PORT if port is None else port))
        if args.output in (None, "-"):
            sys.stdout.write(text)
        else:
            files.write(args.output, text.encode())
            print(f"wrote {args.output}")
        return
    if args.output is not None or args.host is not None:
        raise CommandLineError("--output and --host require --from, which selects a system description or a device")
    for name, entry in DeviceDB.load(args.device_db).entries.items():
        if args.json:
            print(json_line({"name": name, "entry": entry}))
        elif isinstance(entry, str):
            print(f"{name!s:20} -> {entry}")
        else:
            print(f"{name!s:20} {_shown(entry)}")


def _shown(entry) -> str:
    """Format an entry as a call of its driver; as it is, if it is no description."""
    if not isinstance(entry, dict):
        return repr(entry)
    arguments = entry.get("arguments", {})
    if not isinstance(arguments, dict):
        return repr(entry)
    shown = ", ".join(f"{key}={value!r}" for key, value in arguments.items())
    return f"{entry.get('class') or entry.get('type')}({shown})"


def _of_description(path, host: str | None) -> str:
    """Return the text of the device database for the gateware of a system description."""
    try:
        # A separate package, needed only for building gateware.
        from kairos_gateware.description import DescriptionError, load, make_variant
        from kairos_gateware.device_db import render  # likewise
    except ImportError as error:
        raise UsageError(f"--from needs the Python package kairos-gateware: {error}") from None
    try:
        variant = make_variant(load(path))
    except DescriptionError as error:
        raise UsageError(str(error)) from None
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}") from None
    return render(variant, host or variant.host)


def _of_emulated(args) -> str:
    """Return the text of the device database of an emulated device: the one built with its
    gateware, which includes the cards; for several boards, the one from their self-descriptions."""
    variant = emulation.variant_of(args.source)
    if args.host is None and not (variant.endswith(".toml") or variant in SYSTEMS):
        return built_database(variant).read_text()
    device = emulation.acquire(args.source, emulation.Options(forward={PORT: 0}, open_pins=True))
    try:
        return _of_device(args, args.source, ("localhost", device.port(PORT)))
    finally:
        device.stop()


def _of_device(args, host: str, address: tuple[str, int]) -> str:
    """Return the text of the device database of the device at `address`, which experiments reach at
    `host`, and of the boards behind its links."""
    key = read_key(args.key) if args.key else None
    with Management(*address, key=key) as management:
        gateware = management.descriptor()
        below = [link["destination"] for link in management.links() if link["up"] and not link["upstream"]]
    boards = [(0, gateware.channels)]
    for destination in below:
        with Management(*address, key=key, destination=destination) as management:
            boards.append((destination, management.descriptor().channels))
    absent = [
        name for _, some in boards for _, kind, name, _ in some if kind not in (*described.DRIVERS, ChannelKind.LOG)
    ]
    database = described.database(args.host or host, gateware.clock, boards)
    return described.render(database, gateware.identity.replace(";", " "), absent)
