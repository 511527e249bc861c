"""What the words mean: frozen values and pure rules, without SQL, threads or screens."""
