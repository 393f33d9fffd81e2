"""Pulse core: words, tables, number formats, registers and errors (`docs/pulse.md`).

Generated from src/contracts/pulse.toml by src/contracts/generate.py: do not edit.
"""

from enum import IntEnum

__all__ = [
    "CHANNELS",
    "PARAMETERS",
    "TONES",
    "CLOCK_HZ",
    "SAMPLES_PER_CYCLE",
    "STREAM_HZ",
    "INPUT_FIFO",
    "SEGMENT_FIFO",
    "LAYOUT_VERSION",
    "WORD_BITS",
    "WORD_BYTES",
    "CHANNEL_MASK_AT",
    "CHANNEL_MASK_BITS",
    "MODE_AT",
    "MODE_BITS",
    "PLUT_ADDRESS_AT",
    "PARAMETER_MASK_AT",
    "PARAMETER_MASK_BITS",
    "PROGRAM_COUNT_AT",
    "PROGRAM_COUNT_BITS",
    "RUN_COUNT_AT",
    "RUN_COUNT_BITS",
    "BODY_BITS",
    "U0_AT",
    "U1_AT",
    "U2_AT",
    "U3_AT",
    "VALUE_BITS",
    "TAU_AT",
    "TAU_BITS",
    "FLAGS_AT",
    "FLAGS_BITS",
    "SHIFT_AT",
    "SHIFT_BITS",
    "V1_BITS",
    "V2_BITS",
    "SEGMENT_CYCLES_MIN",
    "GATE_CYCLES_MIN",
    "TAU_MAX_BITS",
    "GLUT_ADDRESS_BITS",
    "GATE_ID_BITS",
    "GLUT_DATA_BITS",
    "MLUT_ADDRESS_BITS",
    "MLUT_DATA_BITS",
    "PLUT_ADDRESS_BITS",
    "GLUT_SLOTS",
    "GLUT_SLOT_BITS",
    "GLUT_SLOT_FIRST_AT",
    "GLUT_SLOT_LAST_AT",
    "GLUT_SLOT_ADDRESS_AT",
    "MLUT_SLOTS",
    "MLUT_SLOT_BITS",
    "MLUT_SLOT_PLUT_AT",
    "MLUT_SLOT_MASK_AT",
    "MLUT_SLOT_ADDRESS_AT",
    "RUN_SLOTS",
    "RUN_SLOTS_WIDE",
    "RUN_NO_GATE",
    "BRANCH_AT",
    "BRANCH_STATE_AT",
    "BRANCH_STATE_BITS",
    "BRANCH_GATES",
    "AMPLITUDE_FRACTION",
    "AMPLITUDE_MAX",
    "AMPLITUDE_UNITS",
    "SINE_PHASE_BITS",
    "SINE_BITS",
    "SINE_COARSE_BITS",
    "SINE_FINE_BITS",
    "SINE_SLOPE_SCALE",
    "SINE_SLOPE_SHIFT",
    "TONE_SHIFT",
    "SUM_BITS",
    "OUTPUT_BITS",
    "HARMONIC_BITS",
    "CROSSTALK_NEIGHBOURS",
    "CROSSTALK_BITS",
    "CROSSTALK_FRACTION",
    "CROSSTALK_DELAY_MAX",
    "CROSSTALK_SUM_BITS",
    "CYCLE_COUNTER_BITS",
    "ADJUSTABLE_NUMBERS",
    "ADJUSTABLE_SHAPED",
    "KERNEL_PULSE_SEGMENTS",
    "Parameter",
    "Mode",
    "State",
    "Register",
    "ToneFlag",
    "FrameFlag",
    "KernelPulseFlag",
    "Control",
    "Error",
    "ERROR_TEXTS",
]

CHANNELS = 8
"""Output channels of a board."""

PARAMETERS = 8
"""Spline engines of a channel."""

TONES = 2
"""Tones of a channel."""

CLOCK_HZ = 0x186A_0000
"""Clock of engines and DDS of the reference core, Hz."""

