"""Client of a hub. Its messages are those described by the hub (server reflection), so client and hub always match."""

import json
import ssl
import threading
import urllib.error
import urllib.request
from collections import namedtuple
from collections.abc import Iterable, Iterator
from pathlib import Path

import grpc
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.json_format import ParseDict, ParseError
from google.protobuf.message_factory import GetMessageClass
from grpc_reflection.v1alpha.proto_reflection_descriptor_database import ProtoReflectionDescriptorDatabase

from ..contracts.hub import PORT
from . import notebook, reach
from .buses import ByName, I2c, pins, spi_buses
from .errors import HubError, ProgramError
from .linux import Board
from .program import Program
from .registers import Register, Registers
from .waveforms import Waveforms

__all__ = ["PORT", "SYSTEM", "Device", "Lab", "Register", "Subsystem", "connect"]

PACKAGE = "kairos.hub.v1"
TIMEOUT = 30.0
"""Timeout in seconds of a call."""
ANSWERED = "kairos-hub"
"""Metadata at the end of each of the hub's answers. Other statuses are gRPC's own, of a connection that failed."""
PING = 20.0
"""Seconds of silence during a call after which the hub is pinged, and timeout of the ping."""

CONDITIONS = ("unknown", "absent", "good", "warning", "bad")
"""Conditions of a subsystem, indexed by the protocol's numbers."""

Subsystem = namedtuple("Subsystem", "condition text values")
Subsystem.__doc__ = (
    """How a subsystem is: one of `CONDITIONS`, what is wrong, and numbers by names that end in their unit."""
)


_FAILURES = (grpc.RpcError, KeyError, TypeError, ValueError)
"""Failures of a call; the last two for fields that a message cannot have."""

SYSTEM = "system"
"""As a certificate: accept the authorities that this system trusts."""


def connect(
    address: str, timeout: float = TIMEOUT, token: str | None = None, certificate: str | Path | None = None
) -> "Lab":
    """Connect to the laboratory whose hub is at `address`, a host or host:port ([IPV6]:port).
    HubError if no hub answers there.

    `token`: authentication, if the hub requires it. `certificate`: PEM file with the certificate of
    a hub that uses TLS, or of its certificate authority, or "system" for those that this system
    trusts.
    """
    notebook.complete(items={Lab, Registers, ByName}, attributes={Device, Registers, Register})
    return Lab(_with_port(address), timeout, token, certificate)


def _with_port(address: str) -> str:
    """Return the hub's address, with the default port if it has none. HubError for an invalid port."""
    host, colon, port = address.rpartition(":")
    if address.startswith("unix:"):
        return address
    if ":" in host and "/" not in host and not host.startswith("["):
        # An IPv6 address without brackets has no port.
        return f"[{address}]:{PORT}"
    if not colon or address.endswith("]"):
        return f"{address}:{PORT}"
    if not (host and "/" not in host and port.isdecimal() and 0 < int(port) < 1 << 16):
        raise HubError(f"'{address}' is not a hub address: give HOST or HOST:PORT", "INVALID_ARGUMENT")
    return address


class _Details(
    namedtuple("_Details", "method timeout metadata credentials wait_for_ready compression"), grpc.ClientCallDetails
):
    """Details of a gRPC call besides its request."""


class _Token(
    grpc.UnaryUnaryClientInterceptor,
    grpc.UnaryStreamClientInterceptor,
    grpc.StreamUnaryClientInterceptor,
    grpc.StreamStreamClientInterceptor,
):
    """Sends the token with every call, including those of reflection."""

    def __init__(self, token: str):
        self._metadata = ("authorization", f"Bearer {token}")

    def _call(self, proceed, details, request):
        shown = _Details(*(getattr(details, field) for field in _Details._fields))
        return proceed(shown._replace(metadata=[*(details.metadata or ()), self._metadata]), request)

    intercept_unary_unary = intercept_unary_stream = intercept_stream_unary = intercept_stream_stream = _call


