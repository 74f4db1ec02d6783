"""Telling people outside of our own interfaces that something waits for them, or was decided."""
