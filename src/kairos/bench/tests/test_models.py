"""Valid answers of a model, and reports of invalid ones: one line, with the place in its file."""

import io
import json

import pytest

from kairos.bench import Light, Tone
from kairos.bench.__main__ import Host

OUTPUTS = [("radio", "tone"), ("beam", "light"), ("monitor", "volts"), ("glow", "photons"), ("pin", "pin")]
MODEL = """\
from kairos.bench import Light, Model, Tone

class Part(Model):
    def input(self, at, changes):
        {}

    def report(self, at):
        return {}
"""


@pytest.fixture
def ask(tmp_path):
    """Return a function that gives the answer of a model whose `input` executes `line` and whose
    report is `report`."""

    def answer(line, request=None, report="None"):
        file = tmp_path / "part.py"
        file.write_text(MODEL.format(line, report))
        said = io.StringIO()
        host = Host(said)
        options = {"file": str(file), "class": None, "inputs": ["seed"], "outputs": OUTPUTS, "arguments": {}}
        host.answer({"start": options | {"seed": 1, "timeout_s": 10.0}})
        host.answer(request or {"input": [100, [[0, ["tone", 1e6, -3.0, 0.25]]]]})
        reply = json.loads(said.getvalue().splitlines()[-1])
        assert "\n" not in reply.get("error", "")
        return reply, f"{file}:"

    return answer


def test_warning_of_a_model_is_one_line(ask):
    reply, _ = ask("self.warn('too hot\\nby far')")
    assert reply["warn"] == ["too hot, by far"]
    reply, _ = ask(r"self.warn('\x1b[31mred \udcff µs')")
    assert reply["warn"] == [r"\x1b[31mred \udcff µs"]


def test_value_of_wrong_kind_is_refused(ask):
    sent = [
        ("changes['seed']", "radio", [1e6, -3.0, 0.25]),
        ("changes['seed'].after(250_000)", "radio", [1e6, -3.0, 0.25]),
        ("Tone(0.0, None, 0.0)", "radio", [0.0, None, 0.0]),
        ("Light(-2e6, 0.5, -1.25)", "beam", [-2e6, 0.5, 0.75]),
        ("3", "monitor", 3.0),
        ("2e7", "glow", 2e7),
        ("1", "pin", True),
    ]
    for value, output, expected in sent:
        reply, _ = ask(f"self.send({output!r}, {value}, 7)")
        assert reply["send"] == [[7, [name for name, _ in OUTPUTS].index(output), expected]]


@pytest.mark.parametrize(
    "line, message",
    [
        ("self.send('radio', 80e6)", "TypeError: radio takes a Tone, not 80000000.0"),
        ("self.send('beam', Tone(1.0, 0.0, 0.0))", "TypeError: beam takes a Light, not Tone(hz=1.0"),
        ("self.send('beam', Light(0.0, 1.5, 0.0))", "ValueError: beam cannot have Light(hz=0.0, power=1.5"),
        ("self.send('radio', Tone(float('nan'), 0.0, 0.0))", "ValueError: radio cannot have Tone(hz=nan"),
        ("self.send('monitor', float('inf'))", "ValueError: monitor cannot have inf volts"),
        ("self.send('glow', -1)", "ValueError: glow cannot have -1 photons"),
        ("self.send('monitor', 'much')", "TypeError: monitor takes volts, a number, not 'much'"),
        ("self.send('none', 1)", "KeyError: 'the model has no output none; it has radio, beam, monitor, glow, pin'"),
        ("self.send('pin', True, -1)", "ValueError: a delay of -1 ns is not possible"),
        ("self.send('pin', True, float('nan'))", "ValueError: a delay of nan ns is not possible"),
        ("raise OSError('dropped')", "OSError: dropped"),
        (
            "raise type('Odd', (Exception,), {'__str__': lambda self: 1 / 0})",
            "Odd: it cannot be displayed: ZeroDivisionError",
        ),
        ("raise OSError('\\udcff')", "OSError: \\udcff"),
    ],
)
def test_invalid_model_is_reported_with_its_line(ask, line, message):
    reply, place = ask(line)
    assert reply["error"].startswith(f"{place}5: {message}"), reply


def test_invalid_time_or_report_names_its_method(ask):
    for following in ("'soon'", "float('inf')", "1 << 63"):
        reply, place = ask(f"self.next = {following}")
        assert reply["error"].startswith(f"{place}4: its next is "), reply
    for report in ("object()", "float('nan')"):
        reply, place = ask("pass", {"report": 5}, report)
        assert reply["error"].startswith(f"{place}7: its report cannot be displayed: "), reply


def test_phase_of_tone_and_light_stays_exact_over_time(ask):
    hour = 3600 * 10**9
    assert Tone(80e6 + 0.25, 0.0, 0.0).after(hour + 3).turns == pytest.approx(0.24, abs=1e-6)
    assert Light(-1.0, 1.0, 0.5).after(250_000_000).turns == pytest.approx(0.25)
