"""Rules of safe interrupts, checked on the syntax tree. Nothing of what is checked is ever imported or run."""
