"""Transcripts and frames: text with a place in time."""
