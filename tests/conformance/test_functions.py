"""Every function of the kernel ABI's list (section 2.13): it is there, it takes and gives its values in the registers
that the ABI says, preserves the others, and computes what it should.

The kernel `functions` calls what it is told with registers that come from here. Mathematics is compared with the C
library of this machine, integer and conversion helpers with Python's exact arithmetic.
"""

import ctypes
import ctypes.util
import math
import random
import struct
from fractions import Fraction
from pathlib import Path

import pytest
from elftools.elf.elffile import ELFFile

from kairos.contracts import kernel_symbols, mathematics
from tests.support.raw_session import Session, encode

LIBRARY = Path(__file__).parents[1] / "kernels" / "functions.elf"

EABI = {
    "double": "dadd ddiv dmul dsub dcmpeq dcmplt dcmple dcmpge dcmpgt dcmpun",
    "single": "fadd fdiv fmul fsub fcmpeq fcmplt fcmple fcmpge fcmpgt fcmpun",
    "conversions": "d2iz d2uiz d2lz d2ulz f2iz f2uiz f2lz f2ulz f2d i2d ui2d l2d ul2d i2f ui2f l2f ul2f",
    "integer": "lmul llsl llsr lasr idiv ldivmod idivmod uidiv uidivmod uldivmod",
    "memory": "memcpy memmove memset memclr memcpy4 memmove4 memset4 memclr4 memcpy8 memmove8 memset8 memclr8",
}
GROUPS = {
    "time": "now_mu at_mu delay_mu",
    "rpc": "rpc_send rpc_send_async rpc_recv",
    "rtio": "rtio_init rtio_get_destination_status rtio_get_counter rtio_output rtio_output_wide rtio_input_timestamp "
    "rtio_input_data rtio_input_timestamped_data",
    "batching": "rtio_batch_start rtio_batch_end",
    "log": "core_log rtio_log",
    "dma": "dma_record_start dma_record_stop dma_erase dma_retrieve dma_playback",
    "cache": "cache_get cache_put",
    "i2c": "i2c_start i2c_restart i2c_stop i2c_write i2c_read i2c_switch_select",
    "spi": "spi_set_config spi_write spi_read",
    "subkernels": "subkernel_load_run subkernel_await_finish subkernel_send_message subkernel_await_message",
    "coaxpress": "cxp_download_xml_file cxp_read32 cxp_write32 cxp_start_roi_viewer cxp_download_roi_viewer_frame",
    "linalg": "np_linalg_cholesky np_linalg_inv np_linalg_pinv np_linalg_det np_linalg_qr np_linalg_svd "
    "np_linalg_matrix_power sp_linalg_lu sp_linalg_schur sp_linalg_hessenberg",
    "eabi": " ".join(f"__aeabi_{name}" for names in EABI.values() for name in names.split()),
    "libc": "memcpy memmove memset memcmp bcmp strlen",
    "exceptions": "_Unwind_Resume __artiq_personality __artiq_raise __artiq_resume __artiq_end_catch "
    "__nac3_personality __nac3_raise __nac3_resume __nac3_end_catch",
    "llvm": "__powidf2 ldexp",
    "mathematics 1": "acos acosh asin asinh atan atanh cbrt ceil cos cosh erf erfc exp exp2 exp10 expm1 fabs floor j0 "
    "j1 lgamma log log2 log10 round rint sin sinh sqrt tan tanh tgamma trunc y0 y1",
    "mathematics 2": "atan2 copysign fmax fmin fmod hypot nextafter pow",
    "mathematics": "fma jn yn sincos",
    "test": "test_exception_id_sync",
}
"""The list of the ABI, typed from it, with what it says should be there besides (uidivmod, sincos, spi)."""

SPI_ERROR, SUBKERNEL_ERROR, RUNTIME_ERROR, CXP_ERROR = 6, 7, 15, 22
NAN, INFINITY = math.nan, math.inf
VARIABLES = {"rtio_cursor", "rtio_post_2"}
OWN = (
    VARIABLES
    | {"rtio_wait_until_mu", "__kairos_in_flight", "__kairos_end_catch", "__aeabi_d2f", "log1p", "kairos_linalg_solve"}
    | {f"__aeabi_unwind_cpp_pr{n}" for n in range(3)}
)
"""What the firmware has besides."""


