"""Locks of pipelines and devices; views for notebooks."""

from alembic import op

from kairos.lab.migrations.changes import added
from kairos.lab.tables import locks

revision = "0005"
down_revision = "0004"


def upgrade():
    added(locks)
    for name, table, columns in (
        ("run_results", "results", ("name", "number", "error")),
        ("run_arguments", "arguments", ("name", "value", "number")),
    ):
        op.execute(f"drop view if exists {name}")
        own = ", ".join(f"{table}.{column}" for column in columns)
        op.execute(
            f"create view {name} as select runs.rid, class_name, person, status, started, ended, {own} "
            f"from runs join {table} on {table}.rid = runs.rid"
        )
