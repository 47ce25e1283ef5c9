/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PERFEVENT_OPEN_EVENT_H
#define PERFEVENT_OPEN_EVENT_H

#include "perfevent.h"

struct pev_event {
	int fd;
	union {
		struct perf_event_attr attr;
		union pev_attr_buf buf;   /* the same, with room for fields that the header lacks */
	};
	struct pev_target target;
	int group_fd;              /* as opened: -1 without a leader */
	uint64_t flags;
	char label[96];            /* "" until pev_event_label() is called */
	bool mapped;               /* it has a ring of its own */
	bool has_ring;             /* its own, or another event's by set_output */
	bool foreign;              /* events of another layout write into its ring: pev_ring_decode() */
	bool leads_mixed;          /* a member is of another software PMU: open/mixed.h */
	struct {                   /* of the group that it joined */
		int fd;            /* -1: none, or one that cannot be mixed */
		uint64_t id;
		bool mixed;        /* ev is of another software PMU than the leader */
		bool timed;        /* the leader reads its time_enabled */
	} leader;
};

static inline bool pev_reads_times_(uint64_t read_format)
{
	return !(~read_format & (PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING));
}

/* Copies a caller's options (or NULL) of any size into own; -EINVAL with err. */
int pev_take_opts_(struct pev_open_opts *own, const struct pev_open_opts *opts,
		   struct pev_target target, struct pev_error *err);
/* The bare system call with CLOEXEC: descriptor or -errno. */
int pev_open_raw_(struct perf_event_attr *attr, struct pev_target target, int group_fd,
		  unsigned long flags);
#endif
