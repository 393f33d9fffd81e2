"""Cache of compiled kernels across runs.

The result of a compilation is determined by its request, by the compiler, and by the host's answers
to its queries: values, attributes, functions with their sources. Nothing else enters it, because
the compiler accesses the host only through the queries of `kairos.compiler.quoting.HostBridge`. An
entry therefore consists of the queries of a compilation, in order, with a digest of each answer; it
is used if the host gives the same answers again. Repeating the queries also fills the embedding map
as the compilation did.

The contents of large arrays are neither kept nor compared: a library has each in one place, and
apart from that depends only on type and shape. They are inserted from the host for which the
library is looked up.

Entries are in one directory per request, named by the digest of their content, and are written
under a temporary name first, so processes can share the cache. Damaged entries are ignored and
replaced. The oldest are removed when there are too many.
"""

import functools
import itertools
import marshal
import os
import sys
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

try:
    from _blake2 import blake2b  # that of `hashlib`, which loads OpenSSL at its import
except ImportError:  # another Python
    from hashlib import blake2b

from kairos import _native
from kairos.compiler.embedding import EmbeddingMap
from kairos.compiler.numbers import Numbers
from kairos.compiler.quoting import HostBridge
from kairos.compiler.scalars import ScalarSlot, kind_of, patched

__all__ = ["ArraySlot", "Cache", "Found", "Recorder", "request_key", "without_arrays"]

ArraySlot = tuple[int, int, int]
"""Location of a host array's elements in a library: number of the array, offset, bytes."""

ENTRIES_PER_REQUEST = 8
"""Maximum number of entries per request, each for a different set of host values."""
LIMIT = 256 << 20
"""Maximum bytes of all entries."""
_ACCOUNT = "size"
"""File with the approximate sum of the entries' bytes."""
_DIGEST = 16
_SHORT = 48
"""Bytes of an answer that is kept instead of its digest: comparing it takes a fraction of the time."""
_SUFFIX = ".kernel"
_FORMAT = 2
"""Version of `marshal`: the last one in which equal values have equal bytes."""


def _digest(value: Any) -> bytes:
    """Digest of nested tuples, lists, numbers, text and bytes; ValueError for anything else."""
    return _digest_of_bytes(marshal.dumps(value, _FORMAT))


def _mark(value: Any) -> bytes:
    """Return what stands for an answer: its bytes, or if there are many, its digest."""
    data = marshal.dumps(value, _FORMAT)
    return data if len(data) <= _SHORT else _digest_of_bytes(data)


def _digest_of_bytes(data: bytes | memoryview) -> bytes:
    return blake2b(data, digest_size=_DIGEST).digest()


class _Sources:
    """Computes what stands for answers. Functions of one file share one source text, which is digested
    once."""

    def __init__(self, numbers: Numbers) -> None:
        self._texts: dict[str, bytes] = {}
        self._numbers = numbers

    def digest(self, question: str, answer: Any) -> bytes:
        """Return what stands for an answer to a query."""
        if question == "function" and answer[2][0] == "compiled":
            kind, file, text, *rest = answer[2]
            if text not in self._texts:
                self._texts[text] = _digest(text)
            answer = (*answer[:2], (kind, file, self._texts[text], *rest), *answer[3:])
        if isinstance(answer, tuple) and answer and answer[0] == "list":
            answer = self._numbers.digested(answer, _digest)
        return _mark(answer)


class Recorder:
    """The host as seen by the compiler, with a record of the queries."""

    def __init__(self, bridge: HostBridge) -> None:
        self.bridge = bridge
        self._sources = _Sources(bridge.numbers)
        self.questions: list[tuple[str, tuple, bytes]] = []
        """Query, its arguments, what stands for the answer."""
        self.complete = True
        """Whether every query had an answer that can be compared."""
        self._kinds: dict[tuple[str, tuple], bytes] = {}
        """Digests of the kinds of numbers, by query."""

    @property
    def embedding(self) -> EmbeddingMap:
        return self.bridge.embedding

    def __getattr__(self, name: str) -> Callable:
        method = getattr(self.bridge, name)

        def ask(*args: Any) -> Any:
            try:
                answer = method(*args)
                # Most arrays need no digest; the others get one when they are kept.
                digest = b"" if name == "memory" else self._sources.digest(name, answer)
                if kind := kind_of(answer):
                    self._kinds[name, args] = _mark(kind)
                self.questions.append((name, args, digest))
            except BaseException:
                self.complete = False
                raise
            return answer

        setattr(self, name, ask)
        return ask

    def knows(self, place: ScalarSlot) -> bool:
        """Return whether the number at a place is the answer of a query: not the default of a parameter."""
        return place.question in self._kinds

    def compared(self, arrays: list[ArraySlot], scalars: list[ScalarSlot]) -> list[tuple[str, tuple, bytes]]:
        """Return the queries without the elements of these arrays, and with only the kinds of these
        numbers."""
        kinds = {place.question: self._kinds[place.question] for place in scalars}
        parts = itertools.chain.from_iterable(self.bridge.embedding.parts(handle) for handle, _, _ in arrays)
        free = {("memory", (handle,)) for handle in [*parts, *(handle for handle, _, _ in arrays)]}
        # Arguments of other queries may be lists, which are unhashable.
        asked = (question for question in self.questions if question[0] != "memory" or question[:2] not in free)
        return [
            (name, args, _digest(self.bridge.memory(*args)) if name == "memory" else _of(kinds, name, args, digest))
            for name, args, digest in asked
        ]


