/* SPDX-License-Identifier: Apache-2.0 */
/* Where the kernel lies: at each boot elsewhere. */
#ifndef STREAM_KERNELADDR_H
#define STREAM_KERNELADDR_H

#include <stdint.h>

/* The address of a symbol, such as "_text", by /proc/kallsyms; 0: this user isn't told. */
uint64_t kernel_address(const char *symbol);
#endif
