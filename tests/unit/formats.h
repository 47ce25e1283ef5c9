/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Formats of tracepoints as kernels of several versions write them, for the tests and for
 * the fuzzer. Of 6.18 without a word changed.
 */
#ifndef TESTS_UNIT_FORMATS_H
#define TESTS_UNIT_FORMATS_H

/* clang-format off */

/* What each begins with. */
#define FORMAT(name, id) \
	"name: " name "\nID: " id "\n" \
	"format:\n" \
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n" \
	"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n" \
	"\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n" \
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n" \
	"\n"

/* sched, 5.10: text is signed here, as char is on x86 */
#define SCHED_SWITCH_5_10 \
	FORMAT("sched_switch", "314") \
	"\tfield:char prev_comm[16];\toffset:8;\tsize:16;\tsigned:1;\n" \
	"\tfield:pid_t prev_pid;\toffset:24;\tsize:4;\tsigned:1;\n" \
	"\tfield:int prev_prio;\toffset:28;\tsize:4;\tsigned:1;\n" \
	"\tfield:long prev_state;\toffset:32;\tsize:8;\tsigned:1;\n" \
	"\tfield:char next_comm[16];\toffset:40;\tsize:16;\tsigned:1;\n" \
	"\tfield:pid_t next_pid;\toffset:56;\tsize:4;\tsigned:1;\n" \
	"\tfield:int next_prio;\toffset:60;\tsize:4;\tsigned:1;\n" \
	"\n" \
	"print fmt: \"prev_comm=%s prev_pid=%d prev_prio=%d prev_state=%s ==> " \
	"next_comm=%s next_pid=%d next_prio=%d\", REC->prev_comm, REC->prev_pid, " \
	"REC->prev_prio, (REC->prev_state & 0xff) ? __print_flags(REC->prev_state & " \
	"0xff, \"|\", { 0x01, \"S\" }, { 0x02, \"D\" }) : \"R\", REC->next_comm, " \
	"REC->next_pid, REC->next_prio\n"

/* sched, 4.19: has a field that later kernels lack */
#define SCHED_WAKEUP_4_19 \
	FORMAT("sched_wakeup", "316") \
	"\tfield:char comm[16];\toffset:8;\tsize:16;\tsigned:1;\n" \
	"\tfield:pid_t pid;\toffset:24;\tsize:4;\tsigned:1;\n" \
	"\tfield:int prio;\toffset:28;\tsize:4;\tsigned:1;\n" \
	"\tfield:int success;\toffset:32;\tsize:4;\tsigned:1;\n" \
	"\tfield:int target_cpu;\toffset:36;\tsize:4;\tsigned:1;\n" \
	"\n" \
	"print fmt: \"comm=%s pid=%d prio=%d target_cpu=%03d\", REC->comm, REC->pid, " \
	"REC->prio, REC->target_cpu\n"

/* user_events, 6.4: made by a program through user_events */
#define USER_EVENT_6_4 \
	FORMAT("app_request", "2077") \
	"\tfield:__rel_loc char[] msg;\toffset:8;\tsize:4;\tsigned:0;\n" \
	"\tfield:__rel_loc u8[] blob;\toffset:12;\tsize:4;\tsigned:0;\n" \
	"\tfield:s64 delta;\toffset:16;\tsize:8;\tsigned:1;\n" \
	"\tfield:u64 total;\toffset:24;\tsize:8;\tsigned:0;\n" \
	"\n" \
	"print fmt: \"msg=%s delta=%lld total=%llu\", __get_rel_str(msg), REC->delta, " \
	"REC->total\n"

