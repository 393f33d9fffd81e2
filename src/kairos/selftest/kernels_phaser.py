"""What the tests run on the device for a Phaser, with the beginning and the end of every kernel."""

from numpy import int64

from ..language import TFloat, TInt32, delay, kernel, ms, now_mu, us

__all__ = ["PhaserKernels"]

SETTLED_MU = 100_000
"""Machine units after which outputs of slow cards have settled, too."""


class PhaserKernels:
    """The core device, and the devices that the kernels in use need, by role."""

    def __init__(self, core, **devices):
        self.core = core
        for role, device in devices.items():
            setattr(self, role, device)

    # Parts of kernels

    @kernel
    def begin(self):
        self.core.break_realtime()
        delay(1 * ms)

    @kernel
    def finish(self):
        self.core.wait_until_mu(now_mu() + int64(SETTLED_MU))

    # Phaser

    @kernel
    def phaser(self) -> TInt32:
        """Initialise `device`, a Phaser, which tests its DAC and upconverters; returns its CRC errors."""
        self.begin()
        self.device.init()
        self.core.break_realtime()
        delay(1 * ms)
        return self.device.get_crc_err()

    @kernel
    def phaser_register(self, value: TInt32) -> TInt32:
        """Write LEDs of a Phaser, and read them back."""
        self.begin()
        self.device.set_leds(value)
        delay(10 * us)
        return self.device.read8(6)

    @kernel
    def phaser_tone(self, frequency: TFloat):
        """Let oscillator 0 of `output`, a channel of `device`, have a tone at half amplitude."""
        self.begin()
        self.device.set_cfg()
        delay(10 * us)
        self.output.set_duc_cfg()
        delay(10 * us)
        self.output.set_duc_frequency(0.0)
        delay(10 * us)
        self.device.duc_stb()
        delay(10 * us)
        self.output.oscillator[0].set_frequency(frequency)
        delay(10 * us)
        self.output.oscillator[0].set_amplitude_phase(0.5)
        self.finish()

    @kernel
    def phaser_pulse(self, frequency: TFloat):
        """Let oscillator 0 of `output`, a channel with Miqro, have a tone at half amplitude, in a window that stays."""
        self.begin()
        self.device.set_cfg()
        delay(10 * us)
        self.output.miqro.set_profile(0, 1, frequency, 0.5)
        delay(10 * us)
        self.output.miqro.set_window(2, [(1.0, 0.0)], order=0, tail=0)
        delay(10 * us)
        self.output.miqro.pulse(2, [1])
        self.finish()

    # Phaser as a satellite

    @kernel
    def mtdds_tone(self, frequency: TFloat):
        """Initialise `device`, an RF channel of a Phaser as a satellite, and let its tone `output` have a frequency
        and half of full scale."""
        self.begin()
        self.device.init()
        self.core.break_realtime()
        self.device.attenuator.set_att(0.0)
        self.output.set_frequency(frequency)
        delay(1 * us)
        self.output.set_amplitude(0.5)
        self.finish()
