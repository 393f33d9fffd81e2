"""Decorators that select where a function runs, and the functions of the timeline.

A decorated function carries `artiq_embedded`, an `EmbeddedInfo` with the fields that the reference
documents, so that tools which inspect it keep working.
"""

import itertools
import linecache
import sys
from collections.abc import Callable, Iterable
from contextlib import nullcontext
from functools import wraps
from typing import Any, NamedTuple

from kairos.language import types

__all__ = [
    "TerminationRequested",
    "at_mu",
    "delay",
    "delay_mu",
    "host_only",
    "interleave",
    "kernel",
    "kernel_from_string",
    "now_mu",
    "parallel",
    "portable",
    "rpc",
    "sequential",
    "set_time_manager",
    "set_watchdog_factory",
    "subkernel",
    "syscall",
    "watchdog",
]


class EmbeddedInfo(NamedTuple):
    """The information that a decorator records about a function."""

    core_name: str | None = None
    """attribute of `self` that holds the core device; None unless a kernel"""
    portable: bool = False
    function: Callable | None = None
    """the undecorated function"""
    syscall: str | None = None
    """symbol in the firmware"""
    forbidden: bool = False
    """must not be called from a kernel"""
    destination: int | None = None
    """DRTIO destination of a subkernel"""
    flags: frozenset[str] = frozenset()


def _remember_source(function: Callable) -> None:
    """Read the source file early, so that an edit during the experiment does not confuse the
    compiler."""
    code = getattr(function, "__code__", None)
    if code is not None:
        linecache.getlines(code.co_filename, function.__globals__)


def _check_flags(decorator: str, flags: Iterable[str], known: set[str]) -> frozenset[str]:
    flags = frozenset(flags)
    if unknown := flags - known:
        raise ValueError(f"@{decorator} does not know the flag {', '.join(sorted(unknown))}; it knows {sorted(known)}")
    return flags


_FUNCTION_FLAGS = {"fast-math", "inline", "forceinline"}
_SYSCALL_FLAGS = {"nounwind", "nowrite"}


def _now_or_later(arg: Any, decorate: Callable) -> Callable:
    """Apply a decorator used without arguments, or return the decorator if it was called with
    arguments."""
    return decorate(arg) if callable(arg) else decorate


def _marked(function: Callable, info: EmbeddedInfo) -> Callable:
    """Attach `info` to a function that runs on the host when the host calls it."""
    function.artiq_embedded = info._replace(function=function)
    return function


def _sent_to_core(function: Callable, info: EmbeddedInfo) -> Callable:
    """Wrap a function so that calls are passed to the core device named by `info`."""
    _remember_source(function)

    @wraps(function)
    def on_core(self: Any, *args: Any, **kwargs: Any) -> Any:
        core = getattr(self, info.core_name)
        return core.run(on_core, (self, *args), kwargs)

    on_core.artiq_embedded = info._replace(function=function)
    return on_core


def kernel(arg: Callable | str | None = None, flags: Iterable[str] = ()) -> Callable:
    """Run the function on the core device `self.core`, or on another: `@kernel`,
    `@kernel("other_core")`."""
    core_name = arg if isinstance(arg, str) and arg else "core"
    info = EmbeddedInfo(core_name, flags=_check_flags("kernel", flags, _FUNCTION_FLAGS))
    return _now_or_later(arg, lambda function: _sent_to_core(function, info))


def subkernel(arg: Callable | None = None, destination: int = 0, flags: Iterable[str] = ()) -> Callable:
    """Run the function on the satellite `destination` (1 to 255)."""
    if destination == 0 and arg is not None:
        raise ValueError("a subkernel needs a destination: @subkernel(destination=1)")
    if not isinstance(destination, int) or destination not in range(1, 256):
        raise ValueError(f"the destination of a subkernel is between 1 and 255, not {destination!r}")
    info = EmbeddedInfo("core", destination=destination, flags=_check_flags("subkernel", flags, _FUNCTION_FLAGS))
    return _now_or_later(arg, lambda function: _sent_to_core(function, info))


def portable(arg: Callable | None = None, flags: Iterable[str] = ()) -> Callable:
    """Run the function where it is called: on the host or in a kernel."""
    info = EmbeddedInfo(portable=True, flags=_check_flags("portable", flags, _FUNCTION_FLAGS))

    def decorate(function: Callable) -> Callable:
        _remember_source(function)
        return _marked(function, info)

    return _now_or_later(arg, decorate)