/* made_up, each kind of number and array */
#define KINDS \
	FORMAT("kinds", "3000") \
	"\tfield:u8 a_u8;\toffset:8;\tsize:1;\tsigned:0;\n" \
	"\tfield:s8 a_s8;\toffset:9;\tsize:1;\tsigned:1;\n" \
	"\tfield:u16 a_u16;\toffset:10;\tsize:2;\tsigned:0;\n" \
	"\tfield:s16 a_s16;\toffset:12;\tsize:2;\tsigned:1;\n" \
	"\tfield:bool a_bool;\toffset:14;\tsize:1;\tsigned:0;\n" \
	"\tfield:char a_char;\toffset:15;\tsize:1;\tsigned:1;\n" \
	"\tfield:u32 a_u32;\toffset:16;\tsize:4;\tsigned:0;\n" \
	"\tfield:int a_s32;\toffset:20;\tsize:4;\tsigned:1;\n" \
	"\tfield:u64 a_u64;\toffset:24;\tsize:8;\tsigned:0;\n" \
	"\tfield:s64 a_s64;\toffset:32;\tsize:8;\tsigned:1;\n" \
	"\tfield:void * a_pointer;\toffset:40;\tsize:8;\tsigned:0;\n" \
	"\tfield:const struct sock * a_sock;\toffset:48;\tsize:8;\tsigned:0;\n" \
	"\tfield:enum hrtimer_mode an_enum;\toffset:56;\tsize:4;\tsigned:0;\n" \
	"\tfield:u8 bytes[6];\toffset:60;\tsize:6;\tsigned:0;\n" \
	"\tfield:u16 words[3];\toffset:66;\tsize:6;\tsigned:0;\n" \
	"\tfield:char text[16];\toffset:72;\tsize:16;\tsigned:0;\n" \
	"\tfield:uuid_t uuid;\toffset:88;\tsize:16;\tsigned:0;\n" \
	"\tfield:u8 three[3];\toffset:104;\tsize:3;\tsigned:0;\n" \
	"\tfield:__data_loc char[] name;\toffset:108;\tsize:4;\tsigned:0;\n" \
	"\tfield:__data_loc u8[] data;\toffset:112;\tsize:4;\tsigned:0;\n" \
	"\tfield:__data_loc unsigned long[] mask;\toffset:116;\tsize:4;\tsigned:0;\n" \
	"\n" \
	"print fmt: \"%u %d\", REC->a_u8, REC->a_s8\n"

/* sched */
#define SCHED_SWITCH_6_18 \
	FORMAT("sched_switch", "372") \
	"\tfield:char prev_comm[16];\toffset:8;\tsize:16;\tsigned:0;\n" \
	"\tfield:pid_t prev_pid;\toffset:24;\tsize:4;\tsigned:1;\n" \
	"\tfield:int prev_prio;\toffset:28;\tsize:4;\tsigned:1;\n" \
	"\tfield:long prev_state;\toffset:32;\tsize:8;\tsigned:1;\n" \
	"\tfield:char next_comm[16];\toffset:40;\tsize:16;\tsigned:0;\n" \
	"\tfield:pid_t next_pid;\toffset:56;\tsize:4;\tsigned:1;\n" \
	"\tfield:int next_prio;\toffset:60;\tsize:4;\tsigned:1;\n" \
	"\n" \
	"print fmt: \"prev_comm=%s prev_pid=%d prev_prio=%d prev_state=%s%s ==> " \
	"next_comm=%s next_pid=%d next_prio=%d\", REC->prev_comm, REC->prev_pid, " \
	"REC->prev_prio, (REC->prev_state & ((((0x00000000 | 0x00000001 | 0x00000002 | " \
	"0x00000004 | 0x00000008 | 0x00000010 | 0x00000020 | 0x00000040) + 1) << 1) - " \
	"1)) ? __print_flags(REC->prev_state & ((((0x00000000 | 0x00000001 | " \
	"0x00000002 | 0x00000004 | 0x00000008 | 0x00000010 | 0x00000020 | 0x00000040) " \
	"+ 1) << 1) - 1), \"|\", { 0x00000001, \"S\" }, { 0x00000002, \"D\" }, { " \
	"0x00000004, \"T\" }, { 0x00000008, \"t\" }, { 0x00000010, \"X\" }, { " \
	"0x00000020, \"Z\" }, { 0x00000040, \"P\" }, { 0x00000080, \"I\" }) : \"R\", " \
	"REC->prev_state & (((0x00000000 | 0x00000001 | 0x00000002 | 0x00000004 | " \
	"0x00000008 | 0x00000010 | 0x00000020 | 0x00000040) + 1) << 1) ? \"+\" : \"\", " \
	"REC->next_comm, REC->next_pid, REC->next_prio\n"

