"""A headless runtime: takes jobs, tells what happens as events, and waits for decisions from wherever they come."""
