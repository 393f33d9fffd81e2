"""Boot from ROM to experiment, via card, flash and network, with the failures that can occur."""

import contextlib
import itertools
import re
import socket
import struct
import subprocess
import sys
import threading

import pytest

from kairos.boot import boards, boot_image
from kairos.contracts.memory import RUNTIME
from tests.support import TIMEOUT
from tests.support.command import run_kairos
from tests.support.paths import FIRMWARE, GATEWARE, ROOT

BOOT = b"BOOT    BIN"
CONFIG = b"CONFIG  TXT"
KEY = b"sixteen bytes or more"
TITLES = {"zc706": "ZC706", "kasli_soc": "Kasli-SoC", "ebaz4205": "EBAZ4205", "redpitaya": "Red Pitaya"}


def managed(device, *arguments):
    """Run `kairos device` with what is behind the management port of a device."""
    return run_kairos("device", "-D", f"127.0.0.1:{device.ports[1380]}", *arguments)


def run_blink(device, tmp_path):
    """Runs examples/blink.py on the device and returns the number of level changes at the pins."""
    text = (ROOT / "examples" / "device_db.py").read_text()
    assert '"emulator://demo"' in text
    path = tmp_path / "device_db.py"
    path.write_text(text.replace('"emulator://demo"', f'"127.0.0.1:{device.ports[1381]}"'))
    command = [sys.executable, "-m", "kairos", "run", ROOT / "examples" / "blink.py", "--device-db", path]
    done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT)
    assert done.returncode == 0, done.stderr + device.uart()
    return len(device.control("trace")["events"])


def altered_firmware(tmp_path):
    """Returns a copy of the firmware with another name in its first log line."""
    data = (FIRMWARE / "runtime.elf").read_bytes()
    assert data.count(b"Kairos runtime ") >= 1
    path = tmp_path / "other.elf"
    path.write_bytes(data.replace(b"Kairos runtime ", b"Kairos RUNTIME "))
    return path


def one_line(done, text):
    assert done.returncode == 1, done.stdout + done.stderr
    lines = done.stderr.strip().splitlines()
    assert len(lines) == 1 and text in lines[0], done.stderr


def test_device_boots_card_then_other_firmware_from_network(boot_device, card, image, tmp_path):
    device = boot_device("--sd", card((BOOT, image)))
    printed = device.wait_for("gateware: ")
    assert "first stage, ZC706" in printed and "PL configured" in printed
    assert printed.index("PL configured") < printed.index("Kairos runtime")
    assert run_blink(device, tmp_path) > 0

    gateware = GATEWARE / "kairos_sim.bit"
    done = device.boot("--firmware", altered_firmware(tmp_path), "--gateware", gateware)
    assert done.returncode == 0, done.stderr + device.uart()
    printed = device.wait_for("gateware: ", 2)
    assert printed.count("PL configured") == 2
    assert "reboot into the loader requested" in printed and "Kairos RUNTIME" in printed
    assert run_blink(device, tmp_path) > 0

    # Firmware booted from the network is not stored.
    assert managed(device, "reboot").returncode == 0
    printed = device.wait_for("gateware: ", 3)
    assert printed.rindex("Kairos runtime") > printed.rindex("Kairos RUNTIME")


def test_commands_find_a_device_that_restarts(boot_device, card, image, tmp_path):
    """Commands issued during a restart: connections opened then never receive an answer."""
    device = boot_device("--sd", card((BOOT, image)))
    device.wait_for("network: 10.0.2.15")

    def kairos(*arguments):
        done = managed(device, *arguments)
        assert done.returncode == 0, done.stderr + device.uart()
        return done.stdout

    kairos("reboot")
    assert "Kairos runtime" in kairos("log")
    kairos("reboot")
    assert run_blink(device, tmp_path) > 0
    done = device.boot("--gateware", GATEWARE / "kairos_sim.bit")
    assert done.returncode == 0, done.stderr
    assert run_blink(device, tmp_path) > 0
    assert device.uart().count("Kairos runtime") == 4


def test_loader_keeps_report_of_failed_firmware(boot_device, card, image):
    device = boot_device("--sd", card((BOOT, image)))
    device.wait_for("Ethernet link up")
    vectors = RUNTIME.start
    device.control("write", address=vectors + 0x18, value=0xE7F0_00F0)
    with socket.create_connection(("127.0.0.1", device.ports[1380])):
        device.wait_for("Ethernet link up", 2)
    printed = device.wait_for("first stage, ZC706", 2)
    said = printed.index(f"undefined instruction at {vectors + 0x18:#010x}")
    assert said < printed.rindex("Kairos loader") < printed.index("before this start: undefined instruction")


@pytest.mark.parametrize("board", TITLES)
def test_first_stage_sets_up_every_board(boot_device, card, board):
    """The first stage sets up clocks and memory correctly, and all later stages use the board's UART."""
    assert set(boards(FIRMWARE / "boot.elf")) == set(TITLES)
    image = boot_image(FIRMWARE / "boot.elf", FIRMWARE / "runtime.elf", GATEWARE / "kairos_sim.bit", board=board)
    device = boot_device("--sd", card((BOOT, image)))
    printed = device.wait_for("gateware: ")
    assert f"first stage, {TITLES[board]}\n" in printed and "PL configured" in printed
    bytes_sent = device.control("status")["uart_bytes"]
    connector = 0 if board == "redpitaya" else 1
    assert bytes_sent[connector] >= len(printed) and bytes_sent[1 - connector] == 0


