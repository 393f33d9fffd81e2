"""What sets an output on the device: a kernel per kind of chip, with the driver of the card.

A chip that was initialised keeps what it is not asked to change, and so do the other outputs of its card; whether it
was is read from the chip. One that was not is initialised as an experiment does.
"""

from ..coredevice.ad53xx import AD53XX_READ_CONTROL, AD53XX_READ_OFS0, CHECKED, SAFE, AD53xx
from ..coredevice.ad9910 import AD9910
from ..coredevice.ad9912 import AD9912
from ..coredevice.ad9914 import AD9914
from ..coredevice.chips.ad9910 import CFR3
from ..errors import UsageError
from ..language import TBool, TFloat, TInt32, delay, kernel, ms, us
from ..selftest.kernels import Kernels as TestKernels

__all__ = ["Kernels", "written"]

TONE = "frequency", "phase", "amplitude"
BITS = {"frequency": 1, "phase": 2, "amplitude": 4}


def written(device, place: int, values: dict[str, float], initialise: bool) -> bool:
    """Set an output; returns whether its card was initialised before. Exceptions of the driver, if it does not
    answer."""
    kernels = Kernels(device.core, device=device)
    if isinstance(device, AD53xx):
        return kernels.ad53xx(place, values["voltage"], initialise)
    tone = [float(values.get(name, 0.0)) for name in TONE]
    given = sum(bit for name, bit in BITS.items() if name in values)
    if isinstance(device, AD9914):
        if "frequency" not in values:
            raise UsageError("give the frequency, too: this chip cannot be asked for it")
        amplitude = tone[2] if "amplitude" in values else 1.0
        kernels.ad9914(tone[0], tone[1], amplitude, initialise)
        return initialise
    if not isinstance(device, AD9910 | AD9912):
        kernels.fastino(place, values["voltage"], initialise)
        return initialise
    kernels.cpld = device.cpld
    if isinstance(device, AD9910):
        clock = device.clock_word if device.pll_en else device.clock_reset_word
        fresh = kernels.ad9910(clock, given, *tone, initialise)
    else:
        register, value = device.settings[-1]
        fresh = kernels.ad9912(register, value, given, *tone[:2], initialise)
    if "attenuation" in values:
        kernels.attenuator(values["attenuation"])
    return fresh


class Kernels(TestKernels):
    """The core device, and `device`, and of a DDS on an Urukul its `cpld`."""

    @kernel
    def _go_on(self):
        """Have slack again after what was read."""
        self.core.break_realtime()
        delay(1 * ms)

    @kernel
    def _initialise(self):
        """Initialise an Urukul and one of its chips."""
        self.cpld.init()
        self._go_on()
        self.device.init()
        self._go_on()

    @kernel
    def ad9910(
        self, clock: TInt32, given: TInt32, frequency: TFloat, phase: TFloat, amplitude: TFloat, initialise: TBool
    ) -> TBool:
        """Have `device` play a tone: what `given` has no bit for stays as it is in its profile. `clock`: what an
        initialised chip has in its clock register."""
        self.begin()
        fresh = initialise or self.device.read32(CFR3.address) != clock
        self._go_on()
        tone = (0.0, 0.0, 1.0)
        if fresh:
            self._initialise()
        else:
            tone = self.device.get()
            self._go_on()
        # A tone, whatever it played: a ramp, its RAM.
        self.device.set_cfr1()
        self.device.set_cfr2()
        delay(10 * us)
        self.device.set(
            frequency=frequency if given & 1 != 0 else tone[0],
            phase=phase if given & 2 != 0 else tone[1],
            amplitude=amplitude if given & 4 != 0 else tone[2],
        )
        self.finish()
        return fresh

    @kernel
    def ad9912(
        self, register: TInt32, value: TInt32, given: TInt32, frequency: TFloat, phase: TFloat, initialise: TBool
    ) -> TBool:
        """As `ad9910`; an initialised chip has `value` in `register`."""
        self.begin()
        fresh = initialise or self.device.read(register, 1) != value
        self._go_on()
        tone = (0.0, 0.0)
        if fresh:
            self._initialise()
        else:
            tone = self.device.get()
            self._go_on()
        self.device.set(
            frequency if given & 1 != 0 else tone[0],
            phase if given & 2 != 0 else tone[1],
        )
        self.finish()
        return fresh

    @kernel
    def attenuator(self, attenuation: TFloat):
        """Set the attenuator of `device`, a DDS on an Urukul; the others of the card keep theirs."""
        self.begin()
        self.cpld.get_att_mu()
        self._go_on()
        self.device.set_att(attenuation)
        self.finish()

    @kernel
    def ad9914(self, frequency: TFloat, phase: TFloat, amplitude: TFloat, initialise: TBool):
        """Have `device` play a tone; if it is to be initialised, all chips of its bus are reset."""
        self.begin()
        if initialise:
            self.device.reset_all()
            self._go_on()
            self.device.init()
            self._go_on()
        self.device.set(frequency, phase=phase, amplitude=amplitude)
        self.finish()

    @kernel
    def ad53xx(self, channel: TInt32, voltage: TFloat, initialise: TBool) -> TBool:
        """Set a channel of `device`. One that was not initialised is."""
        self.begin()
        self.device.ldac.on()
        self.device.clr.on()
        self.device.word.prepare()
        control = self.device.read_reg(op=AD53XX_READ_CONTROL)
        self._go_on()
        offset = self.device.read_reg(op=AD53XX_READ_OFS0)
        self._go_on()
        fresh = initialise or control & CHECKED != SAFE or offset != self.device.offset_dacs
        if fresh:
            self.device.init()
            self._go_on()
        self.device.set_dac([voltage], [channel])
        self.finish()
        return fresh

    @kernel
    def fastino(self, channel: TInt32, voltage: TFloat, initialise: TBool):
        """Set a channel of `device`, which cannot be asked whether it was initialised."""
        self.begin()
        if initialise:
            self.device.init()
            self._go_on()
        self.device.set_dac(channel, voltage)
        self.finish()
