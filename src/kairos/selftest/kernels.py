"""What the tests run on the device: kernels with one device of each role as attributes.

Every kernel begins with slack, and ends when its last output has had its effect at the connectors.
"""

from numpy import int64

from ..coredevice.chips.coaxpress import STANDARD
from ..language import TBool, TFloat, TInt32, TInt64, TList, TTuple, delay, delay_mu, kernel, ms, now_mu, us
from .kernels_phaser import PhaserKernels

__all__ = ["Kernels"]

WRITTEN_MU = 10_000_000
"""Machine units until an EEPROM has what was written: twice the time of the data sheet."""
BOARD_MS = 5000
"""Milliseconds within which a board behind a link can be reached after a start: a card that speaks DRTIO takes a
second, and another one each time that it begins anew."""
PULSES = 5
CLOCK_TIME = 20e-6


class Kernels(PhaserKernels):
    """The core device, and the devices that the kernels in use need, by role."""

    @kernel
    def reset(self):
        """Reset all outputs."""
        self.core.reset()

    @kernel
    def board_answers(self, destination: TInt32) -> TBool:
        """Wait until a board behind a link can be reached, up to BOARD_MS; returns whether it can."""
        for _ in range(BOARD_MS):
            if self.core.get_rtio_destination_status(destination):
                return True
            self.core.wait_until_mu(self.core.get_rtio_counter_mu() + int64(1000000))
        return False

    @kernel
    def initialise(self):
        """Call `init` of `device`."""
        self.begin()
        self.device.init()
        self.finish()

    # TTLs

    @kernel
    def pulse(self):
        """Let `source` make pulses of 1 us."""
        self.begin()
        for _ in range(PULSES):
            self.source.pulse(1 * us)
            delay(1 * us)
        self.finish()

    @kernel
    def count(self) -> TInt32:
        """Return the rising edges at `target` while `source` makes pulses."""
        self.begin()
        self.target.input()
        delay(1 * us)
        self.target._set_sensitivity(1)
        delay(1 * us)
        for _ in range(PULSES):
            self.source.pulse(1 * us)
            delay(1 * us)
        delay(1 * us)
        self.target._set_sensitivity(0)
        return self.target.count(now_mu())

    @kernel
    def delay_of(self) -> TInt64:
        """Return the time from a rising edge at `source` to that at `target`, -1 without an edge."""
        self.begin()
        self.target._set_sensitivity(1)
        delay(1 * us)
        sent = now_mu()
        self.source.pulse(1 * us)
        delay(2 * us)
        self.target._set_sensitivity(0)
        seen = self.target.timestamp_mu(now_mu())
        result = int64(-1)
        if seen >= 0:
            result = seen - sent
        return result

    @kernel
    def count_edges(self) -> TInt32:
        """Return what `counter` counts while `source` makes pulses."""
        self.begin()
        self.counter.set_config(True, False, False, True)
        delay(1 * us)
        for _ in range(PULSES):
            self.source.pulse(1 * us)
            delay(1 * us)
        delay(1 * us)
        self.counter.set_config(False, False, True, False)
        return self.counter.fetch_count()

    @kernel
    def clock(self, frequency: TFloat):
        """Let `source` make a clock for 20 us."""
        self.begin()
        self.source.set(frequency)
        delay(CLOCK_TIME)
        self.source.stop()
        self.finish()

    # Urukul

    @kernel
    def urukul(self) -> TInt32:
        """Initialise `cpld`; returns its status."""
        self.begin()
        self.cpld.init()
        self.core.break_realtime()
        return self.cpld.sta_read()

    @kernel
    def status(self) -> TInt32:
        self.begin()
        return self.cpld.sta_read()

    @kernel
    def attenuators(self, word: TInt32) -> TInt32:
        """Set the attenuators of `cpld`, and read them back."""
        self.begin()
        self.cpld.set_all_att_mu(word)
        delay(1 * ms)
        found = self.cpld.get_att_mu()
        self.finish()
        return found

    @kernel
    def dds(self, frequency: TFloat, channel: TInt32):
        """Initialise `device`, a chip of `cpld`, and let it have a tone."""
        self.begin()
        self.device.init()
        self.core.break_realtime()
        delay(1 * ms)
        self.device.set(frequency)
        self.cpld.set_att_mu(channel, 255)
        self.cpld.cfg_sw(channel, True)
        self.finish()

    @kernel
    def dds_off(self, channel: TInt32):
        self.begin()
        self.cpld.cfg_sw(channel, False)
        self.finish()

    @kernel
    def mirny(self) -> TInt32:
        """Initialise `cpld`, a Mirny; returns its hardware revision and protocol."""
        self.begin()
        self.cpld.init()
        self.core.break_realtime()
        return self.cpld.read_reg(0)

    @kernel
    def synthesiser(self, frequency: TFloat) -> TInt32:
        """Initialise `device`, a chip of a Mirny, and set it; returns whether it has locked."""
        self.begin()
        self.device.init()
        self.core.break_realtime()
        delay(5 * ms)
        self.device.set_att(0.0)
        self.device.sw.on()
        self.device.set_frequency(frequency)
        delay(5 * ms)
        locked = 0
        if self.device.read_muxout():
            locked = 1
        self.finish()
        return locked

    @kernel
    def tone(self, frequency: TFloat):
        """Initialise `device`, a single synthesiser, and set its frequency."""
        self.begin()
        self.device.init()
        self.core.break_realtime()
        delay(1 * ms)
        self.device.set(frequency)
        self.finish()

    # Converters

    @kernel
    def voltages(self, volts: TList(TFloat)):
        """Set outputs 0, 1... of `device`, an AD53xx."""
        self.begin()
        self.device.set_dac(volts)
        self.finish()

    @kernel
    def code(self, channel: TInt32) -> TInt32:
        """Read the code of an output of `device`, an AD53xx, back."""
        self.begin()
        return self.device.read_reg(channel)

    @kernel
    def voltage_groups(self, volts: TList(TFloat)):
        """Set outputs 0, 1... of `device`, a Fastino, group by group."""
        self.begin()
        width = self.device.width
        group = [0.0] * width
        for first in range(len(volts) // width):
            for n in range(width):
                group[n] = volts[first * width + n]
            if width == 1:
                self.device.set_dac(first, group[0])
            else:
                self.device.set_group(first * width, group)
            delay(1 * us)
        self.finish()

    @kernel
    def sampler(self, found: TList(TFloat)) -> TInt32:
        """Initialise `device`, a Sampler, and sample its inputs with gain 1; returns gains as read back, of which
        the codes 0 to 3 had been set in turn: an absent card answers with one level."""
        self.begin()
        self.device.init()
        for channel in range(8):
            self.device.set_gain_mu(channel, channel & 3)
            delay(100 * us)
        gains = self.device.get_gains_mu()
        self.core.break_realtime()
        for channel in range(8):
            self.device.set_gain_mu(channel, 0)
            delay(100 * us)
        delay(1 * ms)
        self.device.sample(found)
        return gains

    @kernel
    def sample(self, found: TList(TFloat)):
        """Sample the inputs of `device`, a Sampler."""
        self.begin()
        self.device.sample(found)

    @kernel
    def novogorny(self, word: TInt32, channel: TInt32) -> TFloat:
        """Sample an input of `device`, a Novogorny; `word`: its control word."""
        self.begin()
        self.device.set_gain_mu(channel, 0)
        delay(100 * us)
        self.device.configure([word])
        delay(100 * us)
        self.device.sample(word)
        delay(100 * us)
        return self.device.sample(word)

    # SU-Servo

    @kernel
    def servo(self) -> TInt32:
        """Initialise `device`, an SU-Servo, and start it; returns its status."""
        self.begin()
        self.device.init()
        self.core.break_realtime()
        delay(1 * ms)
        self.device.set_config(1)
        delay(10 * us)
        return self.device.get_status()

    @kernel
    def servo_input(self, channel: TInt32) -> TFloat:
        self.begin()
        return self.device.get_adc(channel)

    @kernel
    def servo_tone(self, frequency: TFloat):
        """Let `output`, a channel of `device`, which runs, have a tone at full amplitude."""
        self.begin()
        self.output.set_dds(profile=0, frequency=frequency, offset=0.0)
        self.output.set_y(0, 0.999)
        self.output.set(en_out=1, en_iir=0, profile=0)
        delay(100 * us)
        self.finish()

    # Grabber

    @kernel
    def grabber(self, found: TList(TInt32)):
        """Sum the pixels of a frame in columns and rows 0 to 7, and in the first one, into `found`."""
        self.begin()
        self.device.setup_roi(0, 0, 0, 8, 8)
        self.device.setup_roi(1, 0, 0, 1, 1)
        self.device.gate_roi(3)
        # The regions may have been set up in the middle of the first frame, whose sums are then those of its rest.
        for _ in range(2):
            self.device.input_mu(found, now_mu() + int64(2_000_000_000))
            self.core.break_realtime()
        self.device.gate_roi(0)

    @kernel
    def coaxpress(self) -> TInt32:
        """Set the camera of `device` up; returns what identifies CoaXPress."""
        self.begin()
        return self.device.read32(STANDARD)

    # Shuttler

    @kernel
    def relays(self, mask: TInt32):
        """Close relays of a Shuttler through `device`."""
        self.begin()
        self.device.init()
        self.device.enable(mask)
        self.finish()

    @kernel
    def shuttler_adc(self) -> TInt32:
        """Return the identity of `device`, the ADC of a Shuttler."""
        self.begin()
        self.device.reset()
        self.core.break_realtime()
        delay(1 * ms)
        return self.device.read_id()

    @kernel
    def level(self, code: TInt32, mask: TInt32):
        """Let `output`, an output of a Shuttler, have a voltage."""
        self.begin()
        self.output.set_waveform(code, 0, int64(0), int64(0))
        delay(10 * us)
        self.trigger.trigger(mask)
        self.finish()

    # Songbird

    @kernel
    def songbird_tone(self, frequency: TFloat):
        """Let `output`, a tone of a Songbird, have a frequency and an amplitude of 0.25 V."""
        self.begin()
        self.output.set_waveform(0x2000, 0, int64(0), int64(0), 0, self.output.frequency_to_mu(frequency), 0)
        delay(10 * us)
        self.output.trigger()
        self.finish()

    # AD9914

    @kernel
    def ad9914(self, frequency: TFloat):
        """Initialise `device`, an AD9914, and set its frequency."""
        self.begin()
        self.device.init()
        self.core.break_realtime()
        delay_mu(int64(1_000_000))
        self.device.set(frequency)
        self.finish()

    # Attenuators

    @kernel
    def attenuation(self, decibels: TFloat):
        """Set `device`, a single attenuator."""
        self.begin()
        self.device.set_att(decibels)
        self.finish()

    @kernel
    def almazny(self, decibels: TFloat):
        """Set `device`, a channel of an Almazny on the Mirny `cpld`, and switch it on."""
        self.begin()
        self.cpld.init()
        self.core.break_realtime()
        delay(1 * ms)
        self.device.set(decibels, 1, 1)
        self.finish()

    @kernel
    def almazny_legacy(self, decibels: TList(TFloat)):
        """Likewise all channels of `device`, an Almazny of revision 1.1."""
        self.begin()
        self.cpld.init()
        self.core.break_realtime()
        delay(1 * ms)
        self.device.output_toggle(True)
        for channel in range(len(decibels)):
            self.device.set_att(channel, decibels[channel], 1)
            delay(100 * us)
        self.finish()

    # Pulse core

    @kernel
    def play(self):
        """Load the gates `program` into `device`, a pulse core, and play `gate`. PulseError and others as
        from the driver."""
        self.begin()
        self.device.load(self.program)
        self.begin()
        self.device.play(self.gate)
        self.finish()
        self.core.break_realtime()
        self.device.check()

    # EEPROM

    @kernel
    def eeprom(self, addresses: TList(TInt32), found: TList(TInt32)):
        """Read words of `device`, an EEPROM, into `found`."""
        self.core.break_realtime()
        for n in range(len(addresses)):
            found[n] = self.device.read_i32(addresses[n])

    @kernel
    def eeprom_write(self, address: TInt32, word: TInt32):
        """Write a word of `device`, an EEPROM, and wait until it has it."""
        self.core.break_realtime()
        self.device.write_i32(address, word)
        self.core.wait_until_mu(self.core.get_rtio_counter_mu() + int64(WRITTEN_MU))

    # Calibrations

    @kernel
    def chip_delays(self) -> TTuple([TInt32, TInt32]):
        """Initialise `device`, an AD9910 of `cpld`, and find its delays of SYNC_IN and of updates."""
        self.begin()
        self.cpld.init()
        self.core.break_realtime()
        delay(1 * ms)
        self.device.init()
        self.core.break_realtime()
        delay(1 * ms)
        seed = self.device.tune_sync_delay()[0]
        self.core.break_realtime()
        delay(1 * ms)
        return seed, self.device.tune_io_update_delay()

    @kernel
    def shared_delays(self) -> TTuple([TInt32, TInt32, TInt32, TInt32]):
        """Initialise `servo`, an SU-Servo, and find the delays of SYNC_IN of the chips of `device`, one of its
        Urukuls."""
        self.begin()
        self.servo.init()
        self.core.break_realtime()
        delay(1 * ms)
        return self.device.tune_sync_delays()

    @kernel
    def shared_update_delay(self) -> TInt32:
        """Likewise, once they are known, the delay of updates."""
        self.begin()
        return self.device.tune_io_update_group_delay()
