"""Errors of drivers, each with the text shown to users: invalid arguments, wrong answers of cards,
or none."""

import re
import subprocess
import sys

import pytest

from kairos.coredevice.adf5356_pll import reference_divider
from kairos.coredevice.parts.scales import Scale

from .traffic import KernelError, devices, run

SPI, GRABBER, COUNTER, CORE = 1, 31, 40, 50
ENTRIES = {
    "spi": ("spi2.SPIMaster", {"channel": SPI}),
    "update": ("ttl.TTLOut", {"channel": 2}),
    "cpld": ("urukul.CPLD", {"spi_device": "spi", "io_update_device": "update"}),
    "undivided": ("urukul.CPLD", {"spi_device": "spi", "io_update_device": "update", "clk_div": 1}),
    "revision8": ("urukul.CPLD", {"spi_device": "spi", "io_update_device": "update", "proto_rev": 8}),
    "dds": ("ad9910.AD9910", {"chip_select": 5, "cpld_device": "cpld", "pll_n": 32}),
    "mirny": ("mirny.Mirny", {"spi_device": "spi", "clk_sel": 2}),
    "dac": ("zotino.Zotino", {"spi_device": "spi", "ldac_device": "update"}),
    "counter": ("edge_counter.EdgeCounter", {"channel": COUNTER}),
    "grabber": ("grabber.Grabber", {"channel_base": GRABBER}),
    "cxp": ("cxp_grabber.CXPGrabber", {"channel": GRABBER}),
    "pages": ("bridge.SharedPages", {"destination": 0}),
    "memory": ("remote_memory.RemoteMemory", {"destination": 0}),
}
HOT = 0b10000
"""Flag of an overheated AD53xx, in its control register."""


@pytest.fixture(scope="module")
def get():
    return devices(ENTRIES).get


@pytest.mark.parametrize(
    "driver, arguments, text",
    [
        ("ad9910.AD9910", {"chip_select": 2}, "chip_select of an AD9910 is between 3 and 7, not 2"),
        ("ad9912.AD9912", {"chip_select": 3}, "chip_select of an AD9912 is between 4 and 7, not 3"),
        (
            "ad9914.AD9914",
            {"sysclk": 3e9, "bus_channel": 3, "channel": 15},
            "channel of an AD9914 is between 0 and 14, not 15",
        ),
        (
            "ad9910.AD9910",
            {"chip_select": 5, "cpld_device": "undivided"},
            "the PLL of an AD9910 takes at most 60 MHz, not 125.0 MHz",
        ),
        (
            "ad9910.AD9910",
            {"chip_select": 5, "pll_n": 12},
            "375.0 MHz is outside of the range of its oscillator 5, 820.0 to 1150.0 MHz (pll_n, pll_vco)",
        ),
        (
            "ad9910.AD9910",
            {"chip_select": 5, "pll_n": 32, "sync_delay_seed": "card", "io_update_delay": "card"},
            "'card' is not the location of a calibration: give EEPROM_DEVICE:OFFSET",
        ),
        (
            "adf5356.ADF5356",
            {"cpld_device": "mirny", "sw_device": "update", "channel": 4},
            "channel of an ADF5356 is between 0 and 3, not 4",
        ),
        (
            "almazny.AlmaznyChannel",
            {"host_mirny": "mirny", "channel": 4},
            "channel of an Almazny is between 0 and 3, not 4",
        ),
        ("ttl.TTLOut", {"channel": "ttl0"}, "a channel is a number, not 'ttl0'"),
        ("ttl.TTLOut", {"channel": -12}, "a channel is 0 or more, not -12"),
        ("phaser.Phaser", {"channel_base": 60, "gw_rev": 3}, "gw_rev of a Phaser is 1 (base) or 2 (Miqro), not 3"),
        (
            "suservo.SUServo",
            {"channel": 8, "pgia_device": "spi", "cpld_devices": [], "dds_devices": []},
            "an SU-Servo needs the logic and the synthesisers of each of its Urukuls",
        ),
        ("urukul.CPLD", {"spi_device": "spi", "sync_div": 2}, "sync_div of an Urukul needs sync_device"),
    ],
)
def test_invalid_constructor_argument_is_rejected(driver, arguments, text):
    if driver.startswith(("ad9910", "ad9912")):
        arguments = {"cpld_device": "cpld"} | arguments
    with pytest.raises(Exception, match=re.escape(text)):
        devices(ENTRIES | {"refused": (driver, arguments)}).get("refused")


