"""Calibrations: proposed values, and what was calibrated; for each write of a parameter its validity, kind and note."""

from kairos.lab.migrations.changes import added
from kairos.lab.tables import calibrations, parameters, proposals

revision = "0002"
down_revision = "0001"


def upgrade():
    added(parameters, "kind", "validity", "note")
    added(proposals)
    added(calibrations)