SAMPLES_PER_CYCLE = 2
"""Output samples in a cycle of the reference core."""

STREAM_HZ = 0x13D9_2D40
"""Clock of the stream that feeds the reference core, Hz."""

INPUT_FIFO = 64
"""Words in a channel's input FIFO."""

SEGMENT_FIFO = 32
"""Segments in a parameter's FIFO; at least 16."""

LAYOUT_VERSION = 2
"""Version of the word layout."""

WORD_BITS = 256
"""Bits of a word of the stream."""

WORD_BYTES = 32
"""Bytes of a word, least significant first."""

CHANNEL_MASK_AT = 248
"""All words: one bit for each channel that takes the word."""

CHANNEL_MASK_BITS = 8
"""Width of the mask of channels."""

MODE_AT = 245
"""All words: the mode."""

MODE_BITS = 3
"""Width of the mode."""

PLUT_ADDRESS_AT = 229
"""Words that program the pulse table: address of the entry."""

PARAMETER_MASK_AT = 216
"""Bypass words: one bit for each parameter that takes the segment."""

PARAMETER_MASK_BITS = 8
"""Width of the mask of parameters."""

PROGRAM_COUNT_AT = 236
"""Words that program the memory map or the gate table: number of slots used."""

PROGRAM_COUNT_BITS = 5
"""Width of that number."""

RUN_COUNT_AT = 239
"""Words that run gates: number of gate ids."""

RUN_COUNT_BITS = 6
"""Width of that number."""

BODY_BITS = 216
"""Bits of a segment in the pulse table: bits 215..0 of a word."""

U0_AT = 0
"""Value at the segment's start, signed."""

U1_AT = 40
"""First difference times 2^s, signed."""

U2_AT = 80
"""Second difference times 2^(2s), signed."""

U3_AT = 120
"""Third difference times 2^(3s), signed."""

VALUE_BITS = 40
"""Width of a coefficient and of a parameter's value."""

TAU_AT = 160
"""Duration in cycles."""

TAU_BITS = 40
"""Width of the duration."""

FLAGS_AT = 200
"""Flags: the byte of `ToneFlag` or `FrameFlag`, bit 0 unused."""

FLAGS_BITS = 8
"""Width of the flags."""

SHIFT_AT = 208
"""Shift s of the coefficients."""

SHIFT_BITS = 5
"""Width of the shift."""

V1_BITS = 56
"""Width of the first difference in an engine; it wraps."""

V2_BITS = 72
"""Width of the second difference in an engine; it wraps."""

SEGMENT_CYCLES_MIN = 4
"""Shortest segment that the compiler makes, cycles. The core takes 1."""

GATE_CYCLES_MIN = 8
"""Shortest gate that plays without end from tables with one read a cycle, cycles."""

TAU_MAX_BITS = 39
"""The compiler makes durations below 2 to the power of this."""

GLUT_ADDRESS_BITS = 12
"""Address bits of the gate table: 4096 entries."""

GATE_ID_BITS = 11
"""Bits of a gate id in a word that runs gates."""

GLUT_DATA_BITS = 26
"""Bits of an entry of the gate table."""

MLUT_ADDRESS_BITS = 13
"""Address bits of the memory map: 8192 entries."""

MLUT_DATA_BITS = 20
"""Bits of an entry of the memory map."""

PLUT_ADDRESS_BITS = 12
"""Address bits of the pulse table: 4096 entries."""

GLUT_SLOTS = 6
"""Entries of the gate table in a word."""

GLUT_SLOT_BITS = 38
"""Bits of such an entry in a word."""

GLUT_SLOT_FIRST_AT = 0
"""In an entry: address of the gate's first entry of the memory map."""

GLUT_SLOT_LAST_AT = 13
"""In an entry: address of its last one, included. Below the first: an empty gate."""

GLUT_SLOT_ADDRESS_AT = 26
"""In a slot: address in the gate table."""

