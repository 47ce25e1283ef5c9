/* SPDX-License-Identifier: Apache-2.0 */
/* What a recording says about the machine, the run and its events: a row for each feature. */
#include "base/room.h"
#include "perfdata/read/reading.h"

#include <stdlib.h>

enum { MAX_WORDS = 1 << 16, MAX_BUILD_IDS = 1 << 20, KERNEL_RECORD_HEAD = 8 };

static bool keep(char **to, const char *text, size_t len)
{
	char *copy = reading_text(text, len);

	if (!copy)
		return false;
	free(*to);
	*to = copy;
	return true;
}

/* ---- texts and numbers ------------------------------------------------------ */

#define STRING(feature, field)                                                                     \
	static bool take_##feature(struct perfdata_reader *r, struct scan *s)                      \
	{                                                                                          \
		size_t len = 0;                                                                    \
		const char *text = scan_string(s, &len);                                           \
                                                                                                   \
		return keep(&r->info.field, text, len);                                            \
	}

STRING(hostname, hostname)
STRING(osrelease, osrelease)
STRING(version, version)
STRING(arch, arch)
STRING(cpudesc, cpu)
STRING(cpuid, cpuid)

static bool take_nrcpus(struct perfdata_reader *r, struct scan *s)
{
	return scan_u32(s, &r->info.cpus_there) && scan_u32(s, &r->info.cpus_online);
}

static bool take_memory(struct perfdata_reader *r, struct scan *s)
{
	return scan_u64(s, &r->info.memory_kib);
}

static bool take_sample_time(struct perfdata_reader *r, struct scan *s)
{
	return scan_u64(s, &r->info.first_ns) && scan_u64(s, &r->info.last_ns);
}

static bool take_clock_data(struct perfdata_reader *r, struct scan *s)
{
	uint32_t version;

	r->info.has_clock = scan_u32(s, &version) && version == 1 && scan_u32(s, &r->info.clockid) &&
			    scan_u64(s, &r->info.realtime_ns) && scan_u64(s, &r->info.clock_ns);
	return r->info.has_clock;
}

static bool take_cmdline(struct perfdata_reader *r, struct scan *s)
{
	struct perfdata_info *info = &r->info;
	uint32_t n;

	if (!scan_u32(s, &n) || n > MAX_WORDS || n > scan_left(s) / 4 || info->command)
		return false;
	info->command = calloc(n + 1, sizeof(*info->command));
	while (info->command && info->ncommand < n) {
		size_t len = 0;
		const char *text = scan_string(s, &len);

		if (!keep(&info->command[info->ncommand], text, len))
			return false;
		info->ncommand++;
	}
	return info->command;
}

/* ---- build ids -------------------------------------------------------------- */

enum { BUILD_ID_ROOM = 24, BUILD_ID_SIZE_AT = 20, MISC_HAS_SIZE = 1 << 15 };

/* Layout: header, pid, 20 bytes of build id, 4 bytes for its size, path. */
bool feature_take_build_id(struct perfdata_reader *r, const char *record, size_t size)
{
	struct scan s = { record + 8, record + size, r->foreign };
	struct perfdata_info *info = &r->info;
	struct perfdata_build_id id = { .size = 20 };
	struct perf_event_header head;
	const char *bytes, *path;
	uint32_t pid;

	if (size < 8 || info->nbuild_ids >= MAX_BUILD_IDS)
		return false;
	memcpy(&head, record, sizeof(head));
	bytes = scan_u32(&s, &pid) ? scan_bytes(&s, BUILD_ID_ROOM) : NULL;
	path = bytes ? s.p : NULL;
	if (!path)
		return false;
	if (r->foreign)
		head.misc = bswap_16(head.misc);
	if (head.misc & MISC_HAS_SIZE)
		id.size = (uint8_t)bytes[BUILD_ID_SIZE_AT] <= 20 ? (uint8_t)bytes[BUILD_ID_SIZE_AT] : 20;
	id.pid = (int32_t)pid;
	memcpy(id.id, bytes, 20);
	id.path = strndup(path, scan_left(&s));
	if (!ROOM_FOR_ONE(info->build_ids, info->nbuild_ids)) {
		free(id.path);
		return false;
	}
	info->build_ids[info->nbuild_ids++] = id;
	return id.path;
}

static bool take_build_ids(struct perfdata_reader *r, struct scan *s)
{
	while (scan_left(s) >= 8) {
		struct perf_event_header head;

		memcpy(&head, s->p, sizeof(head));
		if (r->foreign)
			swap_header(&head);
		if (head.size < sizeof(head) || head.size > scan_left(s) ||
		    !feature_take_build_id(r, s->p, head.size))
			return false;
		s->p += head.size;
	}
	return true;
}

/* ---- events ----------------------------------------------------------------- */

