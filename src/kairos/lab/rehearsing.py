"""The process of a rehearsal: runs a submission on the twin of the laboratory, and reports what it finds.

Nothing that it does reaches a device or the results; it gives way to runs, which are measured.
"""

import sys
from pathlib import Path

from ..devices import DeviceDB
from ..errors import UsageError
from ..twin.folder import summary
from ..twin.interlocks import load
from ..twin.rehearsal import Twin, in_a_line
from ..twin.sweep.task import numbers_of, whole, with_values
from ..twin.verdict import described
from .aside import work_aside
from .examination import Datasets
from .excerpts import OWN
from .link import Link
from .theory import curves

__all__ = ["main"]

NICENESS = 10


def main(folder: str, path: str, begin: dict):
    """Rehearse ``begin["expid"]``, and report to the laboratory with the socket `path`."""
    file = str(begin["expid"].get("file", ""))

    def work(link: Link) -> dict:
        if begin["directory"] is not None:
            sys.path.insert(0, begin["directory"])
        return _rehearsed(link, Path(folder), begin)

    work_aside("rehearse", NICENESS, folder, path, begin, work, lambda error: in_a_line(error, file))


def _rehearsed(link: Link, folder: Path, begin: dict) -> dict:
    expid, how = begin["expid"], begin["how"]
    file = Path(begin["directory"] or ".", expid["file"]) if "content" not in expid else folder / OWN
    if "content" in expid:
        file.write_text(expid["content"])
    ddb = DeviceDB(begin["entries"], begin["device_db"])
    rules = [] if begin["interlocks"] is None else load(Path(begin["interlocks"]))
    bench = _bench(begin["bench"], begin["values"], folder)
    with Twin(ddb, bench, how["twin"], {"net_latency_ns": how["network_ns"]}, rules=rules) as twin:
        found = twin.rehearse(
            str(file),
            expid.get("class_name"),
            expid.get("arguments") or {},
            Datasets(link),
            how["within_s"],
            expid=expid,
            rid=how["rid"],
        )
    numbers = numbers_of(Path(begin["bench"]).read_text()) if how["numbers"] and begin["bench"] is not None else {}
    more = {"summary": summary(found)} if how["summary"] else {}
    return {**described(found), **more, "theory": curves(found) if how["theory"] else {}, "numbers": numbers}


def _bench(path: str | None, values: dict[str, float], folder: Path) -> str | None:
    """Return the bench file, in which numbers have other values. UsageError if it has no such number."""
    if not values:
        return path
    text = "" if path is None else Path(path).read_text()
    if unknown := sorted(set(values) - set(numbers_of(text))):
        raise UsageError(f"the bench file has no number {unknown[0]}")
    changed = folder / "bench.toml"
    changed.write_text(with_values(text, whole(text, values), beside=Path(path or ".").parent))
    return str(changed)