def _channel(address: str, token: str | None, certificate) -> grpc.Channel:
    # A broken network gives no error: without pings a watching client would wait forever.
    options = [
        ("grpc.keepalive_time_ms", round(1000 * PING)),
        ("grpc.keepalive_timeout_ms", round(1000 * PING)),
        ("grpc.http2.ping_timeout_ms", round(1000 * PING)),
        ("grpc.http2.max_pings_without_data", 0),
    ]
    if certificate is None:
        if address.startswith("unix:"):
            # By default the path of the Unix socket would be the host name, which is invalid.
            options.append(("grpc.default_authority", "localhost"))
        channel = grpc.insecure_channel(address, options)
    else:
        try:
            roots = None if certificate == SYSTEM else Path(certificate).read_bytes()
            ssl.create_default_context(cafile=None if certificate == SYSTEM else certificate)
        except ssl.SSLError:
            raise HubError(f"{certificate} contains no PEM certificate", "INVALID_ARGUMENT") from None
        except OSError as error:
            raise HubError(f"{certificate} cannot be read: {error.strerror}", "INVALID_ARGUMENT") from None
        channel = grpc.secure_channel(address, grpc.ssl_channel_credentials(roots), options)
    return channel if token is None else grpc.intercept_channel(channel, _Token(token))


