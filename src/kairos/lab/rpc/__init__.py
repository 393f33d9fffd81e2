"""The laboratory's gRPC service, which the hub forwards: `kairos.lab.v1` on a Unix socket.

:mod:`.protocol` are its messages, :mod:`.server` serves it, :mod:`.methods` are the calls, and
:mod:`.streams` what clients follow. :mod:`.values` converts values, :mod:`.changes` collects changes.
"""
