"""Recording of FX graphs: one run under dl-core's recorder gives calls, memory and shapes."""
