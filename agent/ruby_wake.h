/* A Ruby that sleeps runs no postponed jobs. Ruby's own way to wake it is a signal that it handles: its handler may
 * run on any thread, wakes the VM, and has the main thread do what trap() says. */
#ifndef AGENT_RUBY_WAKE_H
#define AGENT_RUBY_WAKE_H

/* On a Ruby thread, with the GVL; may raise. Has Ruby trap a real-time signal that nobody uses, and `then` called on
 * the main thread whenever ruby_wake() was. */
void ruby_wake_prepare(void (*then)(void));

/* On the agent's thread: raises the signal there, so that no thread of the program is interrupted by it. Nothing
 * where it was not prepared, or where its handler is no longer Ruby's. */
void ruby_wake(void);

#endif
