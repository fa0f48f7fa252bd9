"""The HTTP service: `app.py` has its routes."""
