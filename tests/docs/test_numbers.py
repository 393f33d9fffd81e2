"""Numbers in the manual are those of the sources.

Each row quotes a page, with a placeholder for each number, and names the constant that each number is.
Numbers in generated tables need no row.
"""

import re
import tomllib
from pathlib import Path

import pytest
from kairos_gateware.variants import VARIANTS

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
    assert re.fullmatch(r"[\da-fx+*<() .-]+", text), f"src/{path}: {name} is no arithmetic: {text}"
    return eval(text)


def python(path: str, name: str) -> float:
    """Returns a constant of a Python file."""
    found = re.search(rf"^{name} = ([\d_.e<* ]+)$", (ROOT / "src" / path).read_text(), re.MULTILINE)
    assert found, f"src/{path} has no constant {name}"
    return eval(found[1])


def emulator(name: str) -> int:
    """Returns the default of a setting of the emulator."""
    return int(re.search(rf"^ +{name}: ([\d_]+),", (ROOT / PARAMS).read_text(), re.MULTILINE)[1])


def kib(value: float) -> int:
    return int(value) >> 10


def mib(value: float) -> int:
    return int(value) >> 20


def milliseconds(value: float) -> int:
    return round(value * 1e3)


FIRMWARE, MESSAGES, INTERFACES = "docs/firmware.md", "docs/gateware/link-messages.md", "docs/interfaces.md"
BRIDGE, REMOTE = "docs/gateware/bridge.md", "docs/gateware/remote.md"
HUB, SECURITY, PLUGINS, LINUX = "docs/hub.md", "docs/hub-security.md", "docs/hub-plugins.md", "docs/hub-linux.md"
BOOT, BATCH, EMULATOR, BENCH = "docs/boot.md", "docs/batch.md", "docs/emulator.md", "docs/bench.md"
PARAMS = "src/emulator/src/machine/params.rs"
ROWS = [
    (FIRMWARE, "after {} s the measurement is given up", rust("runtime/src/paths.rs", "LIMIT")),
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
    (INTERFACES, '"kind": "port_in_use", "port": {}}', contract("session.PORT")),
    (HUB, "listening on 127.0.0.1:{}", contract("hub.PORT")),
    (HUB, "| `listen` | `127.0.0.1:{}` |", contract("hub.PORT")),
    (HUB, "grpcurl -plaintext localhost:{} list", contract("hub.PORT")),
    (HUB, "core 127.0.0.1:{} demo", contract("management.PORT")),
    (HUB, "queries it every {} s, and on request", rust("hub/src/device.rs", "CHECK")),
    (HUB, "is given up after {} s", rust("hub/src/management.rs", "ANSWER_TIMEOUT")),
    (HUB, "with `UNAVAILABLE` after at most {} s", 2 * python("kairos/hub/client.py", "PING")),
    (SECURITY, "TCP | `127.0.0.1:{}` |", contract("hub.PORT")),
    (SECURITY, "a request has at most {} MiB", mib(rust("hub/src/server.rs", "REQUEST_MAX"))),
    (SECURITY, "a connection {} concurrent calls", rust("hub/src/serving.rs", "STREAMS_MAX")),
    (SECURITY, "sends nothing within {} s is closed", rust("hub/src/connections.rs", "GREETING")),
    (SECURITY, "open files for the hub, and to {}; further", rust("hub/src/connections.rs", "CONNECTIONS_MAX")),
    (PLUGINS, "the plugin is killed after {} s", rust("hub/src/plugins/process.rs", "EXIT_TIMEOUT")),
    (PLUGINS, "more than {} processes | restarts", rust("hub/src/plugins/limits.rs", "PROCESSES_MAX")),
    (PLUGINS, "| restarts it after {} s, doubling", rust("hub/src/plugins/process.rs", "PAUSE_MIN")),
    (PLUGINS, "doubling each time up to {} s", rust("hub/src/plugins/process.rs", "PAUSE_MAX")),
    (PLUGINS, "has too many calls ({}, counting streams", rust("hub/src/plugins/process.rs", "CALLS_MAX")),
    (PLUGINS, "| allows {} at a time and refuses more |", rust("hub/src/access.rs", "PLUGIN_CALLS")),
    (PLUGINS, "its memory limit plus {} GiB at once", mib(rust("hub/src/plugins/limits.rs", "HEADROOM")) >> 10),
    (PLUGINS, "runs its processes at `nice` {}:", rust("hub/src/plugins/limits.rs", "NICE")),
    (PLUGINS, "reads {} KiB a second of it", kib(rust("hub/src/plugins/lines.rs", "BYTES_MAX"))),
    (PLUGINS, "Memory and processes are checked every {} s", rust("hub/src/plugins/process.rs", "CHECK")),
    (PLUGINS, "tasks are limited to {} (`pids.max`)", rust("hub/src/plugins/limits.rs", "TASKS_MAX")),
    (LINUX, "Every {} s the hub checks that its mappings", rust("hub/src/board/mod.rs", "CHECK")),
    (BOOT, "before the reset ({} s), or for the number", rust("firmware/boot/src/main.rs", "REQUESTED_WAIT")),
    (BOOT, "TCP {}, little endian", contract("netboot.PORT")),
    (BOOT, "a client that is silent for {} s is disconnected", rust("firmware/boot/src/server.rs", "SILENCE")),
    (BOOT, "`PCFG_DONE` within {} ms", milliseconds(rust("firmware/chip/src/devcfg.rs", "REACTION"))),
    (
        BOOT,
        "does not authenticate within {} s is disconnected",
        rust("firmware/comms/src/management/gate.rs", "AUTHENTICATION_TIMEOUT"),
    ),
    (BOOT, "| `auth_key` | {} to", rust("contracts/src/configuration.rs", "AUTH_KEY_MIN")),
    (BOOT, "to {} bytes: required to boot over the network", rust("contracts/src/configuration.rs", "AUTH_KEY_MAX")),
    (BOOT, "`src/kairos/network/connect.py`): for {} s", python("kairos/network/management.py", "CONNECT_TIMEOUT")),
    (BOOT, "`kairos run` for {} s", python("kairos/session/connection.py", "CONNECT_TIMEOUT")),
    (BOOT, "Refusals are considered final after {} s", python("kairos/network/connect.py", "REFUSED")),
    (BATCH, "runs other tasks every {} instructions", rust("firmware/comms/src/batch.rs", "STRETCH")),
    (BATCH, "waits up to {} ms for its turn", milliseconds(rust("firmware/comms/src/i2c.rs", "BUS_TIMEOUT"))),
    (BATCH, "only sets levels every {} us", round(1e6 * rust("firmware/comms/src/i2c.rs", "HALF"))),
    (EMULATOR, "takes {} cycles in all (`gp_access`)", emulator("gp_access")),
    (EMULATOR, "for {} s of wall-clock time (`host_wait_ms`)", emulator("host_wait_ms") / 1000),
    (EMULATOR, "Frames reach the guest {} us (`net_latency_ns`)", emulator("net_latency_ns") / 1000),
    (EMULATOR, "at most one quantum ({} us)", emulator("quantum") / 800),
    (EMULATOR, "temperature (`--set chip_celsius`, {})", emulator("chip_celsius")),
    (BENCH, "numbers are refused: any above {},", rust("bench/src/numbers.rs", "MOST")),
    (BENCH, "for a crystal `eta` above {},", rust("bench/src/assemble/ions.rs", "MOST_ETA")),
    (BENCH, "`quanta` above {},", rust("bench/src/assemble/ions.rs", "MOST_QUANTA")),
    (BENCH, "`heating_hz` above {},", rust("bench/src/assemble/ions.rs", "MOST_HEATING_HZ")),
    (BENCH, "`linewidth_hz` above {} and", rust("bench/src/assemble/ions.rs", "MOST_LINEWIDTH_HZ")),
    (BENCH, "`coherence_s` below {}.", rust("bench/src/assemble/ions.rs", "LEAST_COHERENCE_S")),
    (BENCH, "mains above {} kHz,", rust("bench/src/assemble/detectors.rs", "MOST_MAINS_HZ") / 1000),
    (BENCH, "adds a generator (at most {} MHz)", rust("bench/src/assemble/wires.rs", "MOST_HZ") / 1e6),
    ("docs/compiler.md", "above {} MiB the least recently used", mib(python("kairos/compiler/cache.py", "LIMIT"))),
    ("docs/compiler.md", "may be nested {} levels deep", rust("compiler/src/syntax/depth.rs", "DEEPEST")),
    ("docs/conformance.md", "a client watches at most {} probes", rust("runtime/src/moninj.rs", "WATCHES")),
    (
        "docs/conformance.md",
        "Management, sessions and analyzer accept {} clients",
        rust("firmware/comms/src/management.rs", "CLIENTS"),
    ),
    ("docs/conformance.md", "analyzer accept four clients, the monitor {};", rust("runtime/src/moninj.rs", "SOCKETS")),
    ("docs/conformance.md", "a value {} MiB; a client", mib(rust("firmware/comms/src/management.rs", "DATA_MAX"))),
    (
        "docs/experiments.md",
        "A board buffers up to {} KiB that its kernel",
        kib(rust("satman/src/kernels.rs", "QUEUE")),
    ),
    ("docs/conformance.md", "A key has at most {} bytes, a value", contract("management.KEY_MAX")),
    (
        MESSAGES,
        "opens byte *streams* to services, up to {} at a time",
        rust("firmware/links/src/streams.rs", "STREAMS"),
    ),
    (MESSAGES, "how many bytes it has space for (initially {} KiB)", kib(contract("link.WINDOW"))),
    (BRIDGE, "as one contiguous range of up to {} MiB", mib(contract("remote.PAGES") * contract("remote.PAGE_BYTES"))),
    (BRIDGE, "of the place on: {} entries say", contract("remote.PAGES")),
    (BRIDGE, "for each page of {} KiB of the range", kib(contract("remote.PAGE_BYTES"))),
    (REMOTE, "reads descriptors from a ring of {} in memory", contract("remote.COPY_DESCRIPTORS")),
]


