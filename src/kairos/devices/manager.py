"""The devices of one run: created on first use, closed in reverse order at the end."""

import functools
import importlib
import logging
from collections.abc import Callable, Hashable
from contextlib import ExitStack
from types import FunctionType
from typing import TYPE_CHECKING

from .database import DeviceDB

if TYPE_CHECKING:
    import inspect  # for the annotation only

__all__ = ["DeviceError", "DeviceManager", "DummyDevice"]

logger = logging.getLogger(__name__)


class DeviceError(Exception):
    """A device could not be created."""


class DummyDevice:
    """Stands in for a deliberately absent device: accepts every call and does nothing."""

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return lambda *args, **kwargs: None


class DeviceManager:
    """The devices of one run. Equal entries of the database share one device.

    `virtual_devices` are objects with fixed names (``scheduler``, ``ccb``) that no database
    describes.
    """

    def __init__(self, ddb: DeviceDB, virtual_devices: dict | None = None):
        self.ddb = ddb
        self.virtual_devices = virtual_devices or {}
        self.requested: set[str] = set()
        """Names of the devices that were requested."""
        self.inputs_from: tuple[str, int] | None = None
        """Address of the core device's analyzer, if the inputs of its kernels are to be recorded."""
        self.with_variables = False
        """Whether kernels have a description of their variables, for `kairos replay`. Their code is the same."""
        self._made: dict[Hashable, object] = {}
        self._making: dict[Hashable, str] = {}
        """Names of the devices that are being created, each for the one before."""
        self._at_end = ExitStack()

    @property
    def created(self) -> tuple:
        """The devices created so far, oldest first."""
        return tuple(self._made.values())

    @property
    def entries_in_use(self) -> dict[str, dict]:
        """The entries of the devices created so far, by name."""
        entries = {name: entry for name, entry in self.ddb.entries.items() if isinstance(entry, dict)}
        return {name: entry for name, entry in entries.items() if _frozen(entry) in self._made}

    def get_device_db(self) -> dict:
        """Return the entries of the device database, by name."""
        return self.ddb.entries

    def get_desc(self, name: str) -> dict:
        """Return the entry of the device `name`, following aliases; KeyError if there is none."""
        return self.ddb.get(name)

    def get(self, name: str):
        """Return the device `name`; DeviceError if it is not available."""
        if isinstance(name, str):
            self.requested.add(name)
        return self.virtual_devices[name] if name in self.virtual_devices else self._described(name)

    def _described(self, name: str):
        """Return the device described under `name` in the database."""
        if not isinstance(name, str):
            raise DeviceError(f"a device name must be a string, not {name!r}")
        try:
            description = self.get_desc(name)
        except KeyError as error:
            raise DeviceError(self._unknown(name, error.args[0])) from None
        except ValueError as error:
            raise DeviceError(str(error)) from None
        identity = _frozen(description)
        if identity not in self._made:
            if identity in self._making:
                ring = " -> ".join([*self._making.values(), name])
                raise DeviceError(f"each of the devices {ring} in {self.ddb.path} needs the next one")
            try:
                self._making[identity] = name
                device = self._make(description)
            except Exception as error:
                reason = error if isinstance(error, DeviceError) else f"{type(error).__name__}: {error}"
                raise DeviceError(f"Failed to create device '{name}': {reason}") from error
            finally:
                del self._making[identity]
            self._made[identity] = device
            self._at_end.callback(_close, device)
        return self._made[identity]

    def _unknown(self, name, missing) -> str:
        import difflib  # imported late: only what is missing needs it

        alias = "" if missing == name else f" (alias of '{missing}')"
        close = difflib.get_close_matches(missing, list(self.ddb.entries), 1)
        hint = f"; did you mean '{close[0]}'?" if close else ""
        return f"the device '{name}'{alias} is not in the device database {self.ddb.path}{hint}"

    def _make(self, description):
        if not isinstance(description, dict):
            raise DeviceError(f"its entry in {self.ddb.path} is neither a dictionary nor the name of another entry")
        kind = description.get("type")
        if kind not in _KINDS:
            raise ValueError(f"Unsupported type in device DB: {kind}; there are {', '.join(_KINDS)}")
        return _KINDS[kind](self, description)

    def notify_run_end(self):
        """Notify devices that ``run()`` has ended, if they have the method."""
        for device in self.created:
            if hasattr(type(device), "notify_run_end"):
                device.notify_run_end()

    def close_devices(self):
        """Close every device, newest first; an error in one does not keep the others open."""
        self._at_end.close()
        self._made.clear()


