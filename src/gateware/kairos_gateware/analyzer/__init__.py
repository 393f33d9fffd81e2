"""RTIO analyzer: records all traffic on the CRI in memory, for later inspection.

`tap` (CRI to messages) → FIFO → `writer` (messages to a ring in memory). `format` decodes the ring,
in Python.
"""