def _of(kinds: dict[tuple[str, tuple], bytes], name: str, args: tuple, digest: bytes) -> bytes:
    """Return the digest that stands for an answer; arguments of some queries are unhashable."""
    return kinds.get((name, args), digest) if name in ("attribute", "argument") else digest


class Found(NamedTuple):
    """An entry, and the host for which it was found."""

    entry: dict
    bridge: HostBridge
    numbers: dict[tuple[str, tuple], tuple]
    """Current numbers that are data of the library, by query."""

    def library(self, parts: list[bytes]) -> bytes:
        """Return one of the entry's libraries, with the current elements of arrays, and numbers."""
        whole = with_arrays(parts, self.entry["arrays"], self.bridge.embedding)
        return patched(whole, self.places, self.numbers)

    @property
    def places(self) -> list[ScalarSlot]:
        """Where the numbers are in its library."""
        return _places(self.entry)


def _places(entry: dict) -> list[ScalarSlot]:
    return [ScalarSlot(*place) for place in entry["scalars"]]


@functools.cache
def _compiler_identity() -> tuple:
    """Return the compiler's identity: its files, with properties that change on replacement, and
    its platform. That of the first call holds, since what is imported does not change."""
    import llvmlite  # importing the package alone is fast; it does not load LLVM

    own = (entry.path for entry in os.scandir(os.path.dirname(__file__)) if entry.name.endswith(".py"))
    stats = [(file, *_replaced(file)) for file in [_native.__file__, *sorted(own)]]
    return (sys.version, llvmlite.__version__, os.path.dirname(llvmlite.__file__), stats)


def _replaced(file: str) -> tuple:
    found = os.stat(file)
    return found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino


def request_key(function: Callable, request: tuple) -> str:
    """Return the name of a request: the quoted call, its options, and the compiler. ValueError if
    it has none."""
    place = (getattr(function, "__module__", ""), getattr(function, "__qualname__", ""))
    return _digest((_compiler_identity(), place, request)).hex()


class Cache:
    """The cache in `directory`; with None nothing is found or kept."""

    def __init__(self, directory: str | os.PathLike | None, limit: int = LIMIT) -> None:
        self.directory = directory
        self.limit = limit

    @classmethod
    def of_user(cls) -> "Cache":
        """Return the cache in the directory `KAIROS_CACHE`, by default the user's; disabled if that
        is ``off``."""
        wanted = os.environ.get("KAIROS_CACHE", "")
        if wanted == "off":
            return cls(None)
        base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser(os.path.join("~", ".cache"))
        if not wanted and base.startswith("~"):  # the user has no home directory
            return cls(None)
        return cls(wanted or os.path.join(base, "kairos", "kernels"))

    def find(self, key: str, bridge: Callable[[], HostBridge]) -> Found | None:
        """Look up the request `key` for the current state of the host; `bridge` returns a fresh
        bridge for each attempt."""
        for file in self._entries(key):
            entry = _read(file)
            if entry is None:
                continue
            host = bridge()
            numbers = _answers_alike(host, entry["questions"], {place.question for place in _places(entry)})
            if numbers is not None and _has_arrays(host, entry["arrays"]):
                _touch(file)
                return Found(entry, host, numbers)
        return None

    def _entries(self, key: str) -> list[str]:
        """Return the entries of a request, most recently used first."""
        if self.directory is None:
            return []
        return [file for _, _, file in sorted(_files(os.path.join(self.directory, key)), reverse=True)]

    def keep(
        self,
        key: str,
        recorder: Recorder,
        arrays: list[ArraySlot],
        scalars: list[ScalarSlot],
        content: dict,
    ) -> None:
        """Store the result of a compilation without the elements of `arrays`, and for any values of
        `scalars`. Failures are ignored."""
        if self.directory is None or not recorder.complete:
            return
        scalars = [place for place in scalars if recorder.knows(place)]
        questions = recorder.compared(arrays, scalars)
        places = [tuple(place) for place in scalars]
        payload = marshal.dumps({**content, "arrays": arrays, "scalars": places, "questions": questions}, _FORMAT)
        folder = os.path.join(self.directory, key)
        try:
            os.makedirs(folder, exist_ok=True)
            _write(os.path.join(folder, _digest(questions).hex() + _SUFFIX), _digest_of_bytes(payload) + payload)
            self._make_room(key, _DIGEST + len(payload))
        except OSError:
            pass  # a full or read-only disk: the kernel runs nevertheless

    def _make_room(self, key: str, added: int) -> None:
        """Remove the oldest entries of the request, and if there are too many, of all requests."""
        for file in self._entries(key)[ENTRIES_PER_REQUEST:]:
            _remove(file)
        # Scanning all entries takes as long as a compilation, so their sum is stored, as an upper
        # estimate. Processes that update it concurrently may lose additions, which the next scan
        # corrects.
        account = os.path.join(self.directory, _ACCOUNT)
        try:
            with open(account) as stream:
                total = int(stream.read()) + added
        except (OSError, ValueError):
            total = None
        if total is None or total > self.limit:
            total = self._remove_oldest()
        _write(account, str(total).encode())

    def _remove_oldest(self) -> int:
        """Keep the newest entries, up to nine tenths of the limit; returns their bytes."""
        folders = (entry.path for entry in os.scandir(self.directory) if entry.is_dir())
        found = sorted(entry for folder in folders for entry in _files(folder))
        total = sum(size for _, size, _ in found)
        if total <= self.limit:
            return total
        for _, size, file in found:
            if total <= self.limit * 9 // 10:
                break
            _remove(file)
            total -= size
            if not any(os.scandir(os.path.dirname(file))):
                os.rmdir(os.path.dirname(file))
        return total


