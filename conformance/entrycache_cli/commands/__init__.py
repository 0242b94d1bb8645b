"""The commands of `entrycache`, a file each where they are more than a few lines."""
