"""RTIO DMA: plays recorded output events from memory, without the processor.

`reader` (bursts from the HP port, prefetched) → `slicer` (finds records in the words) → `engine`
(assembles events, adds the time offset, passes them to the RTIO core, reports errors). `format`
implements both formats in Python.
"""
