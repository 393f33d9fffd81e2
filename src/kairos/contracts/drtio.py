"""Links to cards that speak DRTIO: control characters, scrambler, packets.

Generated from src/contracts/drtio.toml by src/contracts/generate.py: do not edit.
"""

from enum import IntEnum

__all__ = [
    "FIRST_CHARACTERS",
    "OTHER_CHARACTERS",
    "CONTROL_BITS",
    "IDLE",
    "SCRAMBLER_BITS",
    "SCRAMBLER_TAP",
    "FRAME_GAP",
    "TYPE_BITS",
    "SHORT_DATA_BITS",
    "AUXILIARY_MAX",
    "AUXILIARY_BUFFERS",
    "ToCard",
    "FromCard",
    "AuxiliaryPacket",
    "TO_CARD_FIELDS",
    "FROM_CARD_FIELDS",
]

FIRST_CHARACTERS = "28.5 28.0 28.1 28.2 23.7 27.7 29.7 30.7"
"""Control characters (Kx.y) for the first character of a word, by the three bits that they carry."""

OTHER_CHARACTERS = "28.0 28.2 28.3 28.4 23.7 27.7 29.7 30.7"
"""The same for the other characters."""

CONTROL_BITS = 3
"""Bits of a control character, before the scrambler."""

IDLE = 4
"""Bits of all characters of a word between auxiliary packets; those with the highest bit 0 carry two bits of one."""

SCRAMBLER_BITS = 23
"""State of the scrambler: the last bits sent, the newest one as bit 0."""

SCRAMBLER_TAP = 17
"""Bit of the state that is added to each bit sent, beside the oldest one."""

FRAME_GAP = 2
"""Least number of words without real-time data between two packets."""

TYPE_BITS = 8
"""Width of a packet's type, its first field."""

SHORT_DATA_BITS = 16
"""Data of a write that are in its packet; words with those above follow."""

AUXILIARY_MAX = 1024
"""Longest auxiliary packet in bytes, with padding and CRC."""

AUXILIARY_BUFFERS = 8
"""Auxiliary packets that a receiver holds."""


class ToCard(IntEnum):
    """Real-time packets to a card. Fields follow the type, lowest bits first; the rest of the last word is zeros."""

    ECHO_REQUEST = 0
    """Is answered at once."""
    SET_TIME = 1
    """Sets the card's counter, in machine units."""
    WRITE = 2
    """An output. `extra_words` words of the link follow, with the data above `short_data`; the highest ones are left
    out if they are zero."""
    SPACE_REQUEST = 3
    """Asks for the room for outputs."""
    READ_REQUEST = 4
    """Asks for an input. `timeout` is a time in machine units."""


class FromCard(IntEnum):
    """Real-time packets from a card, laid out likewise."""

    ECHO_REPLY = 0
    """Answers `echo_request`."""
    SPACE_REPLY = 1
    """Answers `space_request`: so many outputs have room."""
    READ_REPLY = 2
    """An input."""
    READ_NONE = 3
    """There was no input: until the time given, or because inputs were lost."""


