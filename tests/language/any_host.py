"""Kernels using host objects of every kind, in files of any name: `python any_host.py SEED COUNT`.

Each iteration writes a module with a class whose attributes are drawn from `VALUES` and a kernel
that uses them as drawn from `USES`, and compiles it. The result must be a program or a
`CompileError` whose text begins with "error". Prints every module with another outcome, and exits
with 1 if there was one.
"""

import importlib.machinery
import importlib.util
import os
import random
import re
import resource
import sys
import tempfile
import warnings
from pathlib import Path

from kairos import compiler
from kairos.compiler.cache import Cache

HEAD = Path(__file__).with_name("any_host_objects.py").read_text(encoding="utf-8") + "\n\n"

DTYPES = """
bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64 longdouble complex64 complex128
object S3 U3 V4 datetime64[s] timedelta64[s] >i4 <i8 >f8 >u8
""".split()

VALUES = """
0; 1; -1; 2**31; 2**63 - 1; -2**63; 2**63; 10**400; -10**400; True; None; 1.5; float('nan'); float('inf'); -0.0
1j; ...; NotImplemented; ''; 'a'; 'µs 日本 \\U0001f600'; '\\ud800'; 'a\\0b'; '"%s{0}{'; 'x' * 100000; b''
b'ab\\xff'; bytearray(b'ab'); memoryview(b'ab'); []; [1]; [1, 2.5]; [1, 'a']; [[1], [2.0]]; [[1], 2]; [[], []]
[None]; [()]; [1, 2**40]; [2**70]; [True, 1]; [np.int8(1), 2]; [b'a']; [Plain(k=1), Plain(k=2)]
[Plain(k=1), Plain(k=2.0)]; [Plain(), Slots()]; list(range(3000)); [[0] * 50] * 50; (); (1,)
(1, 'a', 2.5, None); ((1, 2), [3]); tuple(range(2000)); range(5); range(0, 2**70); range(2**62, 0, -3); {}
{1: 2}; {1}; frozenset(); cyclic_list(); cyclic_pair(); deep(list, 50); deep(tuple, 50); deep(list, 3000)
deep(tuple, 98); deep(tuple, 3000)
deep(list, 60000); Plain(k=1); Plain(); Slots(); Anything(); Endless(); Same(); WithMeta()
WithMeta; Properties(); Described(); Hostile(); Hostile; Loop(); chain(300); chain(5000); Int(3); Float(2.5)
Str('a'); List([1]); Dict(k=3); Color.RED; Color; Level.LOW; Flags.A; Named(1, 2.5); Data(); Data; MyError
MyError('x'); MetaError; WithNew; WithNew(); WithCall(); WithContext(); Exception; BaseException
KeyboardInterrupt; StopIteration; ExceptionGroup; UnicodeDecodeError; object(); object; type; int; str; np
np.linalg; np.random; np.random.rand; math; math.sin; cmath.exp; np.sin; np.frompyfunc(abs, 1, 1)
np.vectorize(abs); np.array; np.dot; np.sum; np.newaxis; np.nan; np.float64; np.int8; np.dtype('i4'); len; print
open; abs; max; isinstance; super; functools.partial(remote, 1); functools.partial(recursive, 1)
functools.lru_cache(recursive); operator.add; [].append; ''.join; dict.get; os.path.join; io.StringIO()
sys.stdout; threading.Lock(); weakref.ref(Plain); datetime.datetime.now(); decimal.Decimal(1)
fractions.Fraction(1, 2); re.compile('a'); collections.deque([1]); collections.OrderedDict(a=1)
array.array('i', [1, 2]); (x for x in [1]); iter([1]); map(abs, [1]); zip([1]); enumerate([1]); slice(1)
property(abs); staticmethod(recursive); classmethod(recursive); lambda x: x; kernel(lambda self: 1)
portable(lambda: 1); recursive; first; remote; later; forbidden; over; rest; coroutine; generator; Plain.method
Plain(k=1).method; Plain(k=1).remote; Plain().other; Plain.remote; recoded(); renamed('x y'); renamed('"')
renamed('µ\\n'); renamed(''); renamed('__init__'); renamed('\\udfff'); annotated(int); annotated('undefined')
annotated('1/0'); annotated('TInt32'); annotated(TList(TInt32)); annotated(TList); annotated(list[int])
annotated(tuple[int, ...]); annotated(typing.Any); annotated(typing.List[float]); annotated([1])
annotated(Hostile()); annotated(None, 'TStr'); annotated(TArray(TFloat, 3)); annotated(TArray(TFloat, 300))
annotated(TVar); annotated(TArray(TFloat, 0)); annotated(TArray(TFloat, 'a')); annotated(TTuple([]))
annotated(TRange64); annotated(''); annotated('x' * 9999); defaulted(2**70); defaulted([1])
defaulted(cyclic_list()); defaulted(Hostile()); defaulted(np.zeros(3))
dynamic('@kernel\\ndef f(self): return 1'); dynamic('def f(): return 1')
dynamic('@portable\\ndef f(): return 1'); dynamic('f = portable(lambda: 1)')
kernel_from_string(['a', 'b'], 'return a'); kernel_from_string([], 'return f()'); module(k=1); module(name='')
module(name='a\\nb', f=recursive); sys; sys.modules; types; compiler_trap; __builtins__; np.array(5)
np.array([]); np.zeros((0, 3)); np.zeros((3, 0)); np.zeros((2, 2, 2, 2, 2)); np.zeros((1,) * 30); np.eye(3).T
np.arange(6)[::2]; np.arange(6).reshape(2, 3)[:, ::-1]; np.broadcast_to(1, (3, 3))
np.broadcast_to(1.0, (1 << 20, 1 << 20)); np.array([1, 2]).view(Array); np.matrix([[1, 2]])
np.ma.array([1, 2], mask=[0, 1]); np.rec.array([(1, 2.0)]); np.array(['a', 'bc']); np.array('a')
np.array(['\\ud800']); np.array([b'a']); np.array([None, 1], dtype=object); np.zeros(3, dtype='i4,f8')
np.array([2**63], dtype='u8'); np.uint64(2**63); np.uint64(2**64 - 1); np.float16(1.5); np.longdouble('1e4000')
np.datetime64('2020-01-01'); np.str_('a'); np.bytes_(b'a'); np.void(b'ab'); np.bool_(True)
np.zeros((2,), dtype='>i4'); np.random.default_rng(); np.poly1d([1, 2]); np.nditer([1, 2])
np.errstate(all='ignore')
"""

