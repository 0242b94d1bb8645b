"""The book of rules: what each says, what is linked to it, and whether text and checks agree."""