@pytest.mark.parametrize(
    "device, method, args, data, text",
    [
        ("cpld", "init", (), [8 << 16], "ValueError: Urukul proto_rev mismatch"),
        ("dds", "init", (), [0x7F00], "ValueError: Urukul AD9910 AUX_DAC mismatch"),
        ("dac", "init", (), [0xFFFF], "ValueError: DAC not found"),
        ("dac", "init", (), [HOT], "ValueError: DAC over temperature"),
        ("dac", "init", (), [0, 0xFF], "ValueError: DAC CONTROL readback mismatch"),
        ("dac", "calibrate", (0, 0.0, 1.0), (), "ValueError: the gain of the DAC channel is too low for calibration"),
        (
            "dac",
            "read_reg",
            (),
            (),
            "nothing was read on the SPI bus of RTIO channel 1: call init() of the card before it is read",
        ),
        ("pages", "show", (256,), (), "ValueError: the range has pages 0 to 255"),
        ("pages", "show", (0, 4097), (), "ValueError: pages begin at multiples of 4096"),
        ("pages", "show", (0, 4096, 2), (), "ValueError: rights to a page are 1, read, or 3, read and write"),
        ("memory", "export", (4,), (), "ValueError: a link has regions 0 to 3"),
        (
            "memory",
            "show",
            (3, 0, 0, 8, 2),
            (),
            "ValueError: rights to a region are 0, none, 1, read, or 3, read and write",
        ),
        ("pages", "hide", (-1,), (), "ValueError: the range has pages 0 to 255"),
        ("counter", "fetch_count", (), [2**30 - 1], "CounterOverflow: the edge counter on RTIO channel 40 is full"),
        (
            "revision8",
            "cfg_osk",
            (1, True),
            (),
            "NotImplementedError: this needs an Urukul with protocol revision 9",
        ),
        (
            "grabber",
            "input_mu",
            ([0],),
            (),
            "GrabberTimeoutException: Timeout before Grabber frame available",
        ),
        (
            "grabber",
            "input_mu",
            ([0],),
            [-(2**31)],
            "GrabberTimeoutException: Timeout retrieving ROIs (attempting to read more ROIs than enabled?)",
        ),
        (
            "cxp",
            "input_mu",
            ([0],),
            (),
            "CXPGrabberTimeoutException: Timeout before CoaXPress Grabber frame available",
        ),
        (
            "cxp",
            "input_mu",
            ([0],),
            [-(2**31)],
            "CXPGrabberTimeoutException: Timeout retrieving ROIs (attempting to read more ROIs than enabled?)",
        ),
        (
            "grabber",
            "input_mu",
            ([0],),
            [1],
            "OutOfSyncException: a frame has an unexpected number of results: are other regions gated?",
        ),
    ],
)
def test_kernel_error_has_its_message(get, device, method, args, data, text):
    with pytest.raises(KernelError, match=re.escape(text)):
        run(getattr(get(device), method), *args, data=data)


def test_host_error_has_its_message(get):
    with pytest.raises(ValueError, match=r"an ADF5356 cannot divide its reference of 0.0 MHz"):
        reference_divider(0.0, False, False)
    with pytest.raises(ValueError, match="out of the range of a scale"):
        Scale(bits=8, steps=1).code(256)
    with pytest.raises(OSError, match="No analyzer proxy configured"):
        get("core").trigger_analyzer_proxy()


def test_missing_compiler_is_reported_with_the_remedy():
    program = (
        "import sys; sys.modules['kairos._native'] = None\nfrom kairos.coredevice.core import load_compiler as f; f()"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert "the compiler is not built: 'make host' in the Kairos checkout, or 'pip install .', builds it" in done.stderr
