"""Card with two RF channels of 500 MS/s: digital upconverters, in the base gateware with five oscillators each.

Source: Sinara Phaser, registers and link of its gateware.

Generated from src/contracts/chips/phaser.toml by `make contracts`: do not edit.
"""

from ...language import TInt32, portable
from ..registers import Field, Register

__all__ = [
    "ANNOUNCED_CYCLES_BITS",
    "ANNOUNCED_FIRST",
    "ANNOUNCED_NS",
    "ANNOUNCED_PHASE_BITS",
    "ANSWER_BITS",
    "ATTENUATOR_SELECT",
    "BITS_PER_CYCLE",
    "BOARD",
    "BOARD_ID",
    "CFG",
    "CHANNELS",
    "CLOCK_PATTERN",
    "CRC",
    "CRC_ERR",
    "DAC_DATA",
    "DAC_SELECT",
    "DAC_TEST",
    "DUC_CFG",
    "DUC_F",
    "DUC_P",
    "DUC_STB",
    "FAN",
    "FRAME",
    "FRAME_CYCLES",
    "FRAME_WORDS",
    "FRAME_WORD_BITS",
    "FREQUENCY_STEPS",
    "GW_REV",
    "HW_REV",
    "LANES",
    "LED",
    "MIQRO",
    "MIQRO_ADDRESS",
    "MIQRO_BITS",
    "MIQRO_DATA",
    "MIQRO_HEADER",
    "MIQRO_OSCILLATORS",
    "MIQRO_OUTPUT",
    "MIQRO_PROFILES",
    "MIQRO_PROFILE_BITS",
    "MIQRO_RATE",
    "MIQRO_WINDOW",
    "MIQRO_WINDOW_BITS",
    "MIQRO_WORDS",
    "MIQRO_WORD_BITS",
    "OSCILLATORS",
    "OSCILLATOR_RATE",
    "PORT",
    "SAMPLE",
    "SAMPLES",
    "SERVO",
    "SERVO_COEFFICIENTS",
    "SERVO_FRACTION_BITS",
    "SERVO_PERIOD_NS",
    "SERVO_PROFILES",
    "SERVO_SPACING",
    "SPI_CFG",
    "SPI_DATR",
    "SPI_DATW",
    "SPI_DIVLEN",
    "SPI_SEL",
    "SPI_TICK_NS",
    "STA",
    "SYNC_DLY",
    "TONE",
    "TRF_SELECT",
    "UPCONVERTER_RATE",
    "UPCONVERTER_SPACING",
]

DAC_SELECT = 1
"""chip select of the DAC"""

TRF_SELECT = 2
"""chip select of upconverter 0; the other's is the next bit"""

ATTENUATOR_SELECT = 8
"""chip select of attenuator 0; the other's is the next bit"""

SERVO_COEFFICIENTS = 50
"""first register of b0, b1, a1, offset (two bytes each) of channel 0 and profile 0"""

SERVO_SPACING = 32
"""registers from one channel's coefficients to the other's"""

SERVO_PERIOD_NS = 0x108
"""time between updates of a servo"""

SERVO_FRACTION_BITS = 14
"""bits of fraction of a servo's coefficients"""

SPI_TICK_NS = 4
"""cycle of the divider of the card's SPI bus"""

SERVO_PROFILES = 4
"""profiles of a servo, 8 registers each"""

BOARD = 19
"""value of BOARD_ID"""

CHANNELS = 2
"""RF channels"""

OSCILLATORS = 5
"""oscillators of a channel"""

UPCONVERTER_SPACING = 16
"""offset from the registers of a channel to those of the next one"""

FRAME_CYCLES = 40
"""coarse cycles of a frame of the link"""

LANES = 6
"""data lanes of the link"""

CRC = 111
"""polynomial of a frame's CRC"""

CLOCK_PATTERN = 15
"""levels of the clock lane in a word, the first one highest"""

FRAME_WORDS = 10
"""words of a frame on the link"""

FRAME_WORD_BITS = 8
"""bits of such a word"""

BITS_PER_CYCLE = 2
"""bits of the link in a coarse cycle"""

ANSWER_BITS = 10
"""bits of the return lane in a frame, one for each word, of which 8 answer a read"""

SAMPLES = 8
"""samples of a frame"""