MLUT_SLOTS = 6
"""Entries of the memory map in a word."""

MLUT_SLOT_BITS = 33
"""Bits of such an entry in a word."""

MLUT_SLOT_PLUT_AT = 0
"""In an entry: address in the pulse table."""

MLUT_SLOT_MASK_AT = 12
"""In an entry: parameters that take the segment."""

MLUT_SLOT_ADDRESS_AT = 20
"""In a slot: address in the memory map."""

RUN_SLOTS = 20
"""Gate ids in a word; the first to run is in slot 0."""

RUN_SLOTS_WIDE = 22
"""Gate ids in a word of a core built with the option for wide words. Such words have no count."""

RUN_NO_GATE = 2047
"""With that option: id in unused slots; not a valid gate id."""

BRANCH_AT = 11
"""Bit of the gate table address that is set for gates selected by a result."""

BRANCH_STATE_AT = 7
"""Lowest bit of the result in such an address."""

BRANCH_STATE_BITS = 4
"""Width of a result."""

BRANCH_GATES = 128
"""Number of gates selectable by branches for each result."""

AMPLITUDE_FRACTION = 23
"""Low bits of an amplitude used only by the interpolation; the DDS takes the 17 bits above, signed."""

AMPLITUDE_MAX = 65535
"""Greatest amplitude of the DDS: one tone at full scale."""

AMPLITUDE_UNITS = 200
"""The greatest amplitude in the arbitrary units of programs."""

SINE_PHASE_BITS = 18
"""Most significant phase bits used to compute the sine."""

SINE_BITS = 18
"""Bits of a sine or cosine, signed: full scale is 2^17 - 1."""

SINE_COARSE_BITS = 10
"""Bits of the phase within a quadrant that address the sine table, whose values have twice the full scale."""

SINE_FINE_BITS = 6
"""Phase bits below these, used by the first-order correction."""

SINE_SLOPE_SCALE = 32
"""Slopes of the correction are round((2 fine - 63) pi times this)."""

SINE_SLOPE_SHIFT = 23
"""The product of table and slope is divided by 2 to the power of this, rounded."""

TONE_SHIFT = 17
"""The product of amplitude and sine is divided by 2 to the power of this, rounded."""

SUM_BITS = 18
"""Bits of the sum of both tones, signed."""

OUTPUT_BITS = 16
"""Bits of a sample, signed."""

HARMONIC_BITS = 16
"""Bits of the harmonic of the feed-forward, signed."""

CROSSTALK_NEIGHBOURS = 4
"""Channels whose crosstalk to a channel is corrected: offsets -2, -1, 1, 2 in this order."""

CROSSTALK_BITS = 18
"""Bits of the real and of the imaginary factor, signed."""

CROSSTALK_FRACTION = 17
"""Fractional bits of these factors."""

CROSSTALK_DELAY_MAX = 63
"""Longest programmable delay of a neighbour's signal, cycles."""

CROSSTALK_SUM_BITS = 21
"""Bits of the sum after the correction, signed."""

CYCLE_COUNTER_BITS = 48
"""Bits of the cycle counter used as timestamp of errors."""

ADJUSTABLE_NUMBERS = 11
"""Numbers of an adjustable segment: its parameter and ADJUSTABLE_SHAPED, the word that writes it, and the greatest
factor (a double)."""

ADJUSTABLE_SHAPED = 256
"""Set if the parameter is a shape, which the value multiplies; otherwise it is a number, which the value replaces."""

KERNEL_PULSE_SEGMENTS = 16
"""Segments of a parameter in a pulse that a kernel makes: they are queued before it begins."""


class Parameter(IntEnum):
    """Parameters of a channel: bit in masks, and index of the spline engine."""

    F0 = 0
    """Frequency of tone 0."""
    A0 = 1
    """Amplitude of tone 0."""
    P0 = 2
    """Phase of tone 0."""
    F1 = 3
    """Frequency of tone 1."""
    A1 = 4
    """Amplitude of tone 1."""
    P1 = 5
    """Phase of tone 1."""
    Z0 = 6
    """Rotation of frame 0."""
    Z1 = 7
    """Rotation of frame 1."""


