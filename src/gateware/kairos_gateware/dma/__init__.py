"""RTIO DMA: plays recorded output events from memory, without the processor.

`reader` (bursts from the HP port, prefetched) → `slicer` (finds records in the words) → `engine`
(puts events together, adds the time offset, hands them to the RTIO core, reports errors). `format`
has both formats in Python.
"""
