"""Records and tables: JSON, XML, CSV, notebooks."""
