"""Configuration, boot image and restart of boards behind links, which have their own cards, through
the master."""

import json
import struct

import pytest

from kairos.boot import boot_image
from kairos.network.management import Management
from tests.support import TIMEOUT, sd_card
from tests.support.boards import System
from tests.support.boot_images import small_image
from tests.support.command import run_kairos
from tests.support.gateware import built
from tests.support.paths import FIRMWARE, ROOT
from tests.support.waiting import until

KNOWN = "destination {}: Kairos satellite"
"""Log message of the upstream board about a known board."""
ANOTHER_CHIP = struct.pack("<16I", 0xFFFFFFFF, 0xAA995566, 0x30018001, 0x0372C093, *[0x20000000] * 12)
ROWS, RANKS, NONE = 256, 32, 0xFF


def with_cards(folder, system, boards, settings=""):
    """Start a system that the emulator knows, with an empty card in each of `boards`; `cards`:
    their files; settings: additional settings of these boards."""
    text = (ROOT / f"src/emulator/src/host/{system}.toml").read_text()
    for board in boards:
        sd_card.make(folder / board)
        assert text.count(f'name = "{board}"') == 1
        text = text.replace(f'name = "{board}"', f'name = "{board}"\nsd = "{board}"\n{settings}')
    (folder / "system.toml").write_text(text)
    device = System(folder, folder / "system.toml")
    device.cards = {board: folder / board for board in boards}
    return device


@pytest.fixture(scope="module")
def pair(tmp_path_factory):
    """A master and a satellite, each with a card."""
    built("pair", "satellite")
    device = with_cards(tmp_path_factory.mktemp("managed"), "pair", ["master", "satellite"])
    try:
        device.until_logged(KNOWN.format(1))
        yield device
    finally:
        device.close()


@pytest.fixture(scope="module")
def chain(tmp_path_factory):
    """Three boards, the last two with cards."""
    built("chain", "relay", "satellite")
    device = with_cards(tmp_path_factory.mktemp("managed"), "chain", ["relay", "satellite"])
    try:
        device.until_logged(KNOWN.format(1))
        device.until_logged(KNOWN.format(2))
        yield device
    finally:
        device.close()


def done(device, board, *arguments):
    """Return the output of `kairos device` for a board, which must succeed."""
    run = device.manage(board, *arguments)
    assert run.returncode == 0, run.stderr
    return run.stdout


def refused(device, board, *arguments):
    """Return its error line, where it must fail."""
    run = device.manage(board, *arguments)
    assert run.returncode == 1 and run.stderr.count("\n") == 1, run.stdout + run.stderr
    return run.stderr


def configure(device, board, other, folder):
    """Write, read, remove and erase keys of a board; those of the other one must stay."""
    (folder / "blob").write_bytes(blob := bytes(range(256)) * 200)
    done(device, other, "config", "write", "-s", "mine", "stays")
    done(device, board, "config", "write", "-s", "mine", "its own", "-f", "blob", folder / "blob")
    stored = device.manage(board, "config", "write", "-s", "IPP", "1", "-s", "Log_Level", "INFO")
    assert stored.stderr == "kairos: 'IPP' is stored, but the firmware has no such key: did you mean ip?\n"
    assert done(device, board, "config", "read", "-s", "mine") == "its own\n"
    assert done(device, other, "config", "read", "-s", "mine") == "stays\n"
    done(device, board, "config", "read", "-f", "blob", folder / "back")
    assert (folder / "back").read_bytes() == blob
    done(device, board, "config", "remove", "blob")
    number = destination(device, board)
    for action, said in [
        (("read", "-s", "blob"), "read 'blob': there is no such key, or no card"),
        (("write", "-s", "log_level", "loud"), "write 'log_level'"),
    ]:
        line = refused(device, board, "config", *action)
        assert f"could not {said}" in line and f"('kairos device --board {number} log')" in line, line
    assert "log_level: invalid value" in done(device, board, "log")
    restarted(device, board, lambda: done(device, board, "reboot"))
    assert done(device, board, "config", "read", "-s", "mine") == "its own\n"
    done(device, board, "config", "erase")
    refused(device, board, "config", "read", "-s", "mine")
    assert done(device, other, "config", "read", "-s", "mine") == "stays\n"


def destination(device, board):
    """Return the destination of a board."""
    (found,) = [link["destination"] for link in device.links() if link["board"].startswith(f"{board};")]
    return found


def restarted(device, board, how):
    """Restart a board by `how`, and wait until it is known again."""
    known = KNOWN.format(destination(device, board))
    before = device.uart().count(known)
    how()
    device.until_logged(known, before + 1)


def is_on(card, content):
    """Return whether all sectors of a file are on a card, at any location."""

    def sectors(data):
        return {data[at : at + 512].ljust(512, b"\0") for at in range(0, len(data), 512)}

    return sectors(content) <= sectors(card.read_bytes())


