"""Compiles mutated experiments: `python mutate.py SEED COUNT`. Only diagnostics with a source location are acceptable.

Prints every program with another outcome, and exits with 1 if there was one.
"""

import ast
import random
import resource
import sys
import tempfile
import warnings
from pathlib import Path

from kairos.cli.experiments import Experiment, import_file, is_public_experiment
from kairos.cli.report import UserCodeError
from kairos.compiler import STAGES, CompileError, compile_kernel, emit
from kairos.devices import DeviceDB
from kairos.errors import UsageError

ROOT = Path(__file__).parents[2]
EXPRESSIONS = """
0; -1; 3.5; 'a'; True; None; []; [1]; [1.0, 2.0]; (); (1, 2); range(3); range(2, 9, 2); x; i; self; self.core; 2**40
1 << 70; [[1], [2]]; [[]]; lambda: 0; {1: 2}; {1}; now_mu(); now_mu; parallel; len(x); [0] * 3; b'ab'; ...; x[0]; x.y
-'a'; ~1.5; not x; f'{x}'; [i for i in x]; [j for j in range(3) if j]; int32(5); int64(x); str; bool(x); abs(x)
min(1, 2); max(x, i); round(2.5); x[1:2]; x[::-1]; x[:, 1]; a + b; 1 == 2; 1 < x < 3; x in [1]; 1 if True else 2
list(x); list(range(3)); [1] + [2]; [1] + x; ValueError; ValueError('q'); self.run; self.missing; 1e400
99999999999999999999; 5 // 0; 1.0 / 0.0; 1 << -1; 2**-1; 'x' * 3; [1, 2][5]; (1, 2)[2]; print; [x for x in x]
"""
STATEMENTS = """
return; return 1; return [1]; break; continue; x = 1; x = 1.5; x = [1, 2]; x += 1; x[0] = 1; x[0:1] = [1]; x = len(x)
self.k = 1; a, b = 1, 2; (a, (b, c)) = (1, (2, 3)); [a, b] = [1, 2]; del x; import os; global x; nonlocal x; x = [x]
for i in range(3): pass; for a, b in [(1, 2)]: pass; while True: pass; while x: x -= 1; with parallel: pass
with 5: pass; with sequential as q: pass; raise; raise 5; raise ValueError('x', 1, 2, 3, 4); assert x; assert True, 'm'
def f(a): return a; class C: pass; x: int = 3; print(*x); print(**x); delay(1); delay_mu(5); at_mu(now_mu()); x = (x, x)
x = self.run; x = ValueError; return self; self.core.reset(); (x := 1); async def g(): pass; x = x[0]; x = x + x
"""
CARDS = """

def local(module, driver, **arguments):
    return {"type": "local", "module": f"artiq.coredevice.{module}", "class": driver, "arguments": arguments}


device_db |= {
    "spi": local("spi2", "SPIMaster", channel=20),
    "ttl0_counter": local("edge_counter", "EdgeCounter", channel=21),
    "ttl12": local("ttl", "TTLClockGen", channel=22),
    "urukul0_cpld": local("urukul", "CPLD", spi_device="spi", io_update_device="ttl5"),
    "urukul0_ch0": local("ad9910", "AD9910", chip_select=4, cpld_device="urukul0_cpld", sw_device="ttl6", pll_n=32),
    "zotino0": local("zotino", "Zotino", spi_device="spi"),
    "sampler0": local("sampler", "Sampler", spi_adc_device="spi", spi_pgia_device="spi", cnv_device="ttl7"),
    "grabber0": local("grabber", "Grabber", channel_base=23),
}
"""
"""Devices of the experiments that are missing in the examples' database."""
OPERATORS = [ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Mod, ast.Pow, ast.LShift, ast.BitOr, ast.MatMult]
MEMORY = 4 << 30
"""Address space limit of this process in bytes: more than ten times the need of its compilations. A
compiler that allocates more ends with an error or an abort, which fails the test, instead of
exhausting the machine's memory."""


def parsed(text):
    """Returns the snippets in a text, which are separated by semicolons and line ends."""
    return [part.strip() for line in text.strip().splitlines() for part in line.split(";")]


