"""Benchmarks: they print figures and ratios; nothing asserts a time."""
