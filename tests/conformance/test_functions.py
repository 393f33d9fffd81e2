"""Every function of the kernel ABI's list (section 2.13): it exists, passes arguments and results
in the registers given by the ABI, preserves the others, and computes the correct result.

The kernel `functions` calls a requested function with register values sent from here. Mathematics
is compared with this machine's C library, integer and conversion helpers with Python's exact
arithmetic.
"""

import ctypes
import ctypes.util
import math
import random
import struct

import pytest

from kairos.contracts import kernel_symbols, mathematics
from tests.support.functions import BESSEL, LIBRARY, PLACES, Functions, assert_close
from tests.support.raw_session import Session

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
"""Copy of the ABI's list, with the functions it recommends in addition (uidivmod, sincos, spi)."""

SPI_ERROR, SUBKERNEL_ERROR, RUNTIME_ERROR, CXP_ERROR = 6, 7, 15, 22
NAN, INFINITY = math.nan, math.inf
VARIABLES = {"rtio_cursor", "rtio_post_2"}
REMOTE = "remote_pointer remote_load remote_store remote_read remote_write remote_export remote_copy"
REMOTE = [*REMOTE.split(), "remote_copy_pieces", "remote_post", "remote_wait", "remote_bridge"]
OWN = (
    VARIABLES
    | {"rtio_wait_until_mu", "__kairos_in_flight", "__kairos_end_catch", "__aeabi_d2f", "log1p", "kairos_linalg_solve"}
    | {"pulse_update", "pulse_update_all", "pulse_make", "pulse_store", "pulse_change"}
    | {"pulse_stream", "pulse_note", "pulse_noted"}
    | set(REMOTE)
    | {f"__aeabi_unwind_cpp_pr{n}" for n in range(3)}
)
"""Further functions of the firmware."""


def test_firmware_has_only_listed_symbols():
    known = kernel_symbols.SIGNATURES.keys() | set(kernel_symbols.OTHERS) | mathematics.ARGUMENTS.keys()
    assert {name for names in GROUPS.values() for name in names.split()} | OWN == known | VARIABLES


@pytest.fixture
def functions(device):
    functions = Functions(device)
    yield functions
    functions.close()


def test_every_listed_symbol_exists_in_firmware(functions):
    """The kernel, which imports all of them, has been loaded."""
    assert set(PLACES) - OWN == {name for names in GROUPS.values() for name in names.split()}


# ---- time and RTIO


def test_time_cursor_functions_move_and_wrap_the_cursor(functions):
    functions.registers("at_mu", "q", "", [(1 << 40,)])
    assert functions.registers("now_mu", "", "q", [()]) == [1 << 40]
    functions.registers("delay_mu", "q", "", [(-5,), (1 << 33,)])
    assert functions.registers("now_mu", "", "q", [()]) == [(1 << 40) + (1 << 33) - 5]
    functions.registers("at_mu", "q", "", [(2**63 - 1,)])
    functions.registers("delay_mu", "q", "", [(2,)])
    assert functions.registers("now_mu", "", "q", [()]) == [-(2**63) + 1]
    functions.registers("at_mu", "q", "", [(0,)])


def test_destination_status_is_up_for_this_device_only(functions):
    """Without satellites, only this device is up."""
    answers = functions.registers("rtio_get_destination_status", "i", "I", [(n,) for n in (0, 1, 255, 256, -1)])
    assert [answer & 1 for answer in answers] == [1, 0, 0, 0, 0]


def test_outputs_of_a_batch_are_delivered_at_its_end(functions):
    """Outputs of a batch are delivered when it ends; nested batches are rejected."""
    functions.registers("rtio_init", "", "", [()])
    (now,) = functions.registers("rtio_get_counter", "", "q", [()])
    functions.registers("at_mu", "q", "", [(now + (1 << 40),)])
    for _ in range(2):
        functions.registers("rtio_batch_start", "", "", [()])
        functions.registers("rtio_output", "ii", "", [(4 << 8, 1)])
        functions.registers("delay_mu", "q", "", [(1000,)])
        functions.registers("rtio_batch_end", "", "", [()])
    functions.registers("rtio_init", "", "", [()])


def test_batch_within_batch_is_refused(device):
    functions = Functions(device)
    functions.registers("rtio_batch_start", "", "", [()])
    assert functions.raises("rtio_batch_start") == (RUNTIME_ERROR, "Batched mode is already running.", (0, 0, 0))
    functions.session.close()


# ---- functions without their hardware


@pytest.mark.parametrize("group", ["spi", "coaxpress"])
def test_functions_without_their_hardware_raise_an_error(device, group):
    expected = {
        "spi": (SPI_ERROR, "SPI bus could not be accessed: this device has no SPI outside of RTIO", (0, 0, 0)),
        "coaxpress": (CXP_ERROR, "CXP Grabber is not available on destination {0}", (3, 0, 0)),
    }  # fmt: skip
    for name in GROUPS[group].split():
        functions = Functions(device)
        # The destination, after the address of the result, if any.
        arguments = (functions.buffer_at, 3) if name.endswith("frame") else (3, 0)
        assert functions.raises(name, struct.pack("<II", *arguments)) == expected[group], name
        functions.session.close()


