"""What the interfaces say, once: rows and sentences that each of them only lays out."""