def rpc(arg: Callable | None = None, flags: Iterable[str] = ()) -> Callable:
    """Run the function on the host, also when a kernel calls it. With the flag `async` the kernel
    does not wait."""
    info = EmbeddedInfo(flags=_check_flags("rpc", flags, {"async"}))
    return _now_or_later(arg, lambda function: _marked(function, info))


def syscall(arg: Callable | str | None = None, flags: Iterable[str] = ()) -> Callable:
    """Declare a function of the firmware: `@syscall("symbol")`, or `@syscall` if the symbol equals
    the function's name."""
    symbol = arg if isinstance(arg, str) else ""
    info = EmbeddedInfo(flags=_check_flags("syscall", flags, _SYSCALL_FLAGS))
    return _now_or_later(arg, lambda f: _marked(f, info._replace(syscall=symbol or f.__name__)))


def host_only(function: Callable) -> Callable:
    """Forbid calls of the function from kernels."""
    return _marked(function, EmbeddedInfo(forbidden=True))


_string_functions = itertools.count(1)


def kernel_from_string(parameters: list, body_code: str, decorator: Callable = kernel) -> Callable:
    """Build a function from text and decorate it.

    `parameters` holds names, or pairs of a name and the text of a type annotation. Annotations and
    body may use the types of `kairos.language.types`.
    """
    filename = f"<kernel_from_string {next(_string_functions)}>"
    texts = [p if isinstance(p, str) else f"{p[0]}: {p[1]}" for p in parameters]
    # Lines as Python has them: a form feed, or a separator of Unicode in a text, ends none.
    lines = body_code.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    body = "\n".join("    " + line for line in lines)
    source = f"def kernel_from_string_fn({', '.join(texts)}):\n{body}\n"
    linecache.cache[filename] = (len(source), None, [f"{line}\n" for line in source.split("\n")[:-1]], filename)
    caller = sys._getframe(1)
    scope = {**{name: getattr(types, name) for name in types.__all__}, **caller.f_globals}
    exec(compile(source, filename, "exec"), scope)
    return decorator(scope["kernel_from_string_fn"])


class _NoTimeline:
    """Timeline of kernel code that runs on the host: every use raises NotImplementedError."""

    def __getattr__(self, name: str) -> Callable:
        raise NotImplementedError("there is no timeline on the host: call this from a kernel")


class _HostRun:
    """Environment of host-run code, set by `set_time_manager` and `set_watchdog_factory`."""

    timeline: Any = _NoTimeline()
    watchdog: Callable = staticmethod(lambda timeout: nullcontext())


def set_time_manager(manager: Any) -> None:
    """Give host-run kernel code a timeline (a simulation).

    `manager` has the methods enter_sequential, enter_parallel, exit, take_time (seconds),
    take_time_mu, set_time_mu (machine units) and get_time_mu.
    """
    _HostRun.timeline = manager


class _Block:
    """A block of the timeline; `enter` names the method of the time manager that begins it."""

    def __init__(self, enter: str) -> None:
        self._enter = enter

    def __enter__(self) -> None:
        getattr(_HostRun.timeline, self._enter)()

    def __exit__(self, *_exc: Any) -> None:
        _HostRun.timeline.exit()


sequential = _Block("enter_sequential")
"""`with sequential:` the statements run one after another in time."""
parallel = _Block("enter_parallel")
"""`with parallel:` the statements start at the same time."""
interleave = _Block("enter_parallel")
"""`with interleave:` the statements start at the same time; the compiler orders their outputs by
time."""


def delay_mu(duration: int) -> None:
    """Advance the time cursor by `duration` machine units (int64)."""
    _HostRun.timeline.take_time_mu(duration)


def delay(duration: float) -> None:
    """Advance the time cursor by `duration` seconds (float), rounded to machine units."""
    _HostRun.timeline.take_time(duration)


def at_mu(time: int) -> None:
    """Set the time cursor to `time` machine units (int64)."""
    _HostRun.timeline.set_time_mu(time)


def now_mu() -> int:
    """Return the time cursor in machine units (int64)."""
    return _HostRun.timeline.get_time_mu()


def set_watchdog_factory(factory: Callable) -> None:
    """Set the function that `watchdog(timeout)` calls."""
    _HostRun.watchdog = staticmethod(factory)


def watchdog(timeout: float) -> Any:
    """`with watchdog(t):` host code that must end within `t` seconds. Not enforced outside of a
    managed worker."""
    return _HostRun.watchdog(timeout)


class TerminationRequested(Exception):
    """The experiment was requested to terminate."""
