"""Planted faults and changed jars, caught through the child process, and the page that lists them."""
