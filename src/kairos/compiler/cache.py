"""Compiled kernels, kept from one run to the next.

What a compilation gives follows from its request, from the compiler, and from what it asked the
host: values, attributes, functions with their sources. All of this, and nothing else, enters it:
the compiler knows the host through the questions of `kairos.compiler.quoting.HostBridge` only. So
an entry is the questions of a compilation, in their order, with a digest of each answer; it is used
if the host gives the same answers again. Asking again also fills the embedding map as the
compilation did.

What large arrays hold is neither kept nor compared: a library has it in one place each, and for the
rest only the type and the shape count. It is put there from the host that the library is found for.

Entries stand in a directory for each request, under the digest of their content, and are written
under another name first: processes can share the cache. What is damaged is not used, and replaced.
The oldest go when there are too many.
"""

import hashlib
import marshal
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from kairos import _native
from kairos.compiler.embedding import EmbeddingMap
from kairos.compiler.numbers import Numbers
from kairos.compiler.quoting import HostBridge

__all__ = ["ArrayPlace", "Cache", "Recorder", "request_key", "with_arrays", "without_arrays"]

ArrayPlace = tuple[int, int, int]
"""Where the elements of a host array stand in a library: number of the array, offset, bytes."""

ENTRIES_PER_REQUEST = 8
"""Entries for one request: as many sets of host values stay known."""
LIMIT = 256 << 20
"""Bytes of all entries."""
_ACCOUNT = "size"
"""File with the sum of the entries' bytes, as far as known."""
_DIGEST = 16
_SUFFIX = ".kernel"
_FORMAT = 2
"""Of `marshal`: the last one in which equal values have equal bytes."""


def _digest(value: Any) -> bytes:
    """Digest of what is made of tuples, lists, numbers, text and bytes; ValueError for anything else."""
    return _digest_of_bytes(marshal.dumps(value, _FORMAT))


def _digest_of_bytes(data: bytes | memoryview) -> bytes:
    return hashlib.blake2b(data, digest_size=_DIGEST).digest()


class _Sources:
    """Digests of answers. Functions of one file have one source text, which is digested once."""

    def __init__(self, numbers: Numbers) -> None:
        self._texts: dict[str, bytes] = {}
        self._numbers = numbers

    def digest(self, question: str, answer: Any) -> bytes:
        """Digest of an answer to a question."""
        if question == "function" and answer[2][0] == "compiled":
            kind, file, text, *rest = answer[2]
            if text not in self._texts:
                self._texts[text] = _digest(text)
            answer = (*answer[:2], (kind, file, self._texts[text], *rest), *answer[3:])
        return _digest(self._numbers.digested(answer, _digest))


class Recorder:
    """The host, as the compiler sees it; notes what is asked."""

    def __init__(self, bridge: HostBridge) -> None:
        self._bridge = bridge
        self._sources = _Sources(bridge.numbers)
        self.questions: list[tuple[str, tuple, bytes]] = []
        """Question, its arguments, digest of the answer."""
        self.complete = True
        """Whether every question had an answer that can be compared with another."""

    @property
    def embedding(self) -> EmbeddingMap:
        return self._bridge.embedding

    def __getattr__(self, name: str) -> Callable:
        method = getattr(self._bridge, name)

        def ask(*args: Any) -> Any:
            try:
                answer = method(*args)
                # Most arrays need none; for the others there is one when they are kept.
                digest = b"" if name == "memory" else self._sources.digest(name, answer)
                self.questions.append((name, args, digest))
            except BaseException:
                self.complete = False
                raise
            return answer

        setattr(self, name, ask)
        return ask

    def compared(self, arrays: list[ArrayPlace]) -> list[tuple[str, tuple, bytes]]:
        """The questions without the elements of these arrays."""
        free = {("memory", (handle,)) for handle, _, _ in arrays}
        # Arguments of other questions are lists, too, which no set takes.
        asked = (question for question in self.questions if question[0] != "memory" or question[:2] not in free)
        return [
            (name, args, _digest(self._bridge.memory(*args)) if name == "memory" else digest)
            for name, args, digest in asked
        ]


def _compiler_identity() -> tuple:
    """The compiler's files, each by what changes when it is replaced, and what it runs on."""
    import llvmlite  # the package alone is quick; LLVM is not loaded by it

    files = [Path(_native.__file__), *sorted(Path(__file__).parent.glob("*.py"))]
    stats = [(str(file), *_replaced(file)) for file in files]
    return (sys.version, llvmlite.__version__, os.path.dirname(llvmlite.__file__), stats)


def _replaced(file: Path) -> tuple:
    found = file.stat()
    return found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino


def request_key(function: Callable, request: tuple) -> str:
    """The name of a request: the quoted call, its options, and the compiler. ValueError if it has none."""
    place = (getattr(function, "__module__", ""), getattr(function, "__qualname__", ""))
    return _digest((_compiler_identity(), place, request)).hex()


