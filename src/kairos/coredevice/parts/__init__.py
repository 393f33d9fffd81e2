"""Building blocks of drivers, shared by several cards.

RTIO channels: `channel` (a device and its addresses), `edges` (edge bits of inputs). Buses: `spi`
(kinds of transfers). Cards: `scales` (codes of DACs and ADCs), `attenuators`, `readiness` (waiting
for a chip), `absent` (signals that are not connected). General: `firmware` (functions that kernels
call), `numbers`. Definitions of chip registers: `kairos.coredevice.registers`.
"""
