"""The laboratory to which a database belongs."""

from kairos.lab.migrations.changes import added
from kairos.lab.tables import owner

revision = "0007"
down_revision = "0006"


def upgrade():
    added(owner)
