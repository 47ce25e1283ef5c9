/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program that shares root's terminal can type into it: TIOCSTI, and the paste of TIOCLINUX on a console,
 * put characters in front of whoever reads next, which is root's shell. A filter of seccomp(2) takes both from
 * this process and all that it starts, for good. Everything else about the terminal stays as it is.
 */
#ifndef BASE_TTYFILTER_H
#define BASE_TTYFILTER_H

/* Both calls fail with EPERM from here on, and so does every call of an ABI that the machine has, but this
 * filter does not know. Needs no_new_privs, or CAP_SYS_ADMIN. 0 or -errno (-EACCES without either; -ENOSYS:
 * not written for this machine). */
int ttyfilter_install(void);
/* The same if there is a terminal: one that controls the process, or a standard stream. */
int ttyfilter_install_on_terminal(void);

#endif
