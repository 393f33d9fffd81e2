"""A framework of fragments, as laboratories build on top of experiments: trees of objects with
parameters that scans override, setup code assembled from the tree, and nested scans."""

from artiq.experiment import *

from tests.e2e.laboratory import Laboratory, expect


class _Store:
    """Storage of a parameter's value."""

    def __init__(self, value):
        self.value = value

    @portable
    def get(self) -> TFloat:
        return self.value

    @portable
    def set(self, value: TFloat):
        self.value = value


class _Parameter:
    """A value read by a fragment; its store is assigned from outside."""

    def __init__(self, store):
        self.store = store

    @portable
    def get(self) -> TFloat:
        return self.store.get()


class _Results:
    """Receives the values of a scan on the host, one by one."""

    def __init__(self):
        self.values = []

    @rpc(flags={"async"})
    def push(self, value):
        self.values.append(value)


class _Fragment(HasEnvironment):
    """A part of an experiment. Its `setup` is assembled from that of its children and its own."""

    def build(self, *arguments):
        self.setattr_device("core")
        self.children_of = []
        self.assemble(*arguments)
        calls = [f"self.{name}.setup()" for name in self.children_of] + ["self.device_setup()"]
        self._setup = kernel_from_string(["self"], "\n".join(calls))

    def assemble(self):
        pass

    def fragment(self, name, cls, *arguments):
        setattr(self, name, cls(self, *arguments))
        self.children_of.append(name)

    def parameter(self, name, default):
        setattr(self, name, _Parameter(_Store(default)))

    @kernel
    def setup(self):
        self._setup(self)

    @kernel
    def device_setup(self):
        pass


class _Beam(_Fragment):
    """A beam behind a switch, with a duration."""

    def assemble(self, switch, duration=1 * us):
        self.switch = self.get_device(switch)
        self.parameter("duration", duration)

    @kernel
    def device_setup(self):
        self.switch.pulse(8 * ns)
        delay(92 * ns)

    @kernel
    def pulse(self):
        self.switch.pulse(self.duration.get())


class _Cool(_Fragment):
    """Two beams of one class, with different defaults."""

    def assemble(self):
        self.fragment("doppler", _Beam, "ttl4", 2 * us)
        self.fragment("repump", _Beam, "ttl5", 0.5 * us)

    @kernel
    def run_once(self):
        self.doppler.pulse()
        self.repump.pulse()


class _Flop(_Fragment):
    """A pulse, and how long it took."""

    def assemble(self):
        self.fragment("beam", _Beam, "ttl6")
        self.results = _Results()

    @kernel
    def run_once(self):
        start = now_mu()
        self.beam.pulse()
        self.results.push(self.core.mu_to_seconds(now_mu() - start))


class _Scan(_Fragment):
    """Runs a fragment for each point of a parameter; itself a fragment that can be scanned."""

    def assemble(self, cls, path, points):
        self.fragment("inner", cls[0], *cls[1:])
        owner = self.inner
        *names, last = path.split(".")
        for name in names:
            owner = getattr(owner, name)
        self.axis = _Store(0.0)
        # From now on the parameter is read from the axis.
        getattr(owner, last).store = self.axis
        self.points = points

    @kernel
    def run_once(self):
        for point in self.points:
            self.axis.set(point)
            self.inner.run_once()
            delay(100 * ns)


class _Framework(Laboratory):
    def more(self):
        self.top = self.make()

    @kernel
    def run_kernel(self):
        self.core.reset()
        self.top.setup()
        self.top.run_once()

    def run(self):
        self.run_kernel()
        self.finish()

    def finish(self):
        pass


@expect(pins={"ttl4": [(0, 8), (200, 2200)], "ttl5": [(100, 108), (2200, 2700)]})
class TreeOfFragments(_Framework):
    """Children are set up before the parent, in order; two objects of a class have separate
    parameters."""

    def make(self):
        return _Cool(self)


@expect(pins={"ttl4": [(0, 8), (200, 500)], "ttl5": [(100, 108), (500, 800)]})
class ParameterBoundToAnother(_Framework):
    """Two parameters with one store."""

    def make(self):
        cool = _Cool(self)
        cool.doppler.duration.store = cool.repump.duration.store
        cool.repump.duration.store.value = 300 * ns
        return cool


@expect(
    pins={"ttl6": [(0, 8), (100, 300), (400, 800), (900, 1500)]},
    values={"durations": [200, 400, 600]},
)
class ScannedFragment(_Framework):
    def make(self):
        return _Scan(self, (_Flop,), "beam.duration", [200 * ns, 400 * ns, 600 * ns])

    def finish(self):
        self.durations = [round(value / ns) for value in self.top.inner.results.values]


@expect(
    pins={
        "ttl6": [(0, 8), (200, 250), (350, 450), (650, 700), (800, 900)],
        "ttl7": [(100, 108), (450, 550), (900, 1100)],
    },
    values={"durations": [50, 100, 50, 100]},
)
class ScanWithinAScan(_Framework):
    """The outer scan varies a parameter outside the inner one; both are objects of one class, with
    different `inner`."""

    def make(self):
        return _Scan(self, (_Shot,), "probe.duration", [100 * ns, 200 * ns])

    def finish(self):
        self.durations = [round(value / ns) for value in self.top.inner.flops.inner.results.values]


class _Shot(_Fragment):
    """A scan, and then a probe."""

    def assemble(self):
        self.fragment("flops", _Scan, (_Flop,), "beam.duration", [50 * ns, 100 * ns])
        self.fragment("probe", _Beam, "ttl7")

    @kernel
    def run_once(self):
        self.flops.run_once()
        delay(-100 * ns)
        self.probe.pulse()


class _Ramp:
    """The action of a step is an attribute: a different function in each object."""

    kernel_invariants = {"step"}

    def __init__(self, step):
        self.step = step
        self.reached = 0

    @kernel
    def run(self, times):
        for _ in range(times):
            self.reached = self.step(self.reached)


@portable
def _up(value: TInt32) -> TInt32:
    return value + 3


@portable
def _double(value: TInt32) -> TInt32:
    return 2 * value + 1


@expect(values={"reached": [12, 15]})
class FunctionsAsAttributes(Laboratory):
    def more(self):
        self.ramps = (_Ramp(_up), _Ramp(_double))
        self.first, self.second = self.ramps

    @kernel
    def compute(self):
        self.first.run(4)
        self.second.run(4)

    def run(self):
        self.compute()
        self.reached = [ramp.reached for ramp in self.ramps]


class _Axis:
    """A scan whose method for the next point was chosen beforehand."""

    def __init__(self, core, fixed):
        self.core = core
        self.left = [10, 20, 30]
        self.number = 0
        self.next = self.from_the_kernel if fixed else self.from_the_host

    @kernel
    def from_the_kernel(self) -> TInt32:
        self.number += 1
        return self.number * 10

    @rpc
    def from_the_host(self) -> TInt32:
        return self.left.pop()

    @kernel
    def sum(self) -> TInt32:
        total = 0
        for _ in range(3):
            total = 2 * total + self.next()
        return total


@expect(printed=["110 170"])
class MethodsAsAttributes(Laboratory):
    def more(self):
        self.fixed, self.asked = _Axis(self.core, True), _Axis(self.core, False)

    @kernel
    def run(self):
        print(self.fixed.sum(), self.asked.sum())
