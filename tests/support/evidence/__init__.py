"""What the tests of the evidence hold against it."""
