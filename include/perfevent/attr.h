/* SPDX-License-Identifier: Apache-2.0 */
/* perfevent/attr.h - filling in struct perf_event_attr, and its fields by name */
#ifndef PEV_ATTR_H
#define PEV_ATTR_H

#include "error.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ------------------------------------------------------------------------
 * Helpers over the kernel's own struct perf_event_attr
 */

/* Clears the first 128 bytes of attr, which are all that the library reads (see pev_attr_buf); sets size (128), type and config. */
PEV_API void pev_attr_init(struct perf_event_attr *attr, uint32_t type, uint64_t config);
/* pev_attr_init() for a software event by name; -ENOENT if unknown. */
PEV_API int pev_attr_software(struct perf_event_attr *attr, const char *name,
			      struct pev_error *err);
/* pev_attr_init() for a tracepoint by name. Needs a readable tracefs. */
PEV_API int pev_attr_tracepoint(struct perf_event_attr *attr, const char *sys, const char *name,
				struct pev_error *err);
/* One sample per `period` events / about `freq` samples a second. */
PEV_API void pev_attr_sample_period(struct perf_event_attr *attr, uint64_t period);
PEV_API void pev_attr_sample_freq(struct perf_event_attr *attr, uint64_t freq);
/* Wakes a reader every n samples / once `bytes` are waiting. */
PEV_API void pev_attr_wakeup_events(struct perf_event_attr *attr, uint32_t n);
PEV_API void pev_attr_wakeup_watermark(struct perf_event_attr *attr, uint32_t bytes);

/* ------------------------------------------------------------------------
 * Attrs larger than in the system's header
 *
 * attr->size is the number of valid bytes, as for the kernel; 0 means PERF_ATTR_SIZE_VER7 (128
 * bytes, up to sig_data). The library never reads more than 128 bytes of a plain struct
 * perf_event_attr, so a program and the library may be built with different headers. Later fields
 * (config3, config4) need a pev_attr_buf, whose first member is the kernel's struct: fill in
 * buf.attr, pass &buf.attr, and set fields that the header lacks with pev_attr_set().
 * perfevent-attr(7) lists all fields. */
#define PEV_ATTR_SIZE_MAX 256

union pev_attr_buf {
	struct perf_event_attr attr;
	uint64_t words_[PEV_ATTR_SIZE_MAX / 8];   /* private */
};

/* Clears the whole buffer and sets size as pev_attr_init() does. */
PEV_API void pev_attr_buf_init(union pev_attr_buf *buf, uint32_t type, uint64_t config);
/* Copies attr->size bytes of attr and clears the rest. -E2BIG if they do not fit. */
PEV_API int pev_attr_buf_copy(union pev_attr_buf *buf, const struct perf_event_attr *attr);

/* A field of struct perf_event_attr. Members of a union are separate fields. */
struct pev_attr_field {
	const char *name;       /* the kernel's own: "sample_period" */
	const char *since;      /* kernel version that added it: "2.6.31" */
	const char *what;       /* meaning and unit, one line */
	uint16_t offset;        /* bytes; for a bit field that of its word */
	uint16_t size;          /* bytes of the field or of that word */
	uint16_t bit;           /* first bit of a bit field, counted from the first declared */
	uint16_t width;         /* bits; 8 * size unless a bit field */
};

/* Walks the table in the order of the struct; NULL past the end. */
PEV_API const struct pev_attr_field *pev_attr_field_at(unsigned int index);
/* Reads a field by name; fields beyond attr->size are 0. -ENOENT: no such field. */
PEV_API int pev_attr_get(const struct perf_event_attr *attr, const char *name, uint64_t *value);
/* Sets a field by name and raises buf->attr.size if needed. -ENOENT: no such field; -ERANGE: the
 * value does not fit. */
PEV_API int pev_attr_set(union pev_attr_buf *buf, const char *name, uint64_t value);

/* Set config3 (Linux 6.3) and config4 (Linux 6.19), for PMUs that need them. Raise buf->attr.size. */
PEV_API void pev_attr_set_config3(union pev_attr_buf *buf, uint64_t value);
PEV_API void pev_attr_set_config4(union pev_attr_buf *buf, uint64_t value);

/* Actions of an event on its group's AUX area. Linux 6.13. */
#define PEV_AUX_START_PAUSED 1U   /* the AUX event: wait for a resume */
#define PEV_AUX_PAUSE        2U   /* a sampling event: pause it on overflow */
#define PEV_AUX_RESUME       4U   /* a sampling event: resume it on overflow */
/* Sets attr.aux_action, a mask of PEV_AUX_. */
PEV_API void pev_attr_set_aux_action(struct perf_event_attr *attr, uint32_t actions);
/* Sets defer_callchain: user call chains come later, in CALLCHAIN_DEFERRED records; defer_output:
 * these records go to this event's ring. Linux 6.19. */
PEV_API void pev_attr_set_defer(struct perf_event_attr *attr, bool callchain, bool output);

#ifdef __cplusplus
}
#endif
#endif
