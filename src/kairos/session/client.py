"""Host side of the kernel session: uploads a library, runs it, answers its calls, reports how it
ended."""

import inspect
import logging
import traceback
from dataclasses import dataclass, field
from hashlib import sha256
from time import perf_counter

from .. import emulator, errors, numeric
from .. import exceptions as device_exceptions
from ..contracts.library import FINGERPRINT, FINGERPRINT_BYTES
from ..contracts.session import ASYNC_ERROR_TEXTS, PORT, Reply, Request
from ..exceptions.names import device_name
from ..exceptions.report import CoreException, DeviceException, Report
from ..network import analyzer
from . import codec
from .connection import Connection
from .exceptions import build_python_exception
from .record import Record

__all__ = ["PORT", "Session", "Statistics", "code_hash"]

logger = logging.getLogger(__name__)

MESSAGE_LIMIT = 4096
"""Maximum number of characters of an exception message sent to the device."""


def code_hash(library: bytes) -> str:
    """Return the SHA-256 of a kernel library, without the name of its line numbers: the same source has the
    same hash in every folder."""
    content = sha256(library[:FINGERPRINT])
    content.update(bytes(FINGERPRINT_BYTES))
    content.update(library[FINGERPRINT + FINGERPRINT_BYTES :])
    return content.hexdigest()


@dataclass
class Statistics:
    """Statistics of a session so far; times in seconds."""

    kernels: int = 0
    """Kernels run."""
    compiled: int = 0
    """Kernels compiled."""
    rpcs: int = 0
    """Calls of host functions by user code; attribute write-back and results are not counted."""
    compile_s: float = 0.0
    load_s: float = 0.0
    run_s: float = 0.0
    libraries: dict[str, None] = field(default_factory=dict)
    """`code_hash` of the kernel libraries sent to the device, in the order of their first use."""
    first_kernel_started: float | None = None
    """`time.perf_counter` when the first kernel was started."""


