"""An SU-Servo put back into the state of a run, with its Sampler and its Urukuls: gains, attenuators, registers of the
chips, profiles with Y as it was written, switches. Its outputs are off until everything else is as it was.

The filters go on from the Y that was written: where they had got to in the run is not recorded. Times and phases of
phase tracking begin again.
"""

from collections.abc import Callable, Iterator

from ..contracts import servo as facts
from ..coredevice.chips import ad9910, urukul
from ..coredevice.parts.numbers import to_int32
from ..coredevice.rtio import rtio_output
from ..language import TInt32, TInt64, TList, delay, kernel, ms, us
from .card import Card, Refused, step
from .chips import ad9910_words, without_outputs
from .kernels import Kernels

__all__ = ["belongs_to", "suservo"]

_ALL = (1 << facts.URUKUL_CHANNELS) - 1
_WRITTEN = 7
"""Profile of the chips that a running servo writes."""


class _Kernels(Kernels):
    """`servo`: an SU-Servo."""

    @kernel
    def servo_begun(self, gains: TInt32, attenuators: TList(TInt32)):
        """Initialise the servo with its cards, which stops it; set gains and attenuators. ValueError if an Urukul does
        not answer."""
        self.begin()
        self.servo.init()
        self.core.break_realtime()
        delay(1 * ms)
        self.servo.settings.put(gains)
        delay(10 * us)
        for card in range(len(attenuators)):
            self.servo.cplds[card].set_all_att_mu(attenuators[card])
            delay(10 * us)
        self.finish()

    @kernel
    def chips(self, short: TList(TInt32), words: TList(TInt32), wide: TList(TInt32)):
        """Write registers of all chips, of each as many, as the kernel `ad9910` does."""
        self.begin()
        count = 4 * len(self.servo.cplds)
        for n in range(count):
            dds = self.servo.ddses[n // 4]
            dds.update_dds_sel(n % 4)
            dds.dds.write16(short[2 * n], short[2 * n + 1])
            delay(10 * us)
            size = len(words) // count
            for place in range(size // 2):
                dds.dds.write32(words[n * size + 2 * place], words[n * size + 2 * place + 1])
                delay(10 * us)
            size = len(wide) // count
            for place in range(size // 3):
                at = n * size + 3 * place
                dds.dds.write64(wide[at], wide[at + 1], wide[at + 2])
                delay(10 * us)
            dds.dds.io_update.pulse(1 * us)
            delay(10 * us)
        self.finish()

    @kernel
    def memories(self, writes: TList(TInt32)):
        """Write values to addresses of the servo's memories."""
        self.begin()
        for n in range(len(writes) // 2):
            self.servo.write(writes[2 * n], writes[2 * n + 1])
            delay(2 * us)
        self.finish()

    @kernel
    def outputs(self, configurations: TList(TInt64), enable: TInt32, first: TInt32, controls: TList(TInt32)):
        """Write the configurations of the cards, start the servo or not, and set its channels, from RTIO channel
        `first` on."""
        self.begin()
        for card in range(len(configurations)):
            self.servo.cplds[card].cfg_write(configurations[card])
            delay(10 * us)
        self.servo.set_config(enable)
        delay(10 * us)
        for n in range(len(controls)):
            rtio_output((first + n) << 8, controls[n])
            delay(1 * us)
        self.finish()


def belongs_to(card: Card) -> str | None:
    """Return the SU-Servo to which a card belongs: an Urukul, or the Sampler; None: to none."""
    if card.driver == "SUServo":
        return card.device
    for name, entry in card.database.entries.items():
        if isinstance(entry, dict) and entry.get("class") == "SUServo":
            cards = card.database.arguments(name).get("cpld_devices") or []
            if card.device in map(card.resolved, cards):
                return name
    return None


def suservo(card: Card) -> Iterator[Callable]:
    """Yield what restores an SU-Servo, whose `parts` are its Urukuls and its Sampler."""
    arguments = card.database.arguments(card.device)
    cplds = [card.resolved(name) for name in arguments["cpld_devices"]]
    by_device = {part.device: part for part in card.parts}
    if missing := [name for name in (*cplds, card.device) if name not in by_device]:
        raise Refused(f"its file does not say what was in {', '.join(missing)}")
    urukuls, gains = [by_device[name] for name in cplds], by_device[card.device].registers["PGIA"]
    running = card.registers["ENABLE"]
    quiet, short, words, wide = [], [], [], []
    for part in urukuls:
        revision = card.database.arguments(part.device).get("proto_rev", 9)
        word = urukul.CFG8 if revision == 8 else urukul.CFG9
        quiet.append(without_outputs(word, part.registers["CFG"]))
        for n in range(facts.URUKUL_CHANNELS):
            values = part.of(f"ch{n}")
            if ad9910.CFR1.ram_enable.read(values["CFR1"]):
                raise Refused(f"the RAM of {part.name}.ch{n} plays, which an SU-Servo does not use")
            if running:
                part.passing.add(f"ch{n}.PROFILE{_WRITTEN}")
            for kept, more in zip((short, words, wide), ad9910_words(values), strict=True):
                kept += more
    roles = {"kernels": _Kernels, "servo": card.device}
    attenuators = [to_int32(part.registers["ATT"]) for part in urukuls]
    yield lambda devices: _prepared(devices, card.device, quiet, gains)
    yield step("servo_begun", gains, attenuators, **roles)
    yield step("chips", short, words, wide, **roles)
    yield step("memories", _writes(card, len(cplds)), **roles)
    controls = [card.registers.get(f"ch{n}.CONTROL", 0) for n in range(facts.URUKUL_CHANNELS * len(cplds))]
    configurations = [part.registers["CFG"] for part in urukuls]
    yield step("outputs", configurations, running, arguments["channel"] - len(controls), controls, **roles)


def _prepared(devices, name: str, quiet: list[int], gains: int):
    """Let the drivers have what they write from."""
    from numpy import int64  # as the driver has it

    servo = devices.get(name)
    servo.gains = gains
    for cpld, word in zip(servo.cplds, quiet, strict=True):
        cpld.cfg_reg = int64(word)


def _writes(card: Card, urukuls: int) -> list[int]:
    """Return addresses and values of what the run wrote to the memories."""
    state = 1 << facts.DEPTH_LEAST + (urukuls - 1).bit_length() + facts.STATE_AT
    found = []
    for name, value in card.registers.items():
        channel, *of_profile = name.split(".")
        if len(of_profile) != 2:
            continue
        profile, word = of_profile
        place = int(channel[2:]) << facts.PROFILE_WIDTH | int(profile.removeprefix("PROFILE"))
        found += [state | place if word == "Y" else place << facts.WORD_BITS | facts.Word[word], value]
    return found
