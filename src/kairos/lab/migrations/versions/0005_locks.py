"""Locks of pipelines and devices; views for notebooks."""

from alembic import op

from kairos.lab.migrations.changes import added
from kairos.lab.tables import locks, views

revision = "0005"
down_revision = "0004"


def upgrade():
    added(locks)
    for statement in views():
        op.execute(statement)
