/* SPDX-License-Identifier: Apache-2.0 */
/* Completes and corrects the mappings in a recording. */
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
	/* each kernel has its own vdso */
	if (!strcmp(m->filename, "[vdso]")) {
		m->has_build_id = !p->same_vdso;
		m->build_id_size = sizeof(m->build_id);
	}
	/* inodes of another machine mean nothing here */
	if (!m->has_build_id && !p->same_machine)
		m->ino = 0;
}

/*
 * A kernel that writes one mapping for several listeners (seen on 6.18) does not clear the build id
 * flag between them: a recorder that did not ask for build ids then gets inodes that are flagged as
 * build ids. The size of a real build id is 20 or 16; without one, that word holds the device's
 * major number.
 */
void replay_mend(const struct perfdata_event *e, const struct perf_event_header *rec)
{
	enum { SIZE_AT = 40 };

	if (rec->type == PERF_RECORD_MMAP2 && rec->misc & PERF_RECORD_MISC_MMAP_BUILD_ID &&
	    !e->attr.attr.build_id && rec->size >= SIZE_AT + 4 && layout_u32(rec, SIZE_AT) != 20 &&
	    layout_u32(rec, SIZE_AT) != 16)
		((struct perf_event_header *)rec)->misc &= (uint16_t)~PERF_RECORD_MISC_MMAP_BUILD_ID;
}
