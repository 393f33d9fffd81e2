"""The test of each kind of card: what it does, and the limits of what it finds.

`TESTS` has them by the driver class of the entry that stands for a card. A test gets a :class:`Session` and the
name of the entry, and records its checks. An exception is recorded as a failed check by :mod:`.command`.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

from ..coredevice.chips.coaxpress import STANDARD_VALUE
from ..coredevice.chips.phaser import MIQRO_OSCILLATORS
from ..coredevice.novogorny import adc_ctrl
from ..coredevice.shuttler import shuttler_volt_to_mu
from ..pulse import Pulse
from .kernels import PULSES, Kernels
from .report import Report

__all__ = ["PARTS", "Session", "TESTS", "CardTest"]

ACCURACY = 0.02
"""Volts by which a converter may be off, beside a part of the voltage."""
PART = 0.005
TONES = (80e6, 95e6, 110e6, 125e6)
"""Frequencies of the outputs 0 to 3."""
GAINS = 0xE4E4
"""Codes 0 to 3 of a Sampler's gains, twice, two bits each."""
FREQUENCY = 2e3
"""Hz by which a measured frequency may be off."""


@dataclass
class Session:
    """What a test needs: the device database, its devices, who observes the connectors, and the report.

    `source`: the TTL output that the inputs are tested with, or None; `inputs`: those that it is connected to.
    `calibrates`: calibrations are to be written to EEPROMs.
    """

    database: object
    devices: object
    observer: object
    report: Report
    source: str | None = None
    inputs: list[str] = field(default_factory=list)
    calibrates: bool = False

    def get(self, name: str):
        return self.devices.get(name)

    def kernels(self, **devices) -> Kernels:
        return Kernels(self.get("core"), **devices)

    def named(self, *classes: str, **arguments) -> list[str]:
        """Return the entries with one of these drivers, and these arguments."""
        return [
            name
            for name, entry in self.database.entries.items()
            if isinstance(entry, dict)
            and entry.get("class") in classes
            and arguments.items() <= entry.get("arguments", {}).items()
        ]

    def volts(self, card: str, channel: int, wanted: float):
        """Check the voltage of an output."""
        found = self.observer.volts(card, channel)
        self.report.near(card, f"output {channel}", found, wanted, ACCURACY + PART * abs(wanted), "V")

    def tone(self, card: str, channel: int, wanted: float, least_dbm: float, most_dbm: float = 15.0):
        """Check frequency and power of an output."""
        frequency, power = self.observer.tone(card, channel)
        self.report.near(card, f"frequency of output {channel}", frequency, wanted, FREQUENCY, "Hz")
        if frequency is not None:
            self.report.number(card, f"power of output {channel}", power, least_dbm, most_dbm, "dBm")

    def sampled(self, card: str, channel: int, sample: Callable[[], float]):
        """Check what an input measures."""
        applied = self.observer.applied(card, channel)
        if applied is None:
            self.report.open(card, f"input {channel}", "nothing was applied")
        else:
            within = ACCURACY + PART * abs(applied)
            self.report.near(card, f"input {channel}", float(sample()), applied, within, "V")


@dataclass(frozen=True)
class CardTest:
    """`run`: the test. `alone`, `observed`: for the manual, what it finds without and with instruments."""

    run: Callable[[Session, str], None]
    alone: str
    observed: str


def _ttl_outputs(session, name):
    session.observer.watch()
    session.kernels(source=session.get(name)).pulse()
    session.report.near(name, "pulses at the output", session.observer.pulses(name), PULSES, 0)


def _ttl_inputs(session, name):
    if session.source is None:
        return session.report.open(name, "edges", "there is no TTL output to test it with")
    if not session.observer.cable(session.source, name):
        return session.report.open(name, "edges", "it was not connected")
    kernels = session.kernels(source=session.get(session.source), target=session.get(name))
    session.report.near(name, f"edges from {session.source}", kernels.count(), PULSES, 0)
    session.report.number(name, f"delay from {session.source}", int(kernels.delay_of()), 0, 200, "ns")
    return None


