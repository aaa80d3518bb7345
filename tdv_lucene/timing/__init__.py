"""Query latency inside the JVM."""
