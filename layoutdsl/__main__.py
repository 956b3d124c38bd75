"""``python -m layoutdsl`` is the shell's ``layoutdsl``."""

from layoutdsl.cli import main

if __name__ == "__main__":
    main()
