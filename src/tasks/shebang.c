/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/shebang.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

bool shebang_read(int fd, char *name, size_t size)
{
	char line[256], *word, *next = NULL;
	ssize_t n = pread(fd, line, sizeof(line) - 1, 0);

	if (n < 3 || line[0] != '#' || line[1] != '!')
		return false;
	line[n] = '\0';
	line[strcspn(line, "\n")] = '\0';
	word = strtok_r(line + 2, " \t", &next);
	if (word && strlen(word) >= 4 && !strcmp(word + strlen(word) - 4, "/env"))
		do
			word = strtok_r(NULL, " \t", &next);
		while (word && (*word == '-' || strchr(word, '=')));
	if (word)
		snprintf(name, size, "%s", word);
	return word;
}
