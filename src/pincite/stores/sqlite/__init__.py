"""The embedded store: an append-only log, and a database derived from it. See store.py."""