class Mutation(ast.NodeTransformer):
    def __init__(self, rng, rate):
        self.rng, self.rate = rng, rate
        self.expressions, self.statements = parsed(EXPRESSIONS), parsed(STATEMENTS)

    def generic_visit(self, node):
        super().generic_visit(node)
        if isinstance(node, ast.expr) and isinstance(getattr(node, "ctx", None), ast.Store | ast.Del):
            return node
        if isinstance(node, ast.expr) and self.rng.random() < self.rate:
            return ast.parse(self.rng.choice(self.expressions), mode="eval").body
        if isinstance(node, ast.BinOp) and self.rng.random() < self.rate:
            node.op = self.rng.choice(OPERATORS)()
        if isinstance(node, ast.Name) and self.rng.random() < self.rate:
            node.id = self.rng.choice(["x", "i", "self", "a"])
        for field in ("body", "orelse", "finalbody"):
            block = getattr(node, field, None)
            if isinstance(block, list) and block and isinstance(block[0], ast.stmt):
                if self.rng.random() < self.rate:
                    block.pop(self.rng.randrange(len(block)))
                if self.rng.random() < 4 * self.rate:
                    place = self.rng.randrange(len(block) + 1)
                    block[place:place] = ast.parse(self.rng.choice(self.statements)).body
                block += [] if block else [ast.Pass()]
        return node


def is_kernel(node):
    decorators = [ast.unparse(decorator) for decorator in getattr(node, "decorator_list", [])]
    return isinstance(node, ast.FunctionDef) and any(name in ("kernel", "portable") for name in decorators)


def experiments(path):
    """Returns the names of the experiments in a file."""
    module = import_file(str(path))
    return [name for name, value in vars(module).items() if is_public_experiment(value)]


def is_for(path, ddb):
    """Returns whether a file's experiments can be built with this database's devices and without arguments."""
    try:
        return [Experiment(str(path), name, [], ddb) for name in experiments(path)] != []
    except (UserCodeError, UsageError):
        return False
    finally:
        sys.modules.pop(path.stem, None)


def mutated(rng, sources):
    """Returns the source of a mutated experiment, or None if Python rejects it."""
    tree = ast.parse(rng.choice(sources).read_text(encoding="utf-8"))
    kernels = [node for node in ast.walk(tree) if is_kernel(node)]
    for kernel in rng.sample(kernels, min(len(kernels), rng.choice([1, 1, 2]))):
        signature = kernel.args, kernel.decorator_list, kernel.returns
        kernel.args = ast.arguments(posonlyargs=[], args=[], kwonlyargs=[], kw_defaults=[], defaults=[])
        kernel.decorator_list, kernel.returns = [], None
        Mutation(rng, rng.choice([0.02, 0.05, 0.1])).visit(kernel)
        kernel.args, kernel.decorator_list, kernel.returns = signature
    try:
        text = ast.unparse(ast.fix_missing_locations(tree))
        compile(text, "mutated", "exec")
    except (SyntaxError, ValueError):
        return None
    return text


def check(path, rng, ddb):
    """Returns what is wrong with the compilation of the experiment in `path`, or None."""
    instance = Experiment(str(path), rng.choice(experiments(path)), [], ddb).instance
    kernels = [value for value in vars(type(instance)).values() if hasattr(value, "artiq_embedded")]
    kernels = [value for value in kernels if value.artiq_embedded.core_name is not None]
    kernels = [value for value in kernels if value.artiq_embedded.function.__code__.co_argcount == 1]
    if not kernels:
        return None
    kernel = rng.choice(kernels)
    try:
        for stage in STAGES[:4] if rng.random() < 0.2 else ():
            emit(stage, kernel, (instance,), core=instance.core)
        compile_kernel(kernel, (instance,), {}, core=instance.core, set_result=print)
    except CompileError as error:
        return None if "-->" in str(error) else f"no place: {error}"
    except BaseException as error:
        return f"{type(error).__name__}: {error}"
    return None


def main(seed, count):
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    warnings.simplefilter("ignore")
    rng = random.Random(seed)
    database = (ROOT / "examples" / "device_db.py").read_text().replace('"emulator://demo"', "None") + CARDS
    wrong = 0
    with tempfile.TemporaryDirectory() as directory:
        db = Path(directory, "device_db.py")
        db.write_text(database)
        ddb = DeviceDB.load(db)
        files = [*(ROOT / "examples").glob("*.py"), *(ROOT / "tests/e2e/experiments").glob("*.py")]
        sources = [path for path in sorted(files) if is_for(path, ddb)]
        assert len(sources) > 20, sources
        for number in range(count):
            if (text := mutated(rng, sources)) is None:
                continue
            path = Path(directory, f"mutated_{number}.py")
            path.write_text(text, encoding="utf-8")
            if problem := check(path, rng, ddb):
                wrong += 1
                print(f"{problem}\n\n{text}\n")
            sys.modules.pop(path.stem, None)
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), int(sys.argv[2])))