/* The event keeps a name that was recorded before. */
static bool describe_event(struct perfdata_event *e, const char *what, size_t len)
{
	return keep(&e->what, what, len) && (e->name || keep(&e->name, what, len));
}

/* The attrs again, with names. An id says which event it is; without ids, the order does. */
static bool take_event_desc(struct perfdata_reader *r, struct scan *s)
{
	uint32_t n, size;

	if (!scan_u32(s, &n) || !scan_u32(s, &size) || n > MAX_EVENTS)
		return false;
	for (uint32_t i = 0; i < n; i++) {
		const char *attr = scan_bytes(s, size), *name;
		uint32_t nids;
		uint64_t id = 0;
		size_t len = 0;
		int event = (int)i;

		if (!attr || !scan_u32(s, &nids))
			return false;
		name = scan_string(s, &len);
		if (!name || nids > scan_left(s) / 8)
			return false;
		for (uint32_t k = 0; k < nids; k++)
			scan_u64(s, &id);
		if (nids)
			event = ids_find(&r->ids, id);
		if (event < 0 || (size_t)event >= r->nevents)
			continue;
		if (!describe_event(&r->events[event], name, len))
			return false;
	}
	return true;
}

enum { UPDATE_UNIT, UPDATE_SCALE, UPDATE_NAME };

/* Layout: type, id, name or unit or scale. */
bool feature_take_update(struct perfdata_reader *r, struct scan *s)
{
	uint64_t type, id, scale;
	int event;

	if (!scan_u64(s, &type) || !scan_u64(s, &id))
		return false;
	event = ids_find(&r->ids, id);
	r->ids_go_on = false;
	if (event >= 0 && type == UPDATE_SCALE && scan_u64(s, &scale))
		memcpy(&r->events[event].scale, &scale, sizeof(scale));
	if (event < 0 || (type != UPDATE_NAME && type != UPDATE_UNIT))
		return true;
	return keep(type == UPDATE_NAME ? &r->events[event].name : &r->events[event].unit, s->p, strnlen(s->p, scan_left(s)));
}

enum { TYPE_NAME = 64, MAX_TYPES = 1 << 12 };

bool feature_take_event_type(struct perfdata_reader *r, struct scan *s)
{
	const char *name;
	uint64_t id;

	name = scan_u64(s, &id) ? scan_bytes(s, TYPE_NAME) : NULL;
	if (!name || !*name)
		return false;
	if (r->ntypes++ >= MAX_TYPES)   /* each is compared with all events */
		return true;
	for (size_t i = 0; i < r->nevents; i++) {
		struct perfdata_event *e = &r->events[i];

		if (e->attr.attr.type == PERF_TYPE_TRACEPOINT && e->attr.attr.config == id && !e->name &&
		    !describe_event(e, name, strnlen(name, TYPE_NAME)))
			return false;
	}
	return true;
}

/* ---- formats ---------------------------------------------------------------- */

static bool take_tracing(struct perfdata_reader *r, struct scan *s)
{
	bytes_free(&r->tracing);
	bytes_add(&r->tracing, s->p, scan_left(s));
	return !r->tracing.failed;
}

/* ---- the table ---------------------------------------------------------------- */

static bool (*const features[])(struct perfdata_reader *r, struct scan *s) = {
	[FEATURE_TRACING_DATA] = take_tracing,
	[FEATURE_BUILD_ID] = take_build_ids,
	[FEATURE_HOSTNAME] = take_hostname,
	[FEATURE_OSRELEASE] = take_osrelease,
	[FEATURE_VERSION] = take_version,
	[FEATURE_ARCH] = take_arch,
	[FEATURE_NRCPUS] = take_nrcpus,
	[FEATURE_CPUDESC] = take_cpudesc,
	[FEATURE_CPUID] = take_cpuid,
	[FEATURE_TOTAL_MEM] = take_memory,
	[FEATURE_CMDLINE] = take_cmdline,
	[FEATURE_EVENT_DESC] = take_event_desc,
	[FEATURE_SAMPLE_TIME] = take_sample_time,
	[FEATURE_CLOCK_DATA] = take_clock_data,
};

bool feature_take(struct perfdata_reader *r, int feature, const char *data, size_t size)
{
	struct scan s = { data, data + size, r->foreign };

	if (feature < 0 || (size_t)feature >= sizeof(features) / sizeof(*features) || !features[feature])
		return facts_take(r, feature, &s);
	return features[feature](r, &s);
}

void features_free(struct perfdata_info *info)
{
	char *texts[] = { info->hostname, info->osrelease, info->version, info->arch, info->cpu, info->cpuid };

	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
		free(texts[i]);
	for (size_t i = 0; i < info->ncommand; i++)
		free(info->command[i]);
	for (size_t i = 0; i < info->nbuild_ids; i++)
		free(info->build_ids[i].path);
	facts_free(info);
	free(info->command);
	free(info->build_ids);
	*info = (struct perfdata_info){ 0 };
}