def _counter(session, name):
    if session.source is None:
        return session.report.open(name, "count", "there is no TTL output to test it with")
    if not session.observer.cable(session.source, f"the input of {name}"):
        return session.report.open(name, "count", "it was not connected")
    kernels = session.kernels(source=session.get(session.source), counter=session.get(name))
    session.report.near(name, f"count of edges from {session.source}", kernels.count_edges(), PULSES, 0)
    return None


def _clock_generator(session, name):
    session.observer.watch()
    session.kernels(source=session.get(name)).clock(2e6)
    session.report.near(name, "frequency", session.observer.rate(name), 2e6, 2e3, "Hz")


def _urukul(session, name):
    report, cpld = session.report, session.get(name)
    if any(name in session.database.arguments(servo).get("cpld_devices", ()) for servo in session.named("SUServo")):
        return report.open(name, "all", "it is tested with its SU-Servo")
    kernels = session.kernels(cpld=cpld)
    revision = kernels.urukul() >> 16 & 0x7F
    report.near(name, "protocol revision", revision, session.database.arguments(name).get("proto_rev", 9), 0)
    for word in (0x12345678, -1):
        found = int(kernels.attenuators(word))
        what = f"attenuators set to {word & 0xFFFFFFFF:#010x} and read back"
        report.fact(name, what, found == word, hex(found & 0xFFFFFFFF))
    for chip in session.named("AD9910", "AD9912", cpld_device=name):
        channel = session.database.arguments(chip).get("chip_select", 0) - 4
        if channel not in range(4):
            report.open(name, chip, "it stands for all four chips")
            continue
        chips = session.kernels(cpld=cpld, device=session.get(chip))
        chips.dds(TONES[channel], channel)
        locked = kernels.status() >> 8 + channel & 1
        report.fact(name, f"PLL of {chip} has locked", bool(locked))
        session.tone(name, channel, TONES[channel], -5.0)
        chips.dds_off(channel)
    return None


def _ad53xx(session, name):
    dac = session.get(name)
    kernels = session.kernels(device=dac)
    kernels.initialise()
    count = 32 if session.database.get(name)["class"] == "Zotino" else 8
    volts = [round(-9.0 + 18.0 * n / (count - 1), 3) for n in range(count)]
    kernels.voltages(volts)
    for channel in range(count if count == 8 else 1):
        code, wanted = kernels.code(channel), dac.voltage_to_mu(volts[channel])
        session.report.fact(name, f"code of output {channel} read back", code == wanted, hex(code))
    for channel, wanted in enumerate(volts):
        session.volts(name, channel, wanted)


def _fastino(session, name):
    kernels = session.kernels(device=session.get(name))
    kernels.initialise()
    volts = [round(-9.0 + 18.0 * n / 31, 3) for n in range(32)]
    kernels.voltage_groups(volts)
    for channel, wanted in enumerate(volts):
        session.volts(name, channel, wanted)


def _sampler(session, name):
    found = [0.0] * 8
    kernels = session.kernels(device=session.get(name))
    gains = kernels.sampler(found)
    session.report.fact(name, "gains set to 1, 10, 100, 1000 in turn and read back", gains == GAINS, hex(gains))

    def sample(channel):
        kernels.sample(found)
        return found[channel]

    for channel in range(8):
        session.sampled(name, channel, lambda channel=channel: sample(channel))


def _novogorny(session, name):
    kernels = session.kernels(device=session.get(name))
    for channel in range(8):
        session.sampled(name, channel, lambda channel=channel: kernels.novogorny(adc_ctrl(channel), channel))


def _mirny(session, name):
    report, cpld = session.report, session.get(name)
    identity = session.kernels(cpld=cpld).mirny()
    report.fact(name, "hardware revision", identity & 3 in (2, 3), {2: "1.1", 3: "1.0"}.get(identity & 3, identity & 3))
    report.near(name, "protocol revision", identity >> 2 & 3, 0, 0)
    for n, chip in enumerate(session.named("ADF5356", cpld_device=name)):
        channel, wanted = session.database.arguments(chip)["channel"], 1e9 + n * 250e6
        locked = session.kernels(device=session.get(chip)).synthesiser(wanted)
        report.fact(name, f"PLL of {chip} has locked", bool(locked))
        session.tone(name, channel, wanted, -10.0)