def replace_image(device, board, image, folder):
    """Replace the boot image of a board, including attempts with unbootable ones."""
    (folder / "new").write_bytes(image)
    (folder / "other").write_bytes(small_image(bitstream=ANOTHER_CHIP))
    line = refused(device, board, "flash", folder / "other")
    assert "the gateware in it: this bitstream is for the XC7Z030, this chip is the XC7Z045" in line
    assert not is_on(device.cards[board], image)
    restarted(device, board, lambda: done(device, board, "flash", folder / "new"))
    assert is_on(device.cards[board], image)


def test_satellite_is_examined_alone_by_name_or_number(pair):
    for board in ("satellite", "1"):
        found = pair.manage(board, "doctor", "--json").stdout.splitlines()
        subjects = {(one := json.loads(line))["subject"]: one for line in found}
        assert "board 1 behind" in subjects["device"]["text"] and "gateware satellite," in subjects["device"]["text"]
        assert not any(subject.startswith("board") for subject in subjects), "that is what the master's has"
    assert "this device has no board 'satelite' on its links; available: satellite" in refused(
        pair, "satelite", "doctor"
    )


def test_satellite_has_its_own_configuration(pair, tmp_path):
    configure(pair, "satellite", "0", tmp_path)


@pytest.mark.long
def test_satellite_boot_image_is_replaced(pair, tmp_path):
    image = boot_image(FIRMWARE / "boot.elf", FIRMWARE / "satman.elf")
    replace_image(pair, "satellite", image, tmp_path)
    assert "Kairos satellite " in done(pair, "satellite", "log")


@pytest.mark.long
@pytest.mark.parametrize("slow", ["satellite", "master"])
def test_slow_card_write_keeps_link_up(tmp_path, slow):
    """Cards are busy for a millisecond and more with each sector; after a second without an answer
    both boards would re-establish the link."""
    built("pair", "satellite")
    device = with_cards(tmp_path, "pair", [slow], settings="set = { sd_write_us = 10_000 }")
    try:
        device.until_logged(KNOWN.format(1))
        blob, number = bytes(range(256)) * 240, 1 if slow == "satellite" else 0
        begin = device.control("status")["time_ns"]
        # This takes a minute or more of real time: the card is polled
        with Management(device.host, device.ports[1380], timeout=4 * TIMEOUT, destination=number) as management:
            management.config_write("blob", blob)
            assert device.control("status")["time_ns"] - begin > 1e9
            assert management.config_read("blob") == blob
        printed = device.uart()
        assert printed.count(KNOWN.format(1)) == 1 and "firmware does not answer" not in printed
        assert "the upstream board does not answer" not in printed
    finally:
        device.close()


@pytest.mark.long
def test_board_behind_satellite_is_managed(chain, tmp_path):
    """The gateware of two more boards takes minutes to build."""
    configure(chain, "satellite", "relay", tmp_path)
    replace_image(chain, "satellite", small_image(), tmp_path)
    configure(chain, "relay", "satellite", tmp_path)
    replace_image(chain, "relay", small_image(), tmp_path)


def table(*hops):
    """Return ARTIQ's routing table: by destination the links on which boards forward."""
    rows = [bytes(row).ljust(RANKS, bytes([NONE])) for row in hops]
    return b"".join(rows).ljust(ROWS * RANKS, bytes([NONE]))


AGREES = "INFO(comms::link): configuration: routing_table matches the boards found"
IGNORED = "ERROR(comms::link): configuration: routing_table is ignored: "


@pytest.mark.parametrize(
    ("written", "line"),
    [
        (table([0], [1, 0]), AGREES),
        pytest.param(table([0], [1, 0])[:-1], f"{IGNORED}it has 8191 bytes, not 8192", marks=pytest.mark.long),
        pytest.param(table([0], [2, 0]), f"{IGNORED}destination 1 is at the end of link 1", marks=pytest.mark.long),
        pytest.param(table([0], [1, 0], [1, 1, 0]), f"{IGNORED}destination 2 does not exist", marks=pytest.mark.long),
        (table([0], [1] * RANKS), f"{IGNORED}destination 1 is at the end of link 1"),
    ],
    ids=["right", "too short", "no such link", "no such board", "a loop"],
)
def test_artiq_routing_table_is_accepted(pair, tmp_path, written, line):
    """One line reports how it is handled, and the boards are reachable regardless."""
    (tmp_path / "table").write_bytes(written)
    done(pair, "0", "config", "write", "-f", "routing_table", tmp_path / "table")
    before = pair.uart().count(KNOWN.format(1))
    done(pair, "0", "reboot")
    pair.until_logged(KNOWN.format(1), before + 1)
    log = done(pair, "0", "log")
    assert [entry.partition("s] ")[2].strip() for entry in log.splitlines() if "routing_table" in entry] == [line]
    assert until(lambda: [link for link in pair.links() if link["up"] and link["rtio"]], pair.uart)
    assert run_kairos("links", "-D", pair.address).returncode == 0
