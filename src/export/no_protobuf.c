/* SPDX-License-Identifier: Apache-2.0 */
/* In place of the formats that are made by protobuf-c. */
#include "export/convert.h"

#include <stddef.h>

const struct convert_format convert_pprof = {
	.name = "pprof", .suffixes = (const char *const[]){ ".pb.gz", NULL }, .missing = "protobuf-c",
};

const struct convert_format convert_perfetto = {
	.name = "perfetto", .suffixes = (const char *const[]){ ".pftrace", ".perfetto-trace", NULL },
	.missing = "protobuf-c",
};
