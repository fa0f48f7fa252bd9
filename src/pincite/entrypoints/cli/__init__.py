"""The command line. Start at main.py."""