def numbers(page: str, sentence: str) -> list[str]:
    """Returns what stands at the placeholder in each place of a page that reads like the sentence."""
    text = re.sub(r"\s+", " ", (ROOT / page).read_text())
    return re.findall(r"([\w.,-]*\w)".join(re.escape(part) for part in sentence.split("{}", 1)), text)


@pytest.mark.parametrize("page, sentence, value", ROWS, ids=[f"{page}: {sentence}" for page, sentence, _ in ROWS])
def test_number_in_manual_is_that_of_the_sources(page, sentence, value):
    found = numbers(page, sentence)
    assert found, f"{page} does not say: {sentence}"
    said = {WORDS.get(value) == text or float(text.replace(",", "")) == value for text in found}
    assert said == {True}, f"{page}, {sentence!r}: {found}, but it is {value:g}"


def test_systems_in_interfaces_are_those_of_the_emulator():
    files = {path.stem for path in (ROOT / "src" / "emulator" / "src" / "host").glob("*.toml")}
    (named,) = re.findall(r"--system FILE\.toml\|(\S+)", (ROOT / INTERFACES).read_text())
    assert set(named.split("|")) == files


def test_variants_in_gateware_page_are_those_of_the_sources():
    (row,) = re.findall(
        r"^\| `variants` \| variants (.*?) \|", (ROOT / "docs" / "gateware.md").read_text(), re.MULTILINE
    )
    assert sorted(re.findall(r"`(\w+)`", row)) == sorted(VARIANTS)


def test_register_blocks_in_interfaces_are_those_of_the_gateware():
    section = (ROOT / INTERFACES).read_text().split("\n## 4. ")[1].split("\n## ")[0]
    named = [
        name for row in re.findall(r"^\| (`.*?) \|", section, re.MULTILINE) for name in re.findall(r"`(\w+)`", row)
    ]
    written = "".join(path.read_text() for path in (ROOT / "docs" / "gateware").glob("*.md"))
    assert sorted(named) == sorted(re.findall(r"<!-- registers of (\w+) -->", written))
