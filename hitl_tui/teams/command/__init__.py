"""Declared commands: one program with exact arguments, no shell."""
