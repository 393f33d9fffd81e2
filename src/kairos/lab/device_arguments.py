"""Arguments of devices that a submission replaces (`devarg_override`): a dictionary by device, or text as typed."""

from ..compat.tools import parse_devarg_override
from ..errors import UsageError

__all__ = ["replaced", "with_replaced"]

FIELD = "devarg_override"


def replaced(expid: dict) -> dict[str, dict]:
    """Return the arguments that a submission replaces, by device; ValueError for what are none."""
    given = expid.get(FIELD) or {}
    if isinstance(given, str):
        try:
            given = parse_devarg_override(given)
        except (UsageError, ValueError) as error:
            raise ValueError(f"{FIELD} of a submission: {error}") from None
    if not isinstance(given, dict) or not all(isinstance(arguments, dict) for arguments in given.values()):
        raise ValueError(f"{FIELD} of a submission has a dictionary of arguments for each device")
    return given


def with_replaced(entries: dict, expid: dict) -> dict:
    """Return a device database with the arguments that a submission replaces."""
    changed = {
        name: {**entries[name], "arguments": {**entries[name].get("arguments", {}), **arguments}}
        for name, arguments in replaced(expid).items()
        if isinstance(entries.get(name), dict)
    }
    return {**entries, **changed}
