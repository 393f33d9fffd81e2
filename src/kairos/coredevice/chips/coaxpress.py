"""Link of a camera: control characters, packets, the registers of the link in each camera.

Source: description of the cards, section 6, and choices of this project (docs/cards.md).

Generated from src/contracts/chips/coaxpress.toml by `make contracts`: do not edit.
"""

__all__ = [
    "ANSWER",
    "ANSWER_ADDRESS",
    "ANSWER_CRC",
    "ANSWER_DATA",
    "ANSWER_DATA_ERROR",
    "ANSWER_DONE",
    "ANSWER_OPERATION",
    "ANSWER_READ_ONLY",
    "ANSWER_WAIT",
    "CHARACTER_CYCLES",
    "COMMA",
    "COMMAND",
    "CONNECTION_CONFIG",
    "CONNECTION_CONFIG_DEFAULT",
    "CONNECTION_ID",
    "CONNECTION_RESET",
    "DELAY_UNITS",
    "EVENT_GOOD",
    "EVENT_TAG",
    "EVENT_TAGGED",
    "HEADER_BYTES",
    "IDLE",
    "IDLE_END",
    "IMAGE_HEADER",
    "IMAGE_LINE",
    "IMAGE_MARK",
    "LINE_IN_STEP",
    "LINE_RATES",
    "MASTER_ID",
    "MASTER_ID_VALUE",
    "MONO8",
    "MOST_DATA",
    "PACKET_END",
    "PACKET_START",
    "PORT_ADDRESS",
    "PORT_COMMAND",
    "PORT_FORMAT",
    "PORT_FRAMES",
    "PORT_PIXELS",
    "PORT_RATE",
    "PORT_REGION",
    "PORT_SIZE",
    "PORT_SPOILT",
    "PORT_TAG",
    "PORT_VALUE",
    "PORT_VIEWER_FIRST",
    "PORT_VIEWER_LAST",
    "PORT_VIEWER_START",
    "PORT_VIEWER_STATE",
    "PORT_WORD",
    "RATES",
    "REGIONS",
    "REVISION",
    "STANDARD",
    "STANDARD_VALUE",
    "STREAM",
    "STREAM_PACKET_BYTES",
    "STREAM_PACKET_SIZE",
    "TAGGED",
    "TAGGED_ANSWER",
    "TAGGED_COMMAND",
    "TEST",
    "TRIGGER_FALL",
    "TRIGGER_RISE",
    "VERSION",
    "VERSIONS",
    "VIEWER_KEPT",
    "VIEWER_WAITING",
    "VIEWER_WORDS",
    "WRITE",
    "XML_URL",
]

PACKET_START = 251
"""K27.7, four times: a packet begins"""

PACKET_END = 253
"""K29.7, four times: it ends"""

IMAGE_MARK = 124
"""K28.3, four times: in a stream, an image header or a line follows"""

COMMA = 188
"""K28.5, first character of an idle word"""

IDLE = 60
"""K28.1, its second and third one"""

IDLE_END = 181
"""D21.5, its last one"""

TRIGGER_RISE = 92
"""K28.2, first character of the trigger packet of a rising edge, the second and third one of a falling edge's"""

TRIGGER_FALL = 156
"""K28.4, first character of the trigger packet of a falling edge, the second and third one of a rising edge's"""

CHARACTER_CYCLES = 60
"""cycles of 8 ns that a character to the camera lasts: ten bits at 20.83 Mbit/s"""

DELAY_UNITS = 240
"""numbers of a trigger's delay, of 2 ns: a character"""

STREAM = 1
"""type of a packet: part of a stream of images"""

COMMAND = 2
"""command"""

ANSWER = 3
"""answer to it"""

TEST = 4
"""test of the connection"""

TAGGED_COMMAND = 5
"""command with a tag"""

TAGGED_ANSWER = 6
"""answer with the tag of the command"""

ANSWER_DATA = 0
"""code of an answer: data follow"""

ANSWER_DONE = 1
"""code: done, without data"""

ANSWER_WAIT = 4
"""code: the answer follows after the time, in ms, that its data state"""

ANSWER_ADDRESS = 64
"""code: no such address"""

ANSWER_DATA_ERROR = 65
"""code: invalid value"""

ANSWER_OPERATION = 66
"""code: no such operation"""

ANSWER_READ_ONLY = 67
"""code: it cannot be written"""

ANSWER_CRC = 128
"""code: the command had a wrong CRC"""

