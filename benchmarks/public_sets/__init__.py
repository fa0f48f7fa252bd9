"""Public data sets: read, indexed with vectors kept between runs, ready to be asked."""
