"""Keys that must not decide: `guard.KeyGuard` sees every key before anything acts on it, and states all rules."""
