"""Bulk copies to the memory of other boards."""
