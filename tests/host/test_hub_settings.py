"""`kairos new --hub`: the core devices for which hub settings are written, and rejected cases."""

from kairos.cli import main
from kairos.cli.hub_settings import Core, cores, render
from tests.support.paths import EXAMPLES

CORE = {"type": "local", "module": "artiq.coredevice.core", "class": "Core"}


def core(host):
    return {**CORE, "arguments": {"host": host, "ref_period": 1e-9}}


def test_each_core_device_with_address_is_listed_once():
    found = cores(
        {
            "core": core("192.168.1.56"),
            "alias": "core",
            "again": core("192.168.1.56"),
            "compiles": core(None),
            "trap/b": core("trap-b.lab:2381"),
            "six": core("fe80::1"),
            "ttl0": {"type": "local", "module": "artiq.coredevice.ttl", "class": "TTLOut", "arguments": {"channel": 0}},
            "elsewhere": {"type": "controller", "host": "::1", "port": 3249},
        }
    )
    assert found == [
        Core("core", "192.168.1.56"),
        Core("trap_b", "trap-b.lab:2380", analyzer="trap-b.lab:2382"),
        Core("six", "fe80::1"),
    ]


def test_emulated_devices_get_separate_ports():
    one, two = cores({"core": core("emulator://demo"), "second": core("emulator://lab")})
    assert one == Core("core", "127.0.0.1:1380", "emulator://demo", "kairos emulate demo")
    analyzer = "127.0.0.1:2382"
    assert two == Core("second", "127.0.0.1:2380", "emulator://lab", "kairos emulate lab --offset 1000", analyzer)
    assert f'analyzer = "{analyzer}"' in render([two]) and "analyzer" not in render([one])


def test_invalid_hub_settings_are_refused_in_one_line(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)

    def refused(text, *words, code=1):
        assert main(["new", *words]) == code
        printed = capsys.readouterr()
        assert text in printed.err and len(printed.err.splitlines()) == 1 and not printed.out

    refused("'kairos new --hub' creates hub.toml", code=2)
    refused("there is no device database device_db.py", "--hub")
    (tmp_path / "device_db.py").write_text("device_db = {}")
    refused("device_db.py has no core device reachable by a hub", "--hub")
    assert not (tmp_path / "hub.toml").exists()
    assert main(["new", "--hub", "--device-db", str(EXAMPLES / "device_db.py")]) == 0
    said = capsys.readouterr().out
    assert "wrote hub.toml, with core\n" in said and "kairos emulate demo" in said
    refused("hub.toml already exists", "--hub")