def test_subkernel_that_was_not_sent_raises(device):
    message = "Error loading or running the subkernel on destination {0}: see the log"
    for name, board in [("subkernel_load_run", 3), ("subkernel_await_finish", 0)]:
        functions = Functions(device)
        assert functions.raises(name, struct.pack("<II", 7, 3)) == (SUBKERNEL_ERROR, message, (board, 0, 0)), name
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
def test_exceptions_under_other_function_names_behave_alike(device, names):
    """The same library with the function names that another compiler uses."""
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


def c_function(name, *types):
    library = ctypes.CDLL(ctypes.util.find_library("m"))
    function = getattr(library, name)
    function.restype, function.argtypes = ctypes.c_double, types
    return function


def arguments(rng):
    """Returns special values, and random values of every magnitude."""
    return SPECIAL + [rng.choice((-1, 1)) * rng.uniform(1, 10) * 10.0 ** rng.randint(-6, 4) for _ in range(40)]


@pytest.mark.parametrize("name", GROUPS["mathematics 1"].split())
def test_functions_of_one_argument_agree_with_libm(functions, name):
    calls = [(x,) for x in arguments(random.Random(name))]
    if name in BESSEL:
        # Beyond, both libraries lose digits in argument reduction.
        calls = [(x,) for (x,) in calls if not 1e6 < abs(x) < INFINITY]
    reference = c_function(name, ctypes.c_double)
    for (x,), value in zip(calls, functions.doubles(name, calls), strict=True):
        assert_close(name, (x,), value, reference(x))


@pytest.mark.parametrize("name", GROUPS["mathematics 2"].split())
def test_functions_of_two_arguments_agree_with_libm(functions, name):
    rng = random.Random(name)
    some = [0.0, -0.0, 1.0, -1.0, 0.5, -2.0, 3.0, 1e300, 5e-324, INFINITY, -INFINITY, NAN]
    calls = [(x, y) for x in some for y in some]
    calls += [(x, y) for x, y in zip(arguments(rng), reversed(arguments(rng)), strict=True)]
    reference = c_function(name, ctypes.c_double, ctypes.c_double)
    for call, value in zip(calls, functions.doubles(name, calls), strict=True):
        assert_close(name, call, value, reference(*call))


def test_fused_multiply_add_is_rounded_once(functions):
    rng = random.Random(1)
    calls = [tuple(rng.uniform(-1, 1) for _ in range(3)) for _ in range(50)]
    x = 1.0 + 2.0**-30
    calls += [(x, x, -(1.0 + 2.0**-29)), (1e300, 1e300, -INFINITY), (INFINITY, 0.0, 1.0), (5e-324, 0.5, 5e-324)]
    reference = c_function("fma", *[ctypes.c_double] * 3)
    for call, value in zip(calls, functions.doubles("fma", calls), strict=True):
        assert_close("fma", call, value, reference(*call))


@pytest.mark.parametrize("name", ["jn", "yn"])
def test_bessel_functions_of_any_order_agree_with_libm(functions, name):
    calls = [(n, x) for n in (-3, -1, 0, 1, 2, 7, 40) for x in (0.0, 0.25, 1.0, 2.5, 17.0, 1e4, INFINITY, NAN)]
    reference = c_function(name, ctypes.c_int, ctypes.c_double)
    for call, value in zip(calls, functions.doubles(name, calls), strict=True):
        assert_close(name, call, value, reference(*call))


def test_scaling_by_powers_of_two_is_exact(functions):
    calls = [(n, x) for n in (0, 1, -1, 52, 1023, -1074, 2100, -2100, 2**31 - 1, -(2**31)) for x in SPECIAL]
    reference = c_function("ldexp", ctypes.c_double, ctypes.c_int)
    for (n, x), value in zip(calls, functions.doubles("ldexp", calls), strict=True):
        assert_close("ldexp", (x, n), value, reference(x, n))


def test_integer_powers_agree_with_libm(functions):
    calls = [(n, x) for n in (0, 1, 2, 3, 10, 31, -1, -7) for x in (0.5, -1.5, 3.0, 1.0, -0.0, 1e30, INFINITY, NAN)]
    reference = c_function("pow", ctypes.c_double, ctypes.c_double)
    for (n, x), value in zip(calls, functions.doubles("__powidf2", calls), strict=True):
        assert_close("__powidf2", (x, n), value, reference(x, float(n)))


def test_combined_sine_and_cosine_agree_with_libm(functions):
    for x in (0.0, 0.5, -2.0, 1e5, math.pi):
        place = struct.pack("<IIII", functions.buffer_at, functions.buffer_at + 16, 0, 0)
        functions.call("sincos", [place + struct.pack("<d", x)])
        assert struct.unpack_from("<d8xd", functions.memory) == pytest.approx((math.sin(x), math.cos(x)), rel=3e-16)
