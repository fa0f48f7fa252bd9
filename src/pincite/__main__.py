"""`python -m pincite`."""

from pincite.entrypoints.cli.main import main

main()
