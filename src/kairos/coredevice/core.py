"""The core device: compiles kernels, runs them, and converts between machine units and seconds."""

import sys

from ..errors import CompileError, KairosError
from ..language import TBool, TInt64, at_mu, host_only, kernel, now_mu, portable
from ..numeric import int64
from .parts.firmware import NOWRITE, QUIET, firmware_function

__all__ = ["CompileError", "Core"]


rtio_init = firmware_function("rtio_init", flags=NOWRITE)
rtio_get_counter = firmware_function("rtio_get_counter", flags=QUIET)
rtio_get_destination_status = firmware_function("rtio_get_destination_status", "destination", QUIET)
rtio_wait_until_mu = firmware_function("rtio_wait_until_mu", "time", NOWRITE)


def load_compiler():
    """Return the module `kairos.compiler`, imported for the first kernel; KairosError if it is not
    built."""
    try:
        # Imported late, because experiments without kernels run without a built compiler.
        from .. import compiler
    except ImportError as error:
        if "_native" not in str(error):
            raise
        raise KairosError(
            "the compiler is not built: 'make host' in the Kairos checkout, or 'pip install .', builds it"
        ) from error
    return compiler


_LONGEST = float(1 << 63)


def _render_diagnostic(diagnostic, colored=False):
    """Return the text of a compiler's diagnostic (`CompileError.diagnostic`), which is plain: terminals colour
    it when it is printed."""
    return str(diagnostic)


class Core:
    """The core device.

    `host` is a name or address, ``emulator://VARIANT`` for an emulated device that lives for the
    run, or None for a device that can only compile. `ref_period` is the machine unit in seconds,
    and `ref_multiplier` the machine units per coarse RTIO cycle. The other arguments are those of
    ARTIQ device databases.
    """

    kernel_invariants = {"core", "ref_period", "coarse_ref_period", "ref_multiplier"}

    def __init__(
        self,
        dmgr,
        host,
        ref_period,
        analyzer_proxy=None,
        analyze_at_run_end=False,
        ref_multiplier=8,
        target="rv32g",
        satellite_cpu_targets=None,
        report_invariants=False,
    ):
        self.ref_period = ref_period
        self.ref_multiplier = ref_multiplier
        self.coarse_ref_period = ref_period * ref_multiplier
        self.target = target
        self.satellite_cpu_targets = satellite_cpu_targets or {}
        self.report_invariants = report_invariants
        self.analyze_at_run_end = analyze_at_run_end
        self.dmgr = dmgr
        self.core = self
        self._host = host
        self._comm = None
        self._analyzer_proxy_name = analyzer_proxy

    strict = False
    """Whether compiler warnings are treated as errors."""

    @property
    def target_cls(self):
        """The compilation target, regardless of `target`: `kairos.compiler.codegen.CortexA9Target`."""
        return load_compiler().codegen.CortexA9Target

    @property
    def host(self):
        """Address of the device: `host` as in the device database."""
        return self._host

    @property
    def comm(self):
        """The `kairos.session.Session` with the device; connects on first use."""
        if self._comm is None:
            # Imported late for the same reason, and because it takes 0.07 s.
            from ..session import Session

            # A custom device manager may have no database.
            database = getattr(self.dmgr, "get_device_db", dict)()
            self._comm = Session.for_host(self._host, database)
            self._comm.inputs_from = getattr(self.dmgr, "inputs_from", None)
        return self._comm

    @host_only
    def close(self):
        """Disconnect; the next kernel reconnects."""
        if self._comm is not None:
            self._comm.close()

    @host_only
    def compile(self, function, args, kwargs, set_result=None, attribute_writeback=True, print_as_rpc=True):
        """Compile a call to a `kairos.compiler.CompiledKernel`; CompileError.

        Without `print_as_rpc`, `print` writes to the log of the device.
        """
        compiled = load_compiler().compile_kernel(
            function,
            args,
            kwargs,
            core=self,
            set_result=set_result,
            attribute_writeback=attribute_writeback,
            print_as_rpc=print_as_rpc,
            strict=self.strict,
            variables=getattr(self.dmgr, "with_variables", False),
        )
        for warning in compiled.warnings:
            print(warning, file=sys.stderr)
        return compiled

    @host_only
    def run(self, function, args, kwargs):
        """Compile the call, run it on the device, and return the kernel's result."""
        result = None

        def set_result(value):
            nonlocal result
            result = value

        compiled = self.compile(function, args, kwargs, set_result)
        self.comm.run_kernel(compiled, set_result)
        return result

    @host_only
    def precompile(self, function, *args, **kwargs):
        """Compile the call once; returns a function that runs it. Attributes are frozen and not written back."""
        result, again = None, False

        def set_result(value):
            nonlocal result
            result = value

        compiled = self.compile(function, args, kwargs, set_result, attribute_writeback=False)

        def run_precompiled():
            nonlocal result, again
            result = None
            self.comm.run_kernel(compiled, set_result, again)
            again = True
            return result

        return run_precompiled

    @host_only
    def notify_run_end(self):
        if self.analyze_at_run_end:
            self.trigger_analyzer_proxy()

    @host_only
    def trigger_analyzer_proxy(self):
        """Make the analyzer proxy read the device. IOError if the device database names no proxy."""
        if self._analyzer_proxy_name is None:
            raise OSError("No analyzer proxy configured")
        self.dmgr.get(self._analyzer_proxy_name).trigger()

    @portable
    def seconds_to_mu(self, seconds):
        """Whole machine units in `seconds`, rounded down (`delay` rounds to the nearest). ValueError if
        it is no number, or too long for an int64."""
        units = seconds // self.ref_period
        if not -_LONGEST < units < _LONGEST:
            raise ValueError("a time in seconds is not a number, or too long")
        return int64(units)

    @portable
    def mu_to_seconds(self, mu):
        """Seconds in `mu` machine units."""
        return mu * self.ref_period

    @kernel
    def get_rtio_counter_mu(self) -> TInt64:
        """Return the hardware counter in machine units; its distance to `now_mu()` is the slack."""
        return rtio_get_counter()

    @kernel
    def wait_until_mu(self, cursor_mu):
        """Wait until the hardware counter has reached `cursor_mu` (int64).

        Raises what an output submitted before did not report by itself: RTIODestinationUnreachable
        if its board has been lost meanwhile."""
        rtio_wait_until_mu(cursor_mu)

    @kernel
    def get_rtio_destination_status(self, destination) -> TBool:
        """Return whether the DRTIO destination (int32) is reachable; 0 is the device itself."""
        return rtio_get_destination_status(destination)

    @kernel
    def reset(self):
        """Clear the RTIO FIFOs and put the time cursor 125000 machine units after the counter."""
        rtio_init()
        at_mu(rtio_get_counter() + 125000)

    @kernel
    def break_realtime(self):
        """Put the time cursor at least 125000 machine units after the counter; never moves it
        backwards."""
        earliest = rtio_get_counter() + 125000
        if now_mu() < earliest:
            at_mu(earliest)