def test_the_list_is_all_that_the_firmware_has():
    known = kernel_symbols.SIGNATURES.keys() | set(kernel_symbols.OTHERS) | mathematics.ARGUMENTS.keys()
    assert {name for names in GROUPS.values() for name in names.split()} | OWN == known | VARIABLES


def places() -> dict[str, int]:
    """Name -> place in the kernel's table, from the relocations that fill it."""
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
    """The kernel, asking what to call."""

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
        """Each call is 40 bytes: r0 to r3, d0 to d2; the result too. `memory` is the kernel's buffer afterwards."""
        words = [word for call in calls for word in struct.unpack("<5q", call.ljust(40, b"\0"))]
        self.order(PLACES[name], words)
        self.session.message(10)
        request = self.session.request()
        done, words, self.memory = request.arguments
        assert done == len(calls), f"{name}: a register that it must preserve has changed"
        self.asked()
        return [struct.pack("<5q", *words[at : at + 5]) for at in range(0, len(words), 5)]

    def registers(self, name: str, layout: str, result: str, calls: list[tuple]) -> list:
        """Calls with values in r0 to r3 by `layout`, results from r0 on by `result` (of `struct`)."""
        answers = self.call(name, [struct.pack("<" + layout, *call) for call in calls])
        values = [struct.unpack_from("<" + result, answer) for answer in answers]
        return [value[0] if len(value) == 1 else value for value in values]

    def doubles(self, name: str, calls: list[tuple]) -> list[float]:
        """Calls with doubles in d0 to d2 and integers in r0, result in d0."""
        packed = []
        for call in calls:
            integers = [value for value in call if isinstance(value, int)]
            floats = [value for value in call if isinstance(value, float)]
            packed.append(struct.pack("<4i", *(integers + [0] * 4)[:4]) + struct.pack(f"<{len(floats)}d", *floats))
        return [struct.unpack_from("<d", answer, 16)[0] for answer in self.call(name, packed)]

    def raises(self, name: str, call: bytes = b""):
        """What the exception says that a call ends the kernel with."""
        self.order(PLACES[name], list(struct.unpack("<5q", call.ljust(40, b"\0"))))
        requests, exception = self.session.until_end()
        assert requests == []
        (raised,) = exception.exceptions
        return raised["id"], raised["message"], raised["params"]

    def close(self):
        self.order(-1, [])
        assert self.session.until_end() == ([], None)
        self.session.close()


@pytest.fixture
def functions(device):
    functions = Functions(device)
    yield functions
    functions.close()


def test_every_name_of_the_list_is_there(functions):
    """The kernel imports all of them, and has been loaded."""
    assert set(PLACES) - OWN == {name for names in GROUPS.values() for name in names.split()}


# ---- time and RTIO


def test_time_cursor(functions):
    functions.registers("at_mu", "q", "", [(1 << 40,)])
    assert functions.registers("now_mu", "", "q", [()]) == [1 << 40]
    functions.registers("delay_mu", "q", "", [(-5,), (1 << 33,)])
    assert functions.registers("now_mu", "", "q", [()]) == [(1 << 40) + (1 << 33) - 5]
    functions.registers("at_mu", "q", "", [(2**63 - 1,)])
    functions.registers("delay_mu", "q", "", [(2,)])
    assert functions.registers("now_mu", "", "q", [()]) == [-(2**63) + 1]
    functions.registers("at_mu", "q", "", [(0,)])


def test_destination_status(functions):
    """Without satellites, this device alone."""
    answers = functions.registers("rtio_get_destination_status", "i", "I", [(n,) for n in (0, 1, 255, 256, -1)])
    assert [answer & 1 for answer in answers] == [1, 0, 0, 0, 0]


def test_batches(functions):
    """Outputs of a batch are delivered when it ends; a batch within a batch is refused."""
    functions.registers("rtio_init", "", "", [()])
    (now,) = functions.registers("rtio_get_counter", "", "q", [()])
    functions.registers("at_mu", "q", "", [(now + (1 << 40),)])
    for _ in range(2):
        functions.registers("rtio_batch_start", "", "", [()])
        functions.registers("rtio_output", "ii", "", [(4 << 8, 1)])
        functions.registers("delay_mu", "q", "", [(1000,)])
        functions.registers("rtio_batch_end", "", "", [()])
    functions.registers("rtio_init", "", "", [()])


