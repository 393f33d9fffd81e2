"""The kernel `functions`, which calls functions on request with register values supplied by the
test.

Also the required accuracy of the results.
"""

import math
import struct
from pathlib import Path

from elftools.elf.elffile import ELFFile

from tests.support.raw_session import Session, encode

LIBRARY = Path(__file__).parents[1] / "kernels" / "functions.elf"


def places() -> dict[str, int]:
    """Return name -> index in the kernel's table, from the relocations that fill it."""
    with LIBRARY.open("rb") as file:
        elf = ELFFile(file)
        symbols = elf.get_section_by_name(".dynsym")
        found = {
            symbols.get_symbol(relocation["r_info_sym"]).name: relocation["r_offset"]
            for relocation in elf.get_section_by_name(".rel.dyn").iter_relocations()
            if relocation["r_info_type"] == 2  # R_ARM_ABS32
        }
    first = min(found.values())
    return {name: (offset - first) // 4 for name, offset in found.items()}


PLACES = places()


class Functions:
    """The kernel, waiting for requests."""

    def __init__(self, device):
        self.session = Session(device)
        assert self.session.load(LIBRARY.read_bytes()) is None
        self.session.run()
        self.memory = b""
        self.buffer_at = self.asked()

    def asked(self) -> int:
        self.session.message(10)
        request = self.session.request()
        assert request.service == 1
        return request.arguments[0] & 0xFFFF_FFFF

    def order(self, place: int, words: list[int]):
        value, _ = encode(b"t\x02ilI", (place, words))
        self.session.reply(b"t\x02ilI", value)

    def call(self, name: str, calls: list[bytes]) -> list[bytes]:
        """Call a function; each call is 40 bytes: r0 to r3, d0 to d2, and so is the result. Sets
        `memory` to the kernel's buffer."""
        words = [word for call in calls for word in struct.unpack("<5q", call.ljust(40, b"\0"))]
        self.order(PLACES[name], words)
        self.session.message(10)
        request = self.session.request()
        done, words, self.memory = request.arguments
        assert done == len(calls), f"{name}: a register that it must preserve has changed"
        self.asked()
        return [struct.pack("<5q", *words[at : at + 5]) for at in range(0, len(words), 5)]

    def registers(self, name: str, layout: str, result: str, calls: list[tuple]) -> list:
        """Call with values in r0 to r3 by `layout`, results from r0 on by `result` (of `struct`)."""
        answers = self.call(name, [struct.pack("<" + layout, *call) for call in calls])
        values = [struct.unpack_from("<" + result, answer) for answer in answers]
        return [value[0] if len(value) == 1 else value for value in values]

    def doubles(self, name: str, calls: list[tuple]) -> list[float]:
        """Call with doubles in d0 to d2 and integers in r0, result in d0."""
        packed = []
        for call in calls:
            integers = [value for value in call if isinstance(value, int)]
            floats = [value for value in call if isinstance(value, float)]
            packed.append(struct.pack("<4i", *(integers + [0] * 4)[:4]) + struct.pack(f"<{len(floats)}d", *floats))
        return [struct.unpack_from("<d", answer, 16)[0] for answer in self.call(name, packed)]

    def raises(self, name: str, call: bytes = b""):
        """Return the exception with which a call ends the kernel."""
        self.order(PLACES[name], list(struct.unpack("<5q", call.ljust(40, b"\0"))))
        requests, exception = self.session.until_end()
        assert requests == []
        (raised,) = exception.exceptions
        return raised["id"], raised["message"], raised["params"]

    def close(self):
        self.order(-1, [])
        assert self.session.until_end() == ([], None)
        self.session.close()


TOLERANCE = {"tgamma": 10, "lgamma": 8, "erfc": 4, "pow": 2, "exp10": 3, "__powidf2": 16}
"""Units in the last place by which two good libraries may differ; else 2."""
BESSEL = ("j0", "j1", "y0", "y1", "jn", "yn")
"""Compared by absolute error: near their zeros, both libraries have large relative errors."""
EXACT = "ceil fabs floor round rint sqrt trunc copysign fmax fmin fmod nextafter fma ldexp".split()


def ordered(value: float) -> int:
    """Return the rank of a double among all doubles, so that neighbours differ by one."""
    (bits,) = struct.unpack("<q", struct.pack("<d", value))
    return bits if bits >= 0 else -(bits & (2**63 - 1))


def assert_close(name, arguments, value, expected):
    place = f"{name}{arguments}: {value!r} instead of {expected!r}"
    if math.isnan(expected) or math.isinf(expected) or name in EXACT:
        assert (math.isnan(value) and math.isnan(expected)) or value == expected, place
    elif name in BESSEL:
        assert math.isclose(value, expected, rel_tol=1e-13, abs_tol=2e-15), place
    else:
        assert abs(ordered(value) - ordered(expected)) <= TOLERANCE.get(name, 2), place
    if expected == 0 and name not in ("fmax", "fmin", *BESSEL):
        assert math.copysign(1, value) == math.copysign(1, expected), place