def _files(folder: str) -> Iterator[tuple[int, int, str]]:
    """Yield time of last use, size and path of the entries in a directory, without unfinished ones
    of other processes."""
    try:
        for entry in os.scandir(folder):
            if entry.name.endswith(_SUFFIX) and entry.is_file():
                found = entry.stat()
                yield found.st_mtime_ns, found.st_size, entry.path
    except OSError:
        return  # it does not exist, or another process has just removed it


def _remove(file: str) -> None:
    """Remove a file that another process may have removed."""
    try:
        os.unlink(file)
    except FileNotFoundError:
        pass


def _read(file: str) -> dict | None:
    """Read an entry; None if it is missing or damaged. A damaged entry is removed."""
    try:
        with open(file, "rb") as stream:
            data = stream.read()
    except OSError:
        return None
    payload = memoryview(data)[_DIGEST:]
    if _digest_of_bytes(payload) == data[:_DIGEST]:
        return marshal.loads(payload)
    try:
        os.unlink(file)
    except OSError:
        pass
    return None


def _write(file: str, data: bytes) -> None:
    # A name that no other process takes. `tempfile` makes one too, and takes half as long to import as a kernel to
    # compile.
    temporary = f"{file}.{os.urandom(8).hex()}.new"
    handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o600)
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(data)
        os.replace(temporary, file)
    except BaseException:
        os.unlink(temporary)
        raise


def _touch(file: str) -> None:
    try:
        os.utime(file)
    except OSError:
        pass


def without_arrays(library: bytes, arrays: list[ArraySlot]) -> list[bytes]:
    """Split a library into the parts between the elements of host arrays."""
    begins = [0, *(offset + length for _, offset, length in sorted(arrays, key=_offset))]
    ends = [*(offset for _, offset, _ in sorted(arrays, key=_offset)), len(library)]
    return [library[begin:end] for begin, end in zip(begins, ends, strict=True)]


def with_arrays(parts: list[bytes], arrays: list[ArraySlot], embedding: EmbeddingMap) -> bytes:
    """Reassemble a library, with the current elements of the arrays."""
    pieces = parts[:1]
    for (handle, _, _), part in zip(sorted(arrays, key=_offset), parts[1:], strict=True):
        pieces += [embedding.memory(handle), part]
    return b"".join(pieces)


def _offset(array: ArraySlot) -> int:
    return array[1]


def _has_arrays(host: HostBridge, arrays: list[ArraySlot]) -> bool:
    """Return whether the host's arrays have the same size in bytes as before; shapes have been
    compared already."""
    return all(len(host.memory(handle)) == length for handle, _, length in arrays)


def _answers_alike(
    host: HostBridge, questions: list[tuple[str, tuple, bytes]], free: set[tuple[str, tuple]]
) -> dict[tuple[str, tuple], tuple] | None:
    """Return the answers to the queries `free`, which need only be of the same kind, if the host answers
    all others as before; otherwise None."""
    sources, numbers = _Sources(host.numbers), {}
    ask = {name: getattr(host, name) for name in {name for name, _, _ in questions}}
    try:
        for name, args, digest in questions:
            answer = ask[name](*args)
            if free and name in ("attribute", "argument") and (name, args) in free:
                numbers[name, args] = answer
                found = _mark(kind_of(answer))
            else:
                found = sources.digest(name, answer)
            if found != digest:
                return None
    except Exception:
        return None  # an object no longer exists; the compilation will report it
    return numbers
