"""What both sides of the wire agree on: systems, cases, histories, declarations, messages, failures."""
