"""A bridge for accesses of one board to a block in the logic of another one."""
