/* SPDX-License-Identifier: Apache-2.0 */
/* Who or what ended a wait. */
#ifndef ANALYSIS_DURATIONS_WAITENDS_H
#define ANALYSIS_DURATIONS_WAITENDS_H

#include "analysis/durations/waiton.h"

/* In which context the kernel woke the thread. An interrupt is not the work of the task that it interrupts. A soft
 * interrupt may be: the kernel runs it at the end of a system call that sends to a socket of this machine. But one that ends an
 * uninterruptible wait comes from a device, as from a disk. BY_TIMEOUT: the result of the call says so. BY_UNKNOWN: the kernel did
 * not deliver that event. BY_EXIT: the thread's process ended, and the thread with it: it never went on. */
enum context { BY_TASK_ITSELF, BY_SOFTIRQ, BY_INTERRUPT, BY_TIMEOUT, BY_UNKNOWN, BY_EXIT };

/* flags: of the event that woke it */
enum context waitends_context(uint64_t flags, bool is_device);
/* "task", "softirq", ... */
const char *waitends_word(uint64_t context);
/* "[interrupt]"; NULL: a task did it. */
const char *waitends_nobody(enum context context);
/* Whether that task may have woken the thread by a signal, or by its own exit: what the thread does next tells whether it dies. */
bool waitends_may_be_kill(const struct waiton *on, pid_t tid, pid_t waker_pid, pid_t waker);
/* Whether a signal ended the call with that result. Signals that kill a thread do so after it. */
bool waitends_is_interrupt(int64_t result);
/* Whether the thread has ended, or is about to. */
bool waitends_is_dying(pid_t tid);
#endif
