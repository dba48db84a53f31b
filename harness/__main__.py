"""`python -m harness`, and what spark-submit is given: it wants a file that ends in .py."""

from harness.cli import main

main()
