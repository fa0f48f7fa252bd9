"""Asking: from the question to claims that are proven, or to an abstention. Start at flow.py."""
