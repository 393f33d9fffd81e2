"""Pages of the manual that show commands and their output."""

import re

BLOCK = re.compile(r"^```(python|console)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
"""Kind and text of a fenced block."""


def commands(block):
    """Yield (command, lines that it prints, exit code) of a console block."""
    for entry in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
        command, *lines = entry.rstrip("\n").split("\n")
        code = int(lines.pop()[1:-1]) if lines and re.fullmatch(r"\[\d+\]", lines[-1]) else 0
        yield command, lines, code


def pattern(lines):
    """Return a pattern of the required output: a line `…` stands for any lines, `…` in a line for
    any text."""
    parts = [r"(?:.*\n)*?" if line == "…" else re.escape(line).replace("…", ".*") + r"\n" for line in lines]
    return re.compile("".join(parts) + (r"(?:.*\n)*" if lines and "…" in lines[-1] else ""))
