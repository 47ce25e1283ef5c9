/* SPDX-License-Identifier: Apache-2.0 */
#include <perfevent.h>
#include <stdio.h>

int main(void)
{
	const struct pev_feature *row;
	struct pev_features *features;

	if (pev_features_probe(&features))
		return 1;
	for (size_t i = 0; (row = pev_features_at(features, i)); i++)
		printf("%-18s %s\n", row->name, row->code ? row->said : "works");
	row = pev_features_find(features, "tracepoint-raw");
	if (row && row->code)
		printf("to read the fields of tracepoints: %s\n", row->remedy);
	pev_features_free(features);
	return 0;
}