/* syscalls */
#define SYS_ENTER_OPENAT_6_18 \
	FORMAT("sys_enter_openat", "782") \
	"\tfield:int __syscall_nr;\toffset:8;\tsize:4;\tsigned:1;\n" \
	"\tfield:int dfd;\toffset:16;\tsize:8;\tsigned:0;\n" \
	"\tfield:const char * filename;\toffset:24;\tsize:8;\tsigned:0;\n" \
	"\tfield:int flags;\toffset:32;\tsize:8;\tsigned:0;\n" \
	"\tfield:umode_t mode;\toffset:40;\tsize:8;\tsigned:0;\n" \
	"\n" \
	"print fmt: \"dfd: 0x%08lx, filename: 0x%08lx, flags: 0x%08lx, mode: " \
	"0x%08lx\", ((unsigned long)(REC->dfd)), ((unsigned long)(REC->filename)), " \
	"((unsigned long)(REC->flags)), ((unsigned long)(REC->mode))\n"

/* dma */
#define DMA_MAP_SG_6_18 \
	FORMAT("dma_map_sg", "431") \
	"\tfield:__data_loc char[] device;\toffset:8;\tsize:4;\tsigned:0;\n" \
	"\tfield:int full_nents;\toffset:12;\tsize:4;\tsigned:1;\n" \
	"\tfield:int full_ents;\toffset:16;\tsize:4;\tsigned:1;\n" \
	"\tfield:bool truncated;\toffset:20;\tsize:1;\tsigned:0;\n" \
	"\tfield:__data_loc u64[] phys_addrs;\toffset:24;\tsize:4;\tsigned:0;\n" \
	"\tfield:__data_loc u64[] dma_addrs;\toffset:28;\tsize:4;\tsigned:0;\n" \
	"\tfield:__data_loc unsigned int[] lengths;\toffset:32;\tsize:4;\tsigned:0;\n" \
	"\tfield:enum dma_data_direction dir;\toffset:36;\tsize:4;\tsigned:0;\n" \
	"\tfield:unsigned long attrs;\toffset:40;\tsize:8;\tsigned:0;\n" \
	"\n" \
	"print fmt: \"%s dir=%s nents=%d/%d ents=%d/%d%s dma_addrs=%s sizes=%s " \
	"phys_addrs=%s attrs=%s\", __get_str(device), __print_symbolic(REC->dir, { 0, " \
	"\"BIDIRECTIONAL\" }, { 1, \"TO_DEVICE\" }, { 2, \"FROM_DEVICE\" }, { 3, " \
	"\"NONE\" }), ({ int __UNIQUE_ID_x_920 = (REC->full_nents); int " \
	"__UNIQUE_ID_y_921 = (128); ((__UNIQUE_ID_x_920) < (__UNIQUE_ID_y_921) ? " \
	"(__UNIQUE_ID_x_920) : (__UNIQUE_ID_y_921)); }), REC->full_nents, ({ int " \
	"__UNIQUE_ID_x_922 = (REC->full_ents); int __UNIQUE_ID_y_923 = (128); " \
	"((__UNIQUE_ID_x_922) < (__UNIQUE_ID_y_923) ? (__UNIQUE_ID_x_922) : " \
	"(__UNIQUE_ID_y_923)); }), REC->full_ents, REC->truncated ? \" [TRUNCATED]\" : " \
	"\"\", __print_array(__get_dynamic_array(dma_addrs), " \
	"__get_dynamic_array_len(dma_addrs) / sizeof(u64), sizeof(u64)), " \
	"__print_array(__get_dynamic_array(lengths), __get_dynamic_array_len(lengths) " \
	"/ sizeof(unsigned int), sizeof(unsigned int)), " \
	"__print_array(__get_dynamic_array(phys_addrs), " \
	"__get_dynamic_array_len(phys_addrs) / sizeof(u64), sizeof(u64)), " \
	"__print_flags(REC->attrs, \"|\", { (1UL << 1), \"WEAK_ORDERING\" }, { (1UL << " \
	"2), \"WRITE_COMBINE\" }, { (1UL << 4), \"NO_KERNEL_MAPPING\" }, { (1UL << 5), " \
	"\"SKIP_CPU_SYNC\" }, { (1UL << 6), \"FORCE_CONTIGUOUS\" }, { (1UL << 7), " \
	"\"ALLOC_SINGLE_PAGES\" }, { (1UL << 8), \"NO_WARN\" }, { (1UL << 9), " \
	"\"PRIVILEGED\" }, { (1UL << 10), \"MMIO\" }, { (1UL << 11), \"CACHE_CLEAN\" " \
	"})\n"

