"""What a run depends on, for the group ``provenance`` of its file, as `kairos run` notes it."""

import logging
from pathlib import Path

from ..cli.experiments import record_of, statistics_of
from ..cli.provenance import Provenance
from ..devices import DEVICES

__all__ = ["Origin"]

logger = logging.getLogger(__name__)


class Origin:
    """The origin of the run that `begin` describes, see `laboratory`: its `file`, `arguments` (their
    manager), and `datasets` (theirs)."""

    def __init__(self, begin: dict, file: Path, arguments, datasets):
        twin = begin.get("twin") or {}
        root = begin["directory"]
        emulated = twin.get("emulated", False)
        self._provenance = Provenance(
            file,
            twin.get("device_db", ""),
            twin.get("bench") if emulated else None,
            root=None if root is None or "content" in begin["expid"] else Path(root),
        )
        revision = begin["expid"].get("repo_rev") or ""
        text, whole = begin.get("device_db") or "", begin.get("entries") or ""
        self._known = {"device_db": text, "revision": revision, **twin.get("parts", {})}
        if whole != text:
            self._known[DEVICES] = whole
        self._arguments, self._datasets = arguments, datasets
        self._libraries: list[str] = []
        self.replay: dict | None = None
        """What the device was told, see `kairos.session.record`."""
        self.inputs: bytes | None = None
        """What its analyzer has recorded."""

    def refresh(self):
        """Read the user's modules that have been imported since."""
        self._provenance.refresh()

    def note_kernels(self, devices) -> bool:
        """Note which kernels have run, before the devices are closed; returns whether any has."""
        statistics = statistics_of(devices)
        if statistics is not None:
            self._libraries = list(statistics.libraries)
            if (record := record_of(devices)) is not None and record.inputs is not None:
                self.replay, self.inputs = record.packed(), record.inputs
        return bool(self._libraries)

    def values(self) -> dict[str, str]:
        """Return the values of the group; nothing if they cannot be had, since the data are written in
        any case."""
        try:
            return self._provenance.values(
                self._arguments.effective, self._datasets.archive, self._libraries, self._known
            )
        except Exception as error:  # raised by values of the user: it may be anything
            logger.warning("what the run depends on is not stored: %s: %s", type(error).__name__, error)
            return {}
