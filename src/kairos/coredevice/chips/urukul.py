"""Logic of a card with four DDS channels: configuration (CFG) and the status returned in the same transfer (STA).

Source: Sinara Urukul, CPLD protocol revisions 8 and 9.

Generated from src/contracts/chips/urukul.toml by `make contracts`: do not edit.
"""

from ...language import TInt32, portable
from ..registers import Field, Register, WideField

__all__ = [
    "ATT",
    "CFG8",
    "CFG9",
    "CS_ATT",
    "CS_CFG",
    "CS_DDS_CH0",
    "CS_DDS_CH1",
    "CS_DDS_CH2",
    "CS_DDS_CH3",
    "CS_DDS_MULTI",
    "STA",
    "checked_channel",
    "checked_profile",
]

CS_CFG = 1
"""chip select of CFG and STA"""

CS_ATT = 2
"""chip select of the attenuators"""

CS_DDS_MULTI = 3
"""chip select of all DDS chips that are not masked"""

CS_DDS_CH0 = 4
"""chip select of the DDS of channel 0"""

CS_DDS_CH1 = 5
"""chip select of the DDS of channel 1"""

CS_DDS_CH2 = 6
"""chip select of the DDS of channel 2"""

CS_DDS_CH3 = 7
"""chip select of the DDS of channel 3"""


class CFG8(Register):
    """Configuration, protocol revision 8."""

    chip = "Urukul"
    width = 24

    rf_sw = WideField(0, 1, count=4, doc="close the RF switch of a channel")
    led = WideField(4, 1, count=4, doc="light the LED of a channel")
    profile = WideField(8, 3, doc="profile of all channels")
    io_update = WideField(12, 1, doc="update line of all channels")
    mask_nu = WideField(13, 1, count=4, doc="keep a channel from the bus of its own")
    clk_sel0 = WideField(17, 1, doc="lower bit of the reference's source")
    sync_sel = WideField(18, 1, doc="synchronisation clock from the card instead of the device")
    rst = WideField(19, 1, doc="reset of the DDS chips")
    io_rst = WideField(20, 1, doc="reset of the DDS chips' serial ports")
    clk_sel1 = WideField(21, 1, doc="upper bit of the reference's source")
    clk_div = WideField(22, 2, doc="divider of the reference")


class CFG9(Register):
    """Configuration, protocol revision 9."""

    chip = "Urukul"
    width = 52

    rf_sw = WideField(0, 1, count=4, doc="close the RF switch of a channel")
    led = WideField(4, 1, count=4, doc="light the LED of a channel")
    profile = WideField(8, 3, count=4, doc="profile of a channel")
    osk = WideField(20, 1, count=4, doc="OSK line of a channel")
    drctl = WideField(24, 1, count=4, doc="ramp direction line of a channel")
    drhold = WideField(28, 1, count=4, doc="ramp hold line of a channel")
    io_update = WideField(32, 1, count=4, doc="update line of a channel")
    mask_nu = WideField(36, 1, count=4, doc="keep a channel from the bus of its own")
    clk_sel0 = WideField(40, 1, doc="lower bit of the reference's source")
    sync_sel = WideField(41, 1, doc="synchronisation clock from the card instead of the device")
    rst = WideField(42, 1, doc="reset of the DDS chips")
    io_rst = WideField(43, 1, doc="reset of the DDS chips' serial ports")
    clk_sel1 = WideField(44, 1, doc="upper bit of the reference's source")
    clk_div = WideField(45, 2, doc="divider of the reference")
    att_en = WideField(47, 1, count=4, doc="enable the attenuator of a channel")


class STA(Register):
    """Status; protocol revision 8 has no `drover`."""

    chip = "Urukul"
    width = 27

    rf_sw = Field(0, 4, doc="RF switches, a bit for each channel")
    smp_err = Field(4, 4, doc="synchronisation errors of the DDS chips, a bit for each channel")
    pll_lock = Field(8, 4, doc="locked PLLs of the DDS chips, a bit for each channel")
    ifc_mode = Field(12, 4, doc="position of the mode switch")
    proto_rev = Field(16, 7, range=(8, 9), doc="protocol revision")
    drover = Field(23, 4, doc="digital ramps that are over, a bit for each channel")

    @staticmethod
    @portable(flags={"forceinline"})
    def word(rf_sw=0, smp_err=0, pll_lock=0, ifc_mode=0, proto_rev=0, drover=0) -> TInt32:
        """Its word made from numbers for the fields, cut to their bits."""
        return (
            (rf_sw & 0xF)
            | ((smp_err & 0xF) << 4)
            | ((pll_lock & 0xF) << 8)
            | ((ifc_mode & 0xF) << 12)
            | ((proto_rev & 0x7F) << 16)
            | ((drover & 0xF) << 23)
        )


class ATT(Register):
    """Attenuators."""

    chip = "Urukul"
    width = 32

    att = Field(0, 8, count=4, unit="dB", steps=8, doc="255 less the attenuation")


@portable
def checked_channel(index) -> TInt32:
    """Return `index` if it is one of the channels. ValueError for another number."""
    if index < 0 or index >= 4:
        raise ValueError("the channels of an Urukul are 0 to 3")
    return index


@portable
def checked_profile(index) -> TInt32:
    """Return `index` if it is one of the profiles. ValueError for another number."""
    if index < 0 or index >= 8:
        raise ValueError("the profiles of an Urukul are 0 to 7")
    return index
