"""`python -m factstream`."""

from factstream.cli.main import main

if __name__ == "__main__":
    main()
