"""Tests of notifications of sessions in a PostgreSQL database."""

from postgres_server import database, postgres  # noqa: F401 - fixtures