def test_a_batch_within_a_batch(device):
    functions = Functions(device)
    functions.registers("rtio_batch_start", "", "", [()])
    assert functions.raises("rtio_batch_start") == (RUNTIME_ERROR, "Batched mode is already running.", (0, 0, 0))
    functions.session.close()


# ---- functions without their hardware


@pytest.mark.parametrize("group", ["spi", "subkernels", "coaxpress"])
def test_what_needs_hardware_says_so(device, group):
    expected = {
        "spi": (SPI_ERROR, "SPI bus could not be accessed: this device has no SPI outside of RTIO", (0, 0, 0)),
        "subkernels": (
            SUBKERNEL_ERROR, "Error loading or running the subkernel: this device has no satellites", (0, 0, 0),
        ),
        "coaxpress": (CXP_ERROR, "CXP Grabber is not available on destination {0}", (3, 0, 0)),
    }  # fmt: skip
    for name in GROUPS[group].split():
        functions = Functions(device)
        # The destination, behind the place for a result if there is one.
        arguments = (functions.buffer_at, 3) if name.endswith("frame") else (3, 0)
        assert functions.raises(name, struct.pack("<II", *arguments)) == expected[group], name
        functions.session.close()


# ---- exceptions


@pytest.mark.parametrize(
    "names",
    [
        {f"__artiq_{name}": f"__nac3_{name}" for name in ("raise", "resume", "end_catch", "personality")},
        {"__artiq_resume": "_Unwind_Resume"},
    ],
    ids=["nac3", "unwind"],
)
def test_exceptions_by_other_names(device, names):
    """The same library, in which the functions are called by the names that another compiler has for them."""
    library = LIBRARY.with_name("exceptions.elf").read_bytes()
    other = library
    for old, new in names.items():
        assert old.encode() + b"\0" in other
        other = other.replace(old.encode() + b"\0", new.encode().ljust(len(old) + 1, b"\0"))
    ends = []
    for each in (library, other):
        with Session(device) as session:
            assert session.load(each) is None
            session.run()
            requests, exception = session.until_end()
            ends.append((requests, exception.exceptions))
    assert len(ends[0][0]) > 10 and ends[0] == ends[1]


# ---- mathematics

SPECIAL = [
    0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.0, -2.0, 1.5, -1.5, 2.5, -2.5, 3.0, 10.0, -10.0, 0.1, 1e-8, -1e-8, 20.25, 709.0,
    -745.0, 1e10, -1e10, 1e300, -1e300, 1e-300, 5e-324, 2.0**52 + 0.5, 2.0**53, -(2.0**31) - 0.5, math.pi,
    math.pi / 2, INFINITY, -INFINITY, NAN,
]  # fmt: skip
TOLERANCE = {"tgamma": 10, "lgamma": 8, "erfc": 4, "pow": 2, "exp10": 3, "__powidf2": 16}
"""Units in the last place by which two good libraries may differ; else 2."""
BESSEL = ("j0", "j1", "y0", "y1", "jn", "yn")
"""Compared by absolute error: near their zeros, the relative error of both libraries is large."""
EXACT = "ceil fabs floor round rint sqrt trunc copysign fmax fmin fmod nextafter fma ldexp".split()


def c_function(name, *types):
    library = ctypes.CDLL(ctypes.util.find_library("m"))
    function = getattr(library, name)
    function.restype, function.argtypes = ctypes.c_double, types
    return function


def ordered(value: float) -> int:
    """Position of a double among all, so that neighbours differ by one."""
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


def arguments(rng):
    """Special values and random ones of every size."""
    return SPECIAL + [rng.choice((-1, 1)) * rng.uniform(1, 10) * 10.0 ** rng.randint(-6, 4) for _ in range(40)]


@pytest.mark.parametrize("name", GROUPS["mathematics 1"].split())
def test_functions_of_one_argument(functions, name):
    calls = [(x,) for x in arguments(random.Random(name))]
    if name in BESSEL:
        # Beyond, both libraries lose digits to the reduction of the argument.
        calls = [(x,) for (x,) in calls if not 1e6 < abs(x) < INFINITY]
    reference = c_function(name, ctypes.c_double)
    for (x,), value in zip(calls, functions.doubles(name, calls), strict=True):
        assert_close(name, (x,), value, reference(x))


