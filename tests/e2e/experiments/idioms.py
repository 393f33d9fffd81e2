"""Host objects in kernels: properties, members of an Enum, named tuples, NumPy scalars, ranges,
dictionaries passed on, callbacks, lists of devices, keyword arguments and
annotations.
"""

from collections import namedtuple
from enum import Enum

import artiq.coredevice.spi2 as spi
import numpy as np
from artiq.experiment import *
from artiq.language.units import MHz, us

Pulse = namedtuple("Pulse", "index length")


class Mode(Enum):
    CW = 1
    PULSED = 2


class Calibration:
    OFFSET = 3

    def __init__(self, core):
        self.core = core
        self._gain = 4

    @property
    def gain(self):
        return self._gain * 2

    @kernel
    def apply(self, x: TInt32, scale: TFloat = 2.0) -> TFloat:
        return x * scale + self.OFFSET


@portable
def total(values):
    result = int64(0)
    for value in values:
        result += value
    return result


class Idioms(EnvExperiment):
    def build(self):
        self.setattr_device("core")
        for i in range(4, 6):
            self.setattr_device(f"ttl{i}")
        self.ttls = [self.ttl4, self.ttl5]
        self.calibration = Calibration(self.core)
        self.pulse = Pulse(1, 2.5)
        self.mode = Mode.PULSED
        self.time = np.float64(1.5)
        self.enabled = np.bool_(True)
        self.details = {"a": 1}
        self.callback = self.note
        self.start = np.int64(0)
        self.steps = range(4, 0, -2)
        self.plain = 7
        self.setattr_argument("shape", EnumerationValue(["square", "gauss"], default="square"))
        self.setattr_argument("on", BooleanValue(True))

    def note(self, *args, **named):
        print("note", *args, named)

    def stamps(self) -> TList(TInt64):
        return [np.int64(1), np.int64(2)]

    def status(self) -> TTuple([TBool, TStr]):
        return True, "locked"

    @kernel
    def run(self):
        self.core.reset()
        self.start = now_mu()
        delay(self.time * us)
        for ttl in self.ttls:
            ttl.on()
            delay(10 * ns)
        for i in range(len(self.ttls)):
            self.ttls[i].off()
        ok, text = self.status()
        if ok and self.on and self.enabled:
            self.callback(text, self.details, self.mode.value, self.pulse[1], scaled=self.calibration.apply(3))
        if self.shape == "square":
            print(self.calibration.gain, total(self.stamps()), spi.SPI_END, np.pi, np.int64(3), MHz)
        for step in self.steps:
            self.note(step + self.plain)
        rows = [[0.0] * 3 for _ in range(2)]
        rows[1][2] = 2.0
        self.set_dataset("x." + self.shape, rows)
        self.set_dataset("ns", int(np.rint(self.core.mu_to_seconds(now_mu() - self.start) / ns)), broadcast=True)

    def analyze(self):
        print(type(self.start).__name__, type(self.plain).__name__, self.steps)
