/* SPDX-License-Identifier: Apache-2.0 */
#include "base/hash.h"

#include <sys/auxv.h>
#include <sys/random.h>

uint64_t hash_key[2];

/* Early after the boot, getrandom(2) would wait; the kernel has given each program some random bytes even then. */
__attribute__((constructor)) static void make_key(void)
{
	if (getrandom(hash_key, sizeof(hash_key), GRND_NONBLOCK) != sizeof(hash_key))
		memcpy(hash_key, (const void *)getauxval(AT_RANDOM), sizeof(hash_key));
}
