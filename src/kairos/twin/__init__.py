"""The twin of a laboratory: its experiments on its emulated device, before, beside and after the real runs.

A rehearsal (:mod:`.rehearsal`) runs an experiment on the emulated device of a device database, with
stand-ins for what the emulator does not have (:mod:`.standins`), and reports how early each output
was submitted (:mod:`.slack`). ``docs/twin.md`` says what the twin knows and what it does not.
"""
