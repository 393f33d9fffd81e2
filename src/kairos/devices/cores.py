"""Which core device the entries of a device database belong to, where it has several: two masters that are run from one
dashboard."""

__all__ = ["core_of", "devices_on", "resolved"]

DEFAULT = "core"
"""The core device of an entry that names none."""
NAMES = ("core_device", "core")
"""Arguments for the core device."""


def resolved(entries: dict, name: str) -> str:
    """Return the name of the entry that `name` stands for as an alias, or `name` itself."""
    seen = {name}
    while isinstance(other := entries.get(name), str) and other not in seen:
        seen.add(other)
        name = other
    return name


def core_of(entries: dict, name: str, seen: frozenset[str] = frozenset()) -> str:
    """Return the name of the core device that the entry `name` belongs to: the one that its arguments name, or to which
    the devices that they name belong."""
    name, default = resolved(entries, name), resolved(entries, DEFAULT)
    entry = entries.get(name)
    arguments = entry.get("arguments") if isinstance(entry, dict) else None
    if name in seen or not isinstance(arguments, dict):
        return default
    for argument in NAMES:
        if isinstance(arguments.get(argument), str):
            return resolved(entries, arguments[argument])
    for value in arguments.values():
        for used in value if isinstance(value, list | tuple) else [value]:
            if isinstance(used, str) and used in entries:
                if (found := core_of(entries, used, seen | {name})) != default:
                    return found
    return default


def devices_on(entries: dict, host: str | None) -> dict:
    """Return the entries without those of the core devices at other hosts than `host`; all if there is only one core
    device."""
    cores = {name: entry for name, entry in entries.items() if isinstance(entry, dict) and entry.get("class") == "Core"}
    if len(cores) < 2:
        return entries
    there = {name for name, entry in cores.items() if (entry.get("arguments") or {}).get("host") == host}
    there = there or {resolved(entries, DEFAULT)}
    return {name: entry for name, entry in entries.items() if name in cores or core_of(entries, name) in there}
