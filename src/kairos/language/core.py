"""Decorators that say where a function runs, and the functions of the timeline.

A decorated function carries `artiq_embedded`, an `EmbeddedInfo`: the fields the reference documents, so that tools
which inspect it keep working.
"""

import inspect
import linecache
from collections.abc import Callable, Iterable
from functools import wraps
from typing import Any, NamedTuple

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
    """What a decorator recorded about a function."""

    core_name: str | None = None
    """attribute of `self` that holds the core device; None unless a kernel"""
    portable: bool = False
    function: Callable | None = None
    """the undecorated function"""
    syscall: str | None = None
    """symbol of the firmware"""
    forbidden: bool = False
    """must not be called from a kernel"""
    destination: int | None = None
    """DRTIO destination of a subkernel"""
    flags: frozenset[str] = frozenset()


def _remember_source(function: Callable) -> None:
    """Read the source file now, so that an edit made while the experiment runs does not confuse the compiler."""
    code = getattr(function, "__code__", None)
    if code is not None:
        linecache.getlines(code.co_filename, function.__globals__)


def _check_flags(decorator: str, flags: Iterable[str], known: set[str]) -> frozenset[str]:
    flags = frozenset(flags)
    if unknown := flags - known:
        raise ValueError(f"@{decorator} does not know the flag {', '.join(sorted(unknown))}; it knows {sorted(known)}")
    return flags


_FUNCTION_FLAGS = {"fast-math", "inline", "forceinline"}


def kernel(arg: Callable | str | None = None, flags: Iterable[str] = ()) -> Callable:
    """The function runs on the core device `self.core`, or on another: `@kernel`, `@kernel("other_core")`."""
    if not callable(arg):
        checked = _check_flags("kernel", flags, _FUNCTION_FLAGS)
        core_name = arg or "core"

        def decorate(function: Callable) -> Callable:
            _remember_source(function)

            @wraps(function)
            def run_on_core(self: Any, *args: Any, **kwargs: Any) -> Any:
                return getattr(self, core_name).run(run_on_core, (self, *args), kwargs)

            run_on_core.artiq_embedded = EmbeddedInfo(core_name=core_name, function=function, flags=checked)
            return run_on_core

        return decorate
    return kernel("core", flags)(arg)


def subkernel(arg: Callable | None = None, destination: int = 0, flags: Iterable[str] = ()) -> Callable:
    """The function runs on the satellite `destination` (1 to 255)."""
    if not callable(arg):
        if not isinstance(destination, int) or not 1 <= destination <= 255:
            raise ValueError(f"the destination of a subkernel is between 1 and 255, not {destination!r}")
        checked = _check_flags("subkernel", flags, _FUNCTION_FLAGS)

        def decorate(function: Callable) -> Callable:
            _remember_source(function)

            @wraps(function)
            def run_subkernel(self: Any, *args: Any, **kwargs: Any) -> Any:
                return self.core.run(run_subkernel, (self, *args), kwargs)

            run_subkernel.artiq_embedded = EmbeddedInfo(
                core_name="core", function=function, destination=destination, flags=checked
            )
            return run_subkernel

        return decorate
    return subkernel(None, destination, flags)(arg)


def portable(arg: Callable | None = None, flags: Iterable[str] = ()) -> Callable:
    """The function runs where it is called: on the host or in a kernel."""
    if arg is None:
        return lambda function: portable(function, flags)
    _remember_source(arg)
    arg.artiq_embedded = EmbeddedInfo(
        portable=True, function=arg, flags=_check_flags("portable", flags, _FUNCTION_FLAGS)
    )
    return arg


def rpc(arg: Callable | None = None, flags: Iterable[str] = ()) -> Callable:
    """The function runs on the host, also when a kernel calls it; with the flag `async` the kernel does not wait."""
    if arg is None:
        return lambda function: rpc(function, flags)
    arg.artiq_embedded = EmbeddedInfo(function=arg, flags=_check_flags("rpc", flags, {"async"}))
    return arg