class Lab:
    """The devices of a hub: ``lab["zc706"]``."""

    def __init__(self, address, timeout: float = TIMEOUT, token: str | None = None, certificate=None):
        self._address, self._timeout = address, timeout
        self._token, self._certificate = token, certificate
        self._channel = _channel(address, token, certificate)
        self._protocol = ProtoReflectionDescriptorDatabase(self._channel)
        self._pool = DescriptorPool(self._protocol)
        # Descriptors are looked up under a lock: concurrent lookups in a pool lose what either
        # found.
        self._looking = threading.RLock()
        self._methods, self._classes = {}, {}
        # Answers of Registers.List: by device, then by name.
        self._registers: dict[str, dict] = {}
        try:
            self._names = frozenset(self)
        except BaseException:
            self.close()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.close()

    def close(self):
        """Close the connection."""
        self._channel.close()

    def devices(self) -> list:
        """Return the devices, as messages `Device` of the protocol: name, address, connected,
        gateware, error."""
        return list(self.call("Devices", "List").devices)

    def metrics(self) -> str:
        """Return metrics of the hub and its devices, in the Prometheus text format."""
        scheme, context = "http", None
        if self._certificate is not None:
            file = None if self._certificate == SYSTEM else self._certificate
            scheme, context = "https", ssl.create_default_context(cafile=file)
        request = urllib.request.Request(f"{scheme}://{self._address}/metrics")
        if self._token is not None:
            request.add_header("Authorization", f"Bearer {self._token}")
        try:
            with urllib.request.urlopen(request, timeout=self._timeout, context=context) as page:
                return page.read().decode()
        except (urllib.error.URLError, OSError) as error:
            raise HubError(f"the hub at {self._address} does not provide metrics: {error}", "UNAVAILABLE") from None

    def plugins(self) -> list:
        """Return the plugins, as messages `Plugin` of the protocol: name, layer, services, running,
        error, starts."""
        return list(self.call("Plugins", "List").plugins)

    def reload(self, plugin: str):
        """Restart a plugin with its current entry in hub.toml, start it if it is new there, or end it if
        it is no longer there. Requires a token with the role `administer`."""
        self.call("Plugins", "Reload", name=plugin)

    def clocks(self, *devices: str) -> dict:
        """Return the clocks of devices by name, of all devices if none is named, as messages
        `DeviceClocks` of the protocol."""
        return {each.device: each for each in self.call("Clocks", "List", devices=devices).devices}

    def watch_clocks(self, *devices: str, period: float = 1.0) -> Iterator[tuple[float, dict]]:
        """Yield times (s since 1970) and clocks: at first all, then those of devices with changes."""
        for changed in self.stream("Clocks", "Watch", devices=devices, period_ms=round(1000 * period)):
            yield changed.time, {each.device: each for each in changed.devices}

    def wait_for_clocks(self, *devices: str, timeout: float = 60.0) -> dict:
        """Wait until the clocks of all these devices are in their required state; returns them as
        `clocks` does. HubError with the code DEADLINE_EXCEEDED names those that are not, after
        `timeout` seconds.
        """
        answer = self.wait_for(timeout, "Clocks", "Wait", devices=devices, timeout_ms=round(1000 * timeout))
        return {each.device: each for each in answer.devices}

    def __iter__(self) -> Iterator[str]:
        return iter([device.name for device in self.devices()])

    def __getitem__(self, name: str) -> "Device":
        """Return the device of that name, whether it answers or not. KeyError if the hub has none."""
        if name not in self._names:
            # A restarted hub may have other devices.
            self._names = frozenset(names := list(self))
            if name not in self._names:
                raise KeyError(f"this hub has no device '{name}'; it has {', '.join(names)}")
        return Device(self, name)

    def described_registers(self, device: str, refresh: bool = False) -> dict:
        """Return the registers of a device by name, as messages `Register` of the protocol: cached
        from the first request, or requested again with `refresh`."""
        if refresh or device not in self._registers:
            found = self.call("Registers", "List", device=device).registers
            self._registers[device] = {register.name: register for register in found}
        return self._registers[device]

    def _ipython_key_completions_(self) -> list[str]:
        return list(self)

    def __repr__(self) -> str:
        return f"<hub at {self._address}: {', '.join(sorted(self._names))}>"

    def message(self, name: str, **fields):
        """Create a message of the protocol."""
        return self.message_class(name)(**fields)

    def message_class(self, name: str) -> type:
        """Return the class of the messages of that name."""
        with self._looking:
            if name not in self._classes:
                described = self._pool.FindMessageTypeByName(f"{PACKAGE}.{name}")
                self._classes[name] = GetMessageClass(described)
            return self._classes[name]

    def call(self, service: str, method: str, **fields):
        """Call a method and return the answer, a message. `service`: one of the hub, or the full
        name of a plugin's. HubError."""
        return self.wait_for(0.0, service, method, **fields)

    def wait_for(self, seconds: float, service: str, method: str, **fields):
        """As `call`, with a timeout longer by `seconds`."""
        try:
            request, send = self._method(service, method)
            return send(request(**fields), timeout=self._timeout + seconds)
        except _FAILURES as error:
            raise self._failed(error, method) from None

    def stream(self, service: str, method: str, **fields) -> Iterator:
        """Yield the messages that the hub streams in answer to a call, without end. HubError."""
        try:
            request, send = self._method(service, method)
            yield from send(request(**fields))
        except _FAILURES as error:
            raise self._failed(error, method) from None

    def send(self, service: str, method: str, messages: Iterable[dict]):
        """Send a stream of messages, each given by its fields; returns the answer, a message.
        HubError."""
        try:
            request, send = self._method(service, method)
            return send(request(**fields) for fields in messages)
        except _FAILURES as error:
            raise self._failed(error, method) from None

    def _method(self, service: str, method: str):
        """Return the class of the method's requests, and the function that sends one."""
        path = f"/{service if '.' in service else f'{PACKAGE}.{service}'}/{method}"
        with self._looking:
            if path not in self._methods:
                described = self._pool.FindServiceByName(path.split("/")[1]).FindMethodByName(method)
                kinds = {
                    (False, False): self._channel.unary_unary,
                    (False, True): self._channel.unary_stream,
                    (True, False): self._channel.stream_unary,
                }
                send = kinds[described.client_streaming, described.server_streaming](
                    path,
                    request_serializer=lambda message: message.SerializeToString(),
                    response_deserializer=GetMessageClass(described.output_type).FromString,
                )
                self._methods[path] = GetMessageClass(described.input_type), send
            return self._methods[path]

    def _failed(self, error: Exception, method: str) -> Exception:
        """Convert one of `_FAILURES` to the exception for the caller."""
        if isinstance(error, grpc.RpcError):
            text = error.details() or error.code().name
            answered = any(key == ANSWERED for key, _ in error.trailing_metadata() or ())
            if error.code() == grpc.StatusCode.UNAVAILABLE and not answered:
                system = self._certificate == SYSTEM
                text = reach.why(self._address, None if system else self._certificate, system, text)
            if text == "Deadline Exceeded":
                # gRPC's own text: the hub has not answered.
                text = f"{method}: the hub at {self._address} has not answered in time"
            return HubError(text, error.code().name)
        if isinstance(error, KeyError):
            # The database of reflection found nothing: what answers is no hub.
            return HubError(f"the service at {self._address} is not a hub", "UNIMPLEMENTED")
        return HubError(f"{method}: {error}", "INVALID_ARGUMENT")


