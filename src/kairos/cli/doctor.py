"""``kairos device doctor``: looks for what is wrong with a device, and says what to do about it.

It compares what should be the same: the device database, the system description, and the gateware's own
descriptor; and asks the device about its clock, supplies, links, the power of its cards, and their EEPROMs.
"""

import json
import re
import struct
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from .. import emulator as emulation
from ..contracts import session
from ..contracts.management import DESTINATION_LOCAL
from ..devices import DeviceDB, DeviceManager, devices_on
from ..devices.agreement import destinations, disagreements
from ..devices.sinara import IDENTITY_WORDS, decoded
from ..errors import KairosError, UsageError
from ..network.management import PORT, Management, read_key
from ..terminal_text import plain
from .address import address_of
from .links import destination_of, links_of
from .printed import print_notice

__all__ = ["doctor"]


@dataclass(frozen=True)
class Finding:
    """`state`: "good", "warning", "bad", or "absent": not there, or not to be found out. `remedy`: what to do."""

    subject: str
    state: str
    text: str
    remedy: str = ""

    def __str__(self) -> str:
        remedy = f" → {self.remedy}" if self.remedy else ""
        return f"{self.state:8} {self.subject}: {self.text}{remedy}"


REMEDIES = {
    "watchdog": "read the log: kairos device log",
    "sensors": "check fans, air flow and power supply",
    "clock": "check the cable at the clock input, and the configuration key rtio_clock",
    "rtio": "read the log for the channels: kairos device log",
    "links": "check modules and fibres, and that the board behind is on: kairos links",
    "kernel_core": "read the log: kairos device log",
    "memory": "read the log, then restart: kairos device reboot",
}
"""What to do about a subsystem that is not well, by its name in the device's report."""
POWER_ON, POWER = "SFP transmitters and cards are on", "I/O expander"
"""Texts of the log about the power of the cards."""


def doctor(args) -> int:
    """Print what is found; returns 1 if something is bad."""
    database = DeviceDB.load(args.device_db) if Path(args.device_db).is_file() else None
    key = read_key(args.key) if args.key else None
    with _Device(args, database) as address:
        found = []
        for finding in _findings(args, database, address, key):
            found.append(finding)
            print(json.dumps(asdict(finding)) if args.json else plain(str(finding)))
    counts = {state: sum(finding.state == state for finding in found) for state in ("bad", "warning")}
    if not args.json:
        print_notice(f"{counts['bad']} bad, {counts['warning']} to look at, of {len(found)} findings")
    return int(counts["bad"] > 0)


class _Device:
    """The device of a command line: yields the address of its management, and starts and stops it if it is emulated."""

    def __init__(self, args, database):
        self._args, self._database, self._started = args, database, None

    def __enter__(self) -> tuple[str, int]:
        host = self._database.arguments("core").get("host") if self._database else None
        if self._args.device or not emulation.is_emulated(host):
            return address_of(self._args, PORT)
        forward = {PORT: 0, session.PORT: 0}
        options = emulation.Options(forward=forward, entries=self._database.entries)
        self._started = emulation.acquire(host, options)
        return "127.0.0.1", self._started.port(PORT)

    def __exit__(self, *_):
        if self._started is not None:
            self._started.stop()


def _findings(args, database: DeviceDB | None, address, key) -> Iterator[Finding]:
    try:
        number = DESTINATION_LOCAL if args.board is None else destination_of(address, args.board, key)
        with Management(*address, key=key, destination=number) as management:
            if args.board is None:
                _wait_for_boards(management, address, key)
            gateware, health, log = management.descriptor(), management.health(), management.log()
    except UsageError:
        raise  # the board is not one of this device's
    except KairosError as error:
        remedy = "see docs/bring-up.md, from the serial console on" if args.board is None else REMEDIES["links"]
        yield Finding("device", "bad", str(error), remedy)
        return
    variant, _, version = gateware.identity.partition(";")
    where = address[0] if args.board is None else f"board {number} behind {address[0]}"
    yield Finding("device", "good", f"{where} has the gateware {variant}, version {version or 'unknown'}")
    yield from _subsystems(health)
    yield _power(log)
    yield from _configuration(log)
    if args.board is None:
        boards = yield from _boards(address, key, gateware.channels)
    else:
        boards = {number: gateware.channels}
    if database is None:
        remedy = f"kairos devices --from {address[0]} -o {args.device_db}"
        yield Finding("device database", "bad", f"there is no {args.device_db}", remedy)
    else:
        yield from _database(database, gateware.clock, boards, address[0], whole=args.board is None)
    if args.description:
        # A description numbers the boards from its own on
        below = {board - number: channels for board, channels in boards.items()}
        yield from _description(args.description, gateware, below)
    if database is not None and not args.device and args.board is None:
        yield from _eeproms(database)