class Cache:
    """The cache in `directory`; without one nothing is found, and nothing kept."""

    def __init__(self, directory: Path | None, limit: int = LIMIT) -> None:
        self.directory = directory
        self.limit = limit

    @classmethod
    def of_user(cls) -> "Cache":
        """The cache in the directory `KAIROS_CACHE`, by default of the user; there is none if that is ``off``."""
        wanted = os.environ.get("KAIROS_CACHE", "")
        if wanted == "off":
            return cls(None)
        try:
            base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
        except RuntimeError:  # whoever runs this has no home
            return cls(None)
        return cls(Path(wanted) if wanted else base / "kairos" / "kernels")

    def find(self, key: str, bridge: Callable[[], HostBridge]) -> tuple[dict, EmbeddingMap] | None:
        """What was kept for the request `key` and the host as it is; `bridge` gives a fresh one for each attempt."""
        for file in self._entries(key):
            entry = _read(file)
            if entry is None:
                continue
            host = bridge()
            if _answers_alike(host, entry["questions"]) and _has_arrays(host, entry["arrays"]):
                _touch(file)
                return entry, host.embedding
        return None

    def _entries(self, key: str) -> list[Path]:
        """Entries of a request, the last used one first."""
        if self.directory is None:
            return []
        return [file for _, _, file in sorted(_files(self.directory / key), reverse=True)]

    def keep(self, key: str, recorder: Recorder, arrays: list[ArrayPlace], content: dict) -> None:
        """Keep what a compilation gave, but for the elements of `arrays`. Nothing is kept where that is impossible."""
        if self.directory is None or not recorder.complete:
            return
        questions = recorder.compared(arrays)
        payload = marshal.dumps({**content, "arrays": arrays, "questions": questions}, _FORMAT)
        folder = self.directory / key
        try:
            folder.mkdir(parents=True, exist_ok=True)
            _write(folder / (_digest(questions).hex() + _SUFFIX), _digest_of_bytes(payload) + payload)
            self._make_room(key, _DIGEST + len(payload))
        except OSError:
            pass  # a full or read-only disk: the kernel runs all the same

    def _make_room(self, key: str, added: int) -> None:
        """Remove the oldest entries, of the request and, if there are too many, of all."""
        for file in self._entries(key)[ENTRIES_PER_REQUEST:]:
            file.unlink(missing_ok=True)
        # To look at all entries takes as long as a compilation. So their sum is kept, too great
        # rather than too small; where processes disagree, what one has forgotten counts when the
        # next one looks.
        account = self.directory / _ACCOUNT
        try:
            total = int(account.read_text()) + added
        except (OSError, ValueError):
            total = None
        if total is None or total > self.limit:
            total = self._remove_oldest()
        _write(account, str(total).encode())

    def _remove_oldest(self) -> int:
        """Keep the newest entries, up to nine tenths of the limit; their bytes."""
        folders = (entry.path for entry in os.scandir(self.directory) if entry.is_dir())
        found = sorted(entry for folder in folders for entry in _files(folder))
        total = sum(size for _, size, _ in found)
        if total <= self.limit:
            return total
        for _, size, file in found:
            if total <= self.limit * 9 // 10:
                break
            file.unlink(missing_ok=True)
            total -= size
            if not any(os.scandir(file.parent)):
                file.parent.rmdir()
        return total


def _files(folder: Path | str) -> Iterator[tuple[int, int, Path]]:
    """Time of last use, size and path of the entries in a folder, those of other processes' making left out."""
    try:
        for entry in os.scandir(folder):
            if entry.name.endswith(_SUFFIX) and entry.is_file():
                found = entry.stat()
                yield found.st_mtime_ns, found.st_size, Path(entry.path)
    except OSError:
        return  # there is none, or another process has just removed it


def _read(file: Path) -> dict | None:
    """Content of an entry; None if it is gone or damaged, which removes it."""
    try:
        data = file.read_bytes()
    except OSError:
        return None
    payload = memoryview(data)[_DIGEST:]
    if _digest_of_bytes(payload) == data[:_DIGEST]:
        return marshal.loads(payload)
    try:
        file.unlink(missing_ok=True)
    except OSError:
        pass
    return None


def _write(file: Path, data: bytes) -> None:
    handle, temporary = tempfile.mkstemp(dir=file.parent, suffix=".new")
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(data)
        os.replace(temporary, file)
    except BaseException:
        os.unlink(temporary)
        raise


def _touch(file: Path) -> None:
    try:
        os.utime(file)
    except OSError:
        pass


def without_arrays(library: bytes, arrays: list[ArrayPlace]) -> list[bytes]:
    """The parts of a library between the elements of host arrays."""
    begins = [0, *(offset + length for _, offset, length in sorted(arrays, key=_offset))]
    ends = [*(offset for _, offset, _ in sorted(arrays, key=_offset)), len(library)]
    return [library[begin:end] for begin, end in zip(begins, ends, strict=True)]


def with_arrays(parts: list[bytes], arrays: list[ArrayPlace], embedding: EmbeddingMap) -> bytes:
    """The library again, with the elements that the arrays have now."""
    pieces = parts[:1]
    for (handle, _, _), part in zip(sorted(arrays, key=_offset), parts[1:], strict=True):
        pieces += [embedding.memory(handle), part]
    return b"".join(pieces)


def _offset(array: ArrayPlace) -> int:
    return array[1]


def _has_arrays(host: HostBridge, arrays: list[ArrayPlace]) -> bool:
    """Whether the elements of the host's arrays take as much room as they did; their shapes have been compared."""
    return all(len(host.memory(handle)) == length for handle, _, length in arrays)


def _answers_alike(host: HostBridge, questions: list[tuple[str, tuple, bytes]]) -> bool:
    """Whether the host answers all questions as it did."""
    sources = _Sources(host.numbers)
    try:
        return all(sources.digest(name, getattr(host, name)(*args)) == digest for name, args, digest in questions)
    except Exception:
        return False  # something is not there any more; what it is, a compilation will say