class Mode(IntEnum):
    """Mode of a word, bits 247..245. Mode 0 is invalid; such words are dropped."""

    PROGRAM_GLUT = 1
    """Write entries of the gate table."""
    PROGRAM_MLUT = 2
    """Write entries of the memory map."""
    PROGRAM_PLUT = 3
    """Write an entry of the pulse table."""
    RUN = 4
    """Run gates."""
    BRANCH = 5
    """Wait for a measurement result, store it, and run gates selected by it."""
    BRANCH_CONTINUE = 6
    """Run gates selected by the stored result."""
    BYPASS = 7
    """Pass a segment directly to the parameters of the mask."""


class State(IntEnum):
    """State of a spline engine."""

    IDLE = 0
    """Never started, or its channel ran out of segments at the end of a pulse."""
    ARMED = 1
    """Its next segment waits for the trigger."""
    RUN = 2
    """A segment is running."""
    FAULT = 3
    """Stopped; segments are discarded up to one that waits for the trigger."""


class Register(IntEnum):
    """Registers of the core: byte offsets in its block."""

    VERSION = 0
    """Bits 7..0: layout version. Read only."""
    CONFIG = 4
    """Bits 3..0 channels, 7..4 samples per cycle, 12..8 address bits of the gate table, 17..13 of the memory map,
    22..18 of the pulse table. Read only."""
    RATE = 8
    """Sample rate in units of 100 Hz. Read only."""
    CONTROL = 12
    """Bits of `Control`."""
    TRIGGER = 16
    """Bit 0: write 1 to trigger. Bits 15..8: channels that must be armed for a trigger."""
    ARMED = 20
    """Bit mask of the channels with all engines armed. Read only."""
    ERROR = 24
    """Bits of `Error`; write 1 to clear."""
    UNDERRUN_CHANNELS = 28
    """Channels that ran out of segments; write 1 to clear."""
    UNDERRUN_PARAMETERS = 32
    """Parameters that ran out of segments, of any channel; write 1 to clear."""
    CYCLE_LOW = 36
    """Cycle counter, bits 31..0; reading it latches the upper bits in `cycle_high`. Read only."""
    CYCLE_HIGH = 40
    """Bits 47..32. Read only."""
    WORD = 44
    """Eight consecutive writes, least significant first, form a word of the stream."""
    BRANCH = 48
    """Write bits 3..0: a result, given to all channels."""
    BRANCH_TIMEOUT = 52
    """Cycles that a branch waits for its result before it assumes 0; 0: no timeout."""
    MISALIGN_LIMIT = 56
    """Cycles that engines of a channel may wait while others of the same channel run; 0: no limit."""
    LATENCY = 60
    """Bits 15..0 latency of the engines in cycles, 31..16 of the DDS. Read only."""
    FEED_FORWARD = 64
    """Frequency error: low, high word; then the harmonic of each tone of each channel."""
    CROSSTALK = 128
    """Factors and delays by channel and offset; then the strobe that makes them valid."""


class ToneFlag(IntEnum):
    """Flags of a segment of a tone's parameter, in the byte at FLAGS_AT."""

    WAIT = 8
    """Held until the trigger."""
    SYNC = 16
    """Begin at the global phase. Taken from the frequency's segment."""
    ENABLE = 32
    """Level of the tone's output-enable pin. Taken from the amplitude's segment."""
    FEED_FORWARD = 64
    """Add the feed-forward to the phase. Taken from the frequency's segment."""
    GPO = 128
    """Level of the tone's general-purpose pin. Taken from the amplitude's segment."""


