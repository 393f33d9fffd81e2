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
    "ANSWER_SPARE",
    "OSCILLATOR_RATE",
    "UPCONVERTER_RATE",
    "FREQUENCY_STEPS",
    "PORT",
    "BOARD_ID_ADDRESS",
    "HW_REV_ADDRESS",
    "GW_REV_ADDRESS",
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
    "TONE",
    "FRAME",
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

ANSWER_SPARE = 1
"""Spare bits after the 8 bits that answer a read, in the frame after the request."""

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

TONE = [
    ("asf", 15),
    ("clr", 1),
    ("pow", 16),
]
"""Amplitude and phase of an oscillator, in an event."""

FRAME = [
    ("channel", 1),
    ("request", 1),
    ("write", 1),
    ("register", 7),
    ("data", 8),
]
"""Header of a frame's payload on the link, before the oscillators, lowest bit first."""
