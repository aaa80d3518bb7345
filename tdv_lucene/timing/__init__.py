"""How long queries take: latency inside the JVM, its summary, and Pyserini end to end."""
