"""Exhaustion of stated small worlds: the reference itself, every law after every step."""
