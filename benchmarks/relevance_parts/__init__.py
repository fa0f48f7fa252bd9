"""The parts of `relevance.py`."""