/* bridge */
#define BR_MDB_FULL_6_18 \
	FORMAT("br_mdb_full", "2254") \
	"\tfield:__data_loc char[] dev;\toffset:8;\tsize:4;\tsigned:0;\n" \
	"\tfield:int af;\toffset:12;\tsize:4;\tsigned:1;\n" \
	"\tfield:u16 vid;\toffset:16;\tsize:2;\tsigned:0;\n" \
	"\tfield:__u8 src[16];\toffset:18;\tsize:16;\tsigned:0;\n" \
	"\tfield:__u8 grp[16];\toffset:34;\tsize:16;\tsigned:0;\n" \
	"\tfield:__u8 grpmac[6];\toffset:50;\tsize:6;\tsigned:0;\n" \
	"\n" \
	"print fmt: \"dev %s af %u src %pI6c grp %pI6c/%pM vid %u\", __get_str(dev), " \
	"REC->af, REC->src, REC->grp, REC->grpmac, REC->vid\n"

/* bridge */
#define BR_FDB_ADD_6_18 \
	FORMAT("br_fdb_add", "2258") \
	"\tfield:u8 ndm_flags;\toffset:8;\tsize:1;\tsigned:0;\n" \
	"\tfield:__data_loc char[] dev;\toffset:12;\tsize:4;\tsigned:0;\n" \
	"\tfield:unsigned char addr[6];\toffset:16;\tsize:6;\tsigned:0;\n" \
	"\tfield:u16 vid;\toffset:22;\tsize:2;\tsigned:0;\n" \
	"\tfield:u16 nlh_flags;\toffset:24;\tsize:2;\tsigned:0;\n" \
	"\n" \
	"print fmt: \"dev %s addr %02x:%02x:%02x:%02x:%02x:%02x vid %u nlh_flags %04x " \
	"ndm_flags %02x\", __get_str(dev), REC->addr[0], REC->addr[1], REC->addr[2], " \
	"REC->addr[3], REC->addr[4], REC->addr[5], REC->vid, REC->nlh_flags, " \
	"REC->ndm_flags\n"

/* ras */
#define NON_STANDARD_EVENT_6_18 \
	FORMAT("non_standard_event", "2204") \
	"\tfield:char sec_type[16];\toffset:8;\tsize:16;\tsigned:0;\n" \
	"\tfield:char fru_id[16];\toffset:24;\tsize:16;\tsigned:0;\n" \
	"\tfield:__data_loc char[] fru_text;\toffset:40;\tsize:4;\tsigned:0;\n" \
	"\tfield:u8 sev;\toffset:44;\tsize:1;\tsigned:0;\n" \
	"\tfield:u32 len;\toffset:48;\tsize:4;\tsigned:0;\n" \
	"\tfield:__data_loc u8[] buf;\toffset:52;\tsize:4;\tsigned:0;\n" \
	"\n" \
	"print fmt: \"severity: %d; sec type:%pU; FRU: %pU %s; data len:%d; raw " \
	"data:%s\", REC->sev, REC->sec_type, REC->fru_id, __get_str(fru_text), " \
	"REC->len, __print_hex(__get_dynamic_array(buf), REC->len)\n"

/* ipi */
#define IPI_SEND_CPUMASK_6_18 \
	FORMAT("ipi_send_cpumask", "353") \
	"\tfield:__data_loc cpumask_t cpumask;\toffset:8;\tsize:4;\tsigned:0;\n" \
	"\tfield:void * callsite;\toffset:16;\tsize:8;\tsigned:0;\n" \
	"\tfield:void * callback;\toffset:24;\tsize:8;\tsigned:0;\n" \
	"\n" \
	"print fmt: \"cpumask=%s callsite=%pS callback=%pS\", __get_cpumask(cpumask), " \
	"REC->callsite, REC->callback\n"