@pytest.mark.long
def test_card_boots_after_power_loss_during_replacement(boot_device, card, tmp_path):
    """The running firmware replaces its image, and the card loses power after a number of sectors.
    The emulator's own tests (`src/emulator/tests/card.rs`) cover every number of sectors."""
    image = boot_image(FIRMWARE / "boot.elf", FIRMWARE / "runtime.elf")
    (tmp_path / "new").write_bytes(boot_image(FIRMWARE / "boot.elf", altered_firmware(tmp_path)))
    sectors = -(-(tmp_path / "new").stat().st_size // 512)
    seen = set()
    for more in (-100, 20, 30, 100):
        path = card((BOOT, image))
        device = boot_device("--sd", path, "--set", f"sd_cut_after={sectors + more}")
        device.wait_for("network: 10.0.2.15")
        done = managed(device, "flash", tmp_path / "new")
        assert (done.returncode == 0) == (more == 100), done.stderr
        device.close()
        device = boot_device("--sd", path)
        printed = device.wait_for("network: 10.0.2.15")
        assert ("Kairos runtime" in printed) != ("Kairos RUNTIME" in printed)
        seen.add("Kairos RUNTIME" in printed)
        device.close()
    assert seen == {False, True}


def test_unbootable_image_is_refused_and_old_one_kept(boot_device, card, image, tmp_path):
    """The host rejects unbootable images, the device images for another board. The old image is kept."""

    def flash(device, content):
        (tmp_path / "new").write_bytes(content)
        return managed(device, "flash", tmp_path / "new")

    path = card((BOOT, image))
    device = boot_device("--sd", path)
    device.wait_for("gateware: ")
    before = path.read_bytes()
    one_line(flash(device, b"12345"), "the boot image of the device was not changed: not a boot image")
    damaged = image[:0x38] + b"\xff" + image[0x39:]
    one_line(flash(device, damaged), "not changed: the boot image is damaged: checksum of its header")
    one_line(flash(device, image[:-64]), "not changed: the boot image ends too early")
    for board in ["redpitaya", "kasli_soc"]:
        other = boot_image(FIRMWARE / "boot.elf", FIRMWARE / "runtime.elf", board=board)
        one_line(flash(device, other), f"was not changed: it is for the board {board}, this is a zc706")
    assert path.read_bytes() == before
    device.close()


def test_loader_without_ethernet_does_not_wait(boot_device, card):
    image = loader_only(board="ebaz4205")
    device = boot_device("--sd", card((BOOT, image), (CONFIG, b"netboot_wait=1\n")))
    printed = device.wait_for("it cannot boot from the network")
    assert "SD card: the boot image has no firmware" in printed and "waiting" not in printed


@pytest.mark.parametrize("offset", [0, 3 * 32 * 1024])
def test_image_at_any_place_of_flash_is_booted(boot_device, image, tmp_path, offset):
    """Also after an image with a damaged header, as left by a power loss while writing the flash."""
    damaged = bytearray(image[:offset])
    damaged[0x20:0x24] = bytes(4 if offset else 0)
    (tmp_path / "flash").write_bytes(damaged + image)
    device = boot_device("--qspi", tmp_path / "flash")
    printed = device.wait_for("gateware: ")
    assert "PL configured" in printed


def test_loader_without_image_waits_and_resumes_transfer(boot_device, card, tmp_path):
    """The card has only a loader; the connection is cut in the middle of the firmware transfer."""
    from kairos.boot import firmware, gateware, load

    device = boot_device("--sd", card((BOOT, loader_only())))
    device.wait_for("waiting for the network")
    assert "SD card: the boot image has no firmware" in device.uart()
    cut = Cut(device.ports[1379], after=300_000)
    reports = []
    losses = load(
        "127.0.0.1",
        firmware(FIRMWARE / "runtime.elf"),
        gateware(GATEWARE / "kairos_sim.bit"),
        port=cut.port,
        progress=lambda *report: reports.append(report),
    )
    device.wait_for("gateware: ")
    assert losses >= 1  # a busy machine may lose the connection again
    # Data that was sent but lost is reported again.
    sent = [done for name, done, _ in reports if name == "firmware"]
    resumed = next(later for earlier, later in itertools.pairwise(sent) if later <= earlier)
    assert 100_000 < resumed <= 300_000 + 4096, "it began again"


def test_invalid_request_is_refused_and_loader_keeps_waiting(boot_device, card, tmp_path):
    device = boot_device("--sd", card((BOOT, loader_only())))
    device.wait_for("waiting for the network")
    not_elf = tmp_path / "text"
    not_elf.write_text("not a program")
    one_line(device.boot("--no-restart", "--firmware", not_elf), "is not a firmware: it is not an ELF file")
    one_line(device.boot("--no-restart", "--gateware", not_elf), "is not a bitstream")
    from kairos.boot import firmware, gateware
    from kairos.boot.netboot import Refused, load

    program = firmware(FIRMWARE / "runtime.elf")
    bitstream = gateware(GATEWARE / "kairos_sim.bit")
    low = bytearray(program)
    struct.pack_into("<I", low, 52 + 12, 0x1000)
    other = bitstream.replace(struct.pack("<I", 0x0373_1093), struct.pack("<I", 0x0372_C093))
    for files, reason in [
        ((b"no ELF file at all" * 10,), "no ELF file"),
        ((bytes(low),), "wants memory at 0x00001000"),
        ((program, b"no bitstream" * 10), "no sync word"),
        ((program, other), "for the XC7Z030, this chip is the XC7Z045"),
    ]:
        with pytest.raises(Refused, match=reason):
            load("127.0.0.1", *files, port=device.ports[1379])
        assert f"refused: {reason}"[:9] in device.uart()
    # A truncated bitstream passes all checks except that of the PL.
    load("127.0.0.1", program, bitstream[: len(bitstream) // 2], port=device.ports[1379])
    device.wait_for("the PL does not accept this bitstream")
    load("127.0.0.1", program, bitstream, port=device.ports[1379])
    device.wait_for("gateware: ")


def test_loader_without_client_boots_after_the_wait(boot_device, card, image):
    """With `netboot_wait` the card is booted after that time, even if a silent client is connected."""
    device = boot_device("--sd", card((BOOT, image), (CONFIG, b"netboot_wait=1\n")))
    device.wait_for("waiting for the network for 1 s")
    with socket.create_connection(("127.0.0.1", device.ports[1379])):
        device.wait_for("nothing arrived from the network")
        device.wait_for("gateware: ")


def test_netboot_without_key_is_refused(boot_device, card, tmp_path):
    device = boot_device("--sd", card((BOOT, loader_only()), (CONFIG, b"auth_key=" + KEY + b"\n")))
    device.wait_for("waiting for the network")
    right, wrong = tmp_path / "key", tmp_path / "wrong"
    right.write_bytes(KEY + b"\n")
    wrong.write_bytes(b"another sixteen bytes")
    one_line(device.boot("--no-restart"), "requires a key")
    one_line(device.boot("--no-restart", "--key", wrong), "requires its key to boot from the network")
    done = device.boot("--no-restart", "--key", right)
    assert done.returncode == 0, done.stderr
    device.wait_for("Kairos runtime")
    # The key cannot be read back.
    device.wait_for("network: 10.0.2.15")
    done = managed(device, "--key", right, "config", "read", "-s", "auth_key")
    assert done.returncode == 1 and KEY.decode() not in done.stdout
    # The running firmware restarts into the loader only for clients with the key.
    one_line(device.boot(), "requires a key")
    one_line(device.boot("--key", wrong), "has a different key")
    done = device.boot("--key", right)
    assert done.returncode == 0, done.stderr
    device.wait_for("Kairos runtime", count=2)


def test_damaged_gateware_on_card_is_reported(boot_device, card, image):
    damaged = bytearray(image)
    at = image.index(struct.pack("<I", 0xAA99_5566), 0x1000)
    damaged[at : at + 4] = bytes(4)
    device = boot_device("--sd", card((BOOT, bytes(damaged))))
    device.wait_for("SD card: gateware: not a bitstream")
    device.wait_for("waiting for the network")


def loader_only(board=None):
    """Returns a boot image reduced to its loader."""
    image = boot_image(FIRMWARE / "boot.elf", FIRMWARE / "runtime.elf", board=board)
    (table,) = struct.unpack_from("<I", image, 0x9C)
    return image[: table + 64] + bytes(60) + b"\xff" * 4 + image[table + 128 :]


class Cut:
    """Forwards a port; the first connection is cut after `after` bytes."""

    def __init__(self, target, after):
        self.target, self.after = target, after
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while True:
            client, _ = self.listener.accept()
            server = socket.create_connection(("127.0.0.1", self.target))
            threading.Thread(target=self.copy, args=(server, client, None), daemon=True).start()
            self.copy(client, server, self.after)
            self.after = None

    def copy(self, source, sink, limit):
        passed = 0
        with contextlib.suppress(OSError):
            while (limit is None or passed < limit) and (data := source.recv(4096)):
                sink.sendall(data)
                passed += len(data)
            sink.shutdown(socket.SHUT_WR)
            if limit is not None:
                source.shutdown(socket.SHUT_RDWR)


def test_loader_log_has_format_of_the_runtime(boot_device, card):
    device = boot_device("--sd", card((BOOT, loader_only())))
    printed = device.wait_for("waiting for the network")
    complete = printed[: printed.rfind("\n")]  # the last line may still be being printed
    lines = [line for line in complete.splitlines() if "(loader)" in line]
    assert len(lines) >= 3
    assert all(re.fullmatch(r"\[ *\d+\.\d{6}s\] +[A-Z]+\(loader\): .+", line) for line in lines)
