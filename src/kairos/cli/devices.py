"""``kairos devices``: what a device database has, and the database of a system description."""

import json
import sys

from .. import files
from ..devices import DeviceDB
from ..errors import UsageError

__all__ = ["devices"]


def devices(args):
    """List the entries of a device database, or write the one of a system description."""
    if args.source is not None:
        text = _described(args.source, args.host)
        if args.output is None:
            sys.stdout.write(text)
        else:
            files.write(args.output, text.encode())
            print(f"wrote {args.output}")
        return
    if args.output is not None or args.host is not None:
        raise UsageError("--output and --host go with --from, which names a system description")
    for name, entry in DeviceDB.load(args.device_db).entries.items():
        if args.json:
            print(json.dumps({"name": name, "entry": entry}, default=repr))
        elif isinstance(entry, str):
            print(f"{name:20} -> {entry}")
        else:
            arguments = ", ".join(f"{key}={value!r}" for key, value in entry.get("arguments", {}).items())
            print(f"{name:20} {entry.get('class') or entry.get('type')}({arguments})")


def _described(path, host: str | None) -> str:
    """Text of the device database that belongs to the gateware of a system description."""
    try:
        # A package of its own, which only those need who build gateware.
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
