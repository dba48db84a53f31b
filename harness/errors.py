"""The one exception a user meets: what went wrong, where, why, and what to do now."""


class HarnessError(Exception):
    """A usage or harness error, told in one or two sentences; the command line prints it and exits 2.

    The message says what, where and why; `hint` says what to do now.
    """

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message} {self.hint}".strip()
