"""SU-Servo: samples of a Sampler control the amplitudes of one or two Urukuls (AD9910) in the
gateware.

`SUServo` is the servo with its memories and cards, a `Channel` one of its outputs with 32 profiles,
a `SharedDDS` the four synthesisers of an Urukul switched to the mode in which each has a dedicated
data line. The filter arithmetic and all addresses: docs/gateware/servo.md; the numbers come from
`src/contracts/servo.toml`.
"""

from ..contracts.servo import (
    ADDRESS_BITS,
    COEFF_SHIFT,
    COEFF_WIDTH,
    DELAYS_AT,
    DELAYS_BITS,
    DEPTH_LEAST,
    PHASE_AT,
    PROFILE_WIDTH,
    STATE_AT,
    URUKUL_CHANNELS,
    WRITE_AT,
    Configuration,
)
from ..contracts.servo import (
    T_CYCLE as CYCLES,
)
from ..language import TFloat, TInt32, delay, delay_mu, kernel, ns, portable, us
from ..numeric import int32, int64
from .chips.sampler import CS_PGIA, PAIR, PGIA, checked_channel, checked_gain
from .parts.channel import RTIODevice
from .parts.spi import Transfer
from .rtio import rtio_input_data, rtio_output
from .sampler import Sampler, adc_mu_to_volt
from .suservo_channel import Y_FULL_SCALE_MU, Channel, y_mu_to_full_scale
from .suservo_dds import SharedDDS

__all__ = [
    "COEFF_SHIFT",
    "COEFF_WIDTH",
    "Channel",
    "PROFILE_WIDTH",
    "SUServo",
    "SharedDDS",
    "T_CYCLE",
    "Y_FULL_SCALE_MU",
    "adc_mu_to_volts",
    "y_mu_to_full_scale",
]

T_CYCLE = CYCLES * 8 * ns
"""Seconds from one sample to the next."""
_ENABLE, _WRITE_DELAY = int(Configuration.ENABLE), int(Configuration.WRITE_DELAY)
_AT_ONCE = [0]
_PGIA_DIV = 4
_VALUE = (1 << COEFF_WIDTH) - 1
_SIGNED = PAIR.even


@portable
def adc_mu_to_volts(x, gain, corrected_fs=True) -> TFloat:
    """Convert a sample of the servo to volts at a gain setting (0 to 3); see
    `kairos.coredevice.sampler.adc_mu_to_volt`."""
    return adc_mu_to_volt(_SIGNED.get(x >> 1), gain, corrected_fs)


