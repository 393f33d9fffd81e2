"""Tests of the compiler's Python side."""
