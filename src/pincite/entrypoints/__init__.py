"""The doors: parse, one call, render."""
