"""Coloured error messages on terminals; pipes, files and editors get plain text.

The environment may disable them: `NO_COLOR` (https://no-color.org), or the terminal type ``dumb``.
"""

import os
import re
import sys

__all__ = ["coloured"]

_RED, _YELLOW, _BLUE, _CYAN, _BOLD = "1;31", "1;33", "1;34", "36", "1"
_STYLES = [
    (re.compile(r"(?<== )(help|note)(?=:)"), _CYAN),
    (re.compile(r"^(kairos: )", re.MULTILINE), _BOLD),
    (re.compile(r"^(error)(?=[:\[])", re.MULTILINE), _RED),
    (re.compile(r"^(warning)(?=[:\[])", re.MULTILINE), _YELLOW),
    (re.compile(r"^( *-->|[ \d]*\|| +=)(?= |$)", re.MULTILINE), _BLUE),
    (re.compile(r"(?<= )(\^+)(?= |$)", re.MULTILINE), _RED),
]
"""Parts of a diagnostic, in the layout of `kairos.diagnostics`, and their styles."""


def coloured(text: str, stream=None) -> str:
    """Return `text` for `stream` (standard error), with colours if it is a terminal and they are
    not disabled."""
    stream = sys.stderr if stream is None else stream
    if not stream.isatty() or os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return text
    for pattern, style in _STYLES:
        text = pattern.sub(f"\x1b[{style}m\\1\x1b[0m", text)
    return text
