"""What each card gets on its pins, as files of this folder: a call of a driver, the messages that it sends over serial
buses, and each pin that changes with its level before and the times of its changes in ns since the first of them.

The messages stand in the cases, as the descriptions of the cards have them, and the pins have to carry them.
`python -m tests.cards.waveforms` writes the files anew after an intended change.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from numpy import int64

from kairos.devices import DeviceDB
from kairos.scope.pins import buses_of
from kairos.scope.serial import Messages
from tests.support.databases import calibrated, entry, written
from tests.support.gateware import database

__all__ = ["CASES", "FOLDER", "SETUPS", "Case", "waveform"]

FOLDER = Path(__file__).parent


@dataclass
class Case:
    """A call, `method` of the device `device` with `arguments`, on the gateware and with the database of `setup`.
    `before`: methods without arguments that are called first. `pins`: beginning of the names of the card's pins,
    all if empty. `words`: (bits, value) of its messages on serial buses, in the order of their beginnings. `until`:
    changes from this time on are left out, for cards that go on by themselves."""

    setup: str
    device: str
    method: str
    arguments: tuple = ()
    before: tuple = ("init",)
    pins: tuple[str, ...] = ()
    words: list[tuple[int, int]] = field(default_factory=list)
    until: int = 20_000
    slack: int = 0


def _lab(folder):
    """The laboratory with one chip or card after the other at its bare SPI port."""
    entries = DeviceDB.load(calibrated(database("lab", folder), folder)).entries
    bus = {"spi_device": "dio_spi0"}
    entries["zotino0"] = entry("zotino", "Zotino", **bus, ldac_device="ttl16")
    entries["ad9834"] = entry("ad9834", "AD9834", **bus)
    entries["attenuator"] = entry("hmc542b", "HMC542B", **bus)
    entries["novogorny0"] = entry("novogorny", "Novogorny", **bus, cnv_device="ttl16")
    entries["mirny0"] = entry("mirny", "Mirny", **bus, clk_sel=2)
    entries["almazny0"] = entry("almazny", "AlmaznyChannel", host_mirny="mirny0", channel=1)
    return written(entries, folder)


def _cards(folder):
    entries = DeviceDB.load(database("cards", folder)).entries
    entries["ad9914"] = entry("ad9914", "AD9914", sysclk=3e9, bus_channel=2, channel=1)
    entries["relay"] = entry("shuttler", "Relay", spi_device="spi_shuttler0_relay")
    entries["adc"] = entry("shuttler", "ADC", spi_device="spi_shuttler0_adc")
    return written(entries, folder)


SETUPS: dict[str, Callable] = {
    "lab": _lab,
    "cards": _cards,
    "songbird": lambda folder: database("songbird", folder),
}
"""Functions that write a database to a folder, by name; devices without a driver's bus are not reached."""

CASES = {
    "ttl": Case("lab", "ttl4", "pulse_mu", (int64(24),), ()),
    "urukul": Case(
        "lab", "urukul0_cpld", "set_all_att_mu", (0x12345678,), pins=("spi_urukul0",), words=[(32, 0x12345678)]
    ),
    "urukul_ad9910": Case(
        "lab", "urukul0_ch1", "write32", (0x07, 0x49ABCDEF), (), ("spi_urukul0",), [(40, 0x0749ABCDEF)]
    ),
    "urukul_update": Case("lab", "ttl_urukul0_io_update", "pulse_mu", (int64(8),), (), ("ttl_urukul0_io",)),
    "sampler": Case("lab", "sampler0", "set_gain_mu", (2, 3), words=[(16, 0b11 << 4)]),
    "sampler_conversion": Case("lab", "sampler0", "sample_mu", ([0] * 8,)),
    "zotino": Case("lab", "zotino0", "write_dac_mu", (3, 0xA000), words=[(24, 0b11 << 22 | (8 + 3) << 16 | 0xA000)]),
    "zotino_load": Case("lab", "zotino0", "load", (), ()),
    "ad9834": Case("lab", "ad9834", "write", (0x2138,), words=[(16, 0x2138)]),
    "hmc542b": Case("lab", "attenuator", "set_att_mu", (0x5A,), (), words=[(8, 0x5A)]),
    "novogorny": Case("lab", "novogorny0", "set_gain_mu", (1, 2), (), words=[(16, 0b10 << 2)]),
    "mirny": Case("lab", "mirny0", "write_reg", (1, 0x1234), (), words=[(24, 0b11 << 16 | 0x1234)]),
    "mirny_adf5356": Case("lab", "mirny0", "write_ext", (6, 32, 0x49ABCDE6), (), words=[(40, 6 << 33 | 0x49ABCDE6)]),
    "ad9914": Case("cards", "ad9914", "set_x_mu", (0x123456789ABC, 0x555), (), pins=("ddsbus0",), slack=10_000),
    "phaser": Case("cards", "phaser0", "write8", (0x06, 0x2A), (), pins=("phaser0",), until=2000),
    "shuttler_relays": Case("cards", "relay", "enable", (0x1234,), words=[(16, 0x1234)]),
    "shuttler_adc": Case("cards", "adc", "write16", (1, 0x8010), (), words=[(24, 0x018010)]),
    "songbird": Case("songbird", "songbird0", "write_reg", (0x18, 0x5A), words=[(32, 0x185A0000)], until=100_000),
}
"""By card. A Grabber has inputs only;
a Fastino numbers its frames (its vectors have them); an SU-Servo goes on by itself, which makes a recording long."""


def waveform(chain, case: Case) -> tuple[list[tuple[int, int]], str]:
    """Makes the call on a `Chain`; returns the messages on serial buses, and the text of the file."""
    device = chain.get(case.device)
    for name in case.before:
        chain(getattr(device, name), slack_mu=case.slack)
    chain(getattr(device, case.method), *case.arguments, slack_mu=case.slack, pins=True)
    recording = chain.recording()
    messages = sorted(
        (message.start_ns, message.bits, message.written)
        for pads in buses_of(recording).values()
        for message in Messages(pads)
    )
    # A clock goes on whatever happens
    clocks = chain.bench.database.channels_of("TTLClockGen")
    active = [
        channel
        for channel in recording.channels
        if channel.change_count and channel.number not in clocks and channel.name.startswith(case.pins or "")
    ]
    changes = {channel.name: _edges(channel) for channel in active}
    first = min((edges[0] for edges in changes.values()), default=0)
    arguments = ", ".join(str(value) if isinstance(value, list) else hex(value) for value in case.arguments)
    lines = [f"{case.device}.{case.method}({arguments})"]
    lines += [f"{bits} bits {written:#0{bits // 4 + 2}x}" for _, bits, written in messages]
    for channel in active:
        times = [str(time - first) for time in changes[channel.name] if time - first < case.until]
        before = "-" if channel.initial is None else channel.initial
        lines += [f"{channel.name} {before}: {' '.join(times)}"] if times else []
    return [message[1:] for message in messages], "\n".join(lines) + "\n"


def _edges(channel) -> list[int]:
    """Times at which the level changes."""
    times, level = [], channel.initial
    for changes, wave in channel.parts():
        for time, new in (*changes, *(wave.edges() if wave else ())):
            if new != level:
                times.append(time)
            level = new
    return times
