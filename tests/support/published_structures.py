"""Published structures of what editors and code hosts read: schemas as data, in the folder `published`."""

import json
from pathlib import Path

import jsonschema

__all__ = ["check_lsp", "check_sarif"]

FOLDER = Path(__file__).with_name("published")


def check_sarif(log: dict):
    """Raise ValidationError if this is no log of the format; AssertionError if a region ends before it begins."""
    jsonschema.Draft202012Validator(_schema("sarif-2.1.0")).validate(log)
    for run in log["runs"]:
        for result in run["results"]:
            for location in (*result.get("locations", ()), *result.get("relatedLocations", ())):
                region = location["physicalLocation"]["region"]
                start = region["startLine"], region.get("startColumn", 1)
                end = region.get("endLine", start[0]), region.get("endColumn", start[1])
                assert start <= end, region


def check_lsp(kind: str, content):
    """Raise ValidationError if this is not what the protocol calls `kind`: ``publishDiagnostics`` or ``inlayHints``;
    AssertionError if a range ends before it begins."""
    schema = _schema("lsp-3.17")
    jsonschema.Draft202012Validator({"$ref": f"#/$defs/{kind}", "$defs": schema["$defs"]}).validate(content)
    for each in content["diagnostics"] if kind == "publishDiagnostics" else ():
        ends = [(each["range"][end]["line"], each["range"][end]["character"]) for end in ("start", "end")]
        assert ends[0] <= ends[1], each


def _schema(name: str) -> dict:
    return json.loads((FOLDER / f"{name}.json").read_text())
