"""Generates the manual page of subcommands from their declarations.

``python -m kairos.cli.reference > docs/commands.md`` updates it; a test fails if it is stale.
"""

from collections.abc import Iterator

from . import commands
from .command import Command, Option

__all__ = ["page"]

_HEAD = """# The `kairos` command

Generated from the declarations in `src/kairos/cli/commands/` by `python -m kairos.cli.reference`: do not edit.

`kairos --version` prints the version. `kairos` and every subcommand accept `--help`. Exit codes: 0 for success, 1 for
failure, 2 for an invalid command line, 130 after Ctrl-C.
"""


def _usage(option: Option) -> str:
    """The syntax of an option on the command line: its names and the value that it takes."""
    settings = option.settings
    choices = "|".join(settings["choices"]) if "choices" in settings else None
    value = settings.get("metavar") or choices or ("N" if settings.get("type") in (int, float) else None)
    if settings.get("action", "store") not in ("store", "append"):
        value = None
    value = " ".join(value) if isinstance(value, tuple) else value
    if not option.names[0].startswith("-"):
        optional = settings.get("nargs") in ("?", "*")
        several = "..." if settings.get("nargs") in ("*", "+") else ""
        return f"`[{value}{several}]`" if optional else f"`{value}{several}`"
    value = f"[{value}]" if settings.get("nargs") == "?" else value
    return ", ".join(f"`{name} {value}`" if value else f"`{name}`" for name in option.names)


def _meaning(option: Option) -> str:
    settings = option.settings
    meaning = settings["help"] % {"default": settings.get("default")}
    heading = f"{option.group}: " if option.group else ""
    required = "; required" if settings.get("required") else ""
    repeated = "; may be repeated" if settings.get("action") == "append" else ""
    return heading + meaning + required + repeated


def _section(name: str, command: Command, level: int) -> Iterator[str]:
    yield f"\n{'#' * level} `{name}`\n\n{command.description()}\n"
    if command.options:
        yield "\n| Option | Meaning |\n|---|---|\n"
        for option in command.options:
            yield "| " + " | ".join(cell.replace("|", "\\|") for cell in (_usage(option), _meaning(option))) + " |\n"
    if command.examples:
        yield "\n" + "".join(f"    {line}\n" for line in command.examples)
    for tool, nested in command.tools.items():
        yield from _section(f"{name} {tool}", nested, level + 1)


def page() -> str:
    """Return the page, in Markdown."""
    sections = (_section(f"kairos {name}", commands.load(name), 2) for name in commands.names())
    return _HEAD + "".join(line for section in sections for line in section)


if __name__ == "__main__":
    print(page(), end="")
