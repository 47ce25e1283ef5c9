/* SPDX-License-Identifier: Apache-2.0 */
/* Any text is an event list or is refused at a place inside it; an event's label parses
 * back to its attr. Without PMUs and tracepoints: what they say is fuzzed by itself. */
#include <assert.h>
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "perfevent/parse/parse.h"

/* Labels of the first events are enough. */
#define CHECKED 16

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct pev_parse_env env = { "/nonexistent", "/nonexistent" };

/* What the label can't say: sampling, callchains and the like. */
static void keep_what_labels_say(union pev_attr_buf *to, const struct perf_event_attr *from)
{
	static const char *const said[] = {
		"config", "config1", "config2", "config3", "config4", "bp_type", "exclude_idle",
		"exclude_host", "exclude_guest", "precise_ip", "pinned", "exclusive", "exclude_user",
		"exclude_kernel", "exclude_hv",
	};
	uint64_t value;

	pev_attr_buf_init(to, from->type, 0);
	for (size_t i = 0; i < sizeof(said) / sizeof(*said); i++) {
		assert(!pev_attr_get(from, said[i], &value));
		assert(!pev_attr_set(to, said[i], value));
	}
}

static void check_label(const struct pev_parsed *p)
{
	union pev_attr_buf want, got;
	struct pev_attr_list *list;
	char label[1024];

	/* uprobe:config1=... of a breakpoint: its label has no place for more words */
	if (p->attr->type == PERF_TYPE_BREAKPOINT && p->attr->config)
		return;
	assert(pev_label_at_(p->attr, &env, label, sizeof(label)) < sizeof(label));
	if (p->attr->type == PERF_TYPE_TRACEPOINT || p->attr->type > UINT32_MAX - 1)
		return;
	assert(!pev_attr_parse_at_(&list, label, &env, NULL, NULL));
	assert(pev_attr_list_size(list) == 1);
	keep_what_labels_say(&want, p->attr);
	keep_what_labels_say(&got, pev_attr_list_at(list, 0)->attr);
	assert(!memcmp(&want, &got, sizeof(want)));
	pev_attr_list_free(list);
}

static void check_event(const struct pev_attr_list *list, size_t i, size_t len)
{
	const struct pev_parsed *p = pev_attr_list_at(list, i);

	assert(p->label && p->leader <= i && p->at + p->length <= len);
	assert(pev_attr_list_at(list, p->leader)->leader == p->leader);
	check_label(p);
}

static void check_error(const struct pev_error *err, int rc, size_t at, size_t len)
{
	assert(rc == -EINVAL || rc == -ENOENT || rc == -EACCES);
	assert(err->code == -rc && err->asked[0] && err->said[0] && at <= len);
	for (const char *c = err->asked; *c; c++)
		assert((unsigned char)*c >= ' ');
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = strndup((const char *)data, size);
	struct pev_attr_list *list;
	struct pev_error err = { 0 };
	size_t at = SIZE_MAX, len;
	int rc;

	assert(text);
	len = strlen(text);
	rc = pev_attr_parse_at_(&list, text, &env, &at, &err);
	if (rc)
		check_error(&err, rc, at, len);
	for (size_t i = 0; !rc && i < pev_attr_list_size(list) && i < CHECKED; i++)
		check_event(list, i, len);
	pev_attr_list_free(list);
	free(text);
	return 0;
}