STARTED, PAUSE = 5.0, 0.1
"""Seconds since the device's start within which its links come up, and between two looks at them."""


def _wait_for_boards(management: Management, address, key) -> None:
    """Wait for the boards behind links, if the device has only just started."""
    until = time.monotonic() + STARTED
    while time.monotonic() < until and any(not link["up"] for links in links_of(address, key) for link in links):
        uptimes = [one["values"]["uptime_seconds"] for one in management.health() if "uptime_seconds" in one["values"]]
        if not uptimes or uptimes[0] > STARTED:
            return
        time.sleep(PAUSE)


def _subsystems(health: list[dict]) -> Iterator[Finding]:
    """Yield the subsystems of the master as it reports them."""
    for one in health:
        name, state, values = one["name"], one["state"], one["values"]
        shown = ", ".join(_shown(quantity, value) for quantity, value in values.items() if _is_shown(quantity))
        text = ": ".join(filter(None, [one["text"], shown])) or state
        yield Finding(name, state, text, REMEDIES.get(name, "") if state in ("warning", "bad") else "")


UNITS = {"celsius": "°C", "hertz": "Hz", "volts": "V", "seconds": "s"}
"""Units of the device's values, by the end of their names."""


def _is_shown(quantity: str) -> bool:
    return quantity.startswith("links") or quantity.rpartition("_")[2] in UNITS


def _shown(quantity: str, value) -> str:
    name, _, unit = quantity.rpartition("_")
    return f"{name} {value:.9g} {UNITS[unit]}" if unit in UNITS else f"{value} {quantity.replace('_', ' ')}"


def _power(log: str) -> Finding:
    """Return whether the firmware has switched the cards on, which its log says."""
    lines = [line for line in log.splitlines() if POWER in line]
    if any(POWER_ON in line for line in lines):
        return Finding("power of the cards", "good", "the firmware has switched them on")
    if lines:
        remedy = "check hw_rev of the system description, and the I2C bus"
        return Finding("power of the cards", "bad", lines[-1].strip(), remedy)
    return Finding("power of the cards", "absent", "this board does not switch it, or its log is too old to tell")


IGNORED = re.compile(r"configuration: (.* ignored\b.*)")
"""Text of the log about a setting that has no effect."""
NO_CARD = re.compile(r"configuration: (.*defaults are used.*)")
"""Text of the log about a card that cannot be read."""


def _configuration(log: str) -> Iterator[Finding]:
    """Yield the settings that the device does not follow, which its log says."""
    if (found := NO_CARD.search(log)) is not None:
        yield Finding("configuration", "absent", found[1], "to keep settings: an SD card with a FAT partition")
    for text in dict.fromkeys(found[1] for found in IGNORED.finditer(log)):
        remedy = "correct it and restart: kairos device config write, kairos device reboot"
        yield Finding("configuration", "warning", text, remedy)


def _boards(address, key, channels):
    """Yield a finding for each link; returns the channels by destination."""
    boards = {0: channels}
    tree, cross = links_of(address, key)
    for link in cross:
        there = "another board" if link["destination"] is None else f"board {link['destination']}"
        if not link["up"]:
            yield Finding(f"board {link['from']}", "bad", f"its cross link to {there} is down", REMEDIES["links"])
    for link in tree:
        number = link["destination"]
        where = f"board {number}"
        if not link["up"]:
            text = "its link carries words, but its firmware does not answer" if link["line"] else "its link is down"
            yield Finding(where, "bad", text, REMEDIES["links"])
            continue
        lost = link.get("lost_outputs", 0)
        text = f"{link.get('board', 'gateware unknown').replace(';', ' ')}, {link['round_trip_us']:.4g} us away"
        yield Finding(where, "warning" if lost else "good", f"{text}{f', lost {lost} outputs' if lost else ''}")
        if "firmware" not in link:
            # A card that speaks DRTIO: the gateware of the board before it lists its channels
            boards[number] = []
            continue
        try:
            with Management(*address, key=key, destination=number) as management:
                boards[number] = management.descriptor().channels
                yield from (
                    Finding(f"{where}, {finding.subject}", finding.state, finding.text, finding.remedy)
                    for finding in _subsystems(management.health())
                    if finding.state in ("warning", "bad")
                )
        except KairosError as error:
            yield Finding(where, "absent", str(error), "it has another key: ask it with --board and --key")
    return boards


MOST = 5
"""Differences of one kind that are shown: if all channels are shifted, one is enough."""


