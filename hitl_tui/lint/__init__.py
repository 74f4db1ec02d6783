"""Rules of safe interrupts, checked on the syntax tree (I6). Nothing of what is checked is ever imported or run."""
