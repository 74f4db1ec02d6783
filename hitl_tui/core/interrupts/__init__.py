"""The forms of interrupts: what they ask, which answers fit, and what is sent for each. Pure."""
