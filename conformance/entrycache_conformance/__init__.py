"""Driving implementations beside the reference: cases, machine, subjects, reports, and the command line."""
