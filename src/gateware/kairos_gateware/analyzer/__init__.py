"""RTIO analyzer: everything that passes the CRI is written to memory, for later inspection.

`tap` (CRI to messages) → FIFO → `writer` (messages to a ring in memory). `format` decodes the ring, in Python.
"""
