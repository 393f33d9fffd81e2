"""Numbers in the manual are those of the sources.

Each row quotes a page, with a placeholder for each number, and names the constant that each number is.
Numbers in generated tables need no row.
"""

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
WORDS = dict(enumerate("no one two three four five six seven eight nine ten eleven twelve thirteen".split()))
UNITS = {"secs": 1.0, "millis": 1e-3, "micros": 1e-6}
DEFINITION = r"const {name}: [^=]+= ([^;]+);"


def contract(name: str) -> int:
    """Returns `FILE.CONSTANT` of src/contracts."""
    file, constant = name.split(".")
    return tomllib.loads((ROOT / "src" / "contracts" / f"{file}.toml").read_text())["constants"][constant]["value"]


def rust(path: str, name: str) -> float:
    """Returns a constant of a Rust file, durations in seconds."""
    found = re.search(DEFINITION.format(name=name), (ROOT / "src" / path).read_text())
    assert found, f"src/{path} has no constant {name}"
    text = found[1].replace("_", "")
    if duration := re.fullmatch(r"Duration::from(secs|millis|micros)\((\d+)\)", text):
        return int(duration[2]) * UNITS[duration[1]]
    assert re.fullmatch(r"[\da-fx+*<() ]+", text), f"src/{path}: {name} is no arithmetic: {text}"
    return eval(text)


def kib(value: float) -> int:
    return int(value) >> 10


def mib(value: float) -> int:
    return int(value) >> 20


def milliseconds(value: float) -> int:
    return round(value * 1e3)


FIRMWARE, MESSAGES, INTERFACES = "docs/firmware.md", "docs/gateware/link-messages.md", "docs/interfaces.md"
ROWS = [
    (FIRMWARE, "two rings of {} KiB in cached memory", kib(contract("intercore.CAPACITY"))),
    (FIRMWARE, "accepts up to {} simultaneous connections", rust("runtime/src/session.rs", "SOCKETS")),
    (FIRMWARE, "must send its greeting within {} s", rust("runtime/src/clients.rs", "GREETING_TIMEOUT")),
    (FIRMWARE, "vanishes (keep-alive, {} s)", rust("runtime/src/service.rs", "USER_TIMEOUT")),
    (FIRMWARE, "the idle kernel restarts after {} s", rust("runtime/src/session/standalone.rs", "RESTART_PAUSE")),
    (FIRMWARE, "It waits up to {} s for the links", rust("runtime/src/session/standalone.rs", "ARRIVAL_TIMEOUT")),
    (FIRMWARE, "A client that connects to TCP {} receives", contract("analyzer.PORT")),
    (FIRMWARE, "`moninj.rs` serves {} clients", rust("runtime/src/moninj.rs", "SOCKETS")),
    (FIRMWARE, "clients on TCP {}, each with up to", contract("moninj.PORT")),
    (FIRMWARE, "each with up to {} watched probes", rust("runtime/src/moninj.rs", "WATCHES")),
    (FIRMWARE, "overrides, read every {} ms", milliseconds(rust("runtime/src/moninj.rs", "INTERVAL"))),
    (FIRMWARE, "clients on TCP {}. They take turns", contract("management.PORT")),
    (FIRMWARE, "The system watchdog resets the device after {} s", rust("firmware/comms/src/watchdog.rs", "LIMIT")),
    (FIRMWARE, "without being fed, or {} s during an access", rust("firmware/comms/src/watchdog.rs", "CARD_LIMIT")),
    (FIRMWARE, "A task feeds it every {} s", rust("firmware/comms/src/watchdog.rs", "ROUND")),
    (INTERFACES, "A ring of {} requests in cached DDR", contract("initiator.SLOTS")),
    (INTERFACES, "at most {} requests are outstanding", contract("initiator.CREDIT")),
    (INTERFACES, "has a ring of {} entries of", contract("initiator.INPUT_ENTRIES")),
    (INTERFACES, "entries of {} bytes in cached DDR", contract("initiator.INPUT_ENTRY_BYTES")),
    (INTERFACES, "(text, at most {} bytes) next to the state word", contract("intercore.REASON_MAX")),
    (INTERFACES, "its time is at least {} machine units after", rust("kernel/src/rtio/clock.rs", "MARGIN")),
    (INTERFACES, "until the end of a permit of {} cycles", rust("kernel/src/rtio/clock.rs", "PERMIT")),
    (
        MESSAGES,
        "opens byte *streams* to services, up to {} at a time",
        rust("firmware/links/src/streams.rs", "STREAMS"),
    ),
    (MESSAGES, "how many bytes it has space for (initially {} KiB)", kib(contract("link.WINDOW"))),
]


def numbers(page: str, sentence: str) -> list[str]:
    """Returns what stands at the placeholder in each place of a page that reads like the sentence."""
    text = re.sub(r"\s+", " ", (ROOT / page).read_text())
    return re.findall(r"([\w.]+)".join(re.escape(part) for part in sentence.split("{}")), text)


@pytest.mark.parametrize("page, sentence, value", ROWS, ids=[f"{page}: {sentence}" for page, sentence, _ in ROWS])
def test_number_in_manual_is_that_of_the_sources(page, sentence, value):
    found = numbers(page, sentence)
    assert found, f"{page} does not say: {sentence}"
    assert set(found) <= {WORDS.get(value), f"{value:g}"}, f"{page}, {sentence!r}: {found}, but it is {value:g}"


def test_systems_in_interfaces_are_those_of_the_emulator():
    files = {path.stem for path in (ROOT / "src" / "emulator" / "src" / "host").glob("*.toml")}
    (named,) = re.findall(r"--system FILE\.toml\|(\S+)", (ROOT / INTERFACES).read_text())
    assert set(named.split("|")) == files


def test_register_blocks_in_interfaces_are_those_of_the_gateware():
    section = (ROOT / INTERFACES).read_text().split("\n## 4. ")[1].split("\n## ")[0]
    named = [
        name for row in re.findall(r"^\| (`.*?) \|", section, re.MULTILINE) for name in re.findall(r"`(\w+)`", row)
    ]
    written = "".join(path.read_text() for path in (ROOT / "docs" / "gateware").glob("*.md"))
    assert sorted(named) == sorted(re.findall(r"<!-- registers of (\w+) -->", written))
