/* SPDX-License-Identifier: Apache-2.0 */
/* Mappings in a recording: what their records lack, or say wrongly. */
#include "events/layout.h"
#include "stream/recording/recording.h"

#include <string.h>

void replay_identify(const struct replay *p, struct pev_mmap *m)
{
	const struct perfdata_info *info = perfdata_info(p->reader);

	for (size_t i = 0; !m->has_build_id && i < info->nbuild_ids; i++) {
		const struct perfdata_build_id *id = &info->build_ids[i];

		if (strcmp(id->path, m->filename) || (id->pid > 0 && (uint32_t)id->pid != m->pid))
			continue;
		m->has_build_id = true;
		m->build_id_size = id->size;
		memcpy(m->build_id, id->id, sizeof(m->build_id));
	}
	/* the code that each kernel lays into its processes */
	if (!strcmp(m->filename, "[vdso]")) {
		m->has_build_id = !p->same_kernel;
		m->build_id_size = sizeof(m->build_id);
	}
	/* of another machine an inode says nothing */
	if (!m->has_build_id && !p->same_machine)
		m->ino = 0;
}

/*
 * A kernel that writes a mapping for several listeners forgets (seen on 6.18) to take the mark of
 * a build id back: a recorder that asked for inodes then has inodes that are marked so. A build
 * id has 20 or 16 bytes, in a word that is the device's major number else.
 */
void replay_mend(const struct perfdata_event *e, const struct perf_event_header *rec)
{
	enum { SIZE_AT = 40 };

	if (rec->type == PERF_RECORD_MMAP2 && rec->misc & PERF_RECORD_MISC_MMAP_BUILD_ID &&
	    !e->attr.attr.build_id && rec->size >= SIZE_AT + 4 && layout_u32(rec, SIZE_AT) != 20 &&
	    layout_u32(rec, SIZE_AT) != 16)
		((struct perf_event_header *)rec)->misc &= (uint16_t)~PERF_RECORD_MISC_MMAP_BUILD_ID;
}
