"""The logbook, and layouts of the page."""

from kairos.lab.migrations.changes import added
from kairos.lab.tables import layouts, logbook

revision = "0006"
down_revision = "0005"


def upgrade():
    added(logbook)
    added(layouts)
