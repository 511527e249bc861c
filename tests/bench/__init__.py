"""Benchmarks: measured and reported, never asserted."""
