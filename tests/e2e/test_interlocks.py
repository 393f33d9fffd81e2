"""Interlocks: rules that the predicted waveform must keep, with line and instant of what violates them."""

import json

import pytest

from kairos.errors import UsageError
from kairos.twin.interlocks import load
from tests.support.gateware import database
from tests.support.paths import EXAMPLES

SHUTTERS = """
    @kernel
    def run(self):
        self.core.reset()
        self.ttl5.on()
        delay(2 * us)
        self.ttl4.pulse(1 * us)
        delay(2 * us)
        self.ttl5.off()
        delay(1 * us)
        self.ttl4.pulse(3 * us)
"""


def rules(kairos, text):
    path = kairos.directory / "rules.toml"
    path.write_text(text)
    return ["--interlocks", path]


def line_of(text, path):
    lines = path.read_text().splitlines()
    return max(number for number, line in enumerate(lines, 1) if text in line)


def checked(kairos, path, text, *words, **options):
    done = kairos("interlocks", "check", path, *words, *rules(kairos, text), "--json", **options)
    return done.returncode, [json.loads(line) for line in done.stdout.splitlines()], done.stderr


def test_wrong_shutter_is_refused_with_line_and_instant(kairos):
    path = kairos.write(SHUTTERS)
    code, found, _ = checked(kairos, path, '[[rule]]\nname = "oven"\npin = "ttl4"\nnever_without = "ttl5"\n')
    (violation,) = found
    assert code == 1 and (violation["rule"], violation["line"]) == ("oven", line_of("ttl4.pulse(3", path))
    assert violation["at_ns"] == 6000 and violation["text"] == "ttl4 is high while ttl5 is not"
    done = kairos("rehearse", path, *rules(kairos, '[[rule]]\nname = "oven"\npin = "ttl4"\nnever_without = "ttl5"\n'))
    assert done.returncode == 1
    assert f"violates the interlock 'oven' at exp.py:{violation['line']}, 6 µs after" in done.stderr


@pytest.mark.parametrize(
    "text, at_ns",
    [
        ('never_with = "ttl5"', 2000),
        ('never_with = "ttl5"\ntolerance_s = 1e-6', None),
        ('never_with = "ttl5"\ntolerance_s = 0.9e-6', 2000),
        ('never_without = "ttl5"\ntolerance_s = 3e-6', None),
        ("at_most_s = 2e-6", 6000),
        ("at_most_s = 4e-6", None),
    ],
)
def test_limits_of_pins_hold_from_the_instant_of_the_violation(kairos, text, at_ns):
    code, found, _ = checked(kairos, kairos.write(SHUTTERS), f'[[rule]]\nname = "r"\npin = "ttl4"\n{text}\n')
    assert [each["at_ns"] for each in found] == ([] if at_ns is None else [at_ns])
    assert code == len(found)


LEFT = """
    @kernel
    def run(self):
        self.core.reset()
        self.ttl5.on()
        delay(2 * us)
        self.ttl4.on()
        delay(1 * us)
        self.ttl5.off()
        self.core.wait_until_mu(now_mu())
        raise ValueError("no light")
"""


def test_states_left_at_the_end_last_for_ever_beside_the_failure(kairos):
    path = kairos.write(LEFT)
    text = '[[rule]]\nname = "long"\npin = "ttl4"\nat_most_s = 5\n'
    text += '[[rule]]\nname = "alone"\npin = "ttl4"\nnever_without = "ttl5"\ntolerance_s = 5\n'
    text += '[[rule]]\nname = "before"\npin = "ttl5"\nat_most_s = 5\n'
    code, found, _ = checked(kairos, path, text)
    assert code == 1 and [(each["rule"], each["at_ns"]) for each in found] == [("long", 2000), ("alone", 3000)]
    assert all(each["text"].endswith(", and stays so after the run") for each in found)
    done = kairos("rehearse", path, *rules(kairos, text))
    line = done.stderr.splitlines()[0]
    assert "ValueError: no light" in line and "violates the interlocks 'long' at exp.py:" in line


@pytest.fixture(scope="module")
def ion(tmp_path_factory):
    folder = tmp_path_factory.mktemp("ion")
    (folder / "bench.toml").write_text((EXAMPLES / "ion" / "bench.toml").read_text())
    path = database("ion", folder)
    path.write_text(path.read_text() + '\ndevice_db["cooling"] = "urukul0_ch1"\n')
    return path