/* neigh */
#define NEIGH_EVENT_SEND_DONE_6_18 \
	FORMAT("neigh_event_send_done", "2245") \
	"\tfield:u32 family;\toffset:8;\tsize:4;\tsigned:0;\n" \
	"\tfield:__data_loc char[] dev;\toffset:12;\tsize:4;\tsigned:0;\n" \
	"\tfield:u8 lladdr[32];\toffset:16;\tsize:32;\tsigned:0;\n" \
	"\tfield:u8 lladdr_len;\toffset:48;\tsize:1;\tsigned:0;\n" \
	"\tfield:u8 flags;\toffset:49;\tsize:1;\tsigned:0;\n" \
	"\tfield:u8 nud_state;\toffset:50;\tsize:1;\tsigned:0;\n" \
	"\tfield:u8 type;\toffset:51;\tsize:1;\tsigned:0;\n" \
	"\tfield:u8 dead;\toffset:52;\tsize:1;\tsigned:0;\n" \
	"\tfield:int refcnt;\toffset:56;\tsize:4;\tsigned:1;\n" \
	"\tfield:__u8 primary_key4[4];\toffset:60;\tsize:4;\tsigned:0;\n" \
	"\tfield:__u8 primary_key6[16];\toffset:64;\tsize:16;\tsigned:0;\n" \
	"\tfield:unsigned long confirmed;\toffset:80;\tsize:8;\tsigned:0;\n" \
	"\tfield:unsigned long updated;\toffset:88;\tsize:8;\tsigned:0;\n" \
	"\tfield:unsigned long used;\toffset:96;\tsize:8;\tsigned:0;\n" \
	"\tfield:u32 err;\toffset:104;\tsize:4;\tsigned:0;\n" \
	"\n" \
	"print fmt: \"family %d dev %s lladdr %s flags %02x nud_state %s type %02x " \
	"dead %d refcnt %d primary_key4 %pI4 primary_key6 %pI6c confirmed %lu updated " \
	"%lu used %lu err %d\", REC->family, __get_str(dev), " \
	"__print_hex_str(REC->lladdr, REC->lladdr_len), REC->flags, " \
	"__print_symbolic(REC->nud_state, { 0x01, \"incomplete\" }, { 0x02, " \
	"\"reachable\" }, { 0x04, \"stale\" }, { 0x08, \"delay\" }, { 0x10, \"probe\" " \
	"}, { 0x20, \"failed\" }, { 0x40, \"noarp\" }, { 0x80, \"permanent\"}), " \
	"REC->type, REC->dead, REC->refcnt, REC->primary_key4, REC->primary_key6, " \
	"REC->confirmed, REC->updated, REC->used, REC->err\n"

/* kvm */
#define KVM_EMULATE_INSN_6_18 \
	FORMAT("kvm_emulate_insn", "85") \
	"\tfield:__u64 rip;\toffset:8;\tsize:8;\tsigned:0;\n" \
	"\tfield:__u32 csbase;\toffset:16;\tsize:4;\tsigned:0;\n" \
	"\tfield:__u8 len;\toffset:20;\tsize:1;\tsigned:0;\n" \
	"\tfield:__u8 insn[15];\toffset:21;\tsize:15;\tsigned:0;\n" \
	"\tfield:__u8 flags;\toffset:36;\tsize:1;\tsigned:0;\n" \
	"\tfield:__u8 failed;\toffset:37;\tsize:1;\tsigned:0;\n" \
	"\n" \
	"print fmt: \"%x:%llx:%s (%s)%s\", REC->csbase, REC->rip, " \
	"__print_hex(REC->insn, REC->len), __print_symbolic(REC->flags, { 0, \"real\" " \
	"}, { (1 << 0) | (1 << 1), \"vm16\" }, { (1 << 0), \"prot16\" }, { (1 << 0) | " \
	"(1 << 2), \"prot32\" }, { (1 << 0) | (1 << 3), \"prot64\" }), REC->failed ? " \
	"\" failed\" : \"\"\n"

