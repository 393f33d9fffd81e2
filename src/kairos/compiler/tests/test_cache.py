"""The cache of compilations: hits where nothing has changed, and only there."""

import importlib.util
import json
import linecache
import multiprocessing
import os
import subprocess
import sys
import textwrap

import numpy as np
import pytest

from kairos import compiler
from kairos.compiler.cache import Cache, _compiler_identity, request_key
from kairos.compiler.numbers import Numbers
from kairos.contracts.library import FINGERPRINT, FINGERPRINT_BYTES
from kairos.errors import CompileError
from kairos.session.client import code_hash

SOURCE = """
    import enum

    import numpy as np
    from kairos.language import *

    FACTOR = 3
    LETTERS = "ab"


    class Core:
        ref_period = 1e-9


    class Failure(Exception):
        pass


    class Colour(enum.Enum):
        RED = 1


    @portable
    def scaled(x, by=2) -> TInt32:
        return x * by * FACTOR


    @syscall("rtio_get_counter")
    def counter() -> TInt64:
        raise NotImplementedError


    class Part:
        kernel_invariants = {"gain"}

        def __init__(self, core):
            self.core = core
            self.gain = 4


    class Experiment:
        def __init__(self):
            self.core = Core()
            self.number = 5
            self.other = 1.5
            self.text = "text"
            self.list = [1, 2, 3]
            self.same = self.list
            self.array = np.arange(6.0)
            self.part = Part(self.core)
            self.parts = [self.part, Part(self.core)]
            self.colour = Colour.RED

        @property
        def limit(self):
            return self.number + 1

        @rpc
        def ask(self, x) -> TInt32:
            return x

        @kernel
        def run(self, start, step=1) -> TFloat:
            total = self.number + self.limit + len(self.text) + len(LETTERS) + self.colour.value
            for x in self.list:
                total += scaled(x)
            for part in self.parts:
                total += part.gain
            self.same[0] = int32(total + start * step)
            if counter() < 0:
                raise Failure("too early")
            self.other += 1.0
            print("so far", total)
            return self.ask(total) + self.other + len(self.array)
"""
"""A kernel that reads host values of every kind."""


class Laboratory:
    """A module of `SOURCE`, and a cache."""

    def __init__(self, directory):
        self.directory = directory
        self.cache = Cache(directory / "cache")
        self.write()

    def write(self, old="", new=""):
        """Reimport the module, with a change."""
        text = textwrap.dedent(SOURCE)
        assert old in text
        file = self.directory / "laboratory.py"
        file.write_text(text.replace(old, new, 1))
        linecache.clearcache()
        spec = importlib.util.spec_from_file_location("laboratory", file)
        self.module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(self.module)
        self.experiment = self.module.Experiment()

    def compile(self, *args, cache=None, **options):
        experiment, kwargs = self.experiment, options.pop("kwargs", {})
        options = {"core": experiment.core, "set_result": print, **options}
        run = type(experiment).run
        return compiler.compile_kernel(run, (experiment, *(args or (7,))), kwargs, cache=cache or self.cache, **options)


@pytest.fixture
def laboratory(tmp_path):
    made = Laboratory(tmp_path)
    first = made.compile()
    assert not first.cached and first.library.startswith(b"\x7fELF")
    return made


def test_unchanged_program_is_found_in_the_cache(laboratory):
    first = laboratory.compile(cache=Cache(None))
    again = laboratory.compile()
    assert again.cached and not first.cached
    assert (again.library, again.unstripped, again.warnings) == (first.library, first.unstripped, first.warnings)
    # The embedding map is complete: both hold the same host objects under the same numbers.
    ours, theirs = (vars(found.embedding) | {"_next_object": 0} for found in (again, first))
    assert repr(ours) == repr(theirs)
    assert again.embedding.retrieve_object(1) is print
    assert again.timings["total"] > 0 and again.timings["llvm"] == 0


def test_module_with_same_source_is_found(laboratory):
    """The objects are different ones, as in another process."""
    laboratory.write()
    found = laboratory.compile()
    assert found.cached
    assert laboratory.experiment in found.embedding._objects.values()


def changed(attribute, value):
    def change(laboratory):
        owner = laboratory.experiment
        *path, name = attribute.split(".")
        for step in path:
            owner = getattr(owner, step)
        setattr(owner, name, value)

    return change


def item(attribute, index, value):
    return lambda laboratory: getattr(laboratory.experiment, attribute).__setitem__(index, value)


def rewritten(old, new):
    return lambda laboratory: laboratory.write(old, new)


