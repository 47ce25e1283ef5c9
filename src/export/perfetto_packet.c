/* SPDX-License-Identifier: Apache-2.0 */
#include "export/perfetto_private.h"

/* All packets are one sequence: interned data holds for all later packets. */
enum { SEQUENCE = 1 };

void perfetto_put(struct protofile *file, Perfetto__Protos__TracePacket *packet)
{
	Perfetto__Protos__Trace trace = PERFETTO__PROTOS__TRACE__INIT;

	packet->optional_trusted_packet_sequence_id_case =
		PERFETTO__PROTOS__TRACE_PACKET__OPTIONAL_TRUSTED_PACKET_SEQUENCE_ID_TRUSTED_PACKET_SEQUENCE_ID;
	packet->trusted_packet_sequence_id = SEQUENCE;
	if (!packet->has_sequence_flags) {
		packet->has_sequence_flags = true;
		packet->sequence_flags = PERFETTO__PROTOS__TRACE_PACKET__SEQUENCE_FLAGS__SEQ_NEEDS_INCREMENTAL_STATE;
	}
	trace.n_packet = 1;
	trace.packet = &packet;
	protofile_put(file, &trace.base);
}

void perfetto_put_interned(struct protofile *file, Perfetto__Protos__InternedData *data)
{
	Perfetto__Protos__TracePacket packet = PERFETTO__PROTOS__TRACE_PACKET__INIT;

	packet.interned_data = data;
	perfetto_put(file, &packet);
}
