"""What has happened to alarms."""

from kairos.lab.migrations.changes import added
from kairos.lab.tables import alarms

revision = "0004"
down_revision = "0003"


def upgrade():
    added(alarms)
