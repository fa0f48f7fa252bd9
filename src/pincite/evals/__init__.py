"""Evaluation: how well a library answers stored questions. Start at flow.py."""
