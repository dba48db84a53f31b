"""What all tests share: properties are asked without a time limit for each example, since hosts are slow at times."""

from hypothesis import settings

settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")