ANNOUNCED_PHASE_BITS = 24
"""upper bits of an accumulator in an announcement"""

ANNOUNCED_CYCLES_BITS = 7
"""bits of the cycles since the first change in an announcement"""

ANNOUNCED_NS = 0x2F8
"""time from the end of an announcement's frame to its first sample at the DAC"""

ANNOUNCED_FIRST = 5
"""number of the oldest sample in the frame loaded two frames after an announcement"""

MIQRO_OSCILLATORS = 16
"""oscillators of a channel in the Miqro gateware"""

MIQRO_PROFILES = 32
"""profiles of such an oscillator"""

MIQRO_WINDOW = 0x400
"""words of a channel's window memory"""

MIQRO_BITS = 128
"""bits of a channel's pulse in a body"""

MIQRO_WORDS = 3
"""words of a pulse: window and four profiles of 5 bits, then six profiles each"""

MIQRO_PROFILE_BITS = 5
"""bits of a profile in these words"""

MIQRO_WINDOW_BITS = 10
"""bits of the window's address, which begins the first one"""

MIQRO_WORD_BITS = 30
"""bits of such a word"""

MIQRO_RATE = 250000000.0
"""2^32 steps of a frequency word of Miqro, Hz"""

OSCILLATOR_RATE = 6250000.0
"""2^30 steps of an oscillator's frequency word, Hz"""

UPCONVERTER_RATE = 125000000.0
"""2^30 steps of an upconverter's frequency word, Hz"""

FREQUENCY_STEPS = 0x40000000
"""steps of frequency words in their rate"""


class PORT(Register):
    """RTIO address of the link's channel."""

    chip = "Phaser"
    width = 8

    write = Field(7, 1, doc="write")
    register = Field(0, 7, doc="register of the card")

    @staticmethod
    @portable(flags={"forceinline"})
    def word(write=0, register=0) -> TInt32:
        """Its word made from numbers for the fields, cut to their bits."""
        return ((write & 0x1) << 7) | (register & 0x7F)


class BOARD_ID(Register):
    """Kind of card."""

    chip = "Phaser"
    width = 8
    address = 0x00

    board = Field(0, 8, doc="number of the card")

    @staticmethod
    @portable(flags={"forceinline"})
    def word(board=0) -> TInt32:
        """Its word made from numbers for the fields, cut to their bits."""
        return board & 0xFF


class HW_REV(Register):
    """Revision of the card."""

    chip = "Phaser"
    width = 8
    address = 0x01

    revision = Field(0, 4, doc="revision")
    baseband = Field(4, 1, doc="without upconverters")

    @staticmethod
    @portable(flags={"forceinline"})
    def word(revision=0, baseband=0) -> TInt32:
        """Its word made from numbers for the fields, cut to their bits."""
        return (revision & 0xF) | ((baseband & 0x1) << 4)


class GW_REV(Register):
    """Gateware."""

    chip = "Phaser"
    width = 8
    address = 0x02

    gateware = Field(0, 8, values={"BASE": 1, "MIQRO": 2}, doc="type of gateware")

    @staticmethod
    @portable(flags={"forceinline"})
    def word(gateware=0) -> TInt32:
        """Its word made from numbers for the fields, cut to their bits."""
        return gateware & 0xFF


class CFG(Register):
    """Configuration."""

    chip = "Phaser"
    width = 8
    address = 0x03

    clk_sel = Field(0, 1, doc="reference")
    dac_resetb = Field(1, 1, doc="0: DAC in reset")
    dac_sleep = Field(2, 1, doc="DAC sleeps")
    dac_txena = Field(3, 1, doc="DAC transmits")
    trf0_ps = Field(4, 1, doc="upconverter of channel 0 saves power")
    trf1_ps = Field(5, 1, doc="upconverter of channel 1 saves power")
    att0_rstn = Field(6, 1, doc="0: attenuator of channel 0 in reset")
    att1_rstn = Field(7, 1, doc="0: attenuator of channel 1 in reset")

    @staticmethod
    @portable(flags={"forceinline"})
    def word(
        clk_sel=0,
        dac_resetb=0,
        dac_sleep=0,
        dac_txena=0,
        trf0_ps=0,
        trf1_ps=0,
        att0_rstn=0,
        att1_rstn=0,
    ) -> TInt32:
        """Its word made from numbers for the fields, cut to their bits."""
        return (
            (clk_sel & 0x1)
            | ((dac_resetb & 0x1) << 1)
            | ((dac_sleep & 0x1) << 2)
            | ((dac_txena & 0x1) << 3)
            | ((trf0_ps & 0x1) << 4)
            | ((trf1_ps & 0x1) << 5)
            | ((att0_rstn & 0x1) << 6)
            | ((att1_rstn & 0x1) << 7)
        )


