"""Where a library is kept: sqlite/ (embedded default), memory.py (the reference)."""
