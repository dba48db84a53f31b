"""The profile says how many examples a property is asked of (tests/conftest.py): 25 for each change, 500 by night.

Those of which each example takes long are asked of a third.
"""

from hypothesis import settings

costly = settings(max_examples=settings().max_examples // 3)
