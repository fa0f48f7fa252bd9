"""Web pages, e-books and mail."""
