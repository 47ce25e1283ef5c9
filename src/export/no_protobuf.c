/* SPDX-License-Identifier: Apache-2.0 */
/* Formats that need protobuf-c, in a build without it. */
#include "export/convert.h"

#include <stddef.h>

const struct convert_format convert_pprof = {
	.name = "pprof", .suffixes = (const char *const[]){ ".pb.gz", NULL }, .missing = "protobuf-c",
};

const struct convert_format convert_perfetto = {
	.name = "perfetto", .suffixes = (const char *const[]){ ".pftrace", ".perfetto-trace", NULL },
	.missing = "protobuf-c",
};
