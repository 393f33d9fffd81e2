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

__all__ = ["write_page"]

SCRIPTS = ("lanes.js", "draw.js", "debugger.js", "scope.js")
"""In dependency order."""
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
    packer = Packer()
    end = max([float(end_ns), *(lane.end_ns for lane in lanes)])
    content = {"title": title, "end": end, "lanes": [lane.packed(packer) for lane in lanes]}
    if steps:
        content["steps"] = steps.packed(packer)
    content["texts"] = list(packer.texts)
    source = files(__package__) / "page"
    parts = {
        "TITLE": escape(title),
        "STYLE": (source / "scope.css").read_text("utf-8"),
        "SCRIPT": "\n".join((source / name).read_text("utf-8") for name in SCRIPTS),
        "LANES": _compressed(json.dumps(content).encode()),
        "ARRAYS": _compressed(b"".join(packer.blocks)),
    }
    text = (source / "scope.html").read_text("utf-8")
    for name, part in parts.items():
        text = text.replace(f"@{name}@", part)
    return text


def _compressed(data: bytes) -> str:
    # Of much data, a page half as large would take four times as long to write.
    return base64.b64encode(zlib.compress(data, 6 if len(data) < LARGE else 1)).decode()