@pytest.mark.parametrize("name", GROUPS["mathematics 2"].split())
def test_functions_of_two_arguments(functions, name):
    rng = random.Random(name)
    some = [0.0, -0.0, 1.0, -1.0, 0.5, -2.0, 3.0, 1e300, 5e-324, INFINITY, -INFINITY, NAN]
    calls = [(x, y) for x in some for y in some]
    calls += [(x, y) for x, y in zip(arguments(rng), reversed(arguments(rng)), strict=True)]
    reference = c_function(name, ctypes.c_double, ctypes.c_double)
    for call, value in zip(calls, functions.doubles(name, calls), strict=True):
        assert_close(name, call, value, reference(*call))


def test_fused_multiply_add(functions):
    rng = random.Random(1)
    calls = [tuple(rng.uniform(-1, 1) for _ in range(3)) for _ in range(50)]
    x = 1.0 + 2.0**-30
    calls += [(x, x, -(1.0 + 2.0**-29)), (1e300, 1e300, -INFINITY), (INFINITY, 0.0, 1.0), (5e-324, 0.5, 5e-324)]
    reference = c_function("fma", *[ctypes.c_double] * 3)
    for call, value in zip(calls, functions.doubles("fma", calls), strict=True):
        assert_close("fma", call, value, reference(*call))


@pytest.mark.parametrize("name", ["jn", "yn"])
def test_bessel_functions_of_any_order(functions, name):
    calls = [(n, x) for n in (-3, -1, 0, 1, 2, 7, 40) for x in (0.0, 0.25, 1.0, 2.5, 17.0, 1e4, INFINITY, NAN)]
    reference = c_function(name, ctypes.c_int, ctypes.c_double)
    for call, value in zip(calls, functions.doubles(name, calls), strict=True):
        assert_close(name, call, value, reference(*call))


def test_scaling_by_powers_of_two(functions):
    calls = [(n, x) for n in (0, 1, -1, 52, 1023, -1074, 2100, -2100, 2**31 - 1, -(2**31)) for x in SPECIAL]
    reference = c_function("ldexp", ctypes.c_double, ctypes.c_int)
    for (n, x), value in zip(calls, functions.doubles("ldexp", calls), strict=True):
        assert_close("ldexp", (x, n), value, reference(x, n))


def test_integer_powers(functions):
    calls = [(n, x) for n in (0, 1, 2, 3, 10, 31, -1, -7) for x in (0.5, -1.5, 3.0, 1.0, -0.0, 1e30, INFINITY, NAN)]
    reference = c_function("pow", ctypes.c_double, ctypes.c_double)
    for (n, x), value in zip(calls, functions.doubles("__powidf2", calls), strict=True):
        assert_close("__powidf2", (x, n), value, reference(x, float(n)))


def test_sine_and_cosine_at_once(functions):
    for x in (0.0, 0.5, -2.0, 1e5, math.pi):
        place = struct.pack("<IIII", functions.buffer_at, functions.buffer_at + 16, 0, 0)
        functions.call("sincos", [place + struct.pack("<d", x)])
        assert struct.unpack_from("<d8xd", functions.memory) == pytest.approx((math.sin(x), math.cos(x)), rel=3e-16)


# ---- helpers of the compiler: base calling convention, values in core registers


def single(value: float) -> float:
    """Rounded to binary32."""
    try:
        return struct.unpack("<f", struct.pack("<f", value))[0]
    except OverflowError:
        return math.copysign(INFINITY, value)


def divided(x: float, y: float) -> float:
    if y != 0:
        return x / y
    return NAN if x == 0 or math.isnan(x) else math.copysign(INFINITY, x) * math.copysign(1, y)


ARITHMETIC = {"add": lambda x, y: x + y, "sub": lambda x, y: x - y, "mul": lambda x, y: x * y, "div": divided}
COMPARISONS = {
    "eq": lambda x, y: x == y, "lt": lambda x, y: x < y, "le": lambda x, y: x <= y, "ge": lambda x, y: x >= y,
    "gt": lambda x, y: x > y, "un": lambda x, y: math.isnan(x) or math.isnan(y),
}  # fmt: skip


