"""Changes of the database's tables, one file each in `versions`, applied by Alembic."""
