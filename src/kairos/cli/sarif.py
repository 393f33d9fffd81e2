"""Diagnostics in the Static Analysis Results Interchange Format (SARIF 2.1.0, OASIS), which code
hosts and editors show beside the source."""

import os
from pathlib import Path
from urllib.parse import quote

from .. import __version__
from ..diagnostics import Diagnostic, valid

__all__ = ["sarif"]

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


def sarif(found: list[Diagnostic]) -> dict:
    """Return the log of a run with these findings."""
    rules = sorted({_rule(each) for each in found})
    driver = {"name": "kairos", "version": __version__, "rules": [{"id": rule} for rule in rules]}
    return {
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [
            {"tool": {"driver": driver}, "columnKind": "utf16CodeUnits", "results": [_result(each) for each in found]}
        ],
    }


def _rule(found: Diagnostic) -> str:
    return found.kind or ("warning" if found.warning else "error")


def _result(found: Diagnostic) -> dict:
    result = {
        "ruleId": _rule(found),
        "level": found.level,
        "message": {"text": found.said},
    }
    if found.place is not None:
        result["locations"] = [_location(found.place)]
    if found.related:
        result["relatedLocations"] = [
            _location(place) | {"message": {"text": valid(text)}} for place, text in found.related
        ]
    return result


def _location(place) -> dict:
    (line, column), (end_line, end_column) = place.start, place.end
    region = {"startLine": line + 1, "startColumn": column + 1}
    if (end_line, end_column) != (line + 1, 0):  # not a whole line
        region |= {"endLine": end_line + 1, "endColumn": end_column + 1}
    path = Path(place.file)
    # A name is not yet a URI: it may contain blanks, colons or what is no ASCII.
    uri = path.as_uri() if path.is_absolute() else quote(os.fsencode(path.as_posix()))
    return {"physicalLocation": {"artifactLocation": {"uri": uri}, "region": region}}
