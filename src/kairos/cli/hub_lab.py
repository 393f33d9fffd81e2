"""Common parts of the ``kairos hub`` subcommands: the connection to the hub, and look-up of its objects by name."""

import os
import signal
from pathlib import Path

from ..errors import CommandLineError, UsageError

__all__ = ["named", "number", "open_lab"]


def _end(*_):
    """Handle Ctrl-C."""
    os.write(2, b"kairos: interrupted\n")
    os._exit(130)


def open_lab(args):
    """Connect to the hub named by the options. UsageError if the client is not installed, HubError."""
    # An exception inside gRPC may leave a lock held, for which the exit would wait forever.
    signal.signal(signal.SIGINT, _end)
    # Suppresses gRPC's own output about failed connections, which the error covers.
    os.environ.setdefault("GRPC_VERBOSITY", "NONE")
    try:
        # Requires gRPC, which is optional.
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
    """Look up a name in `holder`, a laboratory or the registers of a device. UsageError if it does
    not exist."""
    try:
        return holder[name]
    except KeyError as error:
        raise UsageError(error.args[0]) from None


def number(text: str) -> int:
    """Parse a number of the command line, in any base. UsageError."""
    try:
        return int(text, 0)
    except ValueError:
        raise CommandLineError(f"'{text}' is not a number") from None
