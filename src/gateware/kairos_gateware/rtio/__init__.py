"""The RTIO core: events with 64-bit timestamps go out at their time, and inputs come in with theirs.

Output path: `dispatcher` (chooses a lane) → `lanes` (FIFOs and time gates) → `network` (merges, finds collisions,
fans out). Input path: `inputs`. `cri` is the bus of commands into the core, `link` the interface to the PHYs,
`timing` the time base. Nothing here knows pins, boards or the processing system.
"""
