"""``--wire PIN=SOURCE``: additional sources for inputs of an emulated device."""

from ..errors import CommandLineError

__all__ = ["wires"]


def wires(args) -> list[str]:
    """Return the wires of the command line `args` in the emulator's format: frequencies in Hz.
    UsageError."""
    if args.wire and args.no_bench:
        raise CommandLineError("--wire and --no-bench exclude each other")
    return [_wire(text) for text in args.wire]


def _wire(text: str) -> str:
    # Imported late: it loads NumPy, for which an emulated device need not wait.
    from ..experiment.arguments import quantity

    pin, _, source = text.partition("=")
    if not (pin and source):
        raise CommandLineError(
            f"--wire {text} is not PIN=PIN, PIN=FREQUENCY or PIN=high, such as ttl0=ttl4 or ttl0=10kHz"
        )
    if source[0].isalpha():
        return text
    try:
        return f"{pin}={float(quantity(source, 'Hz'))!r}"
    except (TypeError, ValueError) as error:
        raise CommandLineError(f"--wire {text}: {error}") from None