def syscall(arg: Callable | str | None = None, flags: Iterable[str] = ()) -> Callable:
    """The function is the firmware's: `@syscall("symbol")`, or `@syscall` for a symbol of the function's own name."""
    if callable(arg):
        arg.artiq_embedded = EmbeddedInfo(
            syscall=arg.__name__, function=arg, flags=_check_flags("syscall", flags, {"nounwind", "nowrite"})
        )
        return arg

    def decorate(function: Callable) -> Callable:
        function.artiq_embedded = EmbeddedInfo(
            syscall=arg or function.__name__,
            function=function,
            flags=_check_flags("syscall", flags, {"nounwind", "nowrite"}),
        )
        return function

    return decorate


def host_only(function: Callable) -> Callable:
    """Calling the function from a kernel is an error."""
    function.artiq_embedded = EmbeddedInfo(forbidden=True, function=function)
    return function


_string_functions = 0


def kernel_from_string(parameters: list, body_code: str, decorator: Callable = kernel) -> Callable:
    """Build a function from text and decorate it.

    `parameters` holds names, or pairs of a name and the text of a type annotation. The types of `kairos.language.types`
    are known to the annotations and to the body.
    """
    from kairos.language import types

    global _string_functions
    _string_functions += 1
    filename = f"<kernel_from_string {_string_functions}>"
    texts = [p if isinstance(p, str) else f"{p[0]}: {p[1]}" for p in parameters]
    body = "\n".join("    " + line for line in body_code.splitlines())
    source = f"def kernel_from_string_fn({', '.join(texts)}):\n{body}\n"
    linecache.cache[filename] = (len(source), None, source.splitlines(True), filename)
    caller = inspect.currentframe().f_back
    scope = {**{name: getattr(types, name) for name in types.__all__}, **caller.f_globals}
    exec(compile(source, filename, "exec"), scope)
    return decorator(scope["kernel_from_string_fn"])


class _NoTimeline:
    """Kernel code that runs on the host has no timeline."""

    def _refuse(self, *_args: Any, **_kwargs: Any) -> Any:
        raise NotImplementedError("there is no timeline on the host: call this from a kernel")

    enter_sequential = enter_parallel = exit = _refuse
    take_time_mu = get_time_mu = set_time_mu = take_time = _refuse


_time_manager: Any = _NoTimeline()


def set_time_manager(manager: Any) -> None:
    """Give host-run kernel code a timeline (a simulation)."""
    global _time_manager
    _time_manager = manager


class _Sequential:
    """`with sequential:` the statements follow one another in time."""

    def __enter__(self) -> None:
        _time_manager.enter_sequential()

    def __exit__(self, *_exc: Any) -> None:
        _time_manager.exit()


class _Parallel:
    """`with parallel:` the statements start at the same time."""

    def __enter__(self) -> None:
        _time_manager.enter_parallel()

    def __exit__(self, *_exc: Any) -> None:
        _time_manager.exit()


sequential = _Sequential()
parallel = _Parallel()
interleave = _Parallel()


def delay_mu(duration: int) -> None:
    """Advance the time cursor by `duration` machine units (int64)."""
    _time_manager.take_time_mu(duration)


def now_mu() -> int:
    """The time cursor in machine units (int64)."""
    return _time_manager.get_time_mu()


def at_mu(time: int) -> None:
    """Set the time cursor to `time` machine units (int64)."""
    _time_manager.set_time_mu(time)


def delay(duration: float) -> None:
    """Advance the time cursor by `duration` seconds (float), rounded to machine units."""
    _time_manager.take_time(duration)


class _NoWatchdog:
    """Outside of a managed worker nothing watches."""

    def __enter__(self) -> None:
        pass

    def __exit__(self, *_exc: Any) -> None:
        pass


_watchdog_factory: Callable = lambda _timeout: _NoWatchdog()  # noqa: E731


def set_watchdog_factory(factory: Callable) -> None:
    """Set what `watchdog(timeout)` makes."""
    global _watchdog_factory
    _watchdog_factory = factory


def watchdog(timeout: float) -> Any:
    """`with watchdog(t):` host code that must end within `t` seconds."""
    return _watchdog_factory(timeout)


class TerminationRequested(Exception):
    """The experiment was asked to end."""