class SUServo(RTIODevice):
    """The servo on RTIO channel `channel`.

    `pgia_device`: SPI bus of the Sampler's amplifiers, `gains` their settings, two bits for each
    channel. `cpld_devices`, `dds_devices`: the Urukuls, and the `SharedDDS` of each.
    `sampler_hw_rev`: "v2.1" or later.
    """

    kernel_invariants = {"cplds", "ddses", "pgia", "corrected_fs", "num_channels", "div"}
    kernel_invariants |= {"we", "phase_sel", "state_sel", "word_sel", "config_addr", "sample_addr"}

    settings = Transfer(length=PGIA.width, div="div", cs=CS_PGIA, bus="pgia")

    def __init__(
        self,
        dmgr,
        channel,
        pgia_device,
        cpld_devices,
        dds_devices,
        gains=0x0000,
        sampler_hw_rev="v2.2",
        core_device="core",
    ):
        super().__init__(dmgr, channel, core_device)
        if len(cpld_devices) != len(dds_devices) or not cpld_devices:
            raise ValueError("an SU-Servo needs the logic and the synthesisers of each of its Urukuls")
        self.pgia, self.div = dmgr.get(pgia_device), _PGIA_DIV
        self.pgia.update_xfer_duration_mu(self.div, PGIA.width)
        self.gains = gains
        self.cplds = [dmgr.get(name) for name in cpld_devices]
        self.ddses = [dmgr.get(name) for name in dds_devices]
        self.num_channels = URUKUL_CHANNELS * len(self.cplds)
        self.corrected_fs = Sampler.use_corrected_fs(sampler_hw_rev)
        depth = DEPTH_LEAST + (len(self.cplds) - 1).bit_length()
        self.we, self.phase_sel, self.state_sel = (1 << depth + place for place in (WRITE_AT, PHASE_AT, STATE_AT))
        self.word_sel = self.state_sel
        self.config_addr = self.state_sel | 1 << depth - 1
        self.sample_addr = self.state_sel + (self.num_channels << PROFILE_WIDTH)

    # Memories

    @kernel
    def _access(self, addr, value):
        rtio_output(self.target + (addr & ((1 << ADDRESS_BITS) - 1)), ((addr >> ADDRESS_BITS) << COEFF_WIDTH) | value)
        delay_mu(int64(self.core.ref_multiplier))

    @kernel
    def write(self, addr, value):
        """Write a value (18 bits) to an address; advances by a coarse cycle."""
        self._access(addr | self.we, value & _VALUE)

    @kernel
    def read(self, addr) -> TInt32:
        """Wait for and return the value (18 bits) at an address. Advances by a coarse cycle."""
        self._access(addr, 0)
        return rtio_input_data(self.channel)

    # The servo

    @kernel
    def init(self):
        """Stop the servo, configure the bus of the Sampler's amplifiers and the Urukuls, and set
        the delays of the update pulses. Its memories are preserved, and so are the gains.

        ValueError as from the initialisation of the Urukuls. Cards of protocol revision 8, which
        cannot be read in this mode, are not checked.
        """
        self.set_config(0)
        delay(3 * us)
        self.settings.prepare()
        for card in range(len(self.cplds)):
            blind = not self.cplds[card].rev9
            self.cplds[card].init(blind)
            self.ddses[card].init(blind)
        delays = [0 for _ in range(len(self.ddses))]
        for card in range(len(self.ddses)):
            delays[card] = self.ddses[card].delays.io_update_delay
        self.set_config(0, True, delays)

    @kernel
    def set_config(self, enable, write_delay=False, io_update_delays=_AT_ONCE):
        """Start or stop the servo; with `write_delay` set the delays of the update pulses, in
        machine units (0 to 7), one per Urukul. ValueError for more of them than Urukuls."""
        if len(io_update_delays) > len(self.cplds):
            raise ValueError("more delays of update pulses than the SU-Servo has Urukuls")
        word = _ENABLE * (int32(enable) & 1)
        if write_delay:
            word |= _WRITE_DELAY
            for card in range(len(io_update_delays)):
                shifted = (io_update_delays[card] & ((1 << DELAYS_BITS) - 1)) << (DELAYS_AT + DELAYS_BITS * card)
                word |= shifted
        self.write(self.config_addr, word)

    @kernel
    def clear_dds_phase_accumulator(self):
        """Set the phases of all synthesisers to zero, as phase tracking requires (with
        `Channel.clear_tracked_phase_accumulator` and `clear_tracked_ftw`), and their profile to zero. The
        servo must be off, and its last cycle over."""
        for card in range(len(self.ddses)):
            self.ddses[card].clear_phase_accumulators()

    @kernel
    def get_status(self) -> TInt32:
        """Read the status: bit 0 enabled, bit 1 idle, bits 15 to 8 channels whose Y was clamped,
        which the read clears."""
        return self.read(self.config_addr)

    # The ADC

    @kernel
    def get_adc_mu(self, adc) -> TInt32:
        """Read the newest sample of an ADC channel (0 to 7), 18 bits; convert it with
        `adc_mu_to_volts`."""
        return self.read(self.sample_addr + (checked_channel(adc) << 1))

    @kernel
    def get_adc(self, channel) -> TFloat:
        """Read the newest sample of an ADC channel, in volts."""
        setting = PGIA.gain.get_at(self.gains, checked_channel(channel))
        return adc_mu_to_volts(self.get_adc_mu(channel), setting, self.corrected_fs)

    @kernel
    def set_pgia_mu(self, channel, gain):
        """Set the gain of an ADC channel: 0, 1, 2, 3 for 1, 10, 100, 1000."""
        self.gains = PGIA.gain.put_at(self.gains, checked_channel(channel), checked_gain(gain))
        self.settings.put(self.gains)
