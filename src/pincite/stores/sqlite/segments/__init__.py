"""Both searches over arrays that are mapped into memory: derived from the database, and optional.

`segment.py` says what is in one, `making.py` makes them from rows, `words.py` and `nearest.py`
search them, `ranking.py` asks both, `shelf.py` keeps those of an index. Where they are missing or
behind, `search.py` asks the tables.
"""
