/* A Ruby that sleeps runs no postponed jobs. Ruby's own way to wake it is a signal that it handles: its handler may
 * run on any thread, and wakes the VM; then the main thread does what trap() says, nothing for a signal without a
 * trap. So a real-time signal that nobody uses gets Ruby's handler for as long as the agent's thread takes to raise it
 * on itself. */
#pragma once

/* On a Ruby thread, with the GVL; may raise. Makes a trap for such a signal, so that `then` is called on the main
 * thread whenever ruby_wake() was. The signal itself stays at its default. */
void ruby_wake_prepare(void (*then)(void));

/* On the agent's thread: no thread of the program gets the signal. Nothing where Ruby handles none, or where the
 * program has come to use the signal that was prepared. */
void ruby_wake(void);