/* net */
#define NET_DEV_XMIT_6_18 \
	FORMAT("net_dev_xmit", "2306") \
	"\tfield:void * skbaddr;\toffset:8;\tsize:8;\tsigned:0;\n" \
	"\tfield:unsigned int len;\toffset:16;\tsize:4;\tsigned:0;\n" \
	"\tfield:int rc;\toffset:20;\tsize:4;\tsigned:1;\n" \
	"\tfield:__data_loc char[] name;\toffset:24;\tsize:4;\tsigned:0;\n" \
	"\n" \
	"print fmt: \"dev=%s skbaddr=%p len=%u rc=%d\", __get_str(name), REC->skbaddr, " \
	"REC->len, REC->rc\n"

/* btrfs */
#define ADD_DELAYED_DATA_REF_6_18 \
	FORMAT("add_delayed_data_ref", "1994") \
	"\tfield:u8 fsid[16];\toffset:8;\tsize:16;\tsigned:0;\n" \
	"\tfield:u64 bytenr;\toffset:24;\tsize:8;\tsigned:0;\n" \
	"\tfield:u64 num_bytes;\toffset:32;\tsize:8;\tsigned:0;\n" \
	"\tfield:int action;\toffset:40;\tsize:4;\tsigned:1;\n" \
	"\tfield:u64 parent;\toffset:48;\tsize:8;\tsigned:0;\n" \
	"\tfield:u64 ref_root;\toffset:56;\tsize:8;\tsigned:0;\n" \
	"\tfield:u64 owner;\toffset:64;\tsize:8;\tsigned:0;\n" \
	"\tfield:u64 offset;\toffset:72;\tsize:8;\tsigned:0;\n" \
	"\tfield:int type;\toffset:80;\tsize:4;\tsigned:1;\n" \
	"\tfield:u64 seq;\toffset:88;\tsize:8;\tsigned:0;\n" \
	"\n" \
	"print fmt: \"%pU: bytenr=%llu num_bytes=%llu action=%s parent=%llu(%s) " \
	"ref_root=%llu(%s) owner=%llu offset=%llu type=%s seq=%llu\", REC->fsid, " \
	"REC->bytenr, REC->num_bytes, __print_symbolic(REC->action, { " \
	"BTRFS_ADD_DELAYED_REF, \"ADD_DELAYED_REF\" }, { BTRFS_DROP_DELAYED_REF, " \
	"\"DROP_DELAYED_REF\" }, { BTRFS_ADD_DELAYED_EXTENT, \"ADD_DELAYED_EXTENT\" }, " \
	"{ BTRFS_UPDATE_DELAYED_HEAD, \"UPDATE_DELAYED_HEAD\" }), REC->parent, " \
	"((REC->parent >= -9ULL) || (REC->parent >= 1ULL && REC->parent <= 8ULL)) ? " \
	"__print_symbolic(REC->parent, { 1ULL, \"ROOT_TREE\" }, { 2ULL, " \
	"\"EXTENT_TREE\" }, { 3ULL, \"CHUNK_TREE\" }, { 4ULL, \"DEV_TREE\" }, { 5ULL, " \
	"\"FS_TREE\" }, { 6ULL, \"ROOT_TREE_DIR\" }, { 7ULL, \"CSUM_TREE\" }, { -6ULL, " \
	"\"TREE_LOG\" }, { 8ULL, \"QUOTA_TREE\" }, { -8ULL, \"TREE_RELOC\" }, { 9ULL, " \
	"\"UUID_TREE\" }, { 10ULL, \"FREE_SPACE_TREE\" }, { 11ULL, " \
	"\"BLOCK_GROUP_TREE\" }, { -9ULL, \"DATA_RELOC_TREE\" }) : \"-\", " \
	"REC->ref_root, ((REC->ref_root >= -9ULL) || (REC->ref_root >= 1ULL && " \
	"REC->ref_root <= 8ULL)) ? __print_symbolic(REC->ref_root, { 1ULL, " \
	"\"ROOT_TREE\" }, { 2ULL, \"EXTENT_TREE\" }, { 3ULL, \"CHUNK_TREE\" }, { 4ULL, " \
	"\"DEV_TREE\" }, { 5ULL, \"FS_TREE\" }, { 6ULL, \"ROOT_TREE_DIR\" }, { 7ULL, " \
	"\"CSUM_TREE\" }, { -6ULL, \"TREE_LOG\" }, { 8ULL, \"QUOTA_TREE\" }, { -8ULL, " \
	"\"TREE_RELOC\" }, { 9ULL, \"UUID_TREE\" }, { 10ULL, \"FREE_SPACE_TREE\" }, { " \
	"11ULL, \"BLOCK_GROUP_TREE\" }, { -9ULL, \"DATA_RELOC_TREE\" }) : \"-\", " \
	"REC->owner, REC->offset, __print_symbolic(REC->type, { 176, " \
	"\"TREE_BLOCK_REF\" }, { 178, \"EXTENT_DATA_REF\" }, { 182, " \
	"\"SHARED_BLOCK_REF\" }, { 184, \"SHARED_DATA_REF\" }), REC->seq\n"

