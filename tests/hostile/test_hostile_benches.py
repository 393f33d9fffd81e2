"""Bench files that are damaged or made to do harm: the emulator refuses each in one line, or takes it, and needs little
memory and time for that."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kairos.cli.bench import plan_of
from kairos.devices import DeviceDB
from kairos.errors import UsageError
from tests.support.paths import ROOT

ION = ROOT / "examples" / "ion"
GOOD = (ION / "bench.toml").read_text()
ESCAPES = '"a\\u001b[31m\\r\\n\\u0000\\u202e"'

REFUSED = {
    "nested lists": "seed = " + "[" * 100_000,
    "nested names": "[" + "a." * 100_000 + "b]",
    "nested tables": "a = " + "{b=" * 100_000,
    "digits": "seed = " + "9" * 100_000,
    "too large": "#" * ((4 << 20) + 1),
    "escapes in a key": f"{ESCAPES} = 1",
    "escapes in a name": f"[ion.{ESCAPES}]",
    "escapes in a card": f'[urukul.{ESCAPES}]\ndds = "ad9910"',
    "escapes in a pin": f"{GOOD}\n[photomultiplier.q]\npin = {ESCAPES}",
    "escapes in a part": f'{GOOD}\n[photomultiplier.q]\npin = "ttl1"\nsees = [{ESCAPES}]',
    "escapes in a file": f"[recorded.q]\nfile = {ESCAPES}",
    "endless file": '[recorded.q]\nfile = "/dev/zero/x"',
}


@pytest.fixture(scope="module")
def database():
    return DeviceDB.load(str(ION / "device_db.py"))


def refusal(database, path, content: str) -> str:
    """Return why the emulator refuses a bench; empty if it takes it."""
    path.write_text(content, encoding="utf-8", errors="surrogatepass")
    try:
        assert plan_of(database, str(path))["parts"] is not None
    except UsageError as error:
        text = str(error)
        assert str(path) in text and text.isprintable() and len(text) < 1000 + len(str(path)), text
        return text
    return ""


@pytest.mark.parametrize("content", REFUSED.values(), ids=REFUSED)
def test_bench_made_to_do_harm_is_one_line(database, tmp_path, content):
    assert refusal(database, tmp_path / "bench.toml", content)


def test_bench_without_end_is_one_line(database):
    with pytest.raises(UsageError, match="bench /dev/zero: it has more than 4194304 bytes"):
        plan_of(database, "/dev/zero")


@pytest.mark.long
def test_time_to_load_a_bench_grows_with_its_parts(database, tmp_path):
    assert not refusal(database, tmp_path / "bench.toml", "".join(f"[ion.i{n}]\n" for n in range(30_000)))


@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(
        st.tuples(
            st.integers(0, len(GOOD) - 1),
            st.integers(0, 8),
            st.sampled_from(
                ["", "-1", "nan", "inf", "1e400", "[]", "{}", '"', "=", "\n", "[", "]", "\x00", "true", "0"]
            )
            | st.text(max_size=3),
        ),
        min_size=1,
        max_size=3,
    )
)
def test_bench_with_any_damage_is_taken_or_refused_in_a_line(database, tmp_path, damage):
    text = GOOD
    for at, length, other in damage:
        text = text[:at] + other + text[at + length :]
    refusal(database, tmp_path / "bench.toml", text)
