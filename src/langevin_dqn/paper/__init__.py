"""The paper, figure by figure: what is run, what the paper claims, how it is drawn."""
