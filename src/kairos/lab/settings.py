"""Settings of a laboratory: the file ``lab.toml`` in its folder, in which everything is optional."""

import ssl
from dataclasses import MISSING, dataclass, field, fields
from pathlib import Path
from urllib.parse import urlsplit

from ..controllers import MANAGER
from ..controllers.sockets import LOCAL
from ..errors import UsageError
from ..files import read_toml
from .events import KINDS

__all__ = ["FILE", "AlarmLimits", "Influx", "Email", "Metrics", "Notify", "Ports", "Rehearsing", "Settings"]

FILE = "lab.toml"


@dataclass(frozen=True)
class Ports:
    """TCP ports; 0: chosen by the system."""

    notify: int = 3250
    control: int = 3251
    logging: int = 1066
    broadcast: int = 1067
    controllers: int = MANAGER


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
    waveforms: bool | None = None
    """Whether runs get the waveform that the twin predicts, into their files, after their end. Unset: those of
    pipelines that are not ``off``."""
    inputs: bool = False
    """Whether the files of runs get what the device's analyzer has recorded, so that the twin can repeat them."""
    theory: bool = False
    """Whether runs get what the twin has measured in their rehearsals, as datasets beside their own."""
    commits: bool = False
    """Whether each experiment of the repository is rehearsed with its defaults when it has changed."""

    def policy(self, pipeline: str) -> str:
        """Return the policy of a pipeline."""
        return self.pipelines.get(pipeline, self.default)

    def predicts(self, pipeline: str) -> bool:
        """Return whether the waveforms of a pipeline's runs are predicted."""
        return self.policy(pipeline) != "off" if self.waveforms is None else self.waveforms

    def check(self, path: Path):
        """Raise UsageError for a policy that does not exist, and values that make no sense."""
        for name, policy in {"default": self.default, **self.pipelines}.items():
            if policy not in POLICIES:
                raise UsageError(f"{path}: the policy of {name} must be one of {', '.join(POLICIES)}, not {policy!r}")
        if not 0 < self.within_s < 1e6 or not 0 <= self.network_us < 1e6:
            raise UsageError(f"{path}: rehearsal.within_s and rehearsal.network_us must be times")


@dataclass(frozen=True)
class Notify:
    """Who is told of what."""

    on: tuple[str, ...]
    """Kinds of events, see `events.KINDS`."""
    webhook: str = ""
    """URL to which each event is posted as JSON."""
    email: tuple[str, ...] = ()
    """Addresses to which each event is written."""
    subject: str = "*"
    """Pattern of what events are about: classes of experiments, names of alarms, devices."""
    headers: dict = field(default_factory=dict)
    """Further headers for the webhook."""
    certificate: str = ""
    """File by which the webhook's server is verified, if the system does not trust it."""

    @property
    def place(self) -> str:
        """Whom it tells, without the secrets that a webhook's path may be."""
        server = "/".join(self.webhook.split("/")[:3])
        return " and ".join(filter(None, [server, ", ".join(self.email)]))


PORTS = {"none": 25, "starttls": 587, "tls": 465}
"""Ports of servers for e-mail, by their encryption."""


@dataclass(frozen=True)
class Email:
    """How e-mail is sent."""

    server: str
    """``host`` or ``host:port``."""
    sender: str
    user: str = ""
    password_file: str = ""
    encryption: str = "starttls"
    """``starttls``, ``tls`` or ``none``."""
    certificate: str = ""
    """File by which the server is verified, if the system does not trust it."""

    @property
    def address(self) -> tuple[str, int]:
        """Host and port of the server; ValueError."""
        place = urlsplit(f"//{self.server}")
        if not place.hostname:
            raise ValueError("it names no host")
        return place.hostname, place.port or PORTS[self.encryption]


