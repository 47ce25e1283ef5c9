/* SPDX-License-Identifier: Apache-2.0 */
#include <perfevent.h>
#include <stdio.h>

static int fail(const struct pev_error *err)
{
	char text[1200];

	pev_error_text(err, text, sizeof(text));
	fprintf(stderr, "%s\n", text);
	return 1;
}

int main(int argc, char **argv)
{
	const char *text = argc > 1 ? argv[1] : "{task-clock,page-faults}:u,cs";
	struct pev_error err = { 0 };
	struct pev_attr_list *list;
	size_t at;

	if (pev_attr_parse(&list, text, &at, &err)) {
		fprintf(stderr, "%s\n%*s^\n", text, (int)at, "");
		return fail(&err);
	}
	for (size_t i = 0; i < pev_attr_list_size(list); i++) {
		const struct pev_parsed *event = pev_attr_list_at(list, i);

		printf("%s: type %u, config %llu, led by %s\n", event->label, event->attr->type,
		       (unsigned long long)event->attr->config,
		       pev_attr_list_at(list, event->leader)->label);
	}
	pev_attr_list_free(list);
	return 0;
}
