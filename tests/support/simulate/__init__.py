"""Made-up calls on a fast cache, recorded."""
