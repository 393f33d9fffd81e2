"""Boards: pins, clocks and the processing system's block around a `soc.soc.Soc`. `build` finds them
by name."""