@pytest.mark.parametrize("size", ["d", "f"])
def test_arithmetic_and_comparisons(functions, size):
    """Double arithmetic here is the processor's own; that of singles is exact in doubles but for the last rounding."""
    rng = random.Random(size)
    some = [0.0, -0.0, 1.0, -1.0, 3.0, INFINITY, -INFINITY, NAN]
    calls = [(x, y) for x in some for y in some]
    calls += [(rng.uniform(-100, 100), rng.uniform(-1, 1) * 10 ** rng.randint(-20, 20)) for _ in range(60)]
    if size == "f":
        calls = [(single(x), single(y)) for x, y in calls]
    for name, reference in ARITHMETIC.items():
        answers = functions.registers(f"__aeabi_{size}{name}", 2 * size, size, calls)
        for (x, y), value in zip(calls, answers, strict=True):
            expected = reference(x, y)
            expected = single(expected) if size == "f" and math.isfinite(expected) else expected
            assert_close("fma", (name, x, y), value, expected)
    for name, reference in COMPARISONS.items():
        answers = functions.registers(f"__aeabi_{size}cmp{name}", 2 * size, "I", calls)
        assert answers == [int(reference(x, y)) for x, y in calls], name


@pytest.mark.parametrize("size", ["d", "f"])
@pytest.mark.parametrize(("suffix", "layout"), [("iz", "i"), ("uiz", "I"), ("lz", "q"), ("ulz", "Q")])
def test_floats_to_integers(functions, size, suffix, layout):
    rng = random.Random(suffix)
    bits = 8 * struct.calcsize(layout) - layout.islower()
    values = [0.0, -0.0, 0.99, 1.0, 1.5, 2.0 ** (bits - 1), 2.0**bits * (1 - 2**-24)]
    values += [rng.uniform(0, 2**n) for n in range(1, bits) for _ in range(2)]
    if layout.islower():
        values += [-x for x in values] + [-(2.0**bits)]
    if size == "f":
        values = [single(x) for x in values if single(x) < 2**bits]
    answers = functions.registers(f"__aeabi_{size}2{suffix}", size, layout, [(x,) for x in values])
    assert answers == [math.trunc(x) for x in values]


@pytest.mark.parametrize("size", ["d", "f"])
@pytest.mark.parametrize(("prefix", "layout"), [("i", "i"), ("ui", "I"), ("l", "q"), ("ul", "Q")])
def test_integers_to_floats(functions, size, prefix, layout):
    """Rounded once, to nearest, ties to even."""
    rng = random.Random(prefix)
    bits = 8 * struct.calcsize(layout) - layout.islower()
    values = [0, 1, 2**bits - 1, 2**24 + 1, 2**24 + 3, 2 ** (bits - 1) + 1]
    values += [rng.getrandbits(rng.randint(1, bits)) for _ in range(100)]
    if bits > 54:
        values += [2**53 + 1, 2**53 + 3, 2**54 + 2, (1 << 62) + (1 << 38), (1 << 62) + (1 << 38) + 1]
    if layout.islower():
        values += [-value for value in values] + [-(2**bits)]

    def rounded(value):
        if size == "d":
            return float(value)
        exponent = max(abs(value).bit_length() - 24, 0)
        return math.ldexp(round(Fraction(value, 2**exponent)), exponent)

    answers = functions.registers(f"__aeabi_{prefix}2{size}", layout, size, [(value,) for value in values])
    assert answers == [rounded(value) for value in values]


def test_single_to_double(functions):
    values = [0.0, -0.0, 1.5, single(0.1), single(1e-42), single(3e38), INFINITY, -INFINITY]
    assert functions.registers("__aeabi_f2d", "f", "d", [(x,) for x in values]) == values