class FrameFlag(IntEnum):
    """Flags of a segment of a frame, in the byte at FLAGS_AT."""

    INVERT0 = 2
    """Negate the frame where it is applied to tone 0."""
    INVERT1 = 4
    """Negate the frame where it is applied to tone 1."""
    WAIT = 8
    """Held until the trigger."""
    FORWARD0 = 16
    """Apply the frame to tone 0."""
    FORWARD1 = 32
    """Apply the frame to tone 1."""
    CLEAR = 64
    """Clear the accumulator first."""
    AT_END = 128
    """Add the rotation when the segment has ended."""


class KernelPulseFlag(IntEnum):
    """Flags of a pulse that a kernel makes, for all of its segments as the compiler would set them."""

    SYNC0 = 1
    """Tone 0 begins at the global phase."""
    SYNC1 = 2
    """Tone 1."""
    ENABLE0 = 4
    """Level of the output-enable pin of tone 0."""
    ENABLE1 = 8
    """Tone 1."""
    FEED_FORWARD0 = 16
    """Add the feed-forward to the phase of tone 0."""
    FEED_FORWARD1 = 32
    """Tone 1."""
    GPO0 = 64
    """Level of the general-purpose pin of tone 0."""
    GPO1 = 128
    """Tone 1."""
    CLEAR0 = 256
    """Clear the accumulator of frame 0 first."""
    CLEAR1 = 512
    """Frame 1."""
    AT_END0 = 1024
    """Add the rotation of frame 0 when the segment has ended."""
    AT_END1 = 2048
    """Frame 1."""
    FORWARD00 = 4096
    """Apply frame 0 to tone 0."""
    FORWARD01 = 8192
    """Apply frame 0 to tone 1."""
    FORWARD10 = 16384
    """Apply frame 1 to tone 0."""
    FORWARD11 = 32768
    """Apply frame 1 to tone 1."""
    INVERT00 = 65536
    """Negate frame 0 where it is applied to tone 0."""
    INVERT01 = 131072
    """Negate frame 0 where it is applied to tone 1."""
    INVERT10 = 262144
    """Negate frame 1 where it is applied to tone 0."""
    INVERT11 = 524288
    """Negate frame 1 where it is applied to tone 1."""


class Control(IntEnum):
    """Bits of the register `control`."""

    ENABLE = 1
    """The core runs."""
    RESET = 2
    """Write 1: reset engines, frames and FIFOs to their state after power-up; tables are kept."""
    COUNTER_RESET = 4
    """Write 1: reset the global sample counter to 0."""
    TRIGGER_STRICT = 8
    """Hold an early trigger until all channels are armed."""
    UNDERRUN_HOLD = 16
    """Hold the amplitudes when a channel runs out of segments."""


class Error(IntEnum):
    """Bits of the register `error`."""

    MODE = 1
    """A word of mode 0 was dropped."""
    COUNT = 2
    """A count exceeded the number of slots; all slots were used."""
    TAU0 = 4
    """A segment of 0 cycles was skipped."""
    TRIGGER_EARLY = 8
    """A trigger arrived before all channels were armed."""
    BRANCH_TIMEOUT = 16
    """A branch timed out waiting for its result, and assumed 0."""
    MISALIGN = 32
    """Engines of a channel were at different positions."""
    UNDERRUN = 64
    """A channel ran out of segments."""
    SATURATED = 128
    """A sample exceeded full scale and was limited."""
    ADDRESS = 256
    """A write beyond the end of a table was dropped."""


ERROR_TEXTS = {
    Error.MODE: "a word of no known mode was dropped",
    Error.COUNT: "a word counts more slots than it has",
    Error.TAU0: "a segment of no cycles was skipped",
    Error.TRIGGER_EARLY: "the trigger came before all channels were armed",
    Error.BRANCH_TIMEOUT: "a branch had no result in time and took 0",
    Error.MISALIGN: "parameters of a channel had pulses of different lengths",
    Error.UNDERRUN: "a channel ran out of segments",
    Error.SATURATED: "a sample was limited to full scale",
    Error.ADDRESS: "a table was written beyond its end",
}
"""What a message calls them."""
