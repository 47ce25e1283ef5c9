/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sampling slows down when samples with parts of stacks come faster than they are read: such a sample has 8 KiB and takes
 * tens of microseconds, more while unwind tables are read or other programs need the CPUs. Fewer samples over
 * all of the time are a better profile than gaps.
 */
#ifndef STREAM_RINGS_SLOWER_H
#define STREAM_RINGS_SLOWER_H

struct stream;

/* Call it when the rings are open. */
void slower_allow(struct stream *s);
/* Between two rounds: if a ring is nearly full, or 1 % of the samples were lost, halves the frequency of samples with
 * parts of stacks, four times a second at most, unless --strict-freq was given. Events that children inherit keep their
 * frequency. */
void slower_round(struct stream *s);
#endif
