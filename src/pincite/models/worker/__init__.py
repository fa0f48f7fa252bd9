"""One long-lived process for each local model, shared by all calls of one user.

`client.py` is an embedder like any other, and starts, asks and stops the worker, in which
`server.py` runs. `wire.py` says what is said between them, and where the worker's files are.
"""