class Session:
    """A kernel session with the device at `host`; connects on the first request, and again after
    `close`.

    `emulator`, if given, is the `kairos.emulator.Emulator` that `host` belongs to: it supplies the
    port, and its failure text is added to the error when the connection is lost.
    """

    def __init__(self, host: str | None, port: int = PORT, emulator=None):
        self.host = host
        self.port = port
        self.emulator = emulator
        self.statistics = Statistics()
        self.record = Record()
        """What the device was told."""
        self.inputs_from: tuple[str, int] | None = None
        """Address of the device's analyzer, if the record is to contain the inputs of the kernels."""
        self._inputs_begun = False
        self._connection: Connection | None = None
        self._system_info_checked = False

    @classmethod
    def for_host(cls, host: str | None, device_db: dict | None = None) -> "Session":
        """Create a session for `host` of a device database: an address, ``address:port``, or
        ``emulator://VARIANT``.

        A newly started emulator has the chips of the cards in `device_db`.
        """
        if emulator.is_emulated(host):
            options = emulator.Options(entries=device_db or {})
            return cls("127.0.0.1", emulator=emulator.acquire(host, options))
        if host is not None and host.count(":") == 1:
            address, port = host.split(":")
            if not port.isdecimal() or not 0 < int(port) < 65536:
                raise errors.UsageError(f"'{host}' is not the address of a core device: use ADDRESS or ADDRESS:PORT")
            return cls(address, int(port))
        return cls(host)

    # Connection

    def open(self) -> Connection:
        """Return the connection; connects if there is none."""
        if self._connection is None:
            if self.host is None:
                raise errors.DeviceUnreachable(
                    "the core device has no address ('host' is None in the device database): it can only compile"
                )
            port = self.port if self.emulator is None else self.emulator.port(self.port)
            self._connection = Connection(self.host, port)
            self.record.connected()
            if self.inputs_from is not None and not self._inputs_begun:
                analyzer.fetch(*self.inputs_from)  # those of earlier runs
                self._inputs_begun = True
        return self._connection

    def close(self):
        """Disconnect. The device stops a running kernel."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def keep_inputs(self):
        """Add the inputs of the kernels to the record, if they are wanted, at the end of a run."""
        if self._inputs_begun and self.record.inputs is None:
            try:
                self.record.inputs = analyzer.fetch(*self.inputs_from)
            except errors.KairosError as error:
                logger.warning("the inputs of the run are not recorded: %s", error)

    # Requests

    def run_kernel(self, compiled, set_result=None, again=False):
        """Upload and run a `kairos.compiler.CompiledKernel`; returns when it has ended, raises what
        it raised.

        `set_result` is the function that receives the kernel's result; its calls are not counted as
        RPCs. `again`: the kernel was compiled for an earlier run.
        """
        stats = self.statistics
        if not again:
            stats.compiled += 1
            stats.compile_s += compiled.timings["total"]
        try:
            connection = self.open()
            if not self._system_info_checked:
                self.check_system_info()
                if self.emulator is not None:
                    self.emulator.mark_start()
            start = perf_counter()
            if compiled.embedding.calls_host:
                numeric.load()  # so that the kernel's first call of a host function does not wait for it
            if self.emulator is not None:
                self.emulator.kernels.add(compiled)
            if not again:
                for one in (compiled, *compiled.subkernels):
                    stats.libraries[code_hash(one.library)] = None
            for subkernel in compiled.subkernels:
                self.upload_subkernel(subkernel)
            self.load(compiled.library)
            started = perf_counter()
            stats.load_s += started - start
            stats.kernels += 1
            stats.first_kernel_started = stats.first_kernel_started or started
            self.record.kernel(compiled)
            connection.write_request(Request.RUN_KERNEL)
            connection.flush()
            try:
                self.serve(compiled, set_result)
            finally:
                stats.run_s += perf_counter() - started
        except errors.ConnectionLost as error:
            self.close()
            if self.emulator is not None and (reason := self.emulator.failure()):
                raise errors.EmulatorError(reason) from error
            raise
        except codec.ProtocolError as error:
            self.close()
            raise errors.ConnectionLost(
                f"the core device violated the session protocol: {error}; do firmware and host have the same version?"
            ) from error

    def check_system_info(self):
        """Query the device's identity; UnsupportedDevice if kernels cannot be sent to it."""
        connection = self.open()
        connection.set_reply_expected(True)
        connection.write_request(Request.SYSTEM_INFO)
        connection.flush()
        self._expect(connection, Reply.SYSTEM_INFO)
        runtime_id, known, firmware = connection.read_system_info()
        if firmware is not None:
            identifier, finished_cleanly = firmware
            logger.info("core device firmware: %s", identifier)
            if not finished_cleanly:
                logger.warning("Previous kernel did not cleanly finish")
        elif not known:
            self.close()
            raise device_exceptions.UnsupportedDevice(
                f"the core device at {connection.where} has the runtime {runtime_id!r}; kernels need 'ARZQ' (Zynq)"
            )
        self._system_info_checked = True

    def load(self, library: bytes):
        """Send a kernel library; LoadError with the device's reason if it is rejected."""
        connection = self.open()
        connection.set_reply_expected(True)
        connection.write_library(library)
        connection.flush()
        if self._expect(connection, Reply.LOAD_COMPLETED, Reply.LOAD_FAILED) == Reply.LOAD_FAILED:
            raise errors.LoadError(f"the core device refused the kernel: {connection.read_text()}")

    def upload_subkernel(self, subkernel):
        """Send a satellite's library; LoadError with the device's reason if it is rejected."""
        connection = self.open()
        connection.set_reply_expected(True)
        connection.write_subkernel(subkernel.number, subkernel.destination, subkernel.library)
        connection.flush()
        if self._expect(connection, Reply.LOAD_COMPLETED, Reply.LOAD_FAILED) == Reply.LOAD_FAILED:
            reason = connection.read_text()
            raise errors.LoadError(f"the core device refused a subkernel for board {subkernel.destination}: {reason}")

    def _expect(self, connection, *types) -> int:
        message_type = connection.read_type()
        if message_type not in types:
            raise codec.ProtocolError(
                f"message type {message_type} where {' or '.join(str(int(kind)) for kind in types)} was expected"
            )
        return message_type

    # A running kernel

    def serve(self, compiled, set_result=None):
        """Answer the calls of the running kernel until it ends.

        If that fails, the connection is closed, which ends the kernel and leaves the device free
        for the next one.
        """
        self._kernel_runs = True
        try:
            self._serve(compiled, set_result)
        finally:
            if self._kernel_runs:
                self.close()

    def _serve(self, compiled, set_result):
        connection = self._connection
        embedding = compiled.embedding
        connection.set_reply_expected(False)
        while True:
            message_type = connection.read_type()
            if message_type == Reply.RPC_REQUEST:
                self._serve_rpc(connection, embedding, set_result)
            elif message_type == Reply.KERNEL_FINISHED:
                async_errors = connection.read_u8()
                self._kernel_runs = False
                self._warn_async_errors(async_errors)
                if embedding.errors:
                    failures, embedding.errors = embedding.errors, []
                    raise failures[0]
                return
            elif message_type == Reply.KERNEL_EXCEPTION:
                self._raise_kernel_exception(connection, compiled)
            elif message_type == Reply.KERNEL_MISSING:
                raise errors.LoadError("the core device did not start the kernel: no kernel was loaded")
            elif message_type == Reply.CLOCK_FAILURE:
                self.close()
                raise device_exceptions.ClockFailure("the RTIO clock of the core device was lost")
            else:
                raise codec.ProtocolError(f"unknown message type {message_type}")

    def _serve_rpc(self, connection, embedding, set_result):
        try:
            is_async, service, args, kwargs, return_tag = connection.read_call(embedding.retrieve_object)
        except KeyError as error:
            raise codec.ProtocolError(f"unknown host object {error}") from None
        if service == 0:
            match args:
                case [target, str(name), value] if not kwargs:
                    tag = None
                case [target, str(name), value, bytes() | bytearray() as tag] if not kwargs:
                    pass
                case _:
                    raise codec.ProtocolError("an attribute is written back without object, name and value")
            logger.debug("write-back of %s", name or "elements")
            try:
                embedding.write_back(target, name, value, tag)
            except ValueError as error:
                raise codec.ProtocolError(str(error)) from None
            return
        try:
            function = embedding.retrieve_object(service)
        except KeyError:
            raise codec.ProtocolError(f"unknown host function {service}") from None
        self.statistics.rpcs += function is not set_result
        if is_async:
            self._call_async(function, args, kwargs)
            return
        try:
            result = function(*args, **kwargs)
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            if isinstance(error, errors.KairosError | SystemExit):
                raise
            self._send_exception(connection, embedding, error)
            return
        try:
            value = codec.encode_reply(return_tag, result)
        except device_exceptions.RPCReturnValueError as error:
            # The device waits for a value that does not exist; only closing the connection ends the
            # kernel.
            self.close()
            name = getattr(function, "__qualname__", repr(function))
            raise device_exceptions.RPCReturnValueError(
                f"{error}; returned by {name}{_place(function)}: value and annotation must agree"
            ) from None
        connection.write_reply(return_tag, value)
        connection.flush(self.record.answer)

    def _call_async(self, function, args, kwargs):
        try:
            function(*args, **kwargs)
        except BaseException:
            # No caller waits for the result: the exception ends the session, and with it the
            # kernel.
            self.close()
            raise

    def _send_exception(self, connection, embedding, error):
        cls = type(error)
        name = device_name(cls) or f"{embedding.store_object(cls)}:{cls.__module__}.{cls.__qualname__}"
        # A class may quote its only argument.
        message = error.args[0] if len(error.args) == 1 and isinstance(error.args[0], str) else str(error)
        if len(message) > MESSAGE_LIMIT:
            message = message[:MESSAGE_LIMIT] + "... (truncated)"
        frames = traceback.extract_tb(error.__traceback__)
        place = frames[-1]
        logger.debug("exception in RPC, sent to the kernel", exc_info=error)
        keys = [embedding.store_str(text) for text in (name, message, place.filename, place.name)]
        embedding.keep_host_exception(keys[0], keys[1], error)
        connection.write_exception(keys, embedding.classes_caught(cls), place.lineno or 0, place_column(place))
        connection.flush(self.record.answer)

    def _raise_kernel_exception(self, connection, compiled):
        embedding = compiled.embedding

        def host_string(key):
            try:
                return embedding.retrieve_str(key)
            except (IndexError, KeyError):
                raise codec.ProtocolError(f"unknown string {key} in an exception") from None

        def text(said):
            return host_string(said) if isinstance(said, int) else said

        raised, extents, backtrace, async_errors = connection.read_report()
        exceptions = [
            DeviceException(
                host_string(key),
                key,
                text(message),
                tuple(params),
                text(file),
                line,
                column,
                text(function),
                message if isinstance(message, int) else None,
                range(*(min(place, len(backtrace)) for place in extent)),
            )
            for (key, message, params, (file, line, column, function)), extent in zip(raised, extents, strict=True)
        ]
        self._kernel_runs = False
        self._warn_async_errors(async_errors)
        if not exceptions:
            raise codec.ProtocolError("a kernel exception without an exception")
        core_exception = CoreException(Report(exceptions, backtrace), compiled.symbolize)
        raise build_python_exception(core_exception, embedding)

    def _warn_async_errors(self, bits):
        names = [name for bit, name in ASYNC_ERROR_TEXTS.items() if bits & bit]
        if unknown := bits & ~sum(ASYNC_ERROR_TEXTS):
            names.append(f"unknown error bits 0x{unknown:02x}")
        if names:
            logger.warning("%s reported during kernel execution", ", ".join(names))


def _write_back(embedding, target, name: str, value):
    """Set an attribute. ProtocolError for a value that it cannot have; exceptions of the user's
    property are raised."""
    try:
        embedding.write_back(target, name, value)
    except (AttributeError, IndexError, TypeError, ValueError) as error:
        place = traceback.extract_tb(error.__traceback__)[-1].filename
        if place != inspect.getfile(type(embedding)):
            raise
        raise codec.ProtocolError(f"the attribute {name} cannot have the value that it sent ({error})") from None


def place_column(frame) -> int:
    """Zero-based column of a traceback entry, -1 if Python does not know it."""
    return -1 if frame.colno is None else frame.colno


def _place(function) -> str:
    code = getattr(getattr(function, "__wrapped__", function), "__code__", None)
    return f" ({code.co_filename}:{code.co_firstlineno})" if code else ""
