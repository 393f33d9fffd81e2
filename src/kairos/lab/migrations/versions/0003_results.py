"""Results of runs: their numbers, and the parameters of fits."""

from kairos.lab.migrations.changes import added
from kairos.lab.tables import results

revision = "0003"
down_revision = "0002"


def upgrade():
    added(results)
