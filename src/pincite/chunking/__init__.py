"""Document → Chunks with their Windows. Start at sections.py."""
