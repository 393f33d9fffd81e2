"""The modulator with local oscillator TRF372017 of a Phaser: its registers, from settings by the data sheet's names.

Experiments build the words of its registers on the host and pass them on::

    words = TRF372017({"rdiv": 2, "nint": 25, "pll_div_sel": 1}).get_mmap()

How a chip on an SPI bus is driven with the methods of ARTIQ's driver is not publicly described;
using one raises an error that explains this.
"""

from difflib import get_close_matches

from ..errors import UsageError
from .chips.trf372017 import REGISTER1, REGISTER2, REGISTER3, REGISTER4, REGISTER5, REGISTER6, REGISTER7
from .parts.lacking import Unknown
from .parts.numbers import to_int32

__all__ = ["TRF372017"]

_REGISTERS = [REGISTER1, REGISTER2, REGISTER3, REGISTER4, REGISTER5, REGISTER6, REGISTER7]


class TRF372017(Unknown):
    """Settings by name, over the values from which ARTIQ's driver starts; or the chip on the SPI bus `spi_device` with
    the reference `refclk` in Hz. UsageError for a setting that there is not, ValueError for one
    beyond its field."""

    why = "what its methods take and when they write which register is not published"

    def __init__(self, dmgr=None, spi_device=None, refclk=None, use_external_lo=False, core_device="core"):
        self.refclk, self.use_external_lo = refclk, use_external_lo
        if spi_device is not None:
            self.core, self.bus = dmgr.get(core_device), dmgr.get(spi_device)
        self.settings = dict(dmgr) if isinstance(dmgr, dict) else {}
        known = [name for register in _REGISTERS for name in register.fields]
        for name in self.settings:
            if name not in known:
                near = get_close_matches(name, known, 1)
                advice = f"; did you mean {near[0]!r}?" if near else ""
                raise UsageError(f"a TRF372017 has no setting {name!r}{advice}")

    def get_mmap(self):
        """Words of the registers 1 to 7 (list of seven int32), their addresses included."""
        return [
            to_int32(
                register.encode(**{name: self.settings[name] for name in register.fields if name in self.settings})
            )
            for register in _REGISTERS
        ]
