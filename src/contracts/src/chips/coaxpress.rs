//! Link of a camera: control characters, packets, the registers of the link in each camera. description of the cards,
//! section 6, and choices of this project (docs/cards.md).
//!
//! Generated from `src/contracts/chips/coaxpress.toml` by `src/contracts/generate.py`: do not edit.

use super::Register;

/// Rates from a camera in Mbit/s, with their codes. A row: mbit_s, code.
pub const RATES: [[u32; 2]; 5] = [[1250, 40], [2500, 48], [3125, 56], [5000, 64], [6250, 72]];

/// K27.7, four times: a packet begins
pub const PACKET_START: u32 = 251;

/// K29.7, four times: it ends
pub const PACKET_END: u32 = 253;

/// K28.3, four times: in a stream, an image header or a line follows
pub const IMAGE_MARK: u32 = 124;

/// K28.5, first character of an idle word
pub const COMMA: u32 = 188;

/// K28.1, its second and third one
pub const IDLE: u32 = 60;

/// D21.5, its last one
pub const IDLE_END: u32 = 181;

/// K28.2, first character of the trigger packet of a rising edge, the second and third one of a falling edge's
pub const TRIGGER_RISE: u32 = 92;

/// K28.4, first character of the trigger packet of a falling edge, the second and third one of a rising edge's
pub const TRIGGER_FALL: u32 = 156;

/// cycles of 8 ns that a character to the camera lasts: ten bits at 20.83 Mbit/s
pub const CHARACTER_CYCLES: u32 = 60;

/// numbers of a trigger's delay, of 2 ns: a character
pub const DELAY_UNITS: u32 = 240;

/// type of a packet: part of a stream of images
pub const STREAM: u32 = 1;

/// command
pub const COMMAND: u32 = 2;

/// answer to it
pub const ANSWER: u32 = 3;

/// test of the connection
pub const TEST: u32 = 4;

/// command with a tag
pub const TAGGED_COMMAND: u32 = 5;

/// answer with the tag of the command
pub const TAGGED_ANSWER: u32 = 6;

/// code of an answer: data follow
pub const ANSWER_DATA: u32 = 0;

/// code: done, without data
pub const ANSWER_DONE: u32 = 1;

/// code: the answer follows after the time, in ms, that its data state
pub const ANSWER_WAIT: u32 = 4;

/// code: no such address
pub const ANSWER_ADDRESS: u32 = 64;

/// code: invalid value
pub const ANSWER_DATA_ERROR: u32 = 65;

/// code: no such operation
pub const ANSWER_OPERATION: u32 = 66;

/// code: it cannot be written
pub const ANSWER_READ_ONLY: u32 = 67;

/// code: the command had a wrong CRC
pub const ANSWER_CRC: u32 = 128;

/// bytes of data of a command or an answer, at most
pub const MOST_DATA: u32 = 100;

/// bytes of an image header, each sent four times
pub const HEADER_BYTES: u32 = 23;

/// first word after a mark: the header of an image
pub const IMAGE_HEADER: u32 = 1;

/// first word after a mark: a line of it
pub const IMAGE_LINE: u32 = 2;

/// format of pixels of 8 bits; those of 10, 12, 14 and 16 follow
pub const MONO8: u32 = 257;

/// address of a register: identifies CoaXPress
pub const STANDARD: u32 = 0;

/// its value
pub const STANDARD_VALUE: u32 = 0xc0a7_9ae5;

/// revision of the standard: major, minor (16 bits each)
pub const REVISION: u32 = 4;

/// address of the text that says where the camera's description is
pub const XML_URL: u32 = 24;

/// write 1: the connection as after power-up; not answered
pub const CONNECTION_RESET: u32 = 0x4000;

/// number of this connection of the camera
pub const CONNECTION_ID: u32 = 0x4004;

/// the grabber's name for its first connection
pub const MASTER_ID: u32 = 0x4008;

/// the name that is written
pub const MASTER_ID_VALUE: u32 = 0x6303;

/// bytes of a packet of the stream, at most
pub const STREAM_PACKET_SIZE: u32 = 0x4010;

/// the number that is written
pub const STREAM_PACKET_BYTES: u32 = 0x4000;

/// number of connections (high half), code of their rate (low half)
pub const CONNECTION_CONFIG: u32 = 0x4014;

/// what the camera proposes for it
pub const CONNECTION_CONFIG_DEFAULT: u32 = 0x4018;

/// versions that the camera knows: bit 3 2.1, bit 2 2.0, bit 1 1.1
pub const VERSIONS: u32 = 0x4044;

/// version in use: major, minor (16 bits each)
pub const VERSION: u32 = 0x4048;

/// regions at most: four RTIO addresses each, below those for commands
pub const REGIONS: u32 = 60;

/// RTIO address, of the channel with the regions: address in the camera of the next command
pub const PORT_ADDRESS: u32 = 240;

/// RTIO address: value to be written
pub const PORT_VALUE: u32 = 241;

/// RTIO address: tag of the next command, with TAGGED if it has one
pub const PORT_TAG: u32 = 242;

/// RTIO address: send a command, to read or (WRITE) to write this number of bytes; its answer is an input event
pub const PORT_COMMAND: u32 = 243;

/// RTIO address: first column and row (upper half) that the viewer keeps
pub const PORT_VIEWER_FIRST: u32 = 244;

/// RTIO address: column and row behind the last ones
pub const PORT_VIEWER_LAST: u32 = 245;

/// RTIO address: keep this region of the next image
pub const PORT_VIEWER_START: u32 = 246;

/// RTIO address: receive at this rate, a number of `RATES`; 0 after a reset
pub const PORT_RATE: u32 = 247;

/// RTIO address: read word n of the last answer, an input event: 0 is the length in bytes, then data
pub const PORT_WORD: u32 = 248;

/// RTIO address: read half n of the viewer's words of four pixels, two in each
pub const PORT_PIXELS: u32 = 249;

/// RTIO address: read VIEWER_WAITING, VIEWER_KEPT, LINE_IN_STEP, and from bit LINE_RATES on the rates
pub const PORT_VIEWER_STATE: u32 = 250;

/// RTIO address: read width and height (upper half) of the last image header
pub const PORT_SIZE: u32 = 251;

/// RTIO address: read the format of the last image header
pub const PORT_FORMAT: u32 = 252;

/// RTIO address: read the number of images that have arrived as a whole
pub const PORT_FRAMES: u32 = 253;

/// RTIO address: read the number of those that have not
pub const PORT_SPOILT: u32 = 254;

/// RTIO address: read the first (n = 0) or last column and row of the viewer
pub const PORT_REGION: u32 = 255;

/// flag of a command that writes
pub const WRITE: u32 = 0x100_0000;

/// flag of a tag that is used
pub const TAGGED: u32 = 256;

/// lowest bit of an answer's tag in its event; its code is below
pub const EVENT_TAG: u32 = 8;

/// in the event of an answer: it has a tag
pub const EVENT_TAGGED: u32 = 0x1_0000;

/// in the event of an answer: its CRC is correct
pub const EVENT_GOOD: u32 = 0x2_0000;

/// the viewer's image has not arrived
pub const VIEWER_WAITING: u32 = 1;

/// it is kept
pub const VIEWER_KEPT: u32 = 2;

/// words of a camera arrive
pub const LINE_IN_STEP: u32 = 4;

/// lowest bit of a mask of the rates that can be received, by their numbers
pub const LINE_RATES: u32 = 8;

/// words of four pixels that the viewer keeps; a row begins with a new one
pub const VIEWER_WORDS: u32 = 0x400;

/// All of them.
pub const ALL: [Register; 0] = [];
