/* SPDX-License-Identifier: Apache-2.0 */
/* perfevent/aux.h - the AUX area of a ring */
#ifndef PEV_AUX_H
#define PEV_AUX_H

#include "ring.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * The AUX area: raw trace written by some PMUs (Intel PT, ARM SPE, CoreSight). PERF_RECORD_AUX
 * records in the ring announce its data. Linux 4.1. ev's ring must be mapped.
 */
struct pev_aux_area;

/* pages: a power of two. snapshot: the PMU overwrites the oldest data. Unmap it before the ring.
 * -EOPNOTSUPP: the PMU has no AUX area; -EPERM, -ENOMEM, -EINVAL explained in err. */
PEV_API int pev_aux_map(struct pev_aux_area **out, struct pev_ring *ring, unsigned int pages,
			bool snapshot, struct pev_error *err);
/* aux may be NULL. */
PEV_API void pev_aux_unmap(struct pev_aux_area *aux);
/* Size in bytes. */
PEV_API size_t pev_aux_size(const struct pev_aux_area *aux);

/* Data in the area. If it wraps, the second part follows the first in time. */
struct pev_aux_data {
	const void *data[2];
	size_t size[2];
};
/* Data since the last consume, valid until the next one. Returns the number of bytes. Snapshot area:
 * all data, oldest byte first (disable the event first), without parts that were never written. */
PEV_API uint64_t pev_aux_peek(const struct pev_aux_area *aux, struct pev_aux_data *out);
/* Returns `bytes` of the data from peek() to the PMU. Does nothing for a snapshot area. */
PEV_API void pev_aux_consume(struct pev_aux_area *aux, uint64_t bytes);
/* The data that a PERF_RECORD_AUX announces by offset and size; -EBADMSG if it does not lie in the area. */
PEV_API int pev_aux_piece(const struct pev_aux_area *aux, uint64_t offset, uint64_t size,
			  struct pev_aux_data *out);

#ifdef __cplusplus
}
#endif
#endif
