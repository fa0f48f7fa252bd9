"""A library as one file, to move and to keep. See forms.py for what it holds, line by line."""
