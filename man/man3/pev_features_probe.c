/* SPDX-License-Identifier: Apache-2.0 */
#include <perfevent.h>
#include <stdio.h>

int main(void)
{
	const struct pev_feature *feature;
	struct pev_features *features;
	int works = 0;
	size_t i;

	if (pev_features_probe(&features))
		return 1;
	for (i = 0; (feature = pev_features_at(features, i)); i++) {
		works += !feature->code;
		printf("%-7s %s %s\n", feature->code ? "refused" : "works", feature->name,
		       feature->said);
	}
	printf("%d of %zu work\n", works, i);
	pev_features_free(features);
	return 0;
}
