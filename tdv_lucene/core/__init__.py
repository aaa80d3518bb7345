"""Arrays in, arrays out: scoring, discrimination values and losses (JAX, Optax, NumPy only)."""