def test_tones_are_limited_in_frequency_power_and_energy(kairos, ion):
    experiment = EXAMPLES / "ion" / "photon_counting.py"
    trap = EXAMPLES / "ion" / "trap.py"
    text = "".join(
        f'[[rule]]\nname = "{limit.partition(" ")[0]}"\ntone = "{tone}"\n{limit}\n'
        for tone, limit in (
            ("urukul0_ch1", "below_hz = 109e6"),
            ("cooling", "above_hz = 111e6"),
            ("urukul0_cpld.ch1", "below_dbm = 5"),
            ("urukul0.ch1", "energy_j = 1e-9\nwindow_s = 1e-3"),
        )
    )
    code, found, errors = checked(kairos, experiment, text, "shots=2", device_db=ion)
    assert code == 1 and [each["rule"] for each in found] == ["below_hz", "above_hz", "below_dbm", "energy_j"], errors
    assert found[0]["text"].startswith("110000000 Hz at urukul0_ch1")
    assert all(each["file"].endswith((experiment.name, trap.name)) for each in found)
    kept = text.replace("109e6", "111e6").replace("above_hz = 111e6", "above_hz = 109e6")
    kept = kept.replace("below_dbm = 5", "below_dbm = 11").replace("1e-9", "1")
    assert checked(kairos, experiment, kept, "shots=2", device_db=ion)[:2] == (0, [])


def test_rule_about_unknown_pin_or_voltage_is_reported_in_one_line(kairos):
    path = kairos.write(SHUTTERS)
    for text, said in (
        ('[[rule]]\nname = "x"\npin = "nothing"\nat_most_s = 1\n', "the device has no pin nothing"),
        ('[[rule]]\nname = "x"\nvoltage = "zotino9.ch0"\nbelow = 1\n', "the bench has no zotino9.ch0"),
    ):
        code, found, errors = checked(kairos, path, text)
        assert code == 1 and not found and said in errors and len(errors.strip().splitlines()) == 1


@pytest.mark.parametrize(
    "text, said",
    [
        ("[[rule]]\npin = 'a'\nat_most_s = 1", "needs a name"),
        ("[[rule]]\nname = 'a'", "one of voltage, tone and pin"),
        ("[[rule]]\nname = 'a'\npin = 'b'\ntone = 'c'\nbelow_hz = 1", "one of voltage, tone and pin"),
        ("[[rule]]\nname = 'a'\npin = 'b'\nbelow = 1", "limits of a pin"),
        ("[[rule]]\nname = 'a'\npin = 'b'", "limits of a pin"),
        ("[[rule]]\nname = 'a'\ntone = 'b'\nenergy_j = 1", "belong together"),
        ("[[rule]]\nname = 'a'\nvoltage = 'b'\nbelow = 'c'", "must be a number"),
        ("[[rule]]\nname = 'a'\nnonsense = 1", "there is no 'nonsense'"),
        ("[[rule]]\nname = ''\npin = 'b'\nat_most_s = 1", "needs a name"),
        ("[[rule]]\nname = 'a'\nvoltage = 'b'\nbelow = nan", "nothing could violate"),
        ("[[rule]]\nname = 'a'\npin = 'b'\nat_most_s = inf", "nothing could violate"),
        (f"[[rule]]\nname = 'a'\npin = 'b'\nat_most_s = 1{'0' * 400}", "nothing could violate"),
        ("[[rule]]\nname = 'a'\npin = 'b'\nat_most_s = -1", "'at_most_s' must be 0 or more"),
        ("[[rule]]\nname = 'a'\ntone = 'b'\nenergy_j = 1\nwindow_s = 0", "'window_s' must be positive"),
        ("[[rule]]\nname = 'a'\npin = 'b'\nnever_with = 'b'", "another pin than b"),
        ("rule = [1]", r"\[\[rule\]\] entries only"),
        ("rules = 1", r"\[\[rule\]\] entries only"),
        ("[[", "interlocks.toml: "),
    ],
)
def test_unusable_rules_are_refused_with_file_and_rule(tmp_path, text, said):
    path = tmp_path / "interlocks.toml"
    path.write_text(text)
    with pytest.raises(UsageError, match=said):
        load(path)


def test_rules_are_listed_from_the_file_beside_the_devices(kairos):
    (kairos.directory / "device_db.py").write_text((EXAMPLES / "device_db.py").read_text())
    electrode = '[[rule]]\nname = "electrode"\nvoltage = "zotino0.ch7"\nbelow = 0\n'
    oven = '[[rule]]\nname = "oven"\npin = "ttl4"\nat_most_s = 1e-3\n'
    (kairos.directory / "interlocks.toml").write_text(oven + electrode)
    done = kairos("interlocks", "list", device_db=kairos.directory / "device_db.py")
    assert done.stdout == "oven: pin = ttl4, at_most_s = 0.001\nelectrode: voltage = zotino0.ch7, below = 0\n"
    (kairos.directory / "interlocks.toml").write_text(oven)
    path = kairos.write(SHUTTERS)
    assert kairos("interlocks", "check", path, device_db=kairos.directory / "device_db.py").returncode == 0
    assert "there are no interlocks" in kairos("interlocks", "check", path).stderr
