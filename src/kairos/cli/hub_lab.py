"""Common parts of the ``kairos hub`` subcommands: the connection to the hub, and look-up of its objects by name."""

import os
import signal
from pathlib import Path

from ..errors import UsageError

__all__ = ["named", "number", "open_lab"]


def _end(*_):
    """What Ctrl-C does."""
    os.write(2, b"kairos: interrupted\n")
    os._exit(130)


def open_lab(args):
    """The laboratory of the hub that the options name. UsageError if there is no client for it here, HubError."""
    # An exception out of the middle of gRPC may leave a lock taken, for which the end would wait for ever.
    signal.signal(signal.SIGINT, _end)
    # What gRPC's core would print of a connection that fails: the error says it.
    os.environ.setdefault("GRPC_VERBOSITY", "NONE")
    try:
        # Needs gRPC, which is installed only where it is wanted.
        from ..hub import connect
    except ModuleNotFoundError as error:
        raise UsageError(f"the hub's client needs {error.name}: pip install 'kairos[hub]'") from None
    token = os.environ.get("KAIROS_HUB_TOKEN")
    if args.token_file is not None:
        try:
            token = Path(args.token_file).read_text().strip()
        except OSError as error:
            raise UsageError(f"{args.token_file} cannot be read: {error.strerror}") from None
    return connect(args.hub, token=token, certificate=args.certificate or os.environ.get("KAIROS_HUB_CERTIFICATE"))


def named(holder, name: str):
    """What `holder`, a laboratory or the registers of a device, has by that name. UsageError if nothing."""
    try:
        return holder[name]
    except KeyError as error:
        raise UsageError(error.args[0]) from None


def number(text: str) -> int:
    """A number of the command line, in any base. UsageError."""
    try:
        return int(text, 0)
    except ValueError:
        raise UsageError(f"'{text}' is not a number") from None