@dataclass(frozen=True)
class AlarmLimits:
    """Limits of a dataset."""

    name: str
    dataset: str
    minimum: float | None = None
    maximum: float | None = None
    age: float | None = None
    """Seconds after which a value that has not changed raises the alarm."""
    delay: float = 0.0
    """Seconds for which a value must be out."""
    latch: bool = False
    """Whether it stays until somebody has acknowledged it."""
    guidance: str = ""
    """What to do."""


@dataclass(frozen=True)
class Influx:
    """Where numbers are written for InfluxDB, in its line protocol."""

    url: str
    """``http(s)://…/api/v2/write?org=…&bucket=…``, ``http(s)://…/write?db=…``, or ``udp://host:port``."""
    token_file: str = ""
    datasets: tuple[str, ...] = ("*",)
    """Patterns of the datasets that are written, if they are numbers."""
    interval: float = 1.0
    """Least seconds between two values of a dataset."""
    certificate: str = ""
    """File by which the server is verified, if the system does not trust it."""


@dataclass(frozen=True)
class Metrics:
    """Figures of the laboratory for Prometheus."""

    port: int
    bind: str = "127.0.0.1"


@dataclass(frozen=True)
class Tls:
    """Encryption of ARTIQ's ports. Files are in PEM format, relative to the laboratory's folder."""

    certificate: str
    key: str
    clients: str = ""
    """Certificates of the clients that may connect, or of who has signed them; without it, all may."""


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
    revision: str = "HEAD"
    """Branch, tag or commit of Git that is scanned, and run unless a submission names another one."""
    experiments: str = ""
    """Folder of the repository that has the experiments."""
    results: str = "results"
    database: str = ""
    """URL of the database; a file of SQLite by default."""
    database_schema: str = ""
    """Schema of a PostgreSQL database that this laboratory has for itself."""
    log_submissions: str = ""
    """CSV file to which each submission is appended."""
    bind: tuple[str, ...] = ()
    """Further addresses to listen on; ``*``: all."""
    pyon: int = 2
    """Version of PYON for clients of notifications and broadcasts that do not name one: 1 for those
    of ARTIQ up to version 8."""
    hub: str = ""
    """Settings of the hub that is started with the laboratory, and again when it ends; without it, `kairos hub` serves
    the page."""
    controllers: bool = True
    """Whether the controllers of the device database that belong to this computer are started."""
    ports: Ports = field(default_factory=Ports)
    rehearsal: Rehearsing = field(default_factory=Rehearsing)
    notify: tuple[Notify, ...] = ()
    email: Email | None = None
    alarm: tuple[AlarmLimits, ...] = ()
    influx: Influx | None = None
    metrics: Metrics | None = None
    tls: Tls | None = None
    """Encryption of ARTIQ's ports."""
    watch: tuple[str, ...] = ()
    """Devices of which it is reported when they do not answer any more."""

    @classmethod
    def load(cls, folder: Path) -> "Settings":
        """Read the settings of a folder; UsageError for what they may not say."""
        path = folder / FILE
        said = read_toml(path) if path.exists() else {}
        parts = {name: said.pop(name) for name in _PARTS if name in said}
        _check(path, said, cls, ("folder", *_PARTS))
        made = {name: _part(path, name, given) for name, given in parts.items()}
        loaded = cls(folder=folder, **_with_tuples(said), **made)
        _check_notifications(path, loaded)
        loaded.rehearsal.check(path)
        return loaded

    def path(self, name: str) -> Path:
        """Return a path as an absolute one."""
        return (self.folder / name).resolve()

    def encryption(self) -> ssl.SSLContext | None:
        """Return how ARTIQ's ports are encrypted, None if they are not; UsageError for unusable files."""
        if self.tls is None:
            return None
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        try:
            context.load_cert_chain(self.path(self.tls.certificate), self.path(self.tls.key))
            if self.tls.clients:
                context.load_verify_locations(self.path(self.tls.clients))
                context.verify_mode = ssl.CERT_REQUIRED
        except OSError as error:  # ssl.SSLError is one
            names = ", ".join(filter(None, (self.tls.certificate, self.tls.key, self.tls.clients)))
            raise UsageError(f"{self.folder / FILE}: [tls]: {names}: {error.strerror or error}") from None
        return context

    @property
    def addresses(self) -> tuple[str, ...]:
        """All addresses to listen on."""
        return ("*",) if "*" in self.bind else (*LOCAL, *self.bind)


