"""Commands that read a device database with an entry that is wrong: one line that names it."""

import pytest

from kairos.cli import main

GOOD = """
device_db = {
    "core": {"type": "local", "module": "artiq.coredevice.core", "class": "Core",
             "arguments": {"host": "127.0.0.1:1", "ref_period": 1e-9}},
    "spi": {"type": "local", "module": "artiq.coredevice.spi2", "class": "SPIMaster", "arguments": {"channel": 3}},
    "card": %s,
}
"""


def local(module="artiq.coredevice.zotino", cls="Zotino", arguments="{'spi_device': 'spi'}"):
    return f"{{'type': 'local', 'module': {module!r}, 'class': {cls!r}, 'arguments': {arguments}}}"


BAD = {
    "unknown module": local(module="artiq.coredevice.toaster"),
    "module that is no text": local(module=7),
    "unknown class": local(cls="Toaster"),
    "unknown argument": local(arguments="{'spi_device': 'spi', 'toast': 2}"),
    "missing argument": local(arguments="{}"),
    "arguments that are none": local(arguments="[1]"),
    "value that the driver refuses": local("artiq.coredevice.urukul", "CPLD", "{'spi_device': 'spi', 'clk_div': 7}"),
    "bus that is not there": local(arguments="{'spi_device': 'spy'}"),
    "no module": "{'type': 'local', 'class': 'Zotino'}",
    "no class": "{'type': 'local', 'module': 'artiq.coredevice.zotino'}",
    "no type": "{'module': 'artiq.coredevice.zotino', 'class': 'Zotino'}",
    "unknown type": "{'type': 'remote', 'module': 'artiq.coredevice.zotino', 'class': 'Zotino'}",
    "number": "5",
    "nothing": "None",
    "alias of nothing": "'cart'",
    "circular alias": "'card'",
}


@pytest.fixture
def database(tmp_path):
    def write(entry):
        path = tmp_path / "device_db.py"
        path.write_text(GOOD % entry)
        return str(path)

    return write


@pytest.mark.parametrize("entry", BAD.values(), ids=BAD)
def test_monitor_names_bad_entry_in_one_line(database, entry, capsys):
    assert main(["moninj", "--device-db", database(entry), "watch", "card"]) == 1
    out, err = capsys.readouterr()
    assert out == "" and err.count("\n") == 1 and "card" in err and "Traceback" not in err, err


@pytest.mark.parametrize("entry", BAD.values(), ids=BAD)
def test_channel_map_names_bad_entry_in_one_line(database, entry, capsys, tmp_path):
    code = main(["rtiomap", "--device-db", database(entry), str(tmp_path / "map")])
    err = capsys.readouterr().err
    assert (code, err.count("\n")) in ((0, 0), (1, 1)) and "Traceback" not in err, err
    assert code == 0 or "'card'" in err


@pytest.mark.parametrize("entry", BAD.values(), ids=BAD)
@pytest.mark.parametrize("form", [[], ["--json"]])
def test_bad_entry_is_listed(database, entry, form, capsys):
    assert main(["devices", "--device-db", database(entry), *form]) == 0
    assert "card" in capsys.readouterr().out
