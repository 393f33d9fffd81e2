"""Generated programs whose compilation is measured: the text of a module with the experiment
`Program`.

The statements are typical of laboratories: outputs, delays, integers and lists, with occasional
branches and calls. Numbers differ from line to line, so that nothing can be shared.
"""

from collections.abc import Iterator

HEAD = """from artiq.experiment import *
import numpy as np


class Program(EnvExperiment):
    def build(self):
        self.setattr_device("core")
        self.setattr_device("ttl4")
        self.setattr_device("ttl5")
        self.numbers = [3, 1, 4, 1, 5]
        self.level = 0.25
"""


def _method(name: str, lines: list[str], arguments: str = "") -> str:
    body = "".join(f"        {line}\n" for line in lines or ["pass"])
    return f"\n    @kernel\n    def {name}(self{arguments}):\n{body}"


def _statements(count: int) -> Iterator[str]:
    """Yield `count` statements, including those in branches."""
    kinds = (
        lambda n: [f"self.ttl4.pulse({n % 7 + 1} * us)"],
        lambda n: [f"delay({n % 11 + 2} * us)"],
        lambda n: [f"x = x * 3 + {n}"],
        lambda n: ["self.ttl5.on()"],
        lambda n: [f"delay_mu({n * 8})"],
        lambda n: [f"values[{n % 5}] += x"],
        lambda n: [f"y = y * 0.5 + {n}.25"],
        lambda n: ["self.ttl5.off()"],
        lambda n: [f"if x > {n}:", f"    x -= {n % 13}"],
    )
    left, n = count, 0
    while left:
        lines = kinds[n % len(kinds)](n)
        if len(lines) > left:
            lines = ["x += 1"]
        yield from lines
        left -= len(lines)
        n += 1


def empty() -> str:
    return HEAD + _method("run", [])


def statements(count: int) -> str:
    start = ["x, y = 1, 0.5", "values = self.numbers"]
    return HEAD + _method("run", start + list(_statements(count - len(start))))


def pulses(count: int) -> str:
    lines = [line for n in range(count) for line in (f"self.ttl{4 + n % 2}.pulse({n % 7 + 1} * us)",)]
    return HEAD + _method("run", ["self.core.reset()", *lines])


def functions(count: int, size: int) -> str:
    """Return `count` methods of `size` statements, each of which calls the next."""
    text = HEAD
    for n in range(count):
        call = [f"self.f{n + 1}(x)"] if n + 1 < count else ["x += 1"]
        text += _method(f"f{n}", [*_parts(n, size - 1), *call], ", x")
    return text + _method("run", ["self.f0(1)"])


def _parts(n: int, size: int) -> list[str]:
    kinds = ("x = x * 3 + {n}", "self.ttl4.pulse({n} * us)", "delay({n} * us)", "x ^= {n}", "delay_mu({n} * 8)")
    return [kinds[k % len(kinds)].format(n=n + k + 1) for k in range(size)]


def classes(count: int, methods: int, size: int) -> str:
    """Return `count` classes, each with an object all of whose methods `run` calls."""
    text = "from artiq.experiment import *\n"
    for n in range(count):
        text += f"\n\nclass Part{n}:\n    kernel_invariants = {{'gain'}}\n\n    def __init__(self, parent):\n"
        text += "        self.core, self.ttl4 = parent.core, parent.ttl4\n"
        text += f"        self.gain, self.state, self.scale = {n + 1}, {n}, {n}.5\n"
        for m in range(methods):
            lines = ["self.state += x * self.gain", "x += self.state", f"delay({m + 1} * us)", "self.ttl4.on()"]
            lines += ["self.scale = self.scale * 0.5 + x", f"delay_mu({n * 8 + m})"]
            text += _method(f"m{m}", (lines * 2)[:size], ", x")
    text += "\n\n" + HEAD.partition("\n\n\n")[2]
    text += "".join(f"        self.part{n} = Part{n}(self)\n" for n in range(count))
    return text + _method("run", [f"self.part{n}.m{m}({n})" for n in range(count) for m in range(methods)])


def numpy_heavy() -> str:
    """Return element-wise operations, products, functions and slices of arrays, in sequence."""
    text = HEAD + "        self.a = np.arange(64.0)\n        self.b = np.ones(64)\n        self.m = np.eye(8)\n"
    text += "        self.k = np.arange(64)\n"
    lines = ["a, b, m, k = self.a, self.b, self.m, self.k"]
    functions = ("sin", "cos", "exp", "sqrt", "arctan", "floor", "log10", "tanh")
    for n, function in enumerate(functions):
        lines += [f"s{n} = np.{function}(a * {n}.5 + b) - a / (b + {n}.25)", f"a[{n}:] = a[{n}:] + s{n}[{n}:]"]
        lines += [f"p{n} = m @ m + m", f"m[{n % 8}, {n % 8}] = s{n}[{n}] + p{n}[0, {n}]"]
        lines += [f"k[{n}:{n + 8}] = k[{n + 8}:{n + 16}] * {n + 2} // 3", f"a[{n}] = a @ b + len(k)"]
    return text + _method("run", lines)