class Device:
    """A device of a laboratory: a core device, or a computer with Linux."""

    def __init__(self, lab: Lab, name: str):
        self._lab, self.name = lab, name

    @property
    def registers(self) -> "Registers":
        """Its registers, by block and name: ``registers.rtio.outputs``, or
        ``registers["rtio/outputs"]``."""
        self._lab.described_registers(self.name)
        return Registers(self._lab, self.name)

    def read(self, *registers: str) -> list[int]:
        """Read registers in one round trip and return their values."""
        return list(self._lab.call("Registers", "Read", device=self.name, registers=registers).values)

    @property
    def i2c(self) -> I2c:
        """The board's I2C bus: ``i2c.read(0x50, 2, register=3)``."""
        return I2c(self)

    @property
    def spi(self) -> ByName:
        """Its SPI buses, by the names of their channels: ``spi["urukul0_spi"].transfer(0x5a, 8)``."""
        return spi_buses(self, self.channels())

    @property
    def pins(self) -> ByName:
        """Its TTL pins, by the names of their channels: ``pins["ttl0"].level()``."""
        return pins(self, self.channels())

    def channels(self) -> list:
        """Return its RTIO channels, as messages `Channel` of the protocol: name, number, kind,
        parameters."""
        return list(self._lab.call("Channels", "List", device=self.name).channels)

    def health(self) -> dict[str, "Subsystem"]:
        """Query the health of its subsystems, by name."""
        found = self._lab.call("Monitor", "Health", device=self.name).subsystems
        return {each.name: Subsystem(CONDITIONS[each.condition], each.text, dict(each.values)) for each in found}

    def log(self, follow: bool = False) -> Iterator[str]:
        """Yield the lines of its log: the stored ones, and with `follow` new ones, without end. Lines
        that a client has followed are no longer on the device, but the hub has the last 4096."""
        for message in self._lab.stream("Monitor", "Log", device=self.name, follow=follow):
            yield message.line

    def run(self, program: "Program") -> list[int]:
        """Execute a program of accesses in one round trip and return its results. `ProgramError` if
        a step failed midway; HubError if the device does not permit one of the accesses, in which
        case nothing was executed.
        """
        return self._run(program.messages(self._lab.message_class("Step")))

    def run_json(self, steps: str) -> list[int]:
        """As `run`, for a list of steps in the JSON form of protocol buffers:
        ``[{"read": {"register": "rtio/outputs"}}]``.
        """
        try:
            listed = json.loads(steps)
            parsed = [ParseDict(step, self._lab.message("Step")) for step in listed]
        except (ValueError, TypeError, ParseError) as error:
            raise HubError(f"this is not a list of steps: {error}", "INVALID_ARGUMENT") from None
        return self._run(parsed)

    def _run(self, steps: list) -> list[int]:
        answer = self._lab.call("Registers", "Run", device=self.name, steps=steps)
        if not answer.done:
            outcome = type(answer).DESCRIPTOR.fields_by_name["outcome"].enum_type.values_by_number[answer.outcome]
            raise ProgramError(self.name, answer, outcome.name.removeprefix("OUTCOME_"))
        return list(answer.results)

    def watch(self, *registers: str, period: float = 1.0) -> Iterator[tuple[float, list[int]]]:
        """Yield times (s since 1970) and values of registers, every `period` seconds, at least
        0.01."""
        request = {"device": self.name, "registers": registers, "period_ms": max(1, round(1000 * period))}
        for reading in self._lab.stream("Registers", "Watch", **request):
            yield reading.time, list(reading.values)

    @property
    def waveforms(self) -> Waveforms:
        """Events of its channels: ``waveforms.read()``, ``waveforms.save("pins.vcd")``."""
        return Waveforms(self._lab, self.name)

    @property
    def board(self) -> Board:
        """Buses and buffers of a computer with Linux."""
        return Board(self._lab, self.name)

    def __repr__(self) -> str:
        return f"<device {self.name}>"
