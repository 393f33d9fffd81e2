"""A Phaser put back into the state of a run: registers of the card, DAC, upconverters, attenuators, oscillators, servos
or, with Miqro, the memories of its pulse generators.

The card is initialised as by its driver, which finds out what depends on the card itself (the offset of its DAC's
FIFO), and transmits nothing until its last register, the configuration, is written.
"""

from collections.abc import Callable, Iterator

from ..coredevice.chips import dac34h84 as dac
from ..coredevice.chips import phaser as chip
from ..coredevice.chips.trf372017 import REGISTER2, REGISTER4
from ..coredevice.parts.numbers import to_int32
from ..language import TInt32, TList, delay, kernel, ms, us
from .card import Card, Refused, step
from .kernels import Kernels

__all__ = ["phaser"]

_UPCONVERTER_REGISTERS = 7
_MEMORY = chip.MIQRO_WINDOW
"""Words of the windows of a channel, and as many of its profiles."""
_RESULTS = (dac.IOTEST, dac.ALARMS, dac.TEMPERATURE, dac.ID)
_TUNED = (dac.CONFIG9,)
"""Of the DAC: what its initialisation finds out."""
_SETTINGS = (chip.DUC_CFG, chip.DUC_F, chip.DUC_P, chip.DAC_TEST)
_SINGLE = (chip.LED, chip.FAN, chip.SYNC_DLY, chip.CFG)


def _address(address: int) -> str:
    return f"{address:#04x}"