def ad9910() -> str:
    """Return the initialisation and a setting of an AD9910 on an Urukul."""
    entries = """
def local(module, driver, **arguments):
    return {"type": "local", "module": f"artiq.coredevice.{module}", "class": driver, "arguments": arguments}


ENTRIES = {
    "spi": local("spi2", "SPIMaster", channel=5),
    "out": local("ttl", "TTLOut", channel=5),
    "cpld": local("urukul", "CPLD", spi_device="spi", io_update_device="out"),
    "dds": local("ad9910", "AD9910", chip_select=5, cpld_device="cpld", pll_n=32),
}
"""
    text = HEAD.replace("\n\n\n", "\nfrom kairos.devices import DeviceDB, DeviceManager\n\n" + entries + "\n\n", 1)
    text += "        devices = DeviceManager(DeviceDB(ENTRIES), {'core': self.core})\n"
    text += "        self.cpld, self.dds = devices.get('cpld'), devices.get('dds')\n"
    lines = ["self.core.reset()", "self.cpld.init()", "self.dds.init()", "self.dds.set(100 * MHz, amplitude=0.5)"]
    return text + _method("run", lines)


def host_array(size: int) -> str:
    text = HEAD + f"        self.data = np.arange({size}, dtype=np.int32)\n"
    return text + _method("run", ["total = 0", "for x in self.data:", "    total += x", "return total"])


def list_display(size: int) -> str:
    """Return a list display of this many numbers, sent to the host."""
    return HEAD + _method("run", [f"return [{', '.join(map(str, range(size)))}]"])


def attributes(count: int) -> str:
    """Return increments of this many attributes of one object."""
    text = HEAD + "".join(f"        self.a{n} = {n}\n" for n in range(count))
    return text + _method("run", [f"self.a{n} += 1" for n in range(count)])


def depth(levels: int) -> str:
    """Return an expression of this depth."""
    text = HEAD + "        self.number = 5\n"
    return text + _method("run", ["y = self.number", f"self.number = {'(' * levels}y{' * 3 + 1)' * levels}"])


def tries(count: int) -> str:
    """Return this many `try` statements around calls of the host."""
    text = HEAD + _method("ask", ["pass"]).replace("@kernel", "@rpc")
    return text + _method("run", ["try:\n            self.ask()\n        except ValueError:\n            pass"] * count)


PROGRAMS = {
    # name: (text, target in seconds, time of the reference, description)
    "empty": (empty, 0.015, 0.041, "an empty kernel"),
    "stmts_200": (lambda: statements(200), 0.03, 0.33, "200 statements"),
    "stmts_1000": (lambda: statements(1000), 0.10, 1.87, "1,000 statements"),
    "stmts_3000": (lambda: statements(3000), 0.30, 6.25, "3,000 statements"),
    "pulses_2500": (lambda: pulses(2500), 0.30, None, "2,500 pulses of TTLs"),
    "functions_100x10": (lambda: functions(100, 10), 0.15, 3.98, "100 functions of 10 statements"),
    "classes_40x3x6": (lambda: classes(40, 3, 6), 0.15, 4.06, "40 classes with 3 methods of 6 statements"),
    "numpy_heavy": (numpy_heavy, 0.15, 1.20, "48 statements on arrays"),
    "ad9910_init_set": (ad9910, 0.06, 1.15, "one AD9910, initialised and set"),
    "list_10000": (lambda: list_display(10_000), 0.2, None, "a list display of 10,000 numbers"),
    "functions_1000x2": (lambda: functions(1000, 2), 1.0, None, "1,000 functions of 2 statements"),
    "attributes_1000": (lambda: attributes(1000), 0.6, None, "1,000 attributes of one object"),
    "classes_400x1x2": (lambda: classes(400, 1, 2), 0.8, None, "400 classes with a method of 2 statements"),
    "depth_150": (lambda: depth(150), 0.05, None, "an expression of 150 levels"),
    "tries_200": (lambda: tries(200), 0.25, None, "200 `try` statements around calls of the host"),
    "host_array_1e6": (lambda: host_array(1_000_000), 0.10, 11.7, "a host array of a million int32, summed"),
}