_PARTS: dict[str, type] = {
    "ports": Ports,
    "rehearsal": Rehearsing,
    "notify": Notify,
    "email": Email,
    "alarm": AlarmLimits,
    "influx": Influx,
    "metrics": Metrics,
    "tls": Tls,
}
_SEVERAL = ("notify", "alarm")
"""Tables of which there may be several."""


def _part(path, name: str, given):
    if name not in _SEVERAL:
        return _table(path, name, given)
    if not isinstance(given, list):
        raise UsageError(f"{path}: write [[{name}]], of which there may be several, not [{name}]")
    return tuple(_table(path, name, each) for each in given)


def _table(path, name: str, given):
    kind = _PARTS[name]
    _check(path, given, kind, (), f"{name}.")
    missing = [each.name for each in fields(kind) if each.name not in given and _is_required(each)]
    if missing:
        raise UsageError(f"{path}: [{name}] lacks '{missing[0]}'")
    return kind(**_with_tuples(given))


def _is_required(each) -> bool:
    return each.default is MISSING and each.default_factory is MISSING


def _with_tuples(said: dict) -> dict:
    return {name: tuple(value) if isinstance(value, list) else value for name, value in said.items()}


def _check_notifications(path, settings: Settings):
    """Raise UsageError for messages that could not be sent."""
    for each in settings.notify:
        unknown = sorted(set(each.on) - set(KINDS))
        if unknown:
            raise UsageError(f"{path}: there is no event '{unknown[0]}'; there are {', '.join(KINDS)}")
        if not each.webhook and not each.email:
            raise UsageError(f"{path}: [[notify]] needs 'webhook' or 'email'")
        if each.webhook and not each.webhook.startswith(("http://", "https://")):
            raise UsageError(f"{path}: webhook '{each.webhook}' must begin with https:// or http://")
        if each.email and settings.email is None:
            raise UsageError(f"{path}: [[notify]] with 'email' needs [email] with 'server' and 'sender'")
    if settings.email is not None:
        _check_email(path, settings.email)
    names = [each.name for each in settings.alarm]
    for name in names:
        if names.count(name) > 1:
            raise UsageError(f"{path}: there are two alarms '{name}'")
    if settings.influx is not None and not settings.influx.url.startswith(("http://", "https://", "udp://")):
        raise UsageError(f"{path}: influx.url must begin with https://, http:// or udp://")


def _check_email(path, email: Email):
    if email.encryption not in PORTS:
        raise UsageError(f"{path}: email.encryption must be starttls, tls or none")
    try:
        _ = email.address
    except ValueError as error:
        raise UsageError(f"{path}: email.server must be 'host' or 'host:port', not '{email.server}': {error}") from None


_KINDS: dict[str, type | tuple[type, ...]] = {
    "str": str,
    "bool": bool,
    "bool | None": bool,
    "int": int,
    "float": (int, float),
    "dict": dict,
    "str | None": str,
    "float | None": (int, float),
    "tuple[str, ...]": list,
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
        types = _KINDS.get(wanted)
        if types is None:
            continue
        allowed = types if isinstance(types, tuple) else (types,)
        if type(value) not in allowed:
            said_types = " or ".join(each.__name__ for each in allowed)
            raise UsageError(f"{path}: '{prefix}{name}' must be {said_types}, not {value!r}")
        if wanted == "tuple[str, ...]" and not all(isinstance(each, str) for each in value):
            raise UsageError(f"{path}: '{prefix}{name}' must be a list of texts, not {value!r}")
