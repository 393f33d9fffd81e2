"""SPI buses through the hub: the data at a chip, during an experiment, from the command line."""

import threading
from pathlib import Path

import pytest

from kairos.hub import HubError, Program
from tests.support.command import run_kairos
from tests.support.gateware import built, database
from tests.support.hub import demo_lab
from tests.support.spi import transfers_of
from tests.support.waiting import until

BESIDE = Path(__file__).with_name("experiments") / "spi_beside.py"
BUS = "dio_spi0"


@pytest.fixture(scope="module")
def device(tmp_path_factory, start_device):
    device = start_device(tmp_path_factory.mktemp("device"), gateware=built("lab") / "libkairos_pl.so")
    yield device
    device.close()


@pytest.fixture
def demo(hub):
    with demo_lab(hub) as lab:
        yield lab["demo"]


def recorded(device, since=None):
    """Return (names of pads by number, [(time, pad, level)]) of the trace."""
    trace = device.control("trace", **{"from": 0})
    return {pad["index"]: pad["name"] for pad in trace["pads"]}, trace["events"]


def carried(device, bus, selects):
    names, events = recorded(device)
    return transfers_of(((names[pad], level) for _, pad, level in events), bus, selects)


def test_chip_receives_transferred_bits(demo, device):
    assert BUS in list(demo.spi)
    device.control("trace_clear")
    demo.spi[BUS].transfer(0x5A, 8, divider=10)
    demo.spi[BUS].transfer(0x12345678, 32, cs=2, divider=4)
    demo.spi[BUS].transfer(0b110, 3, cs=1, divider=4, lsb_first=True)
    until(lambda: len(carried(device, BUS, 2)) == 3)
    assert carried(device, BUS, 2) == [(1, 8, 0x5A), (2, 32, 0x12345678), (1, 3, 0b011)]


def test_answer_of_a_chip_is_returned(demo, device):
    names, _ = recorded(device)
    (miso,) = (index for index, name in names.items() if name == f"{BUS}_miso")
    for level in (1, 0):
        device.control("pad", index=miso, level=level)
        assert demo.spi[BUS].transfer(0, 12, input=True) == 0xFFF * level
    program = Program()
    with program.loop(3):
        program.spi(BUS, 0, 4, input=True)
    assert demo.run(program) == [0, 0, 0]


def test_impossible_spi_transfer_is_refused(demo):
    for work, text in (
        (lambda: demo.spi[BUS].transfer(0, 33), "1 to 32 bits"),
        (lambda: demo.spi[BUS].transfer(0, 8, divider=1), "divider of 2"),
        (lambda: demo.spi[BUS].transfer(0x100, 8), "256 has more than 8 bits"),
    ):
        with pytest.raises(HubError, match=text) as failed:
            work()
        assert failed.value.code == "INVALID_ARGUMENT"
    with pytest.raises(KeyError, match="no 'ttl4' among its SPI buses"):
        demo.spi["ttl4"]
    program = Program()
    program.spi("ttl4", 0, 8)
    with pytest.raises(HubError, match="ttl4 is not an SPI master but ttl_out"):
        demo.run(program)


def test_experiment_is_unchanged_by_spi_transfers(demo, device, kairos, tmp_path):
    """Its pins, and another SPI bus, to the nanosecond, while the hub uses one bus at full speed."""
    path = database("lab", tmp_path)
    path.write_text(path.read_text().replace("'emulator://lab'", f"'{device.host}:{device.port}'"))

    def edges():
        device.control("trace_clear")
        run = kairos("run", BESIDE, device_db=path)
        assert run.returncode == 0, run.stdout + run.stderr
        names, events = recorded(device)
        ours = [(when, names[pad], level) for when, pad, level in events if not names[pad].startswith(BUS)]
        first = next(when for when, name, _ in ours if name == "ttl4")
        return [(when - first, name, level) for when, name, level in ours if when >= first]

    # The first run starts with pins that have not been driven yet.
    edges()
    done = threading.Event()
    rounds = []

    def transfer():
        program = Program()
        with program.loop(500):
            program.spi(BUS, 0xA5, 8, divider=4)
        while not done.is_set():
            rounds.append(demo.run(program))

    other = threading.Thread(target=transfer)
    other.start()
    try:
        busy = edges()
    finally:
        done.set()
        other.join()
    assert len(busy) > 200 * 10 and len(rounds) > 1
    assert busy == edges()


def test_command_line_transfers_on_spi(hub, demo):
    def run(*words):
        return run_kairos("hub", "spi", *words, "--cs", "2", "--hub", hub.address)

    done = run(f"demo/{BUS}", "0x5a", "1", "--mode", "1", "--hertz", "5e6")
    assert done.returncode == 0 and done.stdout == "00 00\n", done.stdout + done.stderr
    wrong = run("demo/none", "1")
    assert wrong.returncode == 1 and BUS in wrong.stderr, wrong.stderr
