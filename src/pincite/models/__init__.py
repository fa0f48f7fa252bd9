"""Embedders: a local model, an embedding service, and a deterministic one for tests."""
