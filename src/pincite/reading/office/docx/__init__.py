"""Word documents → Content. Start at reader.py."""
