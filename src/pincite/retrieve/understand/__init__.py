"""A question becomes what is searched; start at flow.py."""
