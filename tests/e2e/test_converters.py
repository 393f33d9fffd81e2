"""DAC and ADC cards with their chips on the bench: drivers, voltages between cards, and violations
of the data sheets."""

import pprint
from contextlib import nullcontext
from pathlib import Path

import pytest

from kairos.devices import DeviceDB
from kairos.testing import Bench
from tests.support.databases import written

EXPERIMENTS = Path(__file__).with_name("experiments") / "converters.py"
WIRES = """
[sampler.sampler0]
ch0 = 0.25
ch1 = "dio_spi0.ch0"
ch2 = "dio_spi0.ch3"
"""


@pytest.fixture
def database(lab, tmp_path):
    """The database of the laboratory, with a Zotino at the bare SPI port."""
    entries = DeviceDB.load(lab).entries
    arguments = {"spi_device": "dio_spi0", "ldac_device": "ttl16"}
    entries["zotino0"] = entries["sampler0"] | {
        "module": "artiq.coredevice.zotino",
        "class": "Zotino",
        "arguments": arguments,
    }
    path = tmp_path / "device_db.py"
    path.write_text(f"device_db = {pprint.pformat(entries)}\n")
    return path


def test_voltage_of_zotino_is_measured_by_sampler(database, tmp_path):
    bench_file = tmp_path / "wires.toml"
    bench_file.write_text(WIRES)
    with Bench(database, bench_file) as bench:
        bench.run(EXPERIMENTS, "Converters")
        assert bench.warnings == []
        assert [word & 0xFFFF for word in bench.datasets["words"]] == [22938, 0x7FFF, 0x9000, 2]
        assert bench.datasets["gains"] == 0b01_00_01_00_01_00_01_00
        volts = bench.datasets["volts"]
        assert volts[0] == pytest.approx(0.25, abs=2e-4)
        assert volts[1] == pytest.approx(0.5, abs=1e-3), "behind a gain of ten"
        assert volts[2] == pytest.approx(-3.0, abs=1e-3)
        assert volts[3:] == [0.0] * 5
        given = bench.dac("zotino0", 3)
        (before, _), (at, volts) = given.changes[-2:] if len(given.changes) > 1 else [(0, 0), given.changes[-1]]
        assert before < at and volts == pytest.approx(-3.0, abs=1e-3)
        assert (given.at(at), given.at(at - 1e-9)) == (volts, pytest.approx(0.0, abs=2e-3))
        # After LDAC's delay both channels change simultaneously, with its falling edge.
        assert bench.dac("dio_spi0.ch0").changes[-1][0] == at
        assert at == pytest.approx(bench.pin("ttl16").changes[-2][0] + 8e-9, abs=1e-12)
        assert bench.part("zotino0")["leds"] == 0xA5
        assert bench.part("zotino0")["ch5"]["code"] == 0x9000 - 0x8000 + 0x3FFE


def test_data_sheet_violations_of_converters_are_reported(database):
    with Bench(database) as bench:
        bench.run(EXPERIMENTS, "TooFast")
        texts = bench.warnings
    assert "sampler0: CNV is high for 16 ns: it samples for at least 30 ns" in texts
    assert any("sampler0: the ADC is read" in text and "takes up to 450 ns" in text for text in texts)
    assert "dio_spi0: a transfer of 16 bits instead of 24: ignored" in texts


@pytest.fixture
def two_dacs(lab, tmp_path):
    """The database of the laboratory, with two DACs at the bare SPI port."""
    entries = DeviceDB.load(lab).entries
    dac = entries["sampler0"] | {"module": "artiq.coredevice.ad53xx", "class": "AD53xx"}
    entries["near"] = dac | {"arguments": {"spi_device": "dio_spi0", "ldac_device": "ttl16"}}
    entries["far"] = dac | {"arguments": {"spi_device": "dio_spi0", "chip_select": 2, "vref": 2.5}}
    return written(entries, tmp_path)