USES = """
return {v}; x = {v}; x = {v}.k; x = {v}.missing; {v}.k = 5; {v}.k += 1; {v} = {w}; {v} += 1; x = {v}[0]
x = {v}[0][0]; {v}[0] = {w}; x = {v}(); x = {v}(1); x = {v}(1, 2); x = {v}({w}); x = {v}(k={w}); x = {v} + {w}
x = {v} == {w}; x = {v} is {w}; x = {v} in {w}; x = not {v}; x = -{v}; x = len({v}); x = str({v})
x = f"{{{v}}} {{{w}!r:>5}}"; x = int({v}); x = float({v}); x = bool({v}); x = abs({v}); x = [{v}, {w}]
x = ({v}, {w}); x = [a for a in {v}]; x = list({v}); x = sum({v}); x = max({v}, {w}); x = sorted({v})
x = isinstance({v}, {w}); x = np.array({v}); x = np.sin({v}); x = {v} @ {w}; x = {v} if {w} else {v}
x = {v} and {w}; x = {v}.shape; x = {v}.T; x = {v}[1:]; x = {v}[:, 0]; x = {v}.x; x = {v}.d; x = {v}.deep
x = {v}.changing; x = {v}.lone; x = {v}.me.me.me; x = {v}.items[0].me; x = {v}.next.next.next.k; x = {v}.next
x = {v}.method({w}); x = {v}.other(); x = {v}.remote({w}); x = {v}.real; x = {v}.__class__; x = {v}.__init__
x = {v}.__dict__; {v}.__init__({w}); x = {v}.value; x = {v}.unset; x = {v}.out; print({v}, {w}); core_log({v})
rtio_log("a", {v}); remote({v}, a={w}); later({v}); raise {v}; raise {v}("x"); assert {v}; delay({v})
delay_mu({v}); at_mu({v}); x = super().k; x = {v}.ﬁeld; x = {v}.µ; x = {v}.k.k.k.k; del {v}
"""
BLOCKS = """
for a in {v}:; for a, b in {v}:; while {v}:; if {v}:; with {v}:; with {v} as a:; with parallel:
with interleave:; for i in range({v}):
"""
INVARIANTS = """
None; 5; 'abc'; {'a0'}; {'a0', 'nothing'}; [1, 'a0']; {None}; ('a0', ['b']); {'\\ud800'}; (x for x in 'a'); Anything()
"""
FILES = [
    "plain.py",
    "20241103 scan.py",
    "my-scan.py",
    "größe µ.py",
    "日本語.py",
    "\U0001f600.py",
    'quote".py',
    "quote'.py",
    "back\\slash.py",
    "new\nline.py",
    "tab\t.py",
    "\x01\x1b[31m.py",
    "%s%n{0}{.py",
    "no extension",
    ".py",
    "..py",
    "-x.py",
    "$(true).py",
    "a" * 200 + ".py",
    os.fsdecode(b"\xff\xfe.py"),
    "a!b;c.py",
    "\\0a.py",
    "\u202eyp.elif",
]
PERIODS = [1e-9] * 12 + [0.0, -1.0, float("nan"), float("inf"), 1e-320, 8e-9]
MEMORY = 4 << 30


