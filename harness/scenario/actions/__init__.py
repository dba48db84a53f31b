"""Things done to a live cluster; each is one small record, so that a plan can be printed before it runs."""
