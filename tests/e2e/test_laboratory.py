"""Typical laboratory experiments (`tests/e2e/laboratory`): pins, bus traffic and data, exactly.

All run on one emulated device in sequence, as on a day in the laboratory.
"""

import inspect
from pathlib import Path

import pytest

from kairos import emulator
from kairos.cli.experiments import Experiment, import_file
from kairos.devices import DeviceDB
from kairos.waveform import Recording
from kairos.waveform.vcd import write_vcd
from tests.e2e.laboratory import Laboratory
from tests.support.spi import transfers
from tests.support.waveforms import pulses_of_vcd

FOLDER = Path(__file__).with_name("laboratory")

BUSES = {
    "dds": ("spi_urukul0", 3, {"active_high": True}),
    "zotino": ("dio_spi0", 2, {"trailing": True}),
    "raw": ("dio_spi0", 2, {}),
    "gains": ("spi_sampler0_pgia", 1, {}),
}
"""Pins of the buses: their name, number of chip selects, and how data are read."""

OF_CARDS = ("spi_", "dio_spi", "ttl_urukul0_io", "ttl_sampler0_cnv", "ttl16", "fastino")
"""Pins that belong to cards: compared only if an experiment names them."""


def experiments():
    """Yield (file, class) of each."""
    for path in sorted(FOLDER.glob("[!_]*.py")):
        module = import_file(path)
        for name, cls in vars(module).items():
            if isinstance(cls, type) and issubclass(cls, Laboratory) and "expected" in vars(cls):
                yield pytest.param(path, name, id=f"{path.stem}-{name}")


ALL = list(experiments())


def test_at_least_sixty_experiments_exist():
    assert len(ALL) >= 60


@pytest.fixture(scope="module")
def database(lab):
    """The database of the laboratory: a Zotino at the bare SPI port, an uncalibrated Urukul."""
    entries = DeviceDB.load(lab).entries
    zotino = {"spi_device": "dio_spi0", "ldac_device": "ttl16"}
    entries["zotino0"] = entries["sampler0"] | {
        "module": "artiq.coredevice.zotino",
        "class": "Zotino",
        "arguments": zotino,
    }
    del entries["urukul0_cpld"]["arguments"]["sync_device"]
    for n in range(4):
        entries[f"urukul0_ch{n}"]["arguments"] |= {"sync_delay_seed": -1, "io_update_delay": 0}
    return DeviceDB(entries)


@pytest.fixture(scope="module")
def machine(database):
    yield emulator.acquire(database.arguments("core")["host"])
    emulator.shutdown_all()


def plain(value):
    """Convert arrays to lists, and numbers to Python's."""
    if isinstance(value, list | tuple):
        return type(value)(plain(item) for item in value)
    return value.tolist() if hasattr(value, "tolist") else value


@pytest.mark.parametrize(("path", "name"), ALL)
def test_laboratory_experiment_matches_its_description(machine, database, path, name, tmp_path, capsys):
    experiment = Experiment(path, name, [], database)
    expected = experiment.instance.expected
    machine.mark_start()
    # Modules of litex, which builds the gateware, print when they are looked at for the first time.
    inspect.getmodule(inspect.currentframe())
    capsys.readouterr()
    experiment.instance.prepare()
    if expected.raises:
        with pytest.raises(Exception) as caught:  # noqa: B017
            experiment.instance.run()
        assert type(caught.value).__name__ == expected.raises
    else:
        experiment.instance.run()
    experiment.devices.notify_run_end()
    experiment.devices.close_devices()
    assert machine.wait_idle(clocks=database.free_running)
    trace = machine.control.trace(until=machine.recorded_until_ns)
    recording = Recording.from_trace(trace, machine.trace_start, database.channel_names(), machine.trace_start_ns)
    write_vcd(tmp_path / "pins.vcd", recording)
    vcd = (tmp_path / "pins.vcd").read_text()

    assert capsys.readouterr().out.splitlines() == expected.printed
    assert {key: plain(getattr(experiment.instance, key)) for key in expected.values} == expected.values
    assert {key: plain(value) for key, value in experiment.datasets.local.items()} == expected.datasets
    pulses = {pin: found for pin, found in pulses_of_vcd(vcd, complete=False).items() if found}
    changed = {pin for pin in pulses if not pin.startswith(OF_CARDS)}
    assert changed == {pin for pin in expected.pins if not pin.startswith(OF_CARDS)}
    exact = {pin: found for pin, found in expected.pins.items() if found is not None}
    origin = min((pulses[pin][0][0] for pin in exact), default=0)
    assert {pin: [(a - origin, b - origin) for a, b in pulses[pin]] for pin in exact} == exact
    for bus, words in expected.buses.items():
        pins, selects, how = BUSES[bus]
        assert [
            word for word in transfers(vcd, pins, selects, **how) if word[1] == words[0][1] or bus == "raw"
        ] == words