CHANGES = {
    "an int": changed("number", 6),
    "the type of an int": changed("number", np.int64(5)),
    "a text of the same length": changed("text", "tex_"),
    "an element": item("list", 1, 9),
    "the length of a list": lambda laboratory: laboratory.experiment.list.append(4),
    "two names of one list": changed("same", [1, 2, 3]),
    "the type of an array": changed("array", np.arange(6)),
    "the shape of an array": changed("array", np.arange(6.0).reshape(2, 3)),
    "an attribute of a part": changed("part.gain", 5),
    "which objects are the same": lambda laboratory: laboratory.experiment.parts.__setitem__(
        1, laboratory.experiment.part
    ),
    "invariants of an object": changed("part.kernel_invariants", set()),
    "a global": lambda laboratory: setattr(laboratory.module, "FACTOR", 4),
    "the machine unit": lambda laboratory: setattr(laboratory.experiment.core, "ref_period", 8e-9),
    "the source of the kernel": rewritten("self.number + self", "self.number - self"),
    "a line above it": rewritten("FACTOR = 3", "\n\nFACTOR = 3"),
    "the source of a function that it calls": rewritten("x * by * FACTOR", "x + by * FACTOR"),
    "a default": rewritten("by=2", "by=3"),
    "a default of the kernel": rewritten("step=1", "step=2"),
    "an annotation": rewritten("def ask(self, x) -> TInt32", "def ask(self, x) -> TInt64"),
    "a flag of a decorator": rewritten("@portable", '@portable(flags={"fast-math"})'),
    "inlining": rewritten("@portable", '@portable(flags={"inline"})'),
    "a symbol of the firmware": rewritten('"rtio_get_counter"', '"rtio_get_counters"'),
    "a flag of it": rewritten('"rtio_get_counter")', '"rtio_get_counter", flags={"nounwind"})'),
    "a member of an enumeration": rewritten("RED = 1", "RED = 2"),
    "an exception's class": lambda laboratory: setattr(laboratory.module, "Failure", ValueError),
    "what a property gives": rewritten("self.number + 1", "self.number + 2"),
    "a name that becomes another thing": rewritten('LETTERS = "ab"', "LETTERS = [1, 2]"),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_change_of_a_used_value_is_a_miss(laboratory, change):
    change(laboratory)
    after = laboratory.compile()
    assert not after.cached
    assert after.library == laboratory.compile(cache=Cache(None)).library
    assert laboratory.compile().cached, "both are kept"


def test_zero_sign_and_nan_are_distinguished(laboratory):
    laboratory.write("self.other += 1.0", "pass")  # a constant of the kernel
    for value in (0.0, -0.0, float("nan"), float("inf")):
        # A fresh device, for which the value has never changed.
        laboratory.experiment.core = laboratory.module.Core()
        laboratory.experiment.other = value
        assert not laboratory.compile().cached
        assert laboratory.compile().cached


def same_but_for_the_name(one: bytes, other: bytes) -> bool:
    """The name identifies the source lines of a library, which do not depend on its data."""
    end = FINGERPRINT + FINGERPRINT_BYTES
    return (one[:FINGERPRINT], one[end:]) == (other[:FINGERPRINT], other[end:])


@pytest.mark.parametrize("length", [2, 10, 511, 513, 1000])
def test_contents_of_arrays_are_ignored(laboratory, length):
    """The elements are inserted into the cached library, where they are plain data."""
    first, second = np.arange(length) + 2.5, np.cos(np.arange(float(length))) + 7
    laboratory.experiment.array = first
    assert not laboratory.compile().cached
    laboratory.experiment.array = second
    found, compiled = laboratory.compile(), laboratory.compile(cache=Cache(None))
    assert found.cached
    assert same_but_for_the_name(found.library, compiled.library)
    assert same_but_for_the_name(found.unstripped, compiled.unstripped)
    assert second.tobytes() in found.library and first.tobytes() not in found.library
    for other in (second.reshape(1, length), second.astype(np.int64), second[1:]):
        laboratory.experiment.array = other
        assert not laboratory.compile().cached
    entries = laboratory.cache.directory.rglob("*.kernel")
    assert not any(first.tobytes() in file.read_bytes() for file in entries)
    for zeros in (np.zeros(length), np.zeros(length) * -1.0):
        laboratory.experiment.array = zeros
        assert laboratory.compile().cached


def test_long_list_is_read_once_per_lookup(laboratory, monkeypatch):
    """However many entries are compared with the host; changes are still detected."""
    experiment, copied = laboratory.experiment, []
    whole = Numbers.copied

    def copy(self, values):
        found = whole(self, values)
        copied.append((len(values), id(found)))
        return found

    monkeypatch.setattr(Numbers, "copied", copy)
    for number in range(4):
        experiment.list = experiment.same = list(range(number, number + 100))
        assert not laboratory.compile().cached
    seen = [copy for length, copy in copied[-5:] if length == 100]
    assert len(seen) > 3 and len(set(seen)) == 1
    experiment.list[50] = 7
    assert not laboratory.compile().cached
    assert laboratory.compile().cached


def test_list_changed_during_lookup_is_a_miss():
    numbers, values = Numbers(), [1, 2]
    before = numbers.copied(values)
    assert before is not values and numbers.copied(values) is before
    values[0] = 3
    after = numbers.copied(values)
    assert (before, after) == ([1, 2], [3, 2])
    answers = [numbers.digested(("list", 1, elements), repr) for elements in (before, after, [3, 2])]
    assert answers == [("list", 1, "[1, 2]"), ("list", 1, "[3, 2]"), ("list", 1, [3, 2])]
    assert numbers.copied([1, 2.0]) is None and numbers.copied((4, 5)) == [4, 5]
    others = [(), None, ("list", 1, []), ("list", ("int64",))]
    assert [numbers.digested(answer, repr) for answer in others] == others


def test_unchanged_large_array_and_text_are_a_hit(laboratory):
    laboratory.write('print("so far", total)', 'print(f"so far {total}")')
    laboratory.experiment.array = np.arange(1000.0)
    assert not laboratory.compile().cached
    assert laboratory.compile().cached


def test_change_of_an_unused_value_is_a_hit(laboratory):
    laboratory.experiment.unread = 7
    laboratory.module.UNREAD = 8
    assert laboratory.compile().cached


@pytest.mark.parametrize(
    ("args", "options"),
    [
        ((np.int64(7),), {}),
        ((7, 2), {}),
        ((1 << 31,), {}),
        ((1 << 40,), {}),
        ((7,), {"kwargs": {"step": 2}}),
        ((7,), {"attribute_writeback": False}),
        ((7,), {"print_as_rpc": False}),
        ((7,), {"set_result": None}),
    ],
)
def test_changed_request_is_a_miss_then_a_hit(laboratory, args, options):
    assert not laboratory.compile(*args, **options).cached
    assert laboratory.compile(*args, **options).cached


def test_changed_compiler_changes_the_request_key(laboratory, monkeypatch):
    def key():
        _compiler_identity.cache_clear()  # as in another process
        return request_key(print, (1,))

    monkeypatch.setattr("kairos.compiler.cache._replaced", lambda p: (False,))
    before = key()
    for file in ("codegen.py", "quoting.py", "__init__.py"):
        path = os.path.join(os.path.dirname(compiler.__file__), file)
        monkeypatch.setattr("kairos.compiler.cache._replaced", lambda p, path=path: (str(p) == path,))
        assert key() != before
    monkeypatch.setattr("kairos.compiler.cache._replaced", lambda p: (False,))
    assert key() == before
    monkeypatch.setattr("llvmlite.__version__", "0")
    assert key() != before
    _compiler_identity.cache_clear()


def test_rejected_program_is_not_cached(laboratory):
    laboratory.experiment.number = "text"
    for _ in range(2):
        with pytest.raises(CompileError):
            laboratory.compile()
    assert len(list(laboratory.cache.directory.rglob("*.kernel"))) == 1


def test_failing_host_attribute_is_a_miss(laboratory):
    del laboratory.experiment.text
    with pytest.raises(CompileError, match="does not have an attribute 'text'"):
        laboratory.compile()


@pytest.mark.parametrize(
    "damage",
    [lambda data: b"", lambda data: data[:100], lambda data: data[:-1] + bytes([data[-1] ^ 1]), lambda data: b"x" * 99],
)
def test_damaged_entry_is_a_miss_and_replaced(laboratory, damage):
    (file,) = laboratory.cache.directory.rglob("*.kernel")
    file.write_bytes(damage(file.read_bytes()))
    assert not laboratory.compile().cached
    assert laboratory.compile().cached


def test_unwritable_cache_still_compiles(laboratory, tmp_path):
    blocked = tmp_path / "file"
    blocked.write_text("")
    for _ in range(2):
        assert not laboratory.compile(cache=Cache(blocked / "cache")).cached


def test_old_entries_are_removed_beyond_the_size_limit(laboratory):
    (file,) = laboratory.cache.directory.rglob("*.kernel")
    size = file.stat().st_size
    small = Cache(laboratory.cache.directory, limit=4 * size + size // 2)
    for number in range(12):
        laboratory.experiment.text = f"text {number}"
        assert not laboratory.compile(cache=small).cached
        # File times may be too coarse to determine which is older.
        for age, kept in enumerate(sorted(small.directory.rglob("*.kernel"), key=lambda f: -f.stat().st_mtime_ns)):
            os.utime(kept, ns=(10**18 - age * 10**9 + number * 10**12,) * 2)
    assert len(list(small.directory.rglob("*.kernel"))) <= 4
    assert laboratory.compile(cache=small).cached, "the newest stays"


def test_lookup_in_large_cache_is_quick(laboratory, monkeypatch):
    """The entries of other requests are scanned once, not with each stored kernel."""
    looked = []
    whole = Cache._remove_oldest
    monkeypatch.setattr(Cache, "_remove_oldest", lambda self: looked.append(1) or whole(self))
    (laboratory.cache.directory / "size").unlink()
    for number in range(5):
        laboratory.experiment.text = f"text {number}"
        laboratory.compile()
    assert len(looked) == 1
    (laboratory.cache.directory / "size").write_text("nonsense")
    laboratory.experiment.text = "another"
    laboratory.compile()
    assert len(looked) == 2


def test_variants_of_one_request_keep_few_entries(laboratory):
    for number in range(12):
        laboratory.experiment.text = f"text {number}"
        laboratory.compile()
    assert len(list(laboratory.cache.directory.rglob("*.kernel"))) <= 8


def compile_often(directory, seed, results):
    laboratory = Laboratory.__new__(Laboratory)
    laboratory.directory, laboratory.cache = directory, Cache(directory / "shared")
    spec = importlib.util.spec_from_file_location("laboratory", directory / "laboratory.py")
    laboratory.module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(laboratory.module)
    laboratory.experiment = laboratory.module.Experiment()
    for round in range(6):
        number = (round + seed) % 3
        laboratory.experiment.text = f"text {number}"
        found = laboratory.compile()
        results.put((number, found.library, found.cached))


def test_concurrent_processes_share_the_cache(laboratory):
    context = multiprocessing.get_context("fork")
    results = context.Queue()
    workers = [context.Process(target=compile_often, args=(laboratory.directory, seed, results)) for seed in range(4)]
    for worker in workers:
        worker.start()
    found = [results.get(timeout=120) for _ in range(24)]
    for worker in workers:
        worker.join(60)
        assert worker.exitcode == 0
    libraries = {number: {library for n, library, _ in found if n == number} for number in range(3)}
    assert all(len(one) == 1 for one in libraries.values()) and len({*map(frozenset, libraries.values())}) == 3
    assert any(cached for _, _, cached in found)
    assert not list((laboratory.directory / "shared").rglob("*.new"))


def test_entry_is_found_by_another_process(laboratory):
    program = f"""
import importlib.util, json, os
os.sched_setaffinity(0, [min(os.sched_getaffinity(0))])
from kairos import compiler
spec = importlib.util.spec_from_file_location("laboratory", {str(laboratory.directory / "laboratory.py")!r})
module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
e = module.Experiment()
found = compiler.compile_kernel(module.Experiment.run, (e, 7), {{}}, core=e.core, set_result=print)
print(json.dumps([found.cached, len(found.library), bool(compiler.codegen.llvm._llvm.cache_info().currsize)]))
"""
    environment = os.environ | {"KAIROS_CACHE": str(laboratory.cache.directory)}
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == [True, len(laboratory.compile().library), False], "and without LLVM"


def test_cache_folder_follows_environment(monkeypatch, tmp_path):
    monkeypatch.setenv("KAIROS_CACHE", "off")
    assert Cache.of_user().directory is None
    monkeypatch.setenv("KAIROS_CACHE", str(tmp_path))
    assert Cache.of_user().directory == str(tmp_path)
    monkeypatch.delenv("KAIROS_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert Cache.of_user().directory == str(tmp_path / "kairos" / "kernels")
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert Cache.of_user().directory == str(tmp_path / ".cache" / "kairos" / "kernels")


def test_library_does_not_depend_on_the_folder_of_its_source(tmp_path):
    found = []
    for name in ("short", "a/much/longer/one"):
        (tmp_path / name).mkdir(parents=True)
        found.append(Laboratory(tmp_path / name).compile())
        assert str(tmp_path).encode() not in found[-1].library
    assert found[0].library == found[1].library
    end = FINGERPRINT + FINGERPRINT_BYTES
    other = found[1].library[:FINGERPRINT] + bytes(FINGERPRINT_BYTES) + found[1].library[end:]
    assert code_hash(found[0].library) == code_hash(other), "without the name of its line numbers"