def test_single_dacs_on_a_bus_output_their_voltages(two_dacs, tmp_path):
    bench_file = tmp_path / "wires.toml"
    # The first one of the database, which is sorted, has the name of the bus.
    wires = '[sampler.sampler0]\nch0 = "near.ch39"\nch1 = "dio_spi0.ch15"\n'
    bench_file.write_text(f'[ad53xx.dio_spi0]\nchip = "ad5361"\n{wires}')
    with Bench(two_dacs, bench_file) as bench:
        bench.run(EXPERIMENTS, "Alone")
        assert bench.warnings == []
        # An AD5361 has 14 bits: it ignores the lowest two of a word.
        assert bench.datasets["words"] == [round(65536 * -2 / 20) + 0x8000, 0xA004]
        given = 10 * 0x2004 / 65536
        assert bench.datasets["volts"] == [pytest.approx(volts, abs=1e-3) for volts in [-2.0, given] + [0.0] * 6]
        assert bench.dac("near", 0).changes[-1][1] == pytest.approx(1.0, abs=2e-4)
        assert bench.dac("far", 15).changes[-1][1] == pytest.approx(given, abs=1e-9)
        assert (bench.part("near")["card"], bench.part("far")["card"]) == ("AD5370", "AD5361")
        at = bench.dac("near", 39).changes[-1][0]
        assert at == pytest.approx(bench.pin("ttl16").changes[-2][0] + 8e-9, abs=1e-12), "with LDAC"


def test_dacs_on_a_bus_are_written_in_turn(two_dacs, tmp_path):
    """Each word goes to the chip of its driver, whichever was written before."""
    bench_file = tmp_path / "chips.toml"
    bench_file.write_text('[ad53xx.dio_spi0]\nchip = "ad5361"\n')
    with Bench(two_dacs, bench_file) as bench:
        bench.run(EXPERIMENTS, "Alternating")
        assert bench.warnings == []
        for n in range(3):
            assert bench.dac("near", n).changes[-1][1] == pytest.approx(1.0 + n, abs=2e-3)
            assert bench.dac("near", 8 + n).changes[-1][1] == pytest.approx(1.5 + n, abs=2e-3)
            assert bench.dac("far", n).changes[-1][1] == pytest.approx(-1.0 - n, abs=2e-3)
        assert bench.dac("far", 4).changes[-1][1] == pytest.approx(2.0, abs=2e-3)
        assert bench.dac("far", 5).changes[-1][1] == pytest.approx(2.5, abs=2e-3)
        at, volts = bench.dac("near", 4).changes[-1]
        assert volts == pytest.approx(3.0, abs=2e-3)
        assert at == pytest.approx(bench.pin("ttl16").changes[-2][0] + 8e-9, abs=1e-12)
        assert bench.lost_outputs() == []


@pytest.mark.parametrize(
    "card, text",
    [
        ("select = 1", "dio_spi0: a message without a chip select: no chip receives it; check the chip select (cs)"),
        ("chip = 'ad5360'", "dio_spi0: there is no channel at the address 47: an AD5360 has 16"),
    ],
)
def test_wrong_dac_type_or_bus_is_reported(two_dacs, tmp_path, card, text):
    entries = DeviceDB.load(two_dacs).entries
    del entries["far"]
    entries["far"] = "near"
    bench_file = tmp_path / "bench.toml"
    bench_file.write_text(f"[ad53xx.dio_spi0]\n{card}\n")
    with Bench(written(entries, tmp_path), bench_file) as bench:
        with pytest.raises(ValueError, match="DAC CONTROL readback mismatch") if "select" in card else nullcontext():
            bench.run(EXPERIMENTS, "Alone")
        assert text in bench.warnings


@pytest.mark.parametrize(
    "wire, text",
    [
        ("'zotino7.ch0'", "there is no part zotino7 that gives a voltage; available: dio_spi0, fastino0"),
        ("'dio_spi0.ch32'", "dio_spi0.ch32 is not a channel: use dio_spi0.ch0 to dio_spi0.ch31"),
        ("true", 'an input has volts, or a channel that gives them, such as "zotino0.ch3"'),
    ],
)
def test_wire_to_unknown_part_is_refused_in_one_line(kairos, database, wire, text):
    bench = kairos.directory / "bench.toml"
    bench.write_text(f"[sampler.sampler0]\nch0 = 1\nch1 = {wire}\n")
    done = kairos("bench", "check", bench, device_db=database)
    assert (done.returncode, done.stderr) == (1, f"kairos: {bench}:3: {text}\n")
