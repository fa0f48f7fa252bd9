"""One long-lived process for each local model, shared by all calls of one user.

`client.py` is an embedder like any other. `process.py` starts, asks and stops the worker, in which
`server.py` and `answers.py` run. `place.py` says where its files are, `wire.py` what is said.
"""
