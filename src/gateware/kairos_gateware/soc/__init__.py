"""The system on chip: RTIO core and initiator on the processing system's ports, registers and
descriptor memory."""
