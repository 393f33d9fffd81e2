"""ADC probe: Probe of the monitor for each channel of a Sampler or a Novogorny: the code that was read of it last.

Generated from src/contracts/chips/measured.toml by
src/contracts/generate.py: do not edit.
"""

__all__ = [
    "MEASURED",
]

MEASURED = [
    ("code", 16),
    ("gain", 2),
    ("softspan", 3),
    ("valid", 1),
]
"""The last code; 0 until the channel is read."""
