"""CoaXPress: Link of a camera: control characters, packets, the registers of the link in each camera.

Generated from src/contracts/chips/coaxpress.toml by
src/contracts/generate.py: do not edit.
"""

__all__ = [
    "PACKET_START",
    "PACKET_END",
    "IMAGE_MARK",
    "COMMA",
    "IDLE",
    "IDLE_END",
    "TRIGGER_RISE",
    "TRIGGER_FALL",
    "CHARACTER_CYCLES",
    "DELAY_UNITS",
    "STREAM",
    "COMMAND",
    "ANSWER",
    "TEST",
    "TAGGED_COMMAND",
    "TAGGED_ANSWER",
    "ANSWER_DATA",
    "ANSWER_DONE",
    "ANSWER_WAIT",
    "ANSWER_ADDRESS",
    "ANSWER_DATA_ERROR",
    "ANSWER_OPERATION",
    "ANSWER_READ_ONLY",
    "ANSWER_CRC",
    "MOST_DATA",
    "HEADER_BYTES",
    "IMAGE_HEADER",
    "IMAGE_LINE",
    "MONO8",
    "STANDARD",
    "STANDARD_VALUE",
    "REVISION",
    "XML_URL",
    "CONNECTION_RESET",
    "CONNECTION_ID",
    "MASTER_ID",
    "MASTER_ID_VALUE",
    "STREAM_PACKET_SIZE",
    "STREAM_PACKET_BYTES",
    "CONNECTION_CONFIG",
    "CONNECTION_CONFIG_DEFAULT",
    "VERSIONS",
    "VERSION",
    "REGIONS",
    "PORT_ADDRESS",
    "PORT_VALUE",
    "PORT_TAG",
    "PORT_COMMAND",
    "PORT_VIEWER_FIRST",
    "PORT_VIEWER_LAST",
    "PORT_VIEWER_START",
    "PORT_RATE",
    "PORT_WORD",
    "PORT_PIXELS",
    "PORT_VIEWER_STATE",
    "PORT_SIZE",
    "PORT_FORMAT",
    "PORT_FRAMES",
    "PORT_SPOILT",
    "PORT_REGION",
    "WRITE",
    "TAGGED",
    "EVENT_TAG",
    "EVENT_TAGGED",
    "EVENT_GOOD",
    "VIEWER_WAITING",
    "VIEWER_KEPT",
    "LINE_IN_STEP",
    "LINE_RATES",
    "VIEWER_WORDS",
    "RATES",
]

PACKET_START = 251
"""K27.7, four times: a packet begins."""

PACKET_END = 253
"""K29.7, four times: it ends."""

IMAGE_MARK = 124
"""K28.3, four times: in a stream, an image header or a line follows."""

COMMA = 188
"""K28.5, first character of an idle word."""

IDLE = 60
"""K28.1, its second and third one."""

IDLE_END = 181
"""D21.5, its last one."""

TRIGGER_RISE = 92
"""K28.2, first character of the trigger packet of a rising edge, the second and third one of a falling edge's."""

TRIGGER_FALL = 156
"""K28.4, first character of the trigger packet of a falling edge, the second and third one of a rising edge's."""

CHARACTER_CYCLES = 60
"""Cycles of 8 ns that a character to the camera lasts: ten bits at 20.83 Mbit/s."""

DELAY_UNITS = 240
"""Numbers of a trigger's delay, of 2 ns: a character."""

STREAM = 1
"""Type of a packet: part of a stream of images."""

COMMAND = 2
"""Command."""

ANSWER = 3
"""Answer to it."""

TEST = 4
"""Test of the connection."""

TAGGED_COMMAND = 5
"""Command with a tag."""

TAGGED_ANSWER = 6
"""Answer with the tag of the command."""

ANSWER_DATA = 0
"""Code of an answer: data follow."""

ANSWER_DONE = 1
"""Code: done, without data."""

ANSWER_WAIT = 4
"""Code: the answer follows after the time, in ms, that its data state."""

ANSWER_ADDRESS = 64
"""Code: no such address."""

ANSWER_DATA_ERROR = 65
"""Code: invalid value."""

ANSWER_OPERATION = 66
"""Code: no such operation."""

ANSWER_READ_ONLY = 67
"""Code: it cannot be written."""

ANSWER_CRC = 128
"""Code: the command had a wrong CRC."""

MOST_DATA = 100
"""Bytes of data of a command or an answer, at most."""

