"""Recording of FX graphs: calls, memory and shapes from one run under dl-core's recorder."""
