"""What commands and compilations import: an experiment without arrays does not wait for NumPy, and one that imports
it later, or meanwhile, gets the same kernels."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from kairos import numeric

ROOT = Path(__file__).parents[2]
SLOW = {"numpy", "h5py", "asyncio", "ssl", "email", "importlib.metadata"}
COMPILED = """
import hashlib, sys, threading
from tests.support.experiment import experiment

def compiled(file, name):
    made = experiment(file, name)
    return hashlib.sha256(made.core.compile(type(made).run, (made,), {}, None).library).hexdigest()
"""
ARRAYS = """
from artiq.experiment import *
import numpy as np

class Arrays(EnvExperiment):
    def build(self):
        self.setattr_device("core")
        self.setattr_device("ttl0")
        self.wide, self.narrow, self.on = np.int64(5), np.int32(6), np.bool_(True)
        self.values = np.arange(4) / 2
        self.list = [np.int32(1), np.int32(2)]

    @kernel
    def sum(self, values: TArray(TFloat), count: np.int64) -> TFloat:
        total = np.sin(values[0]) + np.float64(self.list[1])
        for value in values:
            total += value
        return total + float(count)

    @kernel
    def run(self) -> TFloat:
        if self.on and isinstance(self.narrow, np.int32):
            delay_mu(self.wide + np.int64(self.narrow) + self.ttl0.gate_latency_mu)
        return self.sum(self.values, self.wide)
"""


def said(code: str, **environment: str) -> list[str]:
    """Return the words that a fresh process prints."""
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        cwd=ROOT,
        env={"PATH": "/usr/bin:/bin", "KAIROS_CACHE": "off", "HOME": "/nowhere", **environment},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


@pytest.mark.parametrize(
    "code",
    [
        "import kairos.compat; kairos.compat.install(); import artiq.experiment",
        "import kairos.compiler",
        "import kairos.cli.run, kairos.cli.experiments, kairos.session",
        "import kairos.cli.check, kairos.cli.compile, kairos.cli.candidates, kairos.cli.arguments",
    ],
)
def test_module_is_imported_without_slow_ones(code):
    assert not SLOW & set(said(f"{code}; import sys; print(*sys.modules)"))


def test_compilation_of_blink_imports_no_slow_modules():
    code = COMPILED + "compiled('examples/blink.py', 'Blink'); print(*sys.modules)"
    slow = SLOW | {"kairos.emulator.process", "kairos.controllers.client", "kairos.pulse"}
    assert not slow & set(said(code))


def test_numpy_is_loaded_before_kernels_that_call_the_host():
    code = """
import sys
from kairos.coredevice.core import Core
from kairos.language import kernel_from_string
from kairos.session import Session

class Kernel:
    core = Core(None, None, 1e-9)

for body in ("delay_mu(1)", "print(1)", "self.host(1)", "self.host(f'{now_mu()}')"):
    made = kernel_from_string(["self"], body)
    Kernel.host = lambda self, value: None
    compiled = Kernel.core.compile(made, (Kernel(),), {}, None)
    print(compiled.embedding.calls_host, "numpy" in sys.modules)
session = Session("127.0.0.1", 1)
session.open = lambda: type("Connected", (), {})
session.check_system_info = lambda: None
session.load = lambda library: sys.exit(print("numpy" in sys.modules))
session.run_kernel(compiled)
"""
    assert said(code) == "False False True False True False True False True".split()


def test_kernels_are_the_same_before_and_after_numpy_is_imported(tmp_path):
    file = tmp_path / "arrays.py"
    file.write_text(ARRAYS)
    arrays = f"print(compiled({str(file)!r}, 'Arrays'))\n"
    blink = "print(compiled('examples/blink.py', 'Blink'))\n"
    later = said(COMPILED + blink + arrays + blink)
    first = said("import numpy\n" + COMPILED + arrays + blink)
    assert later == [first[1], first[0], first[1]]


def test_kernels_are_the_same_while_a_thread_imports_numpy():
    blink = "print(compiled('examples/blink.py', 'Blink'))\n"
    meanwhile = """
import importlib
threads = [threading.Thread(target=importlib.import_module, args=["numpy.linalg"]) for _ in range(3)]
for thread in threads:
    thread.start()
"""
    assert len(set(said(COMPILED + blink + meanwhile + 4 * blink))) == 1


def test_stand_ins_accept_values_of_numpy_and_no_others():
    values = {
        "ndarray": np.zeros(2),
        "generic": np.float32(1),
        "integer": np.uint8(1),
        "floating": np.float16(1),
        "bool_": np.bool_(True),
        "ufunc": np.sin,
        "array_function": np.copyto,
        "int32": np.int32(1),
        "int64": np.int64(1),
        "float64": np.float64(1),
    }
    for name, value in values.items():
        kind = getattr(numeric, name)
        assert isinstance(value, kind)
        assert not any(isinstance(other, kind) for other in (1, 1.0, True, "1", None, [1], abs))


def test_stand_ins_of_drivers_are_those_of_numpy_on_the_host():
    made = [numeric.int32(5), numeric.int64(-5), numeric.floor(2.5)]
    assert made == [5, -5, 2.0]
    assert [type(one) for one in made] == [np.int32, np.int64, np.float64]
    assert [numeric.stand_in(one) for one in (np.int32, np.int64, np.floor, int)] == [
        numeric.int32,
        numeric.int64,
        numeric.floor,
        int,
    ]
    assert numeric.numpy.zeros is np.zeros
    with pytest.raises(AttributeError):
        _ = numeric.numpy.__path__


def test_error_of_linear_algebra_is_that_of_numpy():
    code = """
import json, sys
from kairos.exceptions.names import classes_of_firmware, device_class, device_name
before = "numpy" in sys.modules
keys = [cls.__name__ for cls in classes_of_firmware()]
cls = device_class("0:LinAlgError")
from kairos.coredevice.exceptions import *
from kairos.compiler import EmbeddingMap
import numpy
kept = EmbeddingMap().exception_class(20)
alike = cls is LinAlgError is numpy.linalg.LinAlgError is classes_of_firmware()[20] is kept
print(json.dumps([before, keys[20].strip("_"), alike, device_name(cls)]))
"""
    assert json.loads(" ".join(said(code))) == [False, "LinAlgError", True, "0:LinAlgError"]
