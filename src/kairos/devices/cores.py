"""Which core device the entries of a device database belong to, where it has several: two masters that are run from one
dashboard."""

__all__ = ["core_of", "devices_on"]

DEFAULT = "core"
"""The core device of an entry that names none."""
NAMES = ("core_device", "core")
"""Arguments for the core device."""


def core_of(entries: dict, name: str, seen: frozenset[str] = frozenset()) -> str:
    """Return the name of the core device that the entry `name` belongs to: the one that its arguments name, or to which
    the devices that they name belong."""
    entry = entries.get(name)
    if isinstance(entry, str) and entry not in seen:
        return core_of(entries, entry, seen | {name})
    arguments = entry.get("arguments") if isinstance(entry, dict) else None
    if not isinstance(arguments, dict):
        return DEFAULT
    for argument in NAMES:
        if isinstance(arguments.get(argument), str):
            return arguments[argument]
    for value in arguments.values():
        for used in value if isinstance(value, list | tuple) else [value]:
            if isinstance(used, str) and used in entries and used not in seen and used != name:
                if (found := core_of(entries, used, seen | {name})) != DEFAULT:
                    return found
    return DEFAULT


def devices_on(entries: dict, host: str | None) -> dict:
    """Return the entries without those of the core devices at other hosts than `host`; all if there is only one core
    device."""
    cores = {name: entry for name, entry in entries.items() if isinstance(entry, dict) and entry.get("class") == "Core"}
    if len(cores) < 2:
        return entries
    there = {name for name, entry in cores.items() if (entry.get("arguments") or {}).get("host") == host} or {DEFAULT}
    return {name: entry for name, entry in entries.items() if name in cores or core_of(entries, name) in there}