class STA(Register):
    """Status."""

    chip = "Phaser"
    width = 8
    address = 0x04

    dac_alarm = Field(0, 1, doc="alarm of the DAC")
    locked = Field(1, 1, count=2, doc="the upconverter of the channel has locked")
    terminated = Field(3, 1, count=2, doc="termination of the channel's ADC")
    spi_idle = Field(5, 1, doc="the SPI bus has finished")


class CRC_ERR(Register):
    """Frames with a wrong checksum."""

    chip = "Phaser"
    width = 8
    address = 0x05

    @staticmethod
    @portable(flags={"forceinline"})
    def word() -> TInt32:
        """Its word made from numbers for the fields, cut to their bits."""
        return 0


class LED(Register):
    """LEDs."""

    chip = "Phaser"
    width = 8
    address = 0x06

    @staticmethod
    @portable(flags={"forceinline"})
    def word() -> TInt32:
        """Its word made from numbers for the fields, cut to their bits."""
        return 0


class FAN(Register):
    """Fan."""

    chip = "Phaser"
    width = 8
    address = 0x07

    duty = Field(0, 8, unit="full speed", steps=255, doc="duty cycle")

    @staticmethod
    @portable(flags={"forceinline"})
    def word(duty=0) -> TInt32:
        """Its word made from numbers for the fields, cut to their bits."""
        return duty & 0xFF


class DUC_STB(Register):
    """A write makes settings of the upconverters take effect."""

    chip = "Phaser"
    width = 8
    address = 0x08

    @staticmethod
    @portable(flags={"forceinline"})
    def word() -> TInt32:
        """Its word made from numbers for the fields, cut to their bits."""
        return 0


class SPI_CFG(Register):
    """Configuration of the SPI bus."""

    chip = "Phaser"
    width = 8
    address = 0x0A

    offline = Field(0, 1, doc="pins not driven")
    end = Field(1, 1, doc="the next transfer ends the message")
    clk_phase = Field(2, 1, doc="data change with the first edge")
    clk_polarity = Field(3, 1, doc="the clock is high while idle")
    half_duplex = Field(4, 1, doc="one data line")
    lsb_first = Field(5, 1, doc="the lowest bit first")

    @staticmethod
    @portable(flags={"forceinline"})
    def word(offline=0, end=0, clk_phase=0, clk_polarity=0, half_duplex=0, lsb_first=0) -> TInt32:
        """Its word made from numbers for the fields, cut to their bits."""
        return (
            (offline & 0x1)
            | ((end & 0x1) << 1)
            | ((clk_phase & 0x1) << 2)
            | ((clk_polarity & 0x1) << 3)
            | ((half_duplex & 0x1) << 4)
            | ((lsb_first & 0x1) << 5)
        )


class SPI_DIVLEN(Register):
    """Clock and length of transfers on the SPI bus."""

    chip = "Phaser"
    width = 8
    address = 0x0B

    div = Field(0, 5, doc="divider of 250 MHz, less 2, in steps of 8")
    length = Field(5, 3, doc="bits, less one")

    @staticmethod
    @portable(flags={"forceinline"})
    def word(div=0, length=0) -> TInt32:
        """Its word made from numbers for the fields, cut to their bits."""
        return (div & 0x1F) | ((length & 0x7) << 5)


class SPI_SEL(Register):
    """Chips of the SPI bus that the next transfers select."""

    chip = "Phaser"
    width = 8
    address = 0x0C

    select = Field(0, 1, count=5, doc="DAC, upconverters 0 and 1, attenuators 0 and 1")


class SPI_DATW(Register):
    """Byte to the SPI bus of the card."""

    chip = "Phaser"
    width = 8
    address = 0x0D

    @staticmethod
    @portable(flags={"forceinline"})
    def word() -> TInt32:
        """Its word made from numbers for the fields, cut to their bits."""
        return 0