def _servo(session, name):
    report, servo = session.report, session.get(name)
    kernels = session.kernels(device=servo)
    report.fact(name, "it works once started", bool(kernels.servo() & 1))
    for channel in range(8):
        session.sampled(name, channel, lambda channel=channel: kernels.servo_input(channel))
    for n, output in enumerate(session.named("Channel", servo_device=name)):
        session.kernels(device=servo, output=session.get(output)).servo_tone(TONES[n % 4])
        card = session.database.arguments(name)["cpld_devices"][n // 4]
        session.tone(card, n % 4, TONES[n % 4], -32.0, -12.0)  # all attenuators are at 31.5 dB


def _attenuated(session, name, channel, wanted):
    found = session.observer.attenuation(name, channel)
    session.report.near(name, f"attenuation of channel {channel} set to {wanted:g} dB", found, wanted, 1.0, "dB")


def _attenuator(session, name):
    for wanted in (0.0, 10.5, 31.5):
        session.kernels(device=session.get(name)).attenuation(wanted)
        _attenuated(session, name, 0, wanted)


def _almazny(session, name):
    arguments = session.database.arguments(name)
    kernels = session.kernels(device=session.get(name), cpld=session.get(arguments["host_mirny"]))
    channels = [arguments["channel"]] if "channel" in arguments else range(4)
    for shift in (0.0, 4.5):
        settings = [0.5 + 7.0 * channel + shift for channel in range(4)]
        if "channel" in arguments:
            kernels.almazny(settings[arguments["channel"]])
        else:
            kernels.almazny_legacy(settings)
        for channel in channels:
            _attenuated(session, name, channel, settings[channel])


def _pulse(session, name):
    core = session.get(name)
    tones = [Pulse(channel=n, duration=20e-6, freq0=TONES[n % 4], amp0=50.0) for n in range(core.channels)]
    program = core.define({"tones": tones}, name)
    session.kernels(device=core, program=program, gate=program["tones"]).play()
    session.report.fact(name, "gates loaded and played without an error", True)
    if session.observer.wired:
        for n, frequency in enumerate(session.observer.played(core)):
            session.report.near(name, f"frequency of output {n}", frequency, TONES[n % 4], 1.0, "Hz")


def _coaxpress(session, name):
    found = int(session.kernels(device=session.get(name)).coaxpress()) & 0xFFFFFFFF
    session.report.fact(name, "a camera answers", found == STANDARD_VALUE, hex(found))
    return _grabber(session, name)


def _grabber(session, name):
    wanted = session.observer.image(name)
    if wanted is None:
        return session.report.open(name, "sum of pixels", "there is no camera")
    found = [0, 0]
    session.kernels(device=session.get(name)).grabber(found)
    session.report.near(name, "sum of pixels", int(found[0]), wanted, 0.1 * wanted + 10)
    return None


def _phaser(session, name):
    report, phaser = session.report, session.get(name)
    kernels = session.kernels(device=phaser)
    report.number(name, "frames with a wrong CRC", kernels.phaser(), 0, 20)
    for value in (0x15, 0x2A, 0):
        report.near(name, f"register set to {value:#04x} and read back", kernels.phaser_register(value), value, 0)
    if isinstance(session.observer.state(name), dict):
        for channel in range(2):
            output = phaser.channel[channel]
            each = session.kernels(device=phaser, output=output)
            if output.oscillator:
                each.phaser_tone(1e6)
            else:
                each.phaser_pulse(1e6)
            frequency, _ = session.observer.tone(name, (len(output.oscillator) or MIQRO_OSCILLATORS) * channel)
            carrier = session.observer.state(name)[f"channel{channel}"]["local_oscillator_hz"]
            report.near(name, f"frequency of channel {channel}", frequency, carrier + 1e6, FREQUENCY, "Hz")
    else:
        report.open(name, "tones", "their frequency depends on the settings of the upconverters")


def _relays(session, name):
    session.kernels(device=session.get(name)).relays(0xFFFF)
    state = session.observer.state(name)
    if state is None:
        session.report.open(name, "relays", "look at the card's LEDs: all outputs are connected")
    else:
        session.report.fact(name, "relays closed", state.get("relays") == 0xFFFF, hex(state.get("relays", 0)))


def _shuttler(session, name):
    prefix = name
    for relay in session.named("Relay"):
        session.kernels(device=session.get(relay)).relays(0xFFFF)
    outputs = sorted(session.named("DCBias"), key=lambda other: session.database.arguments(other)["channel"])
    outputs = [other for other in outputs if other.startswith(prefix)] or outputs
    triggers = session.named("Trigger")
    trigger = session.get(next((other for other in triggers if other.startswith(prefix)), triggers[0]))
    for n, output in enumerate(outputs[:16]):
        wanted = -7.5 + n
        session.kernels(output=session.get(output), trigger=trigger).level(int(shuttler_volt_to_mu(wanted)), 1 << n)
        session.volts(name, n, wanted)


def _shuttler_adc(session, name):
    identity = session.kernels(device=session.get(name)).shuttler_adc()
    session.report.fact(name, "identity of the ADC", identity & 0xFFF0 == 0x38D0, hex(identity))


def _songbird(session, name):
    session.kernels(device=session.get(name)).initialise()
    tones = session.named("DDS", config_device=name)
    for tone in sorted(tones, key=lambda other: session.database.arguments(other)["dds_no"]):
        number = session.database.arguments(tone)["dds_no"]
        session.kernels(output=session.get(tone)).songbird_tone(TONES[number % 4] + number // 4 * 1e6)
        session.tone(name, number, TONES[number % 4] + number // 4 * 1e6, -3.0)


def _mtdds(session, name):
    session.kernels(device=session.get(name)).initialise()
    session.report.fact(name, "identity, DAC, and the test of its inputs", True)
    for channel in session.named("PhaserMTDDSChannel", fpga_device=name):
        number = session.database.arguments(channel)["channel_index"]
        device = session.get(channel)
        session.kernels(device=device, output=device.ddss[0]).mtdds_tone(1e6)
        session.report.fact(name, f"channel {number}: number of tones, kind of card, lock", True)
        state = session.observer.state(name)
        if state is None:
            session.report.open(name, f"tone of channel {number}", "its frequency depends on the upconverter")
            continue
        frequency, _ = session.observer.tone(name, device.tones * number)
        carrier = state[f"channel{number}"]["local_oscillator_hz"]
        session.report.near(name, f"frequency of channel {number}", frequency, carrier + 1e6, FREQUENCY, "Hz")


def _synthesiser(frequency: float, method: str):
    def run(session, name):
        getattr(session.kernels(device=session.get(name)), method)(frequency)
        channel = session.database.arguments(name).get("channel", 0) if method == "ad9914" else 0
        session.tone(name, channel, frequency, -30.0)

    return run


def _initialised(session, name):
    """A chip whose driver checks its answers and its PLL as it is initialised."""
    session.kernels(device=session.get(name)).initialise()
    session.report.fact(name, "it answers and has locked", True)


def _eeprom(session, name):
    identity = [0, 0, 0, 0]
    session.kernels(device=session.get(name)).eeprom([0xF8, 0xFC, 0, 4], identity)
    high, low, crc, magic = (int(word) & 0xFFFFFFFF for word in identity)
    serial = f"{high & 0xFFFF:04x}{low:08x}"
    session.report.fact(name, "serial number (EUI-48)", serial not in ("0" * 12, "f" * 12), serial)
    if crc == magic == 0xFFFFFFFF:
        session.report.open(name, "description of the card", "the EEPROM is empty")


TESTS = {
    "TTLOut": CardTest(_ttl_outputs, "", "five pulses of 1 µs at each output that no card uses"),
    "TTLInOut": CardTest(_ttl_inputs, "", "edges from the first TTL output, and their delay"),
    "EdgeCounter": CardTest(_counter, "", "edges from the first TTL output"),
    "TTLClockGen": CardTest(_clock_generator, "", "a clock of 2 MHz"),
    "CPLD": CardTest(
        _urukul, "protocol revision; attenuators read back; each chip initialised, its PLL", "a tone of each chip"
    ),
    "Zotino": CardTest(_ad53xx, "initialised, a code read back", "a voltage at each of the 32 outputs"),
    "AD53xx": CardTest(_ad53xx, "initialised, codes of outputs 0 to 7 read back", "a voltage at outputs 0 to 7"),
    "Fastino": CardTest(_fastino, "initialised", "a voltage at each of the 32 outputs"),
    "Sampler": CardTest(_sampler, "gains read back", "the voltage at each of the eight inputs"),
    "Novogorny": CardTest(_novogorny, "", "the voltage at each of the eight inputs"),
    "Mirny": CardTest(_mirny, "revisions; each chip initialised, its lock", "a tone of each chip"),
    "SUServo": CardTest(_servo, "it starts", "the voltage at each input, a tone of each channel"),
    "AlmaznyChannel": CardTest(_almazny, "", "two attenuations of the channel"),
    "AlmaznyLegacy": CardTest(_almazny, "", "two attenuations of each channel"),
    "HMC542B": CardTest(_attenuator, "", "three attenuations"),
    "Pulse": CardTest(_pulse, "a gate of all outputs is loaded and played", "frequency of each output (bench only)"),
    "CXPGrabber": CardTest(_coaxpress, "a camera is set up and answers", "sum of the pixels in a region"),
    "Grabber": CardTest(_grabber, "", "sum of the pixels in a region"),
    "Phaser": CardTest(
        _phaser,
        "initialised: identity, link, DAC, upconverters, attenuators; a register read back",
        "oscillators, or pulses of Miqro (bench only)",
    ),
    "Config": CardTest(_shuttler, "", "a voltage at each of the 16 outputs of a Shuttler"),
    "Songbird": CardTest(_songbird, "initialised: reset and clocks of the DAC", "a tone of each of its tones"),
    "PhaserMTDDS": CardTest(
        _mtdds, "initialised: identity, DAC, test of its inputs; each channel: tones, lock", "a tone (bench only)"
    ),
    "Relay": CardTest(_relays, "relays of a Shuttler closed", "their LEDs"),
    "ADC": CardTest(_shuttler_adc, "identity of a Shuttler's ADC", ""),
    "AD9914": CardTest(_synthesiser(400e6, "ad9914"), "initialised", "a tone"),
    "AD9834": CardTest(_synthesiser(1e6, "tone"), "initialised", "a tone"),
    "TRF372017": CardTest(_initialised, "initialised: identity, calibration", ""),
    "DAC34H84": CardTest(_initialised, "initialised: identity, PLL, FIFO", ""),
    "KasliEEPROM": CardTest(_eeprom, "serial number", ""),
}
"""By driver class."""

PARTS = {
    "AD9910": "CPLD",
    "AD9912": "CPLD",
    "ADF5356": "Mirny",
    "Bridge": None,
    "Channel": "SUServo",
    "Core": None,
    "CoreCache": None,
    "CoreDMA": None,
    "DCBias": "Config",
    "DDS": None,
    "FineUpdate": "SUServo",
    "I2CSwitch": "KasliEEPROM",
    "Miqro": "Phaser",
    "MiqroChannel": "Phaser",
    "NRTSPIMaster": None,
    "PCF8574A": None,
    "PhaserChannel": "Phaser",
    "PhaserDDS": "PhaserMTDDS",
    "PhaserMTDDSChannel": "PhaserMTDDS",
    "PhaserOscillator": "Phaser",
    "RegIOUpdate": "CPLD",
    "RemoteAdder": None,
    "RemoteMemory": None,
    "SPIMaster": None,
    "SharedDDS": "SUServo",
    "SharedPages": None,
    "SharedUpdate": "SUServo",
    "TCA6424A": None,
    "Trigger": "Config",
    "VectorAdder": None,
}
"""Driver classes without a test of their own, with the test that uses them, if any."""
