"""Pure functions on strings: lines, sentences, words."""
