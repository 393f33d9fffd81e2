"""Changes of tables that find a database in either state: of the version before, or new.

A new database gets all tables of this version by the first change, so that later ones find them.
"""

from alembic import op
from sqlalchemy import Column, Table, inspect

__all__ = ["added"]


def added(table: Table, *columns: str):
    """Add a table that does not exist yet, or else these of its columns."""
    connection = op.get_bind()
    if not inspect(connection).has_table(table.name):
        table.create(connection)
        return
    known = {column["name"] for column in inspect(connection).get_columns(table.name)}
    for name in columns:
        if name not in known:
            column = table.c[name]
            op.add_column(table.name, Column(name, column.type))
