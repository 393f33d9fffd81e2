"""The RTIO core: executes output events at their 64-bit timestamps, and timestamps input events.

Output path: `admission` (status) → `dispatcher` (chooses a lane) → `lanes` (FIFOs and time gates),
or `reorder` → `pool` and `wheel` for events in any order → `network` (merges, detects collisions,
fans out); `sed` has both forms. Input path: `inputs`. `cri` is the command bus into the core,
`link` the interface to the PHYs, `timing` the time base. Nothing here depends on pins, boards or
the processing system.
"""