class SPI_DATR(Register):
    """Byte from the SPI bus of the card."""

    chip = "Phaser"
    width = 8
    address = 0x0E

    @staticmethod
    @portable(flags={"forceinline"})
    def word() -> TInt32:
        """Its word made from numbers for the fields, cut to their bits."""
        return 0


class SYNC_DLY(Register):
    """Delay of the DAC's synchronisation."""

    chip = "Phaser"
    width = 8
    address = 0x0F

    steps = Field(0, 3, doc="delay")

    @staticmethod
    @portable(flags={"forceinline"})
    def word(steps=0) -> TInt32:
        """Its word made from numbers for the fields, cut to their bits."""
        return steps & 0x7


class DUC_CFG(Register):
    """Upconverter of channel 0."""

    chip = "Phaser"
    width = 8
    address = 0x10

    clr = Field(0, 1, doc="hold the phase at zero")
    clr_once = Field(1, 1, doc="clear the phase once")
    source = Field(2, 2, doc="source of the DAC")

    @staticmethod
    @portable(flags={"forceinline"})
    def word(clr=0, clr_once=0, source=0) -> TInt32:
        """Its word made from numbers for the fields, cut to their bits."""
        return (clr & 0x1) | ((clr_once & 0x1) << 1) | ((source & 0x3) << 2)


class DUC_F(Register):
    """Its frequency word, the highest byte first."""

    chip = "Phaser"
    width = 32
    address = 0x12

    ftw = Field(0, 32, doc="frequency")

    @staticmethod
    @portable(flags={"forceinline"})
    def word(ftw=0) -> TInt32:
        """Its word made from numbers for the fields, cut to their bits."""
        return ftw


class DUC_P(Register):
    """Its phase word, the highest byte first."""

    chip = "Phaser"
    width = 16
    address = 0x16

    pow = Field(0, 16, unit="turn", steps=0x10000, doc="phase")

    @staticmethod
    @portable(flags={"forceinline"})
    def word(pow=0) -> TInt32:
        """Its word made from numbers for the fields, cut to their bits."""
        return pow & 0xFFFF


class DAC_DATA(Register):
    """A sample that went to the DAC, I and Q."""

    chip = "Phaser"
    width = 32
    address = 0x18

    @staticmethod
    @portable(flags={"forceinline"})
    def word() -> TInt32:
        """Its word made from numbers for the fields, cut to their bits."""
        return 0


class DAC_TEST(Register):
    """Sample that goes to the DAC for a test, I and Q."""

    chip = "Phaser"
    width = 32
    address = 0x1C

    @staticmethod
    @portable(flags={"forceinline"})
    def word() -> TInt32:
        """Its word made from numbers for the fields, cut to their bits."""
        return 0


class SERVO(Register):
    """Servo of channel 0; that of channel 1 follows."""

    chip = "Phaser"
    width = 8
    address = 0x30

    enable = Field(0, 1, doc="the servo sets the channel's amplitude")
    hold = Field(1, 1, doc="its output stays")
    profile = Field(2, 2, doc="profile")

    @staticmethod
    @portable(flags={"forceinline"})
    def word(enable=0, hold=0, profile=0) -> TInt32:
        """Its word made from numbers for the fields, cut to their bits."""
        return (enable & 0x1) | ((hold & 0x1) << 1) | ((profile & 0x3) << 2)


class MIQRO_ADDRESS(Register):
    """Address in the memories of Miqro, the highest byte first; it advances after each word."""

    chip = "Phaser"
    width = 16
    address = 0x72

    channel = Field(15, 1, doc="RF channel")
    profiles = Field(14, 1, doc="memory of profiles, of windows otherwise")
    place = Field(0, 14, doc="word; of profiles: oscillator (4 bits), profile (5), half (1)")

    @staticmethod
    @portable(flags={"forceinline"})
    def word(channel=0, profiles=0, place=0) -> TInt32:
        """Its word made from numbers for the fields, cut to their bits."""
        return ((channel & 0x1) << 15) | ((profiles & 0x1) << 14) | (place & 0x3FFF)


class MIQRO_DATA(Register):
    """Word for the memories of Miqro, the highest byte first."""

    chip = "Phaser"
    width = 32
    address = 0x74

    @staticmethod
    @portable(flags={"forceinline"})
    def word() -> TInt32:
        """Its word made from numbers for the fields, cut to their bits."""
        return 0