_VARIADIC = 0x4 | 0x8
"""Flags of code with `*args` or `**kwargs`."""


@functools.lru_cache(256)
def signature_of(driver: Callable) -> "inspect.Signature":
    """Return the arguments of a driver's class. ValueError if it is written in C."""
    return _signature(driver)


def _signature(driver: Callable) -> "inspect.Signature":
    import inspect  # imported late: plain drivers whose arguments fit need none

    return inspect.signature(driver)


def _plainly_takes(driver, arguments: dict) -> bool:
    """Return whether a driver is a class whose `__init__` has plain parameters, which these arguments fit."""
    init = getattr(driver, "__init__", None)
    if type(driver) is not type or driver.__new__ is not object.__new__ or not isinstance(init, FunctionType):
        return False
    code, defaults = init.__code__, init.__defaults__ or ()
    special = code.co_flags & _VARIADIC or code.co_kwonlyargcount or code.co_posonlyargcount
    if special or code.co_argcount < 2 or vars(init) or hasattr(driver, "__signature__"):  # decorated, for instance
        return False
    names = code.co_varnames[2 : code.co_argcount]  # without `self` and the manager
    needed = names[: len(names) - len(defaults)] if len(defaults) <= len(names) else names
    return arguments.keys() <= set(names) and arguments.keys() >= set(needed)


def _driver(manager: DeviceManager, description: dict):
    """Create a device with a driver in this process."""
    missing = [f"'{field}'" for field in ("module", "class") if field not in description]
    if missing:
        raise DeviceError(f"its entry in {manager.ddb.path} lacks {missing[0]}")
    module, name = description["module"], description["class"]
    driver = getattr(importlib.import_module(module), name, None)
    if driver is None:
        raise DeviceError(f"{module} has no class '{name}'")
    arguments = description.get("arguments", {})
    if isinstance(arguments, dict) and _plainly_takes(driver, arguments):
        return driver(manager, **arguments)
    try:
        signature = signature_of(driver) if isinstance(driver, type) else _signature(driver)
    except ValueError:
        return driver(manager, **arguments)  # written in C
    taken = list(signature.parameters)[1:]
    open_ended = any(known.kind is known.VAR_KEYWORD for known in signature.parameters.values())
    unknown = [] if open_ended else [key for key in arguments if key not in taken]
    if unknown:
        raise TypeError(f"{name} has no argument '{unknown[0]}'; it has {', '.join(taken)}")
    try:
        signature.bind(manager, **arguments)
    except TypeError as error:
        raise TypeError(f"{name}: {error}; its arguments are {', '.join(taken)}") from None
    return driver(manager, **arguments)


def _dummy(_manager: DeviceManager, _description: dict):
    return DummyDevice()


def _controller(manager: DeviceManager, description: dict):
    """Create a client of the process that drives the device."""
    missing = [field for field in ("host", "port") if field not in description]
    if missing:
        raise DeviceError(f"its entry in {manager.ddb.path} lacks '{missing[0]}'")
    # Imported late: few experiments have controllers.
    from ..controllers import AutoTarget, BestEffortClient, Client

    kind = BestEffortClient if description.get("best_effort") else Client
    target = description.get("target_name") or AutoTarget
    return kind(description["host"], description["port"], target, ssl_config=description.get("simple_ssl_config"))


def _auxiliary(manager: DeviceManager, description: dict):
    """Create a client of another target of a controller that has its own entry."""
    controller = manager.get_desc(description["controller"])
    own = {name: description[name] for name in ("target_name", "best_effort") if name in description}
    return _controller(manager, controller | own)


_KINDS: dict[str, Callable] = {
    "local": _driver,
    "dummy": _dummy,
    "controller": _controller,
    "controller_aux_target": _auxiliary,
}
"""Constructors of devices, by ``type`` of the entry."""


def _frozen(value) -> Hashable:
    """Convert a description to a key: equal descriptions give equal keys. Unhashable values are
    keyed by identity."""
    if isinstance(value, dict):
        return frozenset((name, _frozen(content)) for name, content in value.items())
    if isinstance(value, list | tuple):
        return (type(value), *(_frozen(content) for content in value))
    return value if isinstance(value, Hashable) else id(value)


def _close(device):
    """Close a device by its class's closing method, if it has one."""
    methods = (getattr(type(device), name, None) for name in ("close_rpc", "close"))
    method = next(filter(None, methods), None)
    try:
        if method is not None:
            method(device)
    except Exception:
        logger.warning("closing %r failed", device, exc_info=True)