def integers(rng, layout, count=100):
    """Pairs of which the second is not 0, with edges."""
    bits = 8 * struct.calcsize(layout)
    low, high = (-(2 ** (bits - 1)), 2 ** (bits - 1)) if layout.islower() else (0, 2**bits)
    edges = [low, low + 1, 0, 1, 2, 3, 10, high // 2, high - 1] + ([-1, -2, -10] if low else [])

    def some():
        value = rng.getrandbits(rng.randint(1, bits - 1))
        return value * rng.choice((1, -1)) if low else value

    pairs = [(x, y) for x in edges for y in edges] + [(some(), some()) for _ in range(count)]
    # The most negative number by -1 has no quotient.
    return [(x, y) for x, y in pairs if y != 0 and (x, y) != (low, -1)]


@pytest.mark.parametrize(
    ("name", "layout", "with_remainder"),
    [("idiv", "i", False), ("idivmod", "i", True), ("uidiv", "I", False), ("uidivmod", "I", True),
     ("ldivmod", "q", True), ("uldivmod", "Q", True)],
)  # fmt: skip
def test_division(functions, name, layout, with_remainder):
    calls = integers(random.Random(name), layout)
    answers = functions.registers(f"__aeabi_{name}", 2 * layout, (1 + with_remainder) * layout, calls)
    for (x, y), answer in zip(calls, answers, strict=True):
        quotient = abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1)
        assert answer == ((quotient, x - quotient * y) if with_remainder else quotient), (x, y)


def test_multiplication_and_shifts(functions):
    rng = random.Random(1)
    mask = 2**64 - 1
    pairs = [(x & mask, y & mask) for x, y in integers(rng, "q")]
    assert functions.registers("__aeabi_lmul", "QQ", "Q", pairs) == [x * y & mask for x, y in pairs]
    shifts = [(rng.getrandbits(64), n) for n in range(64)]
    assert functions.registers("__aeabi_llsl", "QI", "Q", shifts) == [x << n & mask for x, n in shifts]
    assert functions.registers("__aeabi_llsr", "QI", "Q", shifts) == [x >> n for x, n in shifts]
    signed = [(x - (1 << 64) * (x >> 63), n) for x, n in shifts]
    assert functions.registers("__aeabi_lasr", "qI", "q", signed) == [x >> n for x, n in signed]


# ---- memory

FRESH = bytes(~i & 0xFF for i in range(256))
"""The kernel's buffer before each call."""


@pytest.mark.parametrize("suffix", ["", "4", "8"])
def test_memory_helpers(functions, suffix):
    """Those for aligned memory too; the value comes last in memset's EABI form."""
    step = int(suffix or 1)
    at = functions.buffer_at
    for to, source, length in [(0, 128, 64), (64, 8, 40), (24, 16, 0), (step, 160, 7 * step), (0, 200, 3)]:
        expected = bytearray(FRESH)
        expected[to : to + length] = FRESH[source : source + length]
        for name in ("memcpy", "memmove"):
            functions.registers(f"__aeabi_{name}{suffix}", "III", "", [(at + to, at + source, length)])
            assert functions.memory == expected, (name, to, source, length)
        for name, value in (("memset", 0x1A5), ("memclr", 0)):
            expected[to : to + length] = bytes([value & 0xFF]) * length
            functions.registers(f"__aeabi_{name}{suffix}", "III", "", [(at + to, length, value)])
            filled = bytearray(FRESH)
            filled[to : to + length] = bytes([value & 0xFF]) * length
            assert functions.memory == filled, (name, to, length)
    functions.registers(f"__aeabi_memmove{suffix}", "III", "", [(at + step, at, 100)])
    assert functions.memory == FRESH[:step] + FRESH[:100] + FRESH[100 + step :]


def test_memory_functions_of_c(functions):
    at = functions.buffer_at
    assert functions.registers("memcpy", "III", "I", [(at + 3, at + 100, 50)]) == [at + 3]
    assert functions.memory == FRESH[:3] + FRESH[100:150] + FRESH[53:]
    assert functions.registers("memmove", "III", "I", [(at + 3, at, 50)]) == [at + 3]
    assert functions.memory == FRESH[:3] + FRESH[:50] + FRESH[53:]
    assert functions.registers("memset", "IiI", "I", [(at + 5, 0x17F, 9)]) == [at + 5]
    assert functions.memory == FRESH[:5] + b"\x7f" * 9 + FRESH[14:]
    # The buffer falls from 255 to 0.
    pairs = [(at, at + 1, 10), (at + 1, at, 10), (at, at, 10), (at, at + 9, 0)]
    signs = [(x > 0) - (x < 0) for x in functions.registers("memcmp", "III", "i", pairs)]
    assert signs == [1, -1, 0, 0]
    assert [x != 0 for x in functions.registers("bcmp", "III", "i", pairs)] == [True, True, False, False]
    assert functions.registers("strlen", "I", "I", [(at,), (at + 250,), (at + 255,)]) == [255, 5, 0]
