"""Bytes of one file → its Document: text, structure and what it says about itself."""
