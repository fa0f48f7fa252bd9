"""`pincite`, also as `python -m pincite`."""

import os
import sys


def main() -> None:
    """Let a running service answer, where there is one; else run the command here."""
    from pincite.entrypoints.running import run_by_service

    code = run_by_service(sys.argv[1:])
    if code is not None:
        os._exit(code)  # all is said; taking modules down would only take time
    from pincite.entrypoints.cli.main import main as run

    run()


if __name__ == "__main__":
    main()
