"""How long queries take: latency inside the JVM, and its summary."""
