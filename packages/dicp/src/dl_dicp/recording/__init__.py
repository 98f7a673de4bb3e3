"""Recording of FX graphs: one run under dl-core's recorder, as calls, memory and shapes."""
