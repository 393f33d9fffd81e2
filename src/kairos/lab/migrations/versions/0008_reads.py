"""Which datasets runs have read, and when."""

from kairos.lab.migrations.changes import added
from kairos.lab.tables import reads

revision = "0008"
down_revision = "0007"


def upgrade():
    added(reads)
