"""The page: lanes and viewer in one self-contained HTML file."""

import base64
import json
import zlib
from collections.abc import Sequence
from html import escape
from importlib.resources import files

from ..files import replacing
from .lanes import Lane, Packer
from .steps import Steps

__all__ = ["compressed", "packed_lanes", "write_page"]

SCRIPTS = ("lanes.js", "draw.js", "debugger.js", "scope.js", "main.js")
"""In dependency order. They are modules, which become one script here: a page that is a file may not load any."""
LARGE = 16 << 20
"""Bytes of a block from which on it is compressed quickly rather than well."""


def write_page(path, title: str, lanes: Sequence[Lane], end_ns: float, steps: Steps | None = None):
    """Write a page of `lanes`, from time 0 to `end_ns` or to their last change if that is later, to
    `path`; with `steps` of kernels, it has a debugger. UsageError if it cannot be written; an existing file then
    remains unchanged."""
    with replacing(path) as new:
        new.write_text(page(title, lanes, end_ns, steps), encoding="utf-8")


def page(title: str, lanes: Sequence[Lane], end_ns: float, steps: Steps | None = None) -> str:
    """Return the page's text, with compressed data: a million events take some megabytes."""
    content, arrays = packed_lanes(title, lanes, end_ns, steps)
    source = files(__package__) / "page"
    parts = {
        "TITLE": escape(title),
        "STYLE": (source / "scope.css").read_text("utf-8"),
        "SCRIPT": "\n".join(_script((source / name).read_text("utf-8")) for name in SCRIPTS),
        "LANES": _encoded(content.encode()),
        "ARRAYS": _encoded(arrays),
    }
    text = (source / "scope.html").read_text("utf-8")
    for name, part in parts.items():
        text = text.replace(f"@{name}@", part)
    return text


def packed_lanes(title: str, lanes: Sequence[Lane], end_ns: float, steps: Steps | None = None) -> tuple[str, bytes]:
    """Return lanes as the viewer reads them: JSON, and the block of its arrays."""
    packer = Packer()
    end = max([float(end_ns), *(lane.end_ns for lane in lanes)])
    content = {"title": title, "end": end, "lanes": [lane.packed(packer) for lane in lanes]}
    if steps:
        content["steps"] = steps.packed(packer)
    content["texts"] = list(packer.texts)
    return json.dumps(content), b"".join(packer.blocks)


def compressed(data: bytes) -> bytes:
    """Compress what a browser unpacks (zlib)."""
    # Of much data, a page half as large would take four times as long to write.
    return zlib.compress(data, 6 if len(data) < LARGE else 1)


def _encoded(data: bytes) -> str:
    return base64.b64encode(compressed(data)).decode()


def _script(module: str) -> str:
    """Return a module without what it imports and exports."""
    return "".join(line for line in module.splitlines(True) if not line.startswith(("import ", "export ")))