/* sched */
#define SCHED_SKIP_CPUSET_NUMA_6_18 \
	FORMAT("sched_skip_cpuset_numa", "356") \
	"\tfield:char comm[16];\toffset:8;\tsize:16;\tsigned:0;\n" \
	"\tfield:pid_t pid;\toffset:24;\tsize:4;\tsigned:1;\n" \
	"\tfield:pid_t tgid;\toffset:28;\tsize:4;\tsigned:1;\n" \
	"\tfield:pid_t ngid;\toffset:32;\tsize:4;\tsigned:1;\n" \
	"\tfield:unsigned long mem_allowed[16];\toffset:40;\tsize:128;\tsigned:0;\n" \
	"\n" \
	"print fmt: \"comm=%s pid=%d tgid=%d ngid=%d mem_nodes_allowed=%*pbl\", " \
	"REC->comm, REC->pid, REC->tgid, REC->ngid, (1 << 10), REC->mem_allowed\n"

/* kyber */
#define KYBER_LATENCY_6_18 \
	FORMAT("kyber_latency", "2124") \
	"\tfield:dev_t dev;\toffset:8;\tsize:4;\tsigned:0;\n" \
	"\tfield:char domain[16];\toffset:12;\tsize:16;\tsigned:0;\n" \
	"\tfield:char type[8];\toffset:28;\tsize:8;\tsigned:0;\n" \
	"\tfield:u8 percentile;\toffset:36;\tsize:1;\tsigned:0;\n" \
	"\tfield:u8 numerator;\toffset:37;\tsize:1;\tsigned:0;\n" \
	"\tfield:u8 denominator;\toffset:38;\tsize:1;\tsigned:0;\n" \
	"\tfield:unsigned int samples;\toffset:40;\tsize:4;\tsigned:0;\n" \
	"\n" \
	"print fmt: \"%d,%d %s %s p%u %u/%u samples=%u\", ((unsigned int) ((REC->dev) " \
	">> 20)), ((unsigned int) ((REC->dev) & ((1U << 20) - 1))), REC->domain, " \
	"REC->type, REC->percentile, REC->numerator, REC->denominator, REC->samples\n"

static const struct {
	const char *sys, *text;
} formats[] = {
	{ "sched", SCHED_SWITCH_5_10 },
	{ "sched", SCHED_WAKEUP_4_19 },
	{ "user_events", USER_EVENT_6_4 },
	{ "made_up", KINDS },
	{ "sched", SCHED_SWITCH_6_18 },
	{ "syscalls", SYS_ENTER_OPENAT_6_18 },
	{ "dma", DMA_MAP_SG_6_18 },
	{ "bridge", BR_MDB_FULL_6_18 },
	{ "bridge", BR_FDB_ADD_6_18 },
	{ "ras", NON_STANDARD_EVENT_6_18 },
	{ "ipi", IPI_SEND_CPUMASK_6_18 },
	{ "neigh", NEIGH_EVENT_SEND_DONE_6_18 },
	{ "kvm", KVM_EMULATE_INSN_6_18 },
	{ "net", NET_DEV_XMIT_6_18 },
	{ "btrfs", ADD_DELAYED_DATA_REF_6_18 },
	{ "sched", SCHED_SKIP_CPUSET_NUMA_6_18 },
	{ "kyber", KYBER_LATENCY_6_18 },
};
/* clang-format on */

#endif
