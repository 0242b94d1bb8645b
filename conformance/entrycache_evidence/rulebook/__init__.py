"""The book of rules: runs that try the rules, their examples, their pages, and the check that all of it agrees."""
