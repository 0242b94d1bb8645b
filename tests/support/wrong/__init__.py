"""Wrong caches as an outsider might write them: the reference with one thing otherwise, where few cases come by."""