def parts(text):
    return [part.strip() for line in text.strip().splitlines() for part in re.split(r";(?:\s|$)", line) if part.strip()]


VALUES, USES, BLOCKS, INVARIANTS = map(parts, (VALUES, USES, BLOCKS, INVARIANTS))
VALUES += [f"np.zeros(2).astype({dtype!r})" for dtype in DTYPES if dtype not in ("V4",)]
VALUES += [f"np.ones((2, 2)).astype({dtype!r})[0, 0]" for dtype in DTYPES if dtype not in ("V4",)]
VALUES.remove("compiler_trap")


class Core:
    def __init__(self, period):
        self.ref_period = period


def kernel_text(rng, names):
    """Returns the statements of a kernel that uses values of these names."""
    lines = []
    indent = "        "
    for _ in range(rng.randint(1, 3)):
        v, w = (rng.choice([*[f"self.{name}" for name in names], "g0", "g1"]) for _ in range(2))
        if rng.random() < 0.2:
            lines.append(indent + rng.choice(BLOCKS).format(v=v, w=w))
            lines.append(indent + "    " + rng.choice(USES).format(v=rng.choice([v, "a", "i"]), w=w))
        else:
            lines.append(indent + rng.choice(USES).format(v=v, w=w))
        if rng.random() < 0.3:
            lines.append(indent + rng.choice(USES).format(v="x", w=w))
    return "\n".join(lines)


def written(rng):
    """Returns the source of a module with a class `Program`."""
    names = [f"a{place}" for place in range(rng.randint(1, 3))]
    values = "".join(f"        self.{name} = {rng.choice(VALUES)}\n" for name in names)
    if rng.random() < 0.15:
        values += f"        self.kernel_invariants = {rng.choice(INVARIANTS)}\n"
    if rng.random() < 0.1:
        values += f"        vars(self)[{rng.choice(VALUES)!r}] = 1\n"
    found = f"g0 = {rng.choice(VALUES)}\ng1 = {rng.choice(VALUES)}\n\n\nclass Program:\n    def __init__(self, core):\n"
    found += f"        self.core = core\n{values}\n    @kernel\n    def run(self, b=1):\n{kernel_text(rng, names)}\n"
    return found + f"\n\nARGUMENTS = [{rng.choice(VALUES) if rng.random() < 0.2 else ''}]\n"


def load(path, text):
    path.write_bytes(text.encode("utf-8", "surrogatepass"))
    loader = importlib.machinery.SourceFileLoader("any_host_module", str(path))
    spec = importlib.util.spec_from_file_location("any_host_module", path, loader=loader)
    module = importlib.util.module_from_spec(spec)
    sys.modules["any_host_module"] = module
    spec.loader.exec_module(module)
    return module


def problem(rng, module, core, caches):
    """Returns what is wrong with the compilation of a module's program, or None."""
    program = module.program
    arguments = (program, *module.ARGUMENTS)
    kernel = type(program).run
    try:
        if rng.random() < 0.3:
            found = compiler.check(kernel, arguments, core=core)
            for one in found:
                if one.severity == 1 and not one.text.startswith("error"):
                    return f"not an error: {one.text}"
                one.lsp(), one.render()
        if rng.random() < 0.3:
            compiler.emit(rng.choice(compiler.STAGES[:4]), kernel, arguments, core=core)
        cache = Cache(Path(caches)) if rng.random() < 0.3 else Cache(None)
        compiler.compile_kernel(kernel, arguments, {}, core=core, set_result=print, cache=cache)
    except compiler.CompileError as error:
        text = str(error)
        return None if text.startswith("error") and len(text) < 100_000 else f"no diagnostic: {text[:1000]}"
    except SystemExit:
        return None  # raised by the user's code
    except BaseException as error:
        return f"{type(error).__name__}: {str(error)[:1000]}"
    return None


def main(seed, count):
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    warnings.simplefilter("ignore")
    wrong = 0
    with tempfile.TemporaryDirectory() as directory:
        for number in range(seed, seed + count):
            rng = random.Random(number)
            name, text = rng.choice(FILES), written(rng)
            # Identifies the program if this process is killed.
            Path(directory, "last.txt").write_text(f"{number}: {name!a}\n{text}", encoding="utf-8")
            core = Core(rng.choice(PERIODS))
            try:
                module = load(Path(directory, name), HEAD + text)
                module.program = module.Program(core)
            except (
                SyntaxError,
                TypeError,
                ValueError,
                AttributeError,
                RecursionError,
                MemoryError,
                OSError,
                NameError,
            ):
                continue  # rejected by Python
            if found := problem(rng, module, core, Path(directory, "cache")):
                wrong += 1
                print(f"seed {number}, file {name!a}: {found}\n\n{text}\n")
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), int(sys.argv[2])))
