"""Chips put back into the state that they had at the end of a run: `kairos runs chips RUN --restore`.

A run's file has what was in the registers of each DDS, DAC and CPLD (`kairos.waveform.chips`). What is to be written is
planned from these and from the device database (:mod:`.plan`), by kernels that use the drivers of the cards
(:mod:`.kernels`), on the device itself, or in a laboratory as a run of its own (:mod:`.experiment`).
"""
