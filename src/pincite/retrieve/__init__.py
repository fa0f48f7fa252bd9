"""A question becomes cited results. Start at flow.py."""
