"""Helpers of ``artiq.tools`` and ``artiq.compiler.import_cache``: formatting of values, options, directories."""

import logging
import os
from pathlib import Path

from .. import pyon
from ..errors import UsageError
from ..experiment.arguments import display_of

__all__ = [
    "elide",
    "exc_to_warning",
    "get_user_config_dir",
    "install_hook",
    "parse_devarg_override",
    "scale_from_metadata",
    "short_format",
    "unparse_devarg_override",
]

logger = logging.getLogger(__name__)


def install_hook():
    """Protect the kernels of this run from later edits of files: does nothing, since decorators
    read the source already."""


def elide(text: str, maxlen: int) -> str:
    """Return the first line of `text`, shortened to `maxlen` characters with an ellipsis."""
    first, newline, _ = text.partition("\n")
    return first if not newline and len(first) <= maxlen else first[: max(maxlen - 3, 0)] + "..."


def scale_from_metadata(metadata: dict) -> float:
    """Return the divisor of a dataset's value for display: its scale, that of its unit, or 1."""
    try:
        return display_of(metadata.get("unit", ""), metadata.get("scale"), None, 0, None)["scale"]
    except KeyError:
        return 1.0


def short_format(value, metadata: dict | None = None) -> str:
    """Format a dataset's value in one short line: numbers with unit and precision, long values as
    kind and size."""
    metadata = metadata or {}
    shape = getattr(value, "shape", ())
    if shape:
        return f"{type(value).__name__} of {' x '.join(map(str, shape))} {value.dtype}"
    if isinstance(value, bool | str | bytes | None):
        return elide(repr(value), 80)
    if isinstance(value, list | tuple | dict | set):
        return f"{type(value).__name__} of {len(value)}"
    try:
        scaled = value / scale_from_metadata(metadata)
    except TypeError:
        return elide(repr(value), 80)
    plain = not {"unit", "scale", "precision"} & metadata.keys()
    number = str(value) if plain else f"{scaled:.{metadata.get('precision', 3)}f}"
    return " ".join(filter(None, (number, metadata.get("unit", ""))))


def parse_devarg_override(text: str) -> dict[str, dict]:
    """Parse ``"dev:arg=1 dev:other=2"`` to ``{"dev": {"arg": 1, "other": 2}}``; UsageError if it is
    invalid."""
    overrides: dict[str, dict] = {}
    for item in text.split():
        device, colon, assignment = item.partition(":")
        argument, equals, value = assignment.partition("=")
        if not (device and colon and argument and equals):
            raise UsageError(f"'{item}' is not DEVICE:ARGUMENT=VALUE")
        overrides.setdefault(device, {})[argument] = pyon.decode(value)
    return overrides


def unparse_devarg_override(overrides: dict[str, dict]) -> str:
    """Format `overrides` in the syntax of `parse_devarg_override`."""
    pairs = ((device, name, value) for device, arguments in overrides.items() for name, value in arguments.items())
    return " ".join(f"{device}:{name}={pyon.encode(value)}" for device, name, value in pairs)


async def exc_to_warning(awaitable):
    """Await `awaitable`; exceptions are logged."""
    try:
        await awaitable
    except Exception:
        logger.warning("a background task failed", exc_info=True)


def get_user_config_dir() -> Path:
    """Return the user's configuration directory, created if necessary."""
    base = os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config"
    directory = Path(base) / "kairos"
    directory.mkdir(parents=True, exist_ok=True)
    return directory
