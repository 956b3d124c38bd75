"""``python -m layoutdsl`` is the shell's ``layoutdsl``."""

from layoutdsl.shell import main

if __name__ == "__main__":
    main()
