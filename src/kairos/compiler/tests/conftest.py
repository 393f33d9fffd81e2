"""Tests compile: what an earlier run has compiled proves nothing of today's compiler."""

import os

os.environ["KAIROS_CACHE"] = "off"
