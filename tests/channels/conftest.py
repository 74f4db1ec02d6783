"""Tests of workers run on a PostgreSQL server."""

from postgres_server import database, postgres  # noqa: F401 - fixtures
