/* SPDX-License-Identifier: Apache-2.0 */
/* Any text is an event list or is refused with a caret inside it; nothing else happens. */
#include "events/spec.h"

#include <assert.h>
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Each check below walks the whole text, so of very long lists the beginning must do. */
#define CHECKED 32

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_item(const struct spec_item *item)
{
	size_t len = strlen(item->text);
	struct spec_error err;

	assert(item->name[0] && (!item->sys || item->sys[0]));
	assert(item->len && item->at + item->len <= len);
	assert(!item->filter || item->filter[0]);
	assert(item->filter_at <= len);
	for (size_t i = 0; item->filter && item->filter[i] && i < CHECKED; i++)
		assert(item->text[spec_place(item, item->filter_at, i)] == item->filter[i]);
	for (size_t i = 0; i < item->nattrs && i < CHECKED; i++) {
		const struct spec_attr *a = &item->attrs[i];

		assert(spec_attr(item, a->name));
		assert(!strncmp(item->text + a->at, a->name, strlen(a->name)));
		assert(a->value_at <= item->at + item->len);
		spec_complain(&err, item, a->value_at, a->name, a->value);
		assert(strlen(err.text) >= err.at);
	}
	spec_is_glob(item->name);
}

/* What an item says on its own is what it says in its list. */
static void check_alone(const struct spec_item *item)
{
	char *own = strndup(item->text + item->at, item->len);
	struct spec_list list = { 0 };
	const struct spec_item *twin;

	assert(own);
	assert(!spec_parse(&list, own, NULL) && list.nitems == 1);
	twin = &list.items[0];
	assert(!strcmp(twin->name, item->name) && twin->nattrs == item->nattrs);
	assert(!strcmp(twin->filter ? twin->filter : "", item->filter ? item->filter : ""));
	for (size_t i = 0; i < twin->nattrs; i++)
		assert(!strcmp(twin->attrs[i].name, item->attrs[i].name));
	spec_free(&list);
	free(own);
}

static void check_error(const struct spec_error *err)
{
	char text[1024];
	size_t len = spec_error_text(err, text, sizeof(text));

	assert(err->message[0] && err->expected[0]);
	assert(len == strlen(text) && err->at <= strlen(err->text));
	for (const char *c = err->text; *c; c++)
		assert((unsigned char)*c >= 0x20 && *c != 0x7f);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = strndup((const char *)data, size);
	struct spec_list list = { 0 };
	struct spec_error err;
	int ret;

	assert(text);
	ret = spec_parse(&list, text, &err);
	if (ret) {
		assert(ret == -EINVAL && !list.nitems && !list.ntexts);
		check_error(&err);
	}
	for (size_t i = 0; i < list.nitems && i < CHECKED; i++) {
		check_item(&list.items[i]);
		check_alone(&list.items[i]);
	}
	spec_free(&list);
	free(text);
	return 0;
}
