"""hitl.toml: what a workspace declares. Start with `load.load_config`."""