class AuxiliaryPacket(IntEnum):
    """Auxiliary packets: the type, a byte, then the fields, little endian. A boolean is a byte; `bytes N` are a length
    u16 and at most N bytes, `longs N` a count u16 and at most N numbers u64, `hops N` are N bytes."""

    ECHO_REQUEST = 0
    """Is answered at once."""
    ECHO_REPLY = 1
    """Answers `echo_request`."""
    RESET_REQUEST = 2
    """Resets the card's channels."""
    RESET_ACK = 3
    """They are reset."""
    TIME_ACK = 4
    """The counter has been set (`set_time`); sent unasked."""
    DESTINATION_STATUS_REQUEST = 32
    """Asks for the state of a destination, and for an error of its channels."""
    DESTINATION_DOWN = 33
    """It cannot be reached."""
    DESTINATION_OK = 34
    """It can be reached, and there is no error."""
    DESTINATION_SEQUENCE_ERROR = 35
    """It can be reached; there was a sequence error."""
    DESTINATION_COLLISION = 36
    """It can be reached; there was a collision."""
    DESTINATION_BUSY = 37
    """It can be reached; there was a busy error."""
    ROUTING_SET_PATH = 48
    """The path to a destination: a hop for each rank, 0 at its end."""
    ROUTING_SET_RANK = 49
    """Number of links between the master and the receiver."""
    ROUTING_ACK = 50
    """Answers both."""
    MONITOR_REQUEST = 64
    """Asks for the value of a probe."""
    MONITOR_REPLY = 65
    """The value."""
    INJECTION_REQUEST = 80
    """Sets the value of an override. Is not answered."""
    INJECTION_STATUS_REQUEST = 81
    """Asks for the value of an override."""
    INJECTION_STATUS_REPLY = 82
    """The value."""
    I2C_START_REQUEST = 128
    """I2C: start condition."""
    I2C_RESTART_REQUEST = 129
    """I2C: restart condition."""
    I2C_STOP_REQUEST = 130
    """I2C: stop condition."""
    I2C_WRITE_REQUEST = 131
    """I2C: writes a byte."""
    I2C_WRITE_REPLY = 132
    """I2C: whether it was acknowledged."""
    I2C_READ_REQUEST = 133
    """I2C: reads a byte."""
    I2C_READ_REPLY = 134
    """I2C: the byte."""
    I2C_BASIC_REPLY = 135
    """I2C: answers conditions and `i2c_switch_select_request`."""
    I2C_SWITCH_SELECT_REQUEST = 136
    """I2C: selects channels of a switch."""
    SPI_SET_CONFIG_REQUEST = 144
    """SPI: settings of the next transfers."""
    SPI_WRITE_REQUEST = 146
    """SPI: a transfer."""
    SPI_READ_REQUEST = 147
    """SPI: asks for what the last transfer has read."""
    SPI_READ_REPLY = 148
    """SPI: that."""
    SPI_BASIC_REPLY = 149
    """SPI: answers the others."""
    ANALYZER_HEADER_REQUEST = 160
    """Asks for the analyzer's record, which is then empty."""
    ANALYZER_HEADER = 161
    """Its size."""
    ANALYZER_DATA_REQUEST = 162
    """Asks for the next part of it."""
    ANALYZER_DATA = 163
    """A part."""
    DMA_ADD_TRACE_REQUEST = 176
    """Adds a part of a DMA trace."""
    DMA_ADD_TRACE_REPLY = 177
    """Answers it."""
    DMA_REMOVE_TRACE_REQUEST = 178
    """Removes a DMA trace."""
    DMA_REMOVE_TRACE_REPLY = 179
    """Answers it."""
    DMA_PLAYBACK_REQUEST = 180
    """Plays a DMA trace."""
    DMA_PLAYBACK_REPLY = 181
    """Answers it."""
    DMA_PLAYBACK_STATUS = 182
    """A playback has ended. Sent unasked."""
    SUBKERNEL_ADD_DATA_REQUEST = 192
    """Adds a part of a subkernel's library."""
    SUBKERNEL_ADD_DATA_REPLY = 193
    """Answers it."""
    SUBKERNEL_LOAD_RUN_REQUEST = 196
    """Loads a subkernel, and runs it if `run`."""
    SUBKERNEL_LOAD_RUN_REPLY = 197
    """Answers it."""
    SUBKERNEL_FINISHED = 200
    """A subkernel has ended. Sent unasked."""
    SUBKERNEL_EXCEPTION_REQUEST = 201
    """Asks for its exception."""
    SUBKERNEL_EXCEPTION = 202
    """A part of the exception."""
    SUBKERNEL_MESSAGE = 203
    """A part of a message between kernels. Sent unasked."""
    SUBKERNEL_MESSAGE_ACK = 204
    """Answers it."""
    GET_LOG_REQUEST = 208
    """Asks for the log."""
    CLEAR_LOG_REQUEST = 209
    """Clears it."""
    CONFIG_READ_REQUEST = 210
    """Asks for the value of a key of the configuration."""
    CONFIG_READ_CONTINUE = 211
    """Asks for the next part of it."""
    CONFIG_WRITE_REQUEST = 212
    """Part of a key and its value."""
    CONFIG_REMOVE_REQUEST = 213
    """Removes a key."""
    CONFIG_ERASE_REQUEST = 214
    """Removes all of them."""
    REBOOT_REQUEST = 215
    """Restarts the card's firmware."""
    ALLOCATOR_DEBUG_REQUEST = 216
    """Lists its memory in the log."""
    FLASH_REQUEST = 217
    """Announces an image."""
    FLASH_ADD_DATA_REQUEST = 218
    """Part of the image."""
    DROP_LINK_ACK = 219
    """Answers `drop_link`. Is not answered."""
    DROP_LINK = 220
    """The card restarts its link."""
    GET_LOG_REPLY = 221
    """Part of the log."""
    CONFIG_READ_REPLY = 222
    """Part of a value."""
    MANAGEMENT_REPLY = 223
    """Answers the others."""
    CXP_ERROR = 224
    """CoaXPress: a request has failed."""
    CXP_WAIT_REPLY = 225
    """CoaXPress: the camera asks for more time."""
    CXP_READ_REQUEST = 226
    """CoaXPress: reads the camera's memory."""
    CXP_READ_REPLY = 227
    """CoaXPress: what was read."""
    CXP_WRITE_REQUEST = 228
    """CoaXPress: writes a word of the camera's memory."""
    CXP_WRITE_REPLY = 229
    """CoaXPress: answers it."""
    CXP_VIEWER_REQUEST = 230
    """CoaXPress: a region of the next image."""
    CXP_VIEWER_REPLY = 231
    """CoaXPress: answers it."""
    CXP_PIXELS_REQUEST = 232
    """CoaXPress: asks for the region."""
    CXP_PIXELS_REPLY = 233
    """CoaXPress: a part of its pixels."""
    CXP_FRAME_REPLY = 234
    """CoaXPress: its end."""


TO_CARD_FIELDS = {
    "echo_request": (),
    "set_time": (("timestamp", 64),),
    "write": (("timestamp", 64), ("channel", 24), ("address", 8), ("extra_words", 8), ("short_data", 16)),
    "space_request": (("destination", 8),),
    "read_request": (("channel", 24), ("timeout", 64)),
}
"""Fields of each packet: name, width in bits."""

FROM_CARD_FIELDS = {
    "echo_reply": (),
    "space_reply": (("space", 16),),
    "read_reply": (("timestamp", 64), ("data", 32)),
    "read_none": (("overflow", 1),),
}
"""Fields of each packet: name, width in bits."""
