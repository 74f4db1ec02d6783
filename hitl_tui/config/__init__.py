"""hitl.toml: what a workspace declares. Start with `loader.load_config`."""
