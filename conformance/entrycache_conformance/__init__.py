"""Run implementations next to the reference: cases, subjects, failures and reports."""