HEADER_BYTES = 23
"""Bytes of an image header, each sent four times."""

IMAGE_HEADER = 1
"""First word after a mark: the header of an image."""

IMAGE_LINE = 2
"""First word after a mark: a line of it."""

MONO8 = 257
"""Format of pixels of 8 bits; those of 10, 12, 14 and 16 follow."""

STANDARD = 0
"""Address of a register: identifies CoaXPress."""

STANDARD_VALUE = 0xC0A79AE5
"""Its value."""

REVISION = 4
"""Revision of the standard: major, minor (16 bits each)."""

XML_URL = 24
"""Address of the text that says where the camera's description is."""

CONNECTION_RESET = 0x4000
"""Write 1: the connection as after power-up; not answered."""

CONNECTION_ID = 0x4004
"""Number of this connection of the camera."""

MASTER_ID = 0x4008
"""The grabber's name for its first connection."""

MASTER_ID_VALUE = 0x6303
"""The name that is written."""

STREAM_PACKET_SIZE = 0x4010
"""Bytes of a packet of the stream, at most."""

STREAM_PACKET_BYTES = 0x4000
"""The number that is written."""

CONNECTION_CONFIG = 0x4014
"""Number of connections (high half), code of their rate (low half)."""

CONNECTION_CONFIG_DEFAULT = 0x4018
"""What the camera proposes for it."""

VERSIONS = 0x4044
"""Versions that the camera knows: bit 3 2.1, bit 2 2.0, bit 1 1.1."""

VERSION = 0x4048
"""Version in use: major, minor (16 bits each)."""

REGIONS = 60
"""Regions at most: four RTIO addresses each, below those for commands."""

PORT_ADDRESS = 240
"""RTIO address, of the channel with the regions: address in the camera of the next command."""

PORT_VALUE = 241
"""RTIO address: value to be written."""

PORT_TAG = 242
"""RTIO address: tag of the next command, with TAGGED if it has one."""

PORT_COMMAND = 243
"""RTIO address: send a command, to read or (WRITE) to write this number of bytes; its answer is an input event."""

PORT_VIEWER_FIRST = 244
"""RTIO address: first column and row (upper half) that the viewer keeps."""

PORT_VIEWER_LAST = 245
"""RTIO address: column and row behind the last ones."""

PORT_VIEWER_START = 246
"""RTIO address: keep this region of the next image."""

PORT_RATE = 247
"""RTIO address: receive at this rate, a number of `RATES`; 0 after a reset."""

PORT_WORD = 248
"""RTIO address: read word n of the last answer, an input event: 0 is the length in bytes, then data."""

PORT_PIXELS = 249
"""RTIO address: read half n of the viewer's words of four pixels, two in each."""

PORT_VIEWER_STATE = 250
"""RTIO address: read VIEWER_WAITING, VIEWER_KEPT, LINE_IN_STEP, and from bit LINE_RATES on the rates."""

PORT_SIZE = 251
"""RTIO address: read width and height (upper half) of the last image header."""

PORT_FORMAT = 252
"""RTIO address: read the format of the last image header."""

PORT_FRAMES = 253
"""RTIO address: read the number of images that have arrived as a whole."""

PORT_SPOILT = 254
"""RTIO address: read the number of those that have not."""

PORT_REGION = 255
"""RTIO address: read the first (n = 0) or last column and row of the viewer."""

WRITE = 0x1000000
"""Flag of a command that writes."""

TAGGED = 256
"""Flag of a tag that is used."""

EVENT_TAG = 8
"""Lowest bit of an answer's tag in its event; its code is below."""

EVENT_TAGGED = 0x10000
"""In the event of an answer: it has a tag."""

EVENT_GOOD = 0x20000
"""In the event of an answer: its CRC is correct."""

VIEWER_WAITING = 1
"""The viewer's image has not arrived."""

VIEWER_KEPT = 2
"""It is kept."""

LINE_IN_STEP = 4
"""Words of a camera arrive."""

LINE_RATES = 8
"""Lowest bit of a mask of the rates that can be received, by their numbers."""

VIEWER_WORDS = 0x400
"""Words of four pixels that the viewer keeps; a row begins with a new one."""

RATES = [
    [1250, 40],
    [2500, 48],
    [3125, 56],
    [5000, 64],
    [6250, 72],
]
"""Rates from a camera in Mbit/s, with their codes."""
