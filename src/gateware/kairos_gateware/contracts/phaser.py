"""Phaser: Card with two RF channels of 500 MS/s: digital upconverters, in the base gateware with five oscillators each.

Generated from src/contracts/chips/phaser.toml by
src/contracts/generate.py: do not edit.
"""

__all__ = [
    "DAC_SELECT",
    "TRF_SELECT",
    "ATTENUATOR_SELECT",
    "SERVO_COEFFICIENTS",
    "SERVO_SPACING",
    "SERVO_PERIOD_NS",
    "SERVO_FRACTION_BITS",
    "SPI_TICK_NS",
    "SERVO_PROFILES",
    "BOARD",
    "CHANNELS",
    "OSCILLATORS",
    "UPCONVERTER_SPACING",
    "FRAME_CYCLES",
    "LANES",
    "CRC",
    "CLOCK_PATTERN",
    "FRAME_WORDS",
    "FRAME_WORD_BITS",
    "BITS_PER_CYCLE",
    "ANSWER_BITS",
    "SAMPLES",
    "ANNOUNCED_PHASE_BITS",
    "ANNOUNCED_CYCLES_BITS",
    "ANNOUNCED_NS",
    "ANNOUNCED_FIRST",
    "MIQRO_OSCILLATORS",
    "MIQRO_PROFILES",
    "MIQRO_WINDOW",
    "MIQRO_BITS",
    "MIQRO_WORDS",
    "MIQRO_PROFILE_BITS",
    "MIQRO_WINDOW_BITS",
    "MIQRO_WORD_BITS",
    "MIQRO_RATE",
    "OSCILLATOR_RATE",
    "UPCONVERTER_RATE",
    "FREQUENCY_STEPS",
    "PORT",
    "BOARD_ID_ADDRESS",
    "HW_REV_ADDRESS",
    "GW_REV_ADDRESS",
    "GW_REV_GATEWARE_BASE",
    "GW_REV_GATEWARE_MIQRO",
    "CFG_ADDRESS",
    "STA_ADDRESS",
    "CRC_ERR_ADDRESS",
    "LED_ADDRESS",
    "FAN_ADDRESS",
    "DUC_STB_ADDRESS",
    "SPI_CFG_ADDRESS",
    "SPI_DIVLEN_ADDRESS",
    "SPI_SEL_ADDRESS",
    "SPI_DATW_ADDRESS",
    "SPI_DATR_ADDRESS",
    "SYNC_DLY_ADDRESS",
    "DUC_CFG_ADDRESS",
    "DUC_F_ADDRESS",
    "DUC_P_ADDRESS",
    "DAC_DATA_ADDRESS",
    "DAC_TEST_ADDRESS",
    "SERVO_ADDRESS",
    "MIQRO_ADDRESS_ADDRESS",
    "MIQRO_DATA_ADDRESS",
    "MIQRO_OUTPUT",
    "MIQRO_HEADER",
    "TONE",
    "FRAME",
    "FRAME_KIND_SAMPLES",
    "FRAME_KIND_PULSES",
    "FRAME_KIND_ANNOUNCED",
    "SAMPLE",
    "MIQRO",
]

DAC_SELECT = 1
"""Chip select of the DAC."""

TRF_SELECT = 2
"""Chip select of upconverter 0; the other's is the next bit."""

ATTENUATOR_SELECT = 8
"""Chip select of attenuator 0; the other's is the next bit."""

SERVO_COEFFICIENTS = 50
"""First register of b0, b1, a1, offset (two bytes each) of channel 0 and profile 0."""

SERVO_SPACING = 32
"""Registers from one channel's coefficients to the other's."""

SERVO_PERIOD_NS = 264
"""Time between updates of a servo."""

SERVO_FRACTION_BITS = 14
"""Bits of fraction of a servo's coefficients."""

SPI_TICK_NS = 4
"""Cycle of the divider of the card's SPI bus."""

SERVO_PROFILES = 4
"""Profiles of a servo, 8 registers each."""

BOARD = 19
"""Value of BOARD_ID."""

CHANNELS = 2
"""RF channels."""

OSCILLATORS = 5
"""Oscillators of a channel."""

UPCONVERTER_SPACING = 16
"""Offset from the registers of a channel to those of the next one."""

FRAME_CYCLES = 40
"""Coarse cycles of a frame of the link."""

LANES = 6
"""Data lanes of the link."""

CRC = 111
"""Polynomial of a frame's CRC."""

CLOCK_PATTERN = 15
"""Levels of the clock lane in a word, the first one highest."""

FRAME_WORDS = 10
"""Words of a frame on the link."""

FRAME_WORD_BITS = 8
"""Bits of such a word."""

BITS_PER_CYCLE = 2
"""Bits of the link in a coarse cycle."""

ANSWER_BITS = 10
"""Bits of the return lane in a frame, one for each word, of which 8 answer a read."""

SAMPLES = 8
"""Samples of a frame."""

ANNOUNCED_PHASE_BITS = 24
"""Upper bits of an accumulator in an announcement."""

