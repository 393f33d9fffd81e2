"""An experiment made of fragments, in the style of ndscan: cooling, pulse and readout are separate
classes, each with its parameters and its kernels, and any parameter can be scanned by its name,
``scan=pulse.detuning`` or ``scan=readout.duration``. The plot shows the excitation against that
parameter: for ``pulse.length`` a Rabi oscillation, for ``pulse.detuning`` a line 80 kHz wide at
half maximum.

ndscan itself is in no package registry; where it is installed, its own fragments run unmodified.
This file requires only Kairos.
"""

import numpy as np
from artiq.experiment import *
from trap import Trap, binomial_errors, draw


class Parameter:
    """A number that a fragment uses, in SI units. A scan changes `value`; kernels read it with
    `get`."""

    def __init__(self, default, unit):
        self.value, self.unit = default, unit

    @portable
    def get(self) -> TFloat:
        return self.value


class Machine(Trap):
    """The devices used by all fragments."""

    def build(self):
        self.build_trap()


class Fragment(HasEnvironment):
    """A part of a shot. `setup` runs before the shots of a point, `run_once` in each of them."""

    def build(self, machine):
        self.core = machine.core
        self.machine = machine
        self.build_fragment()

    def parameters(self) -> dict:
        """Its own parameters and those of nested fragments, by dotted names."""
        found = {}
        for name, part in vars(self).items():
            if isinstance(part, Parameter):
                found[name] = part
            elif isinstance(part, Fragment):
                found |= {f"{name}.{inner}": parameter for inner, parameter in part.parameters().items()}
        return found


class Cooling(Fragment):
    """Prepares the lower state, with the repumper on."""

    def build_fragment(self):
        self.duration = Parameter(20 * us, "us")

    @kernel
    def run_once(self):
        with parallel:
            self.machine.cooling.sw.pulse(self.duration.get())
            self.machine.repump.sw.pulse(self.duration.get())
        delay(2 * us)


class Pulse(Fragment):
    """Light on the qubit."""

    def build_fragment(self):
        self.length = Parameter(10 * us, "us")
        self.detuning = Parameter(0.0, "kHz")

    @kernel
    def setup(self):
        self.machine.qubit.set(80 * MHz + self.detuning.get())

    @kernel
    def run_once(self):
        self.machine.qubit.sw.pulse(self.length.get())
        delay(2 * us)


class Readout(Fragment):
    """Determines whether the ion is dark: fewer photons than a quarter of a bright ion's."""

    def build_fragment(self):
        self.duration = Parameter(200 * us, "us")

    @kernel
    def run_once(self) -> TBool:
        duration = self.duration.get()
        with parallel:
            self.machine.cooling.sw.pulse(duration)
            self.machine.photons.gate_rising(duration)
        counted = self.machine.photons.fetch_count()
        delay(10 * us)
        return float(counted) < 25 * kHz * duration


class Shot(Fragment):
    """All fragments of a shot, in sequence."""

    def build_fragment(self):
        self.cooling = Cooling(self, self.machine)
        self.pulse = Pulse(self, self.machine)
        self.readout = Readout(self, self.machine)

    @kernel
    def setup(self):
        self.core.break_realtime()
        self.pulse.setup()

    @kernel
    def run_once(self) -> TBool:
        self.core.break_realtime()
        self.cooling.run_once()
        self.pulse.run_once()
        return self.readout.run_once()


class Fragments(EnvExperiment):
    """A scan of any parameter of a shot"""

    def build(self):
        self.machine = Machine(self)
        self.core = self.machine.core
        self.shot = Shot(self, self.machine)
        self.parameters = self.shot.parameters()
        self.setattr_argument("scan", EnumerationValue(list(self.parameters), default="pulse.length"))
        self.setattr_argument("start", NumberValue(0.0))
        self.setattr_argument("stop", NumberValue(60 * us))
        self.setattr_argument("points", NumberValue(25, precision=0, step=1, type="int"))

    def prepare(self):
        self.scanned = self.parameters[self.scan]
        self.values = np.linspace(self.start, self.stop, self.points)
        self.set_dataset("scan.values", self.values)
        self.set_dataset("scan.excitation", np.full(self.points, np.nan), broadcast=True)

    @kernel
    def run(self):
        self.machine.setup()
        for point in range(len(self.values)):
            self.scanned.value = self.values[point]
            self.shot.setup()
            dark = 0
            for _ in range(self.machine.shots):
                if self.shot.run_once():
                    dark += 1
            self.record(point, dark)
        self.core.wait_until_mu(now_mu())

    @rpc(flags={"async"})
    def record(self, point, dark):
        self.mutate_dataset("scan.excitation", point, dark / self.machine.shots)

    def analyze(self):
        excitation = self.get_dataset("scan.excitation")
        unit = self.scanned.unit
        print(f"{self.scan}: excitation {excitation.min():.0%} to {excitation.max():.0%}")
        if self.machine.figure:
            points = (
                self.scan,
                self.values / globals()[unit],
                excitation,
                binomial_errors(excitation, self.machine.shots),
            )
            draw(
                self.machine.figure,
                [points],
                f"{self.scan} ({unit.replace('us', 'µs')})",
                "excitation",
                "A scan of fragments",
            )
