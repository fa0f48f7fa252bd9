"""Chunk → its evidence units: what can be quoted."""
