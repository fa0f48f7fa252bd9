"""OpenDocument texts, presentations and drawings → Content. Start at reader.py."""