ANNOUNCED_CYCLES_BITS = 7
"""Bits of the cycles since the first change in an announcement."""

ANNOUNCED_NS = 760
"""Time from the end of an announcement's frame to its first sample at the DAC."""

ANNOUNCED_FIRST = 5
"""Number of the oldest sample in the frame loaded two frames after an announcement."""

MIQRO_OSCILLATORS = 16
"""Oscillators of a channel in the Miqro gateware."""

MIQRO_PROFILES = 32
"""Profiles of such an oscillator."""

MIQRO_WINDOW = 0x400
"""Words of a channel's window memory."""

MIQRO_BITS = 128
"""Bits of a channel's pulse in a body."""

MIQRO_WORDS = 3
"""Words of a pulse: window and four profiles of 5 bits, then six profiles each."""

MIQRO_PROFILE_BITS = 5
"""Bits of a profile in these words."""

MIQRO_WINDOW_BITS = 10
"""Bits of the window's address, which begins the first one."""

MIQRO_WORD_BITS = 30
"""Bits of such a word."""

MIQRO_RATE = 250000000.0
"""2^32 steps of a frequency word of Miqro, Hz."""

OSCILLATOR_RATE = 6250000.0
"""2^30 steps of an oscillator's frequency word, Hz."""

UPCONVERTER_RATE = 125000000.0
"""2^30 steps of an upconverter's frequency word, Hz."""

FREQUENCY_STEPS = 0x40000000
"""Steps of frequency words in their rate."""

PORT = [
    ("register", 7),
    ("write", 1),
]
"""RTIO address of the link's channel."""

BOARD_ID_ADDRESS = 0x00
"""Kind of card."""

HW_REV_ADDRESS = 0x01
"""Revision of the card."""

GW_REV_ADDRESS = 0x02
"""Gateware."""

GW_REV_GATEWARE_BASE = 1
"""Of its field gateware."""

GW_REV_GATEWARE_MIQRO = 2
"""Of its field gateware."""

CFG_ADDRESS = 0x03
"""Configuration."""

STA_ADDRESS = 0x04
"""Status."""

CRC_ERR_ADDRESS = 0x05
"""Frames with a wrong checksum."""

LED_ADDRESS = 0x06
"""LEDs."""

FAN_ADDRESS = 0x07
"""Fan."""

DUC_STB_ADDRESS = 0x08
"""A write makes settings of the upconverters take effect."""

SPI_CFG_ADDRESS = 0x0A
"""Configuration of the SPI bus."""

SPI_DIVLEN_ADDRESS = 0x0B
"""Clock and length of transfers on the SPI bus."""

SPI_SEL_ADDRESS = 0x0C
"""Chips of the SPI bus that the next transfers select."""

SPI_DATW_ADDRESS = 0x0D
"""Byte to the SPI bus of the card."""

SPI_DATR_ADDRESS = 0x0E
"""Byte from the SPI bus of the card."""

SYNC_DLY_ADDRESS = 0x0F
"""Delay of the DAC's synchronisation."""

DUC_CFG_ADDRESS = 0x10
"""Upconverter of channel 0."""

DUC_F_ADDRESS = 0x12
"""Its frequency word, the highest byte first."""

DUC_P_ADDRESS = 0x16
"""Its phase word, the highest byte first."""

DAC_DATA_ADDRESS = 0x18
"""A sample that went to the DAC, I and Q."""

DAC_TEST_ADDRESS = 0x1C
"""Sample that goes to the DAC for a test, I and Q."""

SERVO_ADDRESS = 0x30
"""Servo of channel 0; that of channel 1 follows."""

MIQRO_ADDRESS_ADDRESS = 0x72
"""Address in the memories of Miqro, the highest byte first; it advances after each word."""

MIQRO_DATA_ADDRESS = 0x74
"""Word for the memories of Miqro, the highest byte first."""

MIQRO_OUTPUT = [
    ("asf", 16),
    ("pow", 16),
]
"""Second word of a profile."""

MIQRO_HEADER = [
    ("length", 10),
    ("rate", 12),
    ("shift", 6),
    ("order", 2),
    ("head", 1),
    ("tail", 1),
]
"""First word of a window, before its samples (I in the lower 16 bits, Q in the upper ones)."""

TONE = [
    ("asf", 15),
    ("clr", 1),
    ("pow", 16),
]
"""Amplitude and phase of an oscillator, in an event."""

FRAME = [
    ("write", 1),
    ("register", 7),
    ("data", 8),
    ("kind", 4),
]
"""Header of a frame's payload on the link, before its body, lowest bit first."""

FRAME_KIND_SAMPLES = 1
"""Of its field kind."""

FRAME_KIND_PULSES = 3
"""Of its field kind."""

FRAME_KIND_ANNOUNCED = 15
"""Of its field kind."""

SAMPLE = [
    ("i", 14),
    ("q", 14),
]
"""A channel's part of a sample in a body, channel 0 lowest; 8 samples, the latest one lowest."""

MIQRO = [
    ("strobe", 1),
    ("dt", 7),
]
"""The first part of a channel's pulse in a body, channel 0 lowest; its words follow."""
