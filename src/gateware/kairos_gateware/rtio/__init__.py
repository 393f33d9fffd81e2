"""The RTIO core: events with 64-bit timestamps go out at their time, and inputs come in with theirs.

Output path: `admission` (status) → `dispatcher` (chooses a lane) → `lanes` (FIFOs and time gates),
or `reorder` → `pool` and `wheel` for events in any order → `network` (merges, finds collisions,
fans out); `sed` has both forms. Input path: `inputs`. `cri` is the bus of commands into the core,
`link` the interface to the PHYs, `timing` the time base. Nothing here knows pins, boards or the
processing system.
"""