def _limited(subject: str, lines: list[str], remedy: str) -> Iterator[Finding]:
    for line in lines[:MOST]:
        yield Finding(subject, "bad", line, remedy)
    if len(lines) > MOST:
        yield Finding(subject, "bad", f"and {len(lines) - MOST} more differences", remedy)


def _database(database: DeviceDB, clock, boards, host: str, whole: bool) -> Iterator[Finding]:
    """Yield where the database differs from `boards`: all of the device if `whole`."""
    own = devices_on(database.entries, database.arguments("core").get("host"))
    entries = {name: entry for name, entry in own.items() if isinstance(entry, dict)}
    wrong = disagreements(entries, clock, boards)
    remedy = f"change the entry, or begin with one from 'kairos devices --from {host}'"
    yield from _limited("device database", wrong, remedy)
    away = sorted(destinations(entries) - boards.keys()) if whole else []
    for number in away:
        text = f"it has channels of board {number}, which is not there"
        yield Finding("device database", "bad", text, REMEDIES["links"])
    if not wrong and not away:
        yield Finding("device database", "good", f"{database.path} fits the gateware")


def _description(path: str, gateware, boards) -> Iterator[Finding]:
    """Yield what differs between a system description and the gateware of the device."""
    try:
        # A separate package, needed only for building gateware.
        from kairos_gateware.build import BOARDS, build_id
        from kairos_gateware.description import DescriptionError, load, make_variant  # likewise
        from kairos_gateware.device_db import device_db  # likewise
    except ImportError as error:
        raise UsageError(f"--description needs the Python package kairos-gateware: {error}") from None
    try:
        made = make_variant(load(path))
    except DescriptionError as error:
        yield Finding("system description", "bad", str(error), "correct the description")
        return
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}") from None
    remedy = "build the gateware of this description and write it to the device: kairos device flash"
    variant = gateware.identity.partition(";")[0]
    if made.name != variant:
        yield Finding("system description", "warning", f"it describes {made.name}, the device has {variant}", remedy)
    wrong = disagreements(device_db(made, ""), gateware.clock, boards)
    if made.board and gateware.board and made.board != gateware.board:
        described, there = (text.replace(";", " ") for text in (made.board, gateware.board))
        wrong.insert(0, f"it describes a {described}, and the gateware was made for a {there} (target, hw_rev)")
    yield from _limited("system description", wrong, remedy)
    if wrong:
        return
    yield Finding("system description", "good", f"{path} fits the gateware")
    # The gateware does not say on which pins its channels are: it does if it was built from the same.
    # An emulated device has the board of its description, too.
    built_as = [board for board in BOARDS if board in ("sim", made.board.partition(";")[0])]
    if any(build_id(made, board) == gateware.build for board in built_as):
        yield Finding("connectors", "good", f"the gateware was built from {path}")
    else:
        text = f"the gateware was built from other sources, or from another description than {path}"
        remedy = "compare the connectors (ports) with those that it was built from, or build it again"
        yield Finding("connectors", "absent", f"not to be compared: {text}", remedy)


def _eeproms(database: DeviceDB) -> Iterator[Finding]:
    """Yield the identities of the cards whose EEPROMs the database has; kernels read them."""
    names = [name for name, entry in database.entries.items() if _is_eeprom(entry)]
    if not names:
        return
    devices = DeviceManager(database)
    try:
        for name in names:
            yield _eeprom(devices, name, database.arguments(name).get("port"))
    finally:
        devices.close_devices()


def _is_eeprom(entry) -> bool:
    return isinstance(entry, dict) and entry.get("class") == "KasliEEPROM"


def _eeprom(devices: DeviceManager, name: str, port) -> Finding:
    try:
        eeprom = devices.get(name)
        words = [int(eeprom.read_i32(4 * n)) & 0xFFFFFFFF for n in range(IDENTITY_WORDS)]
    except KairosError as error:
        return Finding(name, "absent", f"not read: {error}", "end the run that uses the device")
    except Exception as error:
        text = f"no EEPROM answers at {port} ({type(error).__name__})"
        return Finding(name, "bad", text, f"is the card in {port}, and has it power?")
    found = decoded(struct.pack(f">{len(words)}I", *words))
    if found.name is None:
        return Finding(name, "good", f"serial number {found.serial}; not described in its EEPROM")
    text = f"{found.name} {found.revision} of {found.vendor}, serial number {found.serial}"
    if not found.sound:
        return Finding(
            name, "warning", f"{text}; the checksum is wrong", "write the EEPROM again with its maker's tool"
        )
    return Finding(name, "good", text)
