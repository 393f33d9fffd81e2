"""Loads and stores in the memory of other boards."""
