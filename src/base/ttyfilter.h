/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program that shares root's terminal can type into it: TIOCSTI, and TIOCLINUX's paste on a console, insert input
 * for the next reader, which is root's shell. A seccomp(2) filter blocks both for this process and all that it
 * starts, for good. Everything else about the terminal stays as it is.
 */
#ifndef BASE_TTYFILTER_H
#define BASE_TTYFILTER_H

/* If there is a controlling terminal or a standard stream is a terminal: both calls fail with EPERM from now on, and
 * so does every system call of an ABI of the machine that this filter does not know. Needs no_new_privs, or
 * CAP_SYS_ADMIN. 0 or -errno (-EACCES: neither of them; -ENOSYS: not implemented for this architecture). */
int ttyfilter_install_on_terminal(void);

#endif
