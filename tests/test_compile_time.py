"""Seconds of compiling are counted in every thread that waits for them."""

import threading
import time

import jax

from langevin_dqn import compile_time

SLOW = 0.5


def test_a_thread_that_waits_for_another_to_compile_counts_it():
    """JAX has the program in its cache, unfinished, when the second thread asks for it."""
    tracing = threading.Event()

    @jax.jit
    def program(x):
        tracing.set()
        time.sleep(SLOW)
        return x + 1

    spent = {}

    def first():
        compile_time.call(program, 1.0)
        spent["first"] = compile_time.spent()

    def second():
        tracing.wait()
        compile_time.call(program, 1.0)
        spent["second"] = compile_time.spent()

    threads = [threading.Thread(target=work) for work in (first, second)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert spent["first"] >= SLOW
    assert spent["second"] >= 0.8 * SLOW
    before = compile_time.spent()
    compile_time.call(program, 2.0)
    assert compile_time.spent() == before
