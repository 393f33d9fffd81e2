"""The programmable logic as a shared library (verilated), its Python binding, and models for the
tests."""
