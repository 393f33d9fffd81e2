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
from kairos.language import at_mu, delay_mu, kernel, now_mu
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
    changes from this time on are left out, for cards that go on by themselves. `by`: class of the object whose
    method it is instead, made of the driver. `lane`: clock and data of a bus without a chip select."""

    setup: str
    device: str
    method: str
    arguments: tuple = ()
    before: tuple = ("init",)
    pins: tuple[str, ...] = ()
    words: list[tuple[int, int]] = field(default_factory=list)
    until: int = 20_000
    slack: int = 0
    by: type | None = None
    lane: tuple[str, ...] = ()


class Framed:
    """Calls at a fixed place in a card's frames: a Phaser's are 320 ns long, a Fastino counts 16 of 392 ns, a character
    to a camera on CoaXPress lasts 480 ns."""

    def __init__(self, device):
        self.core, self.device = device.core, device

    @kernel
    def set_group_mu(self, dac, codes):
        at_mu(now_mu() + 6272 - now_mu() % 6272)
        self.device.set_group_mu(dac, codes)

    @kernel
    def pulse(self, window, profiles):
        at_mu(now_mu() + 320 - now_mu() % 320)
        self.device.channel[1].miqro.pulse(window, profiles)

    @kernel
    def trigger(self, number):
        at_mu(now_mu() + 480 - now_mu() % 480)
        self.device.send_cxp_linktrigger(number)


class Servo:
    """The only cycles of a servo, whose second channel puts out what its profile 3 says."""

    def __init__(self, device):
        self.core, self.servo = device.core, device
        self.output = device.core.dmgr.get("suservo0_ch1")

    @kernel
    def cycle(self, ftw, offset, phase):
        self.output.set_dds_mu(3, ftw, offset, phase)
        self.output.set_iir_mu(3, 0, 0, 0, 0)
        self.output.set_y_mu(3, 0x1234 << 3)
        self.output.set(1, 0, 0, 3)
        self.servo.set_config(1)
        delay_mu(int64(800))
        self.servo.set_config(0)
        self.output.set(0, 0, 0, 3)


def _lab(folder):
    """The laboratory with one chip or card after the other at its bare SPI port."""
    entries = DeviceDB.load(calibrated(database("lab", folder), folder)).entries
    bus = {"spi_device": "dio_spi0"}
    entries["ad9912"] = entry("ad9912", "AD9912", cpld_device="urukul0_cpld", chip_select=7, pll_n=8)
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
    "mtdds": lambda folder: database("mtdds", folder),
    "servo": lambda folder: database("servo", folder),
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
    "almazny": Case("lab", "almazny0", "set_mu", (0x5A,), (), words=[(16, 0xD << 9 | 0x5A)]),
    "urukul_ad9912": Case(
        "lab", "ad9912", "write", (0x1A6, 0x1234ABCD, 4), (), ("spi_urukul0",), [(48, 0x61A6 << 32 | 0x1234ABCD)]
    ),
    "fastino": Case("lab", "fastino0", "set_group_mu", (4, [0x1234ABCD, 0x5678EF01]), pins=("fastino0",), by=Framed),
    "mirny_adf5356": Case("lab", "mirny0", "write_ext", (6, 32, 0x49ABCDE6), (), words=[(40, 6 << 33 | 0x49ABCDE6)]),
    "ad9914": Case("cards", "ad9914", "set_x_mu", (0x123456789ABC, 0x555), (), pins=("ddsbus0",), slack=10_000),
    "phaser": Case("cards", "phaser0", "write8", (0x06, 0x2A), (), pins=("phaser0",), until=2000),
    "miqro": Case("cards", "phaser1", "pulse", (0x155, [3, 7, 31, 16, 9]), (), ("phaser1",), until=2000, by=Framed),
    "shuttler_relays": Case("cards", "relay", "enable", (0x1234,), words=[(16, 0x1234)]),
    "shuttler_adc": Case("cards", "adc", "write16", (1, 0x8010), (), words=[(24, 0x018010)]),
    "songbird": Case("songbird", "songbird0", "write_reg", (0x18, 0x5A), words=[(32, 0x185A0000)], until=100_000),
    "coaxpress": Case("cards", "cxp0", "trigger", (1,), (), pins=("cxp0_tx",), by=Framed),
    "mtdds_dac": Case("mtdds", "mtdds0_dac", "write", (0x0D, 0x8001), (), words=[(24, 0x0D8001)]),
    "mtdds_upconverter": Case("mtdds", "mtdds0_lo1", "write", (0x12345679,), (), words=[(32, 0x12345679)]),
    "mtdds_attenuator": Case("mtdds", "mtdds0_att1", "set_att_mu", (0x5A,), (), words=[(8, 0x5A)]),
    "mtdds_controls": Case("mtdds", "mtdds0", "set_dac_ctrl", (True, True, False), ()),
    "suservo": Case(
        "servo",
        "suservo0",
        "cycle",
        (0x12345678, 0x2345, 0xABCD),
        words=[(72, 0x15 << 64 | 0x1234 << 48 | 0xABCD << 32 | 0x12345678)],
        lane=("suservo0_urukul0_clk", "suservo0_urukul0_mosi1"),
        by=Servo,
    ),
}
"""By card. A Grabber has inputs only."""


def waveform(chain, case: Case) -> tuple[list[tuple[int, int]], str]:
    """Makes the call on a `Chain`; returns the messages on serial buses, and the text of the file."""
    device = chain.get(case.device)
    for name in case.before:
        chain(getattr(device, name), slack_mu=case.slack)
    chain(getattr(case.by(device) if case.by else device, case.method), *case.arguments, slack_mu=case.slack, pins=True)
    recording = chain.recording()
    messages = sorted(
        (message.start_ns, message.bits, message.written)
        for pads in buses_of(recording).values()
        for message in Messages(pads)
    )
    if case.lane:
        pads = {channel.name: channel for channel in recording.channels}
        messages.append(_shifted(*(_edges(pads[name]) for name in case.lane)))
    # A clock goes on whatever happens
    clocks = chain.bench.database.free_running
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


def _shifted(clock: list[int], data: list[int]) -> tuple[int, int, int]:
    """Time of the first of the bits at rising edges of a clock, their number and value; levels are 0 before."""
    bits = [sum(time < edge for time in data) & 1 for edge in clock[::2]]
    return clock[0], len(bits), int("".join(map(str, bits)), 2)


def _edges(channel) -> list[int]:
    """Times at which the level changes."""
    times, level = [], channel.initial
    for changes, wave in channel.parts():
        for time, new in (*changes, *(wave.edges() if wave else ())):
            if new != level:
                times.append(time)
            level = new
    return times
