/* SPDX-License-Identifier: Apache-2.0 */
/* perfevent/aux.h - the AUX area of a ring */
#ifndef PEV_AUX_H
#define PEV_AUX_H

#include "ring.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * The AUX area: raw trace that some PMUs write (Intel PT, ARM SPE, CoreSight). Its data
 * is announced by PERF_RECORD_AUX in the ring. Linux 4.1. Needs ev's mapped ring.
 */
struct pev_aux_area;

/* pages: a power of two. snapshot: the PMU overwrites the oldest data for ever. Unmap it
 * before the ring. -EOPNOTSUPP: the PMU has none; -EPERM, -ENOMEM, -EINVAL explained in err. */
PEV_API int pev_aux_map(struct pev_aux_area **out, struct pev_ring *ring, unsigned int pages,
			bool snapshot, struct pev_error *err);
/* NULL is fine. */
PEV_API void pev_aux_unmap(struct pev_aux_area *aux);
/* Its bytes. */
PEV_API size_t pev_aux_size(const struct pev_aux_area *aux);

/* Data in the area: the second piece follows the first in time, where it wraps. */
struct pev_aux_data {
	const void *data[2];
	size_t size[2];
};
/* The data since the last consume, valid until the next one. Returns the number of bytes.
 * For a snapshot area: all data, oldest byte first (disable the event first), without parts
 * that were never written. */
PEV_API uint64_t pev_aux_peek(const struct pev_aux_area *aux, struct pev_aux_data *out);
/* Gives `bytes` of what peek() returned back to the PMU. Nothing for a snapshot area. */
PEV_API void pev_aux_consume(struct pev_aux_area *aux, uint64_t bytes);
/* The piece that a PERF_RECORD_AUX announces by offset and size; -EBADMSG if it doesn't
 * lie in the area. */
PEV_API int pev_aux_piece(const struct pev_aux_area *aux, uint64_t offset, uint64_t size,
			  struct pev_aux_data *out);

#ifdef __cplusplus
}
#endif
#endif