def _addresses(register, first: int = 0) -> list[int]:
    return [register.address + first + place for place in range((register.width + 7) // 8)]


class _Kernels(Kernels):
    """`device`: a Phaser."""

    @kernel
    def phaser(self, quiet: TInt32, early: TList(TInt32), words: TList(TInt32), sync: TInt32):
        """Initialise the card, with the configuration `quiet` from then on; write registers, given as address and
        value, and those of its DAC. ValueError if a check of the initialisation fails."""
        self.begin()
        self.device.init()
        self.core.break_realtime()
        delay(1 * ms)
        self.device.write8(chip.CFG.address, quiet)
        self.registers(early)
        for n in range(len(words) // 2):
            self.device.dac_write(words[2 * n], words[2 * n + 1])
            delay(10 * us)
        self.device.dac_write(dac.CONFIG31.address, dac.CONFIG31.sif_sync.put(sync, 0))
        delay(10 * us)
        self.device.dac_write(dac.CONFIG31.address, sync)
        self.finish()

    @kernel
    def registers(self, writes):
        for n in range(len(writes) // 2):
            self.device.write8(writes[2 * n], writes[2 * n + 1])
            delay(1 * us)

    @kernel
    def channels(self, words: TList(TInt32), locks: TList(TInt32), attenuators: TList(TInt32)):
        """Write the upconverters, of which `words` has eight for each channel, the last one with what is on; those
        whose first one is 0 are left as they are. `locks`: whether its PLL is on. Then the attenuators. ValueError if
        a PLL does not lock."""
        self.begin()
        for n in range(len(attenuators)):
            channel = self.device.channel[n]
            if words[8 * n] != 0:
                for place in range(7):
                    channel.trf_write(words[8 * n + place])
                    delay(10 * us)
                delay(2 * ms)
                if locks[n] != 0:
                    if chip.STA.locked.get_at(self.device.get_sta(), n) == 0:
                        raise ValueError("an upconverter of a Phaser does not lock")
                    self.core.break_realtime()
                    delay(1 * ms)
                channel.trf_write(words[8 * n + 7])
                delay(10 * us)
            channel.set_att_mu(attenuators[n])
            delay(10 * us)
        self.finish()

    @kernel
    def oscillators(self, tones: TList(TInt32)):
        """Set the oscillators of both channels: words of frequency, amplitude and phase, and whether the phase is
        held."""
        self.begin()
        for n in range(2):
            channel = self.device.channel[n]
            for number in range(len(channel.oscillator)):
                place = 4 * (n * len(channel.oscillator) + number)
                channel.oscillator[number].set_frequency_mu(tones[place])
                delay(1 * us)
                channel.oscillator[number].set_amplitude_phase_mu(tones[place + 1], tones[place + 2], tones[place + 3])
                delay(1 * us)
        self.finish()

    @kernel
    def memories(self, words: TList(TInt32)):
        """Write the memories of Miqro: windows and profiles of each channel."""
        self.begin()
        delay(20 * ms)  # longer than the words take the processor
        for n in range(len(words) // _MEMORY):
            self.device.write16(chip.MIQRO_ADDRESS.address, chip.MIQRO_ADDRESS.word(n // 2, n % 2, 0))
            for place in range(_MEMORY):
                self.device.write32(chip.MIQRO_DATA.address, words[n * _MEMORY + place])
        self.finish()

    @kernel
    def transmit(self, late: TList(TInt32), servos: TList(TInt32), configuration: TInt32):
        """Write registers, those of the digital upconverters, which then take effect, before those of the servos, and
        the configuration last."""
        self.begin()
        self.registers(late)
        self.device.duc_stb()
        delay(1 * us)
        self.registers(servos)
        self.device.write8(chip.CFG.address, configuration)
        self.finish()


def phaser(card: Card) -> Iterator[Callable]:
    """Yield what restores a Phaser."""
    configuration = _register(card, chip.CFG.address)
    if configuration == 0:
        card.untouched.append("")
        return
    if "channel0.ATT" not in card.registers:
        raise Refused("its file is from before the settings of its attenuators were kept")
    early, late, servos = _writes(card)
    quiet = configuration
    for field, value in (("dac_txena", 0), ("dac_sleep", 0), ("trf0_ps", 0), ("trf1_ps", 0)):
        quiet = getattr(chip.CFG, field).put(quiet, value)
    for field in ("dac_resetb", "att0_rstn", "att1_rstn"):
        quiet = getattr(chip.CFG, field).put(quiet, 1)
    words, sync = _dac(card)
    yield step("phaser", quiet, early, words, sync, kernels=_Kernels, device=card.device)
    *of_chips, tones = _channels(card)
    yield step("channels", *of_chips, kernels=_Kernels, device=card.device)
    if card.database.arguments(card.device).get("gw_rev", 1) == chip.GW_REV.gateware.number("MIQRO"):
        memories = []
        for n in range(chip.CHANNELS):
            values = card.of(f"channel{n}.miqro")
            for name in ("WINDOW", "PROFILE"):
                memories += [to_int32(values.get(f"{name}{place}", 0)) for place in range(_MEMORY)]
        yield step("memories", memories, kernels=_Kernels, device=card.device)
    else:
        yield step("oscillators", tones, kernels=_Kernels, device=card.device)
    yield step("transmit", late, servos, configuration, kernels=_Kernels, device=card.device)


def _register(card: Card, address: int) -> int:
    return card.registers[_address(address)]


def _writes(card: Card) -> tuple[list[int], list[int], list[int]]:
    """Return addresses and values of what is written before the DAC, after it, and of the servos. All other registers
    are commands."""
    spacing, count = chip.UPCONVERTER_SPACING, chip.CHANNELS
    coefficients = range(chip.SERVO_COEFFICIENTS, chip.SERVO_COEFFICIENTS + count * chip.SERVO_SPACING)
    early = _addresses(chip.SYNC_DLY)
    late = [*_addresses(chip.LED), *_addresses(chip.FAN), *coefficients]
    late += [at for n in range(count) for register in _SETTINGS for at in _addresses(register, n * spacing)]
    servos = [chip.SERVO.address + n for n in range(count)]
    kept = {_address(each) for each in (chip.CFG.address, *early, *late, *servos)}
    card.passing |= {name for name in card.registers if "." not in name and name not in kept}
    pairs = [[word for at in group for word in (at, _register(card, at))] for group in (early, late, servos)]
    return pairs[0], pairs[1], pairs[2]


def _dac(card: Card) -> tuple[list[int], int]:
    """Return addresses and words of the DAC's registers, but that of its synchronisation, and that one's word."""
    named = {each.address for name, each in vars(dac).items() if name.startswith("CONFIG") and hasattr(each, "address")}
    left = {each.address for each in (*_RESULTS, *_TUNED)}
    card.passing |= {f"dac.CONFIG{address}" for address in left}
    words = []
    for address, word in enumerate(card.numbered("dac.CONFIG")):
        if address not in left and address != dac.CONFIG31.address and (address in named or word):
            words += [address, word]
    return words, card.registers[f"dac.CONFIG{dac.CONFIG31.address}"]


def _channels(card: Card) -> tuple[list[int], list[int], list[int], list[int]]:
    """Return the arguments of the kernel `channels`, and those of `oscillators`."""
    words, locks, attenuators, tones = [], [], [], []
    for n in range(chip.CHANNELS):
        values = card.of(f"channel{n}")
        own = [values[f"upconverter.REGISTER{number}"] for number in range(1, _UPCONVERTER_REGISTERS + 1)]
        one, two, three, four, *others = own
        calibrates = REGISTER2.en_cal.put(two, 1)
        silent = REGISTER4.pwd_tx_div.put(REGISTER4.pwd_lo_div.put(REGISTER4.pwd_out_buff.put(four, 1), 1), 1)
        if any(own):
            words += map(to_int32, [silent, one, *others, three, calibrates, four])
        else:
            words += [0] * (_UPCONVERTER_REGISTERS + 1)
        off = REGISTER4.pwd_pll.read(four) or REGISTER4.pwd_vco.read(four) or REGISTER4.en_extvco.read(four)
        locks.append(int(any(own) and not off))
        attenuators.append(values["ATT"])
        for number in range(chip.OSCILLATORS):
            word = values[f"TONE{number}"]
            tones += [
                to_int32(word >> 32),
                chip.TONE.asf.read(word),
                chip.TONE.pow.read(word),
                chip.TONE.clr.read(word),
            ]
    return words, locks, attenuators, tones