MOST_DATA = 100
"""bytes of data of a command or an answer, at most"""

HEADER_BYTES = 23
"""bytes of an image header, each sent four times"""

IMAGE_HEADER = 1
"""first word after a mark: the header of an image"""

IMAGE_LINE = 2
"""first word after a mark: a line of it"""

MONO8 = 0x101
"""format of pixels of 8 bits; those of 10, 12, 14 and 16 follow"""

STANDARD = 0
"""address of a register: identifies CoaXPress"""

STANDARD_VALUE = 0xC0A79AE5
"""its value"""

REVISION = 4
"""revision of the standard: major, minor (16 bits each)"""

XML_URL = 24
"""address of the text that says where the camera's description is"""

CONNECTION_RESET = 0x4000
"""write 1: the connection as after power-up; not answered"""

CONNECTION_ID = 0x4004
"""number of this connection of the camera"""

MASTER_ID = 0x4008
"""the grabber's name for its first connection"""

MASTER_ID_VALUE = 0x6303
"""the name that is written"""

STREAM_PACKET_SIZE = 0x4010
"""bytes of a packet of the stream, at most"""

STREAM_PACKET_BYTES = 0x4000
"""the number that is written"""

CONNECTION_CONFIG = 0x4014
"""number of connections (high half), code of their rate (low half)"""

CONNECTION_CONFIG_DEFAULT = 0x4018
"""what the camera proposes for it"""

VERSIONS = 0x4044
"""versions that the camera knows: bit 3 2.1, bit 2 2.0, bit 1 1.1"""

VERSION = 0x4048
"""version in use: major, minor (16 bits each)"""

REGIONS = 60
"""regions at most: four RTIO addresses each, below those for commands"""

PORT_ADDRESS = 240
"""RTIO address, of the channel with the regions: address in the camera of the next command"""

PORT_VALUE = 241
"""RTIO address: value to be written"""

PORT_TAG = 242
"""RTIO address: tag of the next command, with TAGGED if it has one"""

PORT_COMMAND = 243
"""RTIO address: send a command, to read or (WRITE) to write this number of bytes; its answer is an input event"""

PORT_VIEWER_FIRST = 244
"""RTIO address: first column and row (upper half) that the viewer keeps"""

PORT_VIEWER_LAST = 245
"""RTIO address: column and row behind the last ones"""

PORT_VIEWER_START = 246
"""RTIO address: keep this region of the next image"""

PORT_RATE = 247
"""RTIO address: receive at this rate, a number of `RATES`; 0 after a reset"""

PORT_WORD = 248
"""RTIO address: read word n of the last answer, an input event: 0 is the length in bytes, then data"""

PORT_PIXELS = 249
"""RTIO address: read half n of the viewer's words of four pixels, two in each"""

PORT_VIEWER_STATE = 250
"""RTIO address: read VIEWER_WAITING, VIEWER_KEPT, LINE_IN_STEP, and from bit LINE_RATES on the rates"""

PORT_SIZE = 251
"""RTIO address: read width and height (upper half) of the last image header"""

PORT_FORMAT = 252
"""RTIO address: read the format of the last image header"""

PORT_FRAMES = 253
"""RTIO address: read the number of images that have arrived as a whole"""

PORT_SPOILT = 254
"""RTIO address: read the number of those that have not"""

PORT_REGION = 255
"""RTIO address: read the first (n = 0) or last column and row of the viewer"""

WRITE = 0x1000000
"""flag of a command that writes"""

TAGGED = 0x100
"""flag of a tag that is used"""

EVENT_TAG = 8
"""lowest bit of an answer's tag in its event; its code is below"""

EVENT_TAGGED = 0x10000
"""in the event of an answer: it has a tag"""

EVENT_GOOD = 0x20000
"""in the event of an answer: its CRC is correct"""

VIEWER_WAITING = 1
"""the viewer's image has not arrived"""

VIEWER_KEPT = 2
"""it is kept"""

LINE_IN_STEP = 4
"""words of a camera arrive"""

LINE_RATES = 8
"""lowest bit of a mask of the rates that can be received, by their numbers"""

VIEWER_WORDS = 0x400
"""words of four pixels that the viewer keeps; a row begins with a new one"""

RATES = (
    (0x4E2, 40),
    (0x9C4, 48),
    (0xC35, 56),
    (0x1388, 64),
    (0x186A, 72),
)
"""Rates from a camera in Mbit/s, with their codes. A row: mbit_s, code."""