class MIQRO_OUTPUT(Register):
    """Second word of a profile."""

    chip = "Phaser"
    width = 32

    asf = Field(0, 16, unit="full scale", steps=0xFFFF, doc="amplitude")
    pow = Field(16, 16, unit="turn", steps=0x10000, doc="phase")

    @staticmethod
    @portable(flags={"forceinline"})
    def word(asf=0, pow=0) -> TInt32:
        """Its word made from numbers for the fields, cut to their bits."""
        return (asf & 0xFFFF) | ((pow & 0xFFFF) << 16)


class MIQRO_HEADER(Register):
    """First word of a window, before its samples (I in the lower 16 bits, Q in the upper ones)."""

    chip = "Phaser"
    width = 32

    length = Field(0, 10, doc="samples")
    rate = Field(10, 12, doc="4 ns cycles of a sample, less one")
    shift = Field(22, 6, doc="bits by which the interpolated value is shifted")
    order = Field(28, 2, doc="order of the interpolation")
    head = Field(30, 1, doc="the first sample is ramped up to")
    tail = Field(31, 1, doc="the last sample is ramped down from")

    @staticmethod
    @portable(flags={"forceinline"})
    def word(length=0, rate=0, shift=0, order=0, head=0, tail=0) -> TInt32:
        """Its word made from numbers for the fields, cut to their bits."""
        return (
            (length & 0x3FF)
            | ((rate & 0xFFF) << 10)
            | ((shift & 0x3F) << 22)
            | ((order & 0x3) << 28)
            | ((head & 0x1) << 30)
            | ((tail & 0x1) << 31)
        )


class TONE(Register):
    """Amplitude and phase of an oscillator, in an event."""

    chip = "Phaser"
    width = 32

    pow = Field(16, 16, unit="turn", steps=0x10000, doc="phase")
    clr = Field(15, 1, doc="hold the phase at zero")
    asf = Field(0, 15, unit="full scale", steps=0x7FFF, doc="amplitude")

    @staticmethod
    @portable(flags={"forceinline"})
    def word(pow=0, clr=0, asf=0) -> TInt32:
        """Its word made from numbers for the fields, cut to their bits."""
        return ((pow & 0xFFFF) << 16) | ((clr & 0x1) << 15) | (asf & 0x7FFF)


class FRAME(Register):
    """Header of a frame's payload on the link, before its body, lowest bit first."""

    chip = "Phaser"
    width = 20

    write = Field(0, 1, doc="the register is written; otherwise it is read")
    register = Field(1, 7, doc="register of the card")
    data = Field(8, 8, doc="value to write")
    kind = Field(
        16,
        4,
        values={"SAMPLES": 1, "PULSES": 3, "ANNOUNCED": 15},
        doc="what the body has; announcements are only in simulations",
    )

    @staticmethod
    @portable(flags={"forceinline"})
    def word(write=0, register=0, data=0, kind=0) -> TInt32:
        """Its word made from numbers for the fields, cut to their bits."""
        return (write & 0x1) | ((register & 0x7F) << 1) | ((data & 0xFF) << 8) | ((kind & 0xF) << 16)


class SAMPLE(Register):
    """A channel's part of a sample in a body, channel 0 lowest; 8 samples, the latest one lowest."""

    chip = "Phaser"
    width = 28

    i = Field(0, 14, signed=True, doc="I")
    q = Field(14, 14, signed=True, doc="Q")

    @staticmethod
    @portable(flags={"forceinline"})
    def word(i=0, q=0) -> TInt32:
        """Its word made from numbers for the fields, cut to their bits."""
        return (i & 0x3FFF) | ((q & 0x3FFF) << 14)


class MIQRO(Register):
    """The first part of a channel's pulse in a body, channel 0 lowest; its words follow."""

    chip = "Phaser"
    width = 8

    strobe = Field(0, 1, doc="there is one")
    dt = Field(1, 7, doc="time since the frame before was loaded, 4 ns")

    @staticmethod
    @portable(flags={"forceinline"})
    def word(strobe=0, dt=0) -> TInt32:
        """Its word made from numbers for the fields, cut to their bits."""
        return (strobe & 0x1) | ((dt & 0x7F) << 1)
