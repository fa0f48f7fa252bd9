"""A file becomes searchable. Start at flow.py."""
