"""What can go wrong with the local servers, in words for the person at the terminal."""


class StackError(RuntimeError):
    """A local server could not be fetched, started or stopped; the message says what to do next."""
