"""Images, scanned pages and recordings → Markdown beside the library. Start at flow.py."""
