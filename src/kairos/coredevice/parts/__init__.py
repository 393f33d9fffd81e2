"""Building blocks of drivers, shared by several cards.

On RTIO channels: `channel` (a device and its addresses), `levels`, `gates`, `inputs`. On a bus:
`spi` (kinds of transfers). Of cards: `scales` (codes of DACs and ADCs), `attenuators`, `readiness`
(waiting for a chip), `absent` (signals that are not connected). For all of them: `methods` (kernel
methods made from data), `firmware` (functions that kernels call), `numbers`. What a chip's
registers are made of: `kairos.coredevice.registers`.
"""
