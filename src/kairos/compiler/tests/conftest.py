"""Disables the cache: kernels compiled by an earlier run would not test the current compiler."""

import os

os.environ["KAIROS_CACHE"] = "off"
