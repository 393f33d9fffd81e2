"""Settings of a laboratory: the file ``lab.toml`` in its folder, in which everything is optional."""

import tomllib
from dataclasses import dataclass, field, fields
from pathlib import Path

from ..controllers.listening import LOCAL
from ..errors import UsageError

__all__ = ["FILE", "Ports", "Rehearsing", "Settings"]

FILE = "lab.toml"


@dataclass(frozen=True)
class Ports:
    """TCP ports; 0: chosen by the system."""

    notify: int = 3250
    control: int = 3251
    logging: int = 1066
    broadcast: int = 1067


POLICIES = ("off", "warn", "must")


@dataclass(frozen=True)
class Rehearsing:
    """How submissions are rehearsed."""

    default: str = "off"
    """Policy of pipelines that are not named: one of `POLICIES`."""
    pipelines: dict = field(default_factory=dict)
    """Policy by pipeline."""
    twin: str | None = None
    """The emulated device of a core device that is not emulated: ``emulator://VARIANT``."""
    bench: str = "bench.toml"
    """File with the wiring of its pins, if there is one."""
    interlocks: str = "interlocks.toml"
    """File with rules that the waveform must keep, if there is one."""
    within_s: float = 60.0
    """Seconds after which a rehearsal is stopped; what was found until then counts."""
    network_us: float = 20.0
    """Time for a message to reach the device."""

    def check(self, path: Path):
        """Raise UsageError for a policy that does not exist, and values that make no sense."""
        for name, policy in {"default": self.default, **self.pipelines}.items():
            if policy not in POLICIES:
                raise UsageError(f"{path}: the policy of {name} must be one of {', '.join(POLICIES)}, not {policy!r}")
        if not 0 < self.within_s < 1e6 or not 0 <= self.network_us < 1e6:
            raise UsageError(f"{path}: rehearsal.within_s and rehearsal.network_us must be times")


@dataclass(frozen=True)
class Settings:
    """What ``lab.toml`` may say. Paths are relative to the laboratory's folder."""

    folder: Path
    name: str | None = None
    """Name of the laboratory, for clients."""
    device_db: str = "device_db.py"
    dataset_db: str = "dataset_db.mdb"
    repository: str = "repository"
    git: bool = False
    """Whether the repository is one of Git, whose commits are run."""
    experiments: str = ""
    """Folder of the repository that has the experiments."""
    results: str = "results"
    database: str = ""
    """URL of the database; a file of SQLite by default."""
    log_submissions: str = ""
    """CSV file to which each submission is appended."""
    bind: tuple[str, ...] = ()
    """Further addresses to listen on; ``*``: all."""
    pyon: int = 2
    """Version of PYON for clients of notifications and broadcasts that do not name one: 1 for those
    of ARTIQ up to version 8."""
    ports: Ports = field(default_factory=Ports)
    rehearsal: Rehearsing = field(default_factory=Rehearsing)

    @classmethod
    def load(cls, folder: Path) -> "Settings":
        """Read the settings of a folder; UsageError for what they may not say."""
        path = folder / FILE
        try:
            said = tomllib.loads(path.read_text()) if path.exists() else {}
        except (OSError, ValueError) as error:
            raise UsageError(f"{path}: {error}") from None
        ports, rehearsal = said.pop("ports", {}), said.pop("rehearsal", {})
        _check(path, said, cls, ("folder", "ports", "rehearsal"))
        _check(path, ports, Ports, (), "ports.")
        _check(path, rehearsal, Rehearsing, (), "rehearsal.")
        if "bind" in said:
            said["bind"] = tuple(said["bind"])
        rehearsing = Rehearsing(**rehearsal)
        rehearsing.check(path)
        return cls(folder=folder, **said, ports=Ports(**ports), rehearsal=rehearsing)

    def path(self, name: str) -> Path:
        """Return a path as an absolute one."""
        return (self.folder / name).resolve()

    @property
    def addresses(self) -> tuple[str, ...]:
        """All addresses to listen on."""
        return ("*",) if "*" in self.bind else (*LOCAL, *self.bind)


_KINDS = {
    "str": (str,),
    "bool": (bool,),
    "int": (int,),
    "float": (float, int),
    "dict": (dict,),
    "str | None": (str,),
    "tuple[str, ...]": (list,),
}


def _check(path, said, kind, internal, prefix=""):
    """Raise UsageError for a setting that does not exist, or has another type."""
    if not isinstance(said, dict):
        raise UsageError(f"{path}: {prefix.rstrip('.')} must be a table")
    known = {each.name: each.type for each in fields(kind) if each.name not in internal}
    for name, value in said.items():
        if name not in known:
            raise UsageError(f"{path}: there is no setting '{prefix}{name}'; there are {', '.join(known)}")
        wanted = known[name].__name__ if isinstance(known[name], type) else str(known[name])
        if wanted in _KINDS and type(value) not in _KINDS[wanted]:
            raise UsageError(f"{path}: '{prefix}{name}' must be {_KINDS[wanted][0].__name__}, not {value!r}")
