/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The AUX area.
 *
 *   full trace   aux_head and aux_tail only grow, as in the ring
 *   snapshot     mapped read-only; the PMU overwrites old data. aux_head is the end of the newest
 *                byte: modulo the size with Intel PT, growing with other PMUs. The bytes after it are
 *                zero until the PMU has filled the area once
 */
#include "perfevent/rings/aux.h"

#include "perfevent/attr/complain.h"
#include "perfevent/open/explain.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

static int give_up(struct pev_aux_area *aux, const struct pev_event *ev, unsigned int pages,
		   struct pev_error *err)
{
	int code = errno;

	free(aux);
	return pev_explain_aux_(err, ev, pages, code);
}

void pev_aux_attach_(struct pev_aux_area *aux, struct perf_event_mmap_page *page, void *data,
		     uint64_t size, bool snapshot)
{
	*aux = (struct pev_aux_area){ .page = page, .data = data, .size = size, .snapshot = snapshot };
	aux->tail = page->aux_tail;
}

int pev_aux_map(struct pev_aux_area **out, struct pev_ring *ring, unsigned int pages, bool snapshot,
		struct pev_error *err)
{
	int prot = snapshot ? PROT_READ : PROT_READ | PROT_WRITE;
	size_t size = (size_t)pages * (size_t)sysconf(_SC_PAGESIZE);
	struct perf_event_mmap_page *page = ring->page;
	struct pev_aux_area *aux;
	void *map;

	*out = NULL;
	/* the offset is set in the control page, which is read-only for an overwrite ring */
	if (!ring->ev || ring->backward)
		return pev_refuse_(err, EINVAL, "map an AUX area", "the ring is an overwrite ring",
				   "map the ring by pev_ring_map(); the area itself can be a snapshot");
	if (!pages || pages & (pages - 1))
		return pev_explain_aux_(err, ring->ev, pages, EINVAL);
	aux = calloc(1, sizeof(*aux));
	if (!aux)
		return pev_explain_aux_(err, ring->ev, pages, ENOMEM);
	page->aux_offset = ring->map_size;
	page->aux_size = size;
	map = mmap(NULL, size, prot, MAP_SHARED, ring->ev->fd, (off_t)ring->map_size);
	if (map == MAP_FAILED)
		return give_up(aux, ring->ev, pages, err);
	pev_aux_attach_(aux, page, map, size, snapshot);
	aux->mapped = true;
	*out = aux;
	return 0;
}

void pev_aux_unmap(struct pev_aux_area *aux)
{
	if (!aux)
		return;
	if (aux->mapped)
		munmap(aux->data, aux->size);
	free(aux);
}

size_t pev_aux_size(const struct pev_aux_area *aux)
{
	return aux->size;
}

/* `bytes` from position `at` on, in one or two parts. */
static void pieces(const struct pev_aux_area *aux, uint64_t at, uint64_t bytes, struct pev_aux_data *out)
{
	uint64_t start = at & (aux->size - 1), first = aux->size - start;

	if (first > bytes)
		first = bytes;
	*out = (struct pev_aux_data){
		.data = { aux->data + start, aux->data },
		.size = { first, bytes - first },
	};
}

static bool all_zero(const char *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (p[i])
			return false;
	return true;
}

static uint64_t peek_snapshot(const struct pev_aux_area *aux, uint64_t head, struct pev_aux_data *out)
{
	uint64_t at = head & (aux->size - 1);

	if (head < aux->size && all_zero(aux->data + at, aux->size - at)) {
		pieces(aux, 0, at, out);
		return at;
	}
	pieces(aux, at, aux->size, out);
	return aux->size;
}

uint64_t pev_aux_peek(const struct pev_aux_area *aux, struct pev_aux_data *out)
{
	uint64_t head = __atomic_load_n(&aux->page->aux_head, __ATOMIC_ACQUIRE), bytes;

	if (aux->snapshot)
		return peek_snapshot(aux, head, out);
	bytes = head - aux->tail;
	if (bytes > aux->size)   /* the page has an invalid aux_head */
		bytes = aux->size;
	pieces(aux, aux->tail, bytes, out);
	return bytes;
}

void pev_aux_consume(struct pev_aux_area *aux, uint64_t bytes)
{
	if (aux->snapshot)
		return;
	aux->tail += bytes;
	__atomic_store_n(&aux->page->aux_tail, aux->tail, __ATOMIC_RELEASE);
}

int pev_aux_piece(const struct pev_aux_area *aux, uint64_t offset, uint64_t size,
		  struct pev_aux_data *out)
{
	if (size > aux->size) {
		*out = (struct pev_aux_data){ 0 };
		return -EBADMSG;
	}
	pieces(aux, offset, size, out);
	return 0;
}
