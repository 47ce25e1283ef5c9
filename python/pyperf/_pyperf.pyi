# SPDX-License-Identifier: Apache-2.0
"""The C half of pyperf. tests/python/test_pyperf.py holds the names against the module."""
from types import TracebackType
from typing import Any, Dict, Iterator, List, Optional, Tuple, Type, TypeVar, Union, final

_T = TypeVar("_T")
_Read = Tuple[int, int, int, int, int]
_Count = Tuple[int, int, int, int, Optional[int], bool]
_File = Union[int, "_HasFileno"]

class _HasFileno:
    def fileno(self) -> int: ...

__version__: str

class Error(OSError):
    asked: str
    said: str
    remedy: str
    at: Optional[int]

class DeniedError(Error, PermissionError): ...
class NotFoundError(Error, FileNotFoundError): ...
class NoTaskError(Error, ProcessLookupError): ...

# A text that is set; its address when it is read.
class _Text:
    def __get__(self, attr: Any, owner: Any = ...) -> int: ...
    def __set__(self, attr: Any, value: Union[int, str, bytes]) -> None: ...

class perf_event_attr:
    type: int
    size: int
    config: int
    sample_period: int
    sample_freq: int
    sample_type: int
    read_format: int
    disabled: int
    inherit: int
    pinned: int
    exclusive: int
    exclude_user: int
    exclude_kernel: int
    exclude_hv: int
    exclude_idle: int
    mmap: int
    comm: int
    freq: int
    inherit_stat: int
    enable_on_exec: int
    task: int
    watermark: int
    precise_ip: int
    mmap_data: int
    sample_id_all: int
    exclude_host: int
    exclude_guest: int
    exclude_callchain_kernel: int
    exclude_callchain_user: int
    mmap2: int
    comm_exec: int
    use_clockid: int
    context_switch: int
    write_backward: int
    namespaces: int
    ksymbol: int
    bpf_event: int
    aux_output: int
    cgroup: int
    text_poke: int
    build_id: int
    inherit_thread: int
    remove_on_exec: int
    sigtrap: int
    defer_callchain: int
    defer_output: int
    wakeup_events: int
    wakeup_watermark: int
    bp_type: int
    bp_addr: int
    kprobe_func: _Text
    uprobe_path: _Text
    config1: int
    bp_len: int
    kprobe_addr: int
    probe_offset: int
    config2: int
    branch_sample_type: int
    sample_regs_user: int
    sample_stack_user: int
    clockid: int
    sample_regs_intr: int
    aux_watermark: int
    sample_max_stack: int
    aux_sample_size: int
    aux_action: int
    aux_start_paused: int
    aux_pause: int
    aux_resume: int
    sig_data: int
    config3: int
    config4: int
    def __init__(self, *,
                 type: int = ..., size: int = ..., config: int = ..., sample_period: int = ...,
                 sample_freq: int = ..., sample_type: int = ..., read_format: int = ...,
                 disabled: int = ..., inherit: int = ..., pinned: int = ..., exclusive: int = ...,
                 exclude_user: int = ..., exclude_kernel: int = ..., exclude_hv: int = ...,
                 exclude_idle: int = ..., mmap: int = ..., comm: int = ..., freq: int = ...,
                 inherit_stat: int = ..., enable_on_exec: int = ..., task: int = ...,
                 watermark: int = ..., precise_ip: int = ..., mmap_data: int = ...,
                 sample_id_all: int = ..., exclude_host: int = ..., exclude_guest: int = ...,
                 exclude_callchain_kernel: int = ..., exclude_callchain_user: int = ...,
                 mmap2: int = ..., comm_exec: int = ..., use_clockid: int = ...,
                 context_switch: int = ..., write_backward: int = ..., namespaces: int = ...,
                 ksymbol: int = ..., bpf_event: int = ..., aux_output: int = ...,
                 cgroup: int = ..., text_poke: int = ..., build_id: int = ...,
                 inherit_thread: int = ..., remove_on_exec: int = ..., sigtrap: int = ...,
                 defer_callchain: int = ..., defer_output: int = ..., wakeup_events: int = ...,
                 wakeup_watermark: int = ..., bp_type: int = ..., bp_addr: int = ...,
                 kprobe_func: Union[int, str, bytes] = ...,
                 uprobe_path: Union[int, str, bytes] = ..., config1: int = ..., bp_len: int = ...,
                 kprobe_addr: int = ..., probe_offset: int = ..., config2: int = ...,
                 branch_sample_type: int = ..., sample_regs_user: int = ...,
                 sample_stack_user: int = ..., clockid: int = ..., sample_regs_intr: int = ...,
                 aux_watermark: int = ..., sample_max_stack: int = ..., aux_sample_size: int = ...,
                 aux_action: int = ..., aux_start_paused: int = ..., aux_pause: int = ...,
                 aux_resume: int = ..., sig_data: int = ..., config3: int = ...,
                 config4: int = ...) -> None: ...
    def copy(self) -> "perf_event_attr": ...
    def __copy__(self) -> "perf_event_attr": ...
    def __deepcopy__(self, memo: Any) -> "perf_event_attr": ...
    def __bytes__(self) -> bytes: ...
    def asdict(self) -> Dict[str, int]: ...

class Record:
    type: int
    misc: int
    name: str
    event: str
    cpu_mode: str
    pid: int
    tid: int
    time: int
    id: int
    stream_id: int
    cpu: int
    def asdict(self) -> Dict[str, Any]: ...
    def __bytes__(self) -> bytes: ...

@final
class Sample(Record):
    id: int
    ip: int
    exact_ip: bool
    pid: int
    tid: int
    time: int
    addr: int
    stream_id: int
    cpu: int
    period: int
    read: Tuple[_Read, ...]
    callchain: Tuple[int, ...]
    raw: bytes
    branches: List[Dict[str, Any]]
    regs_user: Dict[str, int]
    stack: bytes
    weight: int
    weights: Tuple[int, int, int]
    data_src: int
    data_src_text: str
    transaction: int
    regs_intr: Dict[str, int]
    phys_addr: int
    cgroup: int
    data_page_size: int
    code_page_size: int
    aux: bytes

@final
class Lost(Record):
    lost: int

@final
class Comm(Record):
    pid: int
    tid: int
    comm: str
    exec: bool

@final
class Task(Record):
    pid: int
    tid: int
    ppid: int
    ptid: int
    time: int

@final
class Mmap(Record):
    pid: int
    tid: int
    addr: int
    len: int
    pgoff: int
    filename: str
    data: bool
    build_id: Optional[bytes]
    maj: int
    min: int
    ino: int
    ino_generation: int
    prot: int
    flags: int

@final
class Throttle(Record):
    time: int
    id: int
    stream_id: int

@final
class Read(Record):
    pid: int
    tid: int
    read: Tuple[_Read, ...]

@final
class Aux(Record):
    offset: int
    size: int
    flags: int

@final
class ItraceStart(Record):
    pid: int
    tid: int

@final
class Switch(Record):
    out: bool
    preempt: bool
    next_prev_pid: int
    next_prev_tid: int

@final
class Namespaces(Record):
    pid: int
    tid: int
    namespaces: Dict[str, Tuple[int, int]]

@final
class Ksymbol(Record):
    addr: int
    len: int
    ksym_type: int
    flags: int
    unregister: bool
    symbol: str

@final
class BpfEvent(Record):
    bpf_type: int
    flags: int
    prog_id: int
    tag: bytes

@final
class Cgroup(Record):
    cgroup: int
    path: str

@final
class TextPoke(Record):
    addr: int
    old_bytes: bytes
    new_bytes: bytes

@final
class AuxOutputHwId(Record):
    hw_id: int

@final
class CallchainDeferred(Record):
    cookie: int
    callchain: Tuple[int, ...]

# A plain Record is of a type that is unknown here. isinstance() tells them apart.
_AnyRecord = Union[Sample, Lost, Comm, Task, Mmap, Throttle, Read, Aux, ItraceStart, Switch,
                   Namespaces, Ksymbol, BpfEvent, Cgroup, TextPoke, AuxOutputHwId,
                   CallchainDeferred, Record]

class _Closing:
    def __enter__(self: _T) -> _T: ...
    def __exit__(self, kind: Optional[Type[BaseException]], value: Optional[BaseException],
                 trace: Optional[TracebackType]) -> None: ...
    @property
    def closed(self) -> bool: ...
    def close(self) -> None: ...

class _Event(_Closing):
    def __init__(self, attr: perf_event_attr, pid: int = ..., cpu: int = ..., *, cgroup: int = ...,
                 group: Optional["_Event"] = ..., label: Optional[str] = ...,
                 flags: int = ...) -> None: ...
    @property
    def id(self) -> int: ...
    @property
    def attr(self) -> perf_event_attr: ...
    @property
    def label(self) -> str: ...
    def _read(self) -> _Count: ...
    def fileno(self) -> int: ...
    def enable(self) -> None: ...
    def disable(self) -> None: ...
    def reset(self) -> None: ...
    def refresh(self, n: int) -> None: ...
    def set_period(self, period: int) -> None: ...
    def set_filter(self, text: str) -> None: ...
    def set_output(self, event: Optional["_Event"]) -> None: ...
    def set_bpf(self, fd: _File) -> None: ...
    def pause_output(self, pause: bool) -> None: ...
    def modify(self, attr: perf_event_attr) -> None: ...
    def signal(self, signo: int, tid: int = ...) -> None: ...

class _Group(_Closing):
    def __init__(self, event_class: Type[_Event],
                 members: Tuple[Tuple[perf_event_attr, Optional[str]], ...], pid: int = ...,
                 cpu: int = ..., *, cgroup: int = ..., flags: int = ...) -> None: ...
    def __len__(self) -> int: ...
    def __getitem__(self, index: int) -> _Event: ...
    def __iter__(self) -> Iterator[_Event]: ...
    def _read(self) -> Tuple[Tuple[str, _Count], ...]: ...
    def _end(self) -> Tuple[Tuple[str, _Count], ...]: ...
    def begin(self) -> None: ...
    def enable(self) -> None: ...
    def disable(self) -> None: ...
    def reset(self) -> None: ...
    def map_self(self) -> None: ...

class _Drain(Iterator[_AnyRecord]):
    def __next__(self) -> _AnyRecord: ...

class _Ring(_Closing):
    def __init__(self, events: Tuple[_Event, ...], pages: int = ..., *,
                 overwrite: bool = ..., aux_pages: int = ...,
                 aux_snapshot: bool = ...) -> None: ...
    def aux_read(self, most: int = ...) -> bytes: ...
    def _aux_chunk(self, offset: int, size: int) -> bytes: ...
    @property
    def aux_size(self) -> int: ...
    @property
    def ready(self) -> bool: ...
    @property
    def size(self) -> int: ...
    @property
    def damaged(self) -> int: ...
    @property
    def events(self) -> Tuple[_Event, ...]: ...
    def __iter__(self) -> _Drain: ...
    def wait(self, timeout: Optional[float] = ...) -> bool: ...
    def fileno(self) -> int: ...

def perf_event_open(attr: perf_event_attr, pid: int = ..., cpu: int = ..., group_fd: int = ...,
                    flags: int = ...) -> int: ...
def ioc(fd: _File, op: int, arg: Any = ...) -> Any: ...
def prctl(op: int) -> None: ...
def decode(data: bytes, attr: perf_event_attr) -> _AnyRecord: ...
def label(attr: perf_event_attr) -> str: ...
def pmus() -> List[str]: ...
def paranoid() -> int: ...
def max_stack() -> int: ...
def context_name(ip: int) -> Optional[str]: ...
def _parse(text: str) -> List[Tuple[Any, ...]]: ...
def _estimate(value: int, enabled: int, running: int, stale: bool) -> Tuple[float, float, bool]: ...
def _features() -> List[Tuple[Any, ...]]: ...
def _forked() -> None: ...

PERF_TYPE_HARDWARE: int
PERF_TYPE_SOFTWARE: int
PERF_TYPE_TRACEPOINT: int
PERF_TYPE_HW_CACHE: int
PERF_TYPE_RAW: int
PERF_TYPE_BREAKPOINT: int
PERF_TYPE_MAX: int
PERF_PMU_TYPE_SHIFT: int
PERF_HW_EVENT_MASK: int
PERF_COUNT_HW_CPU_CYCLES: int
PERF_COUNT_HW_INSTRUCTIONS: int
PERF_COUNT_HW_CACHE_REFERENCES: int
PERF_COUNT_HW_CACHE_MISSES: int
PERF_COUNT_HW_BRANCH_INSTRUCTIONS: int
PERF_COUNT_HW_BRANCH_MISSES: int
PERF_COUNT_HW_BUS_CYCLES: int
PERF_COUNT_HW_STALLED_CYCLES_FRONTEND: int
PERF_COUNT_HW_STALLED_CYCLES_BACKEND: int
PERF_COUNT_HW_REF_CPU_CYCLES: int
PERF_COUNT_HW_MAX: int
PERF_COUNT_HW_CACHE_L1D: int
PERF_COUNT_HW_CACHE_L1I: int
PERF_COUNT_HW_CACHE_LL: int
PERF_COUNT_HW_CACHE_DTLB: int
PERF_COUNT_HW_CACHE_ITLB: int
PERF_COUNT_HW_CACHE_BPU: int
PERF_COUNT_HW_CACHE_NODE: int
PERF_COUNT_HW_CACHE_MAX: int
PERF_COUNT_HW_CACHE_OP_READ: int
PERF_COUNT_HW_CACHE_OP_WRITE: int
PERF_COUNT_HW_CACHE_OP_PREFETCH: int
PERF_COUNT_HW_CACHE_OP_MAX: int
PERF_COUNT_HW_CACHE_RESULT_ACCESS: int
PERF_COUNT_HW_CACHE_RESULT_MISS: int
PERF_COUNT_HW_CACHE_RESULT_MAX: int
PERF_COUNT_SW_CPU_CLOCK: int
PERF_COUNT_SW_TASK_CLOCK: int
PERF_COUNT_SW_PAGE_FAULTS: int
PERF_COUNT_SW_CONTEXT_SWITCHES: int
PERF_COUNT_SW_CPU_MIGRATIONS: int
PERF_COUNT_SW_PAGE_FAULTS_MIN: int
PERF_COUNT_SW_PAGE_FAULTS_MAJ: int
PERF_COUNT_SW_ALIGNMENT_FAULTS: int
PERF_COUNT_SW_EMULATION_FAULTS: int
PERF_COUNT_SW_DUMMY: int
PERF_COUNT_SW_BPF_OUTPUT: int
PERF_COUNT_SW_CGROUP_SWITCHES: int
PERF_COUNT_SW_MAX: int
PERF_SAMPLE_IP: int
PERF_SAMPLE_TID: int
PERF_SAMPLE_TIME: int
PERF_SAMPLE_ADDR: int
PERF_SAMPLE_READ: int
PERF_SAMPLE_CALLCHAIN: int
PERF_SAMPLE_ID: int
PERF_SAMPLE_CPU: int
PERF_SAMPLE_PERIOD: int
PERF_SAMPLE_STREAM_ID: int
PERF_SAMPLE_RAW: int
PERF_SAMPLE_BRANCH_STACK: int
PERF_SAMPLE_REGS_USER: int
PERF_SAMPLE_STACK_USER: int
PERF_SAMPLE_WEIGHT: int
PERF_SAMPLE_DATA_SRC: int
PERF_SAMPLE_IDENTIFIER: int
PERF_SAMPLE_TRANSACTION: int
PERF_SAMPLE_REGS_INTR: int
PERF_SAMPLE_PHYS_ADDR: int
PERF_SAMPLE_AUX: int
PERF_SAMPLE_CGROUP: int
PERF_SAMPLE_DATA_PAGE_SIZE: int
PERF_SAMPLE_CODE_PAGE_SIZE: int
PERF_SAMPLE_WEIGHT_STRUCT: int
PERF_SAMPLE_MAX: int
PERF_SAMPLE_WEIGHT_TYPE: int
PERF_SAMPLE_BRANCH_USER_SHIFT: int
PERF_SAMPLE_BRANCH_KERNEL_SHIFT: int
PERF_SAMPLE_BRANCH_HV_SHIFT: int
PERF_SAMPLE_BRANCH_ANY_SHIFT: int
PERF_SAMPLE_BRANCH_ANY_CALL_SHIFT: int
PERF_SAMPLE_BRANCH_ANY_RETURN_SHIFT: int
PERF_SAMPLE_BRANCH_IND_CALL_SHIFT: int
PERF_SAMPLE_BRANCH_ABORT_TX_SHIFT: int
PERF_SAMPLE_BRANCH_IN_TX_SHIFT: int
PERF_SAMPLE_BRANCH_NO_TX_SHIFT: int
PERF_SAMPLE_BRANCH_COND_SHIFT: int
PERF_SAMPLE_BRANCH_CALL_STACK_SHIFT: int
PERF_SAMPLE_BRANCH_IND_JUMP_SHIFT: int
PERF_SAMPLE_BRANCH_CALL_SHIFT: int
PERF_SAMPLE_BRANCH_NO_FLAGS_SHIFT: int
PERF_SAMPLE_BRANCH_NO_CYCLES_SHIFT: int
PERF_SAMPLE_BRANCH_TYPE_SAVE_SHIFT: int
PERF_SAMPLE_BRANCH_HW_INDEX_SHIFT: int
PERF_SAMPLE_BRANCH_PRIV_SAVE_SHIFT: int
PERF_SAMPLE_BRANCH_COUNTERS_SHIFT: int
PERF_SAMPLE_BRANCH_MAX_SHIFT: int
PERF_SAMPLE_BRANCH_USER: int
PERF_SAMPLE_BRANCH_KERNEL: int
PERF_SAMPLE_BRANCH_HV: int
PERF_SAMPLE_BRANCH_ANY: int
PERF_SAMPLE_BRANCH_ANY_CALL: int
PERF_SAMPLE_BRANCH_ANY_RETURN: int
PERF_SAMPLE_BRANCH_IND_CALL: int
PERF_SAMPLE_BRANCH_ABORT_TX: int
PERF_SAMPLE_BRANCH_IN_TX: int
PERF_SAMPLE_BRANCH_NO_TX: int
PERF_SAMPLE_BRANCH_COND: int
PERF_SAMPLE_BRANCH_CALL_STACK: int
PERF_SAMPLE_BRANCH_IND_JUMP: int
PERF_SAMPLE_BRANCH_CALL: int
PERF_SAMPLE_BRANCH_NO_FLAGS: int
PERF_SAMPLE_BRANCH_NO_CYCLES: int
PERF_SAMPLE_BRANCH_TYPE_SAVE: int
PERF_SAMPLE_BRANCH_HW_INDEX: int
PERF_SAMPLE_BRANCH_PRIV_SAVE: int
PERF_SAMPLE_BRANCH_COUNTERS: int
PERF_SAMPLE_BRANCH_MAX: int
PERF_BR_UNKNOWN: int
PERF_BR_COND: int
PERF_BR_UNCOND: int
PERF_BR_IND: int
PERF_BR_CALL: int
PERF_BR_IND_CALL: int
PERF_BR_RET: int
PERF_BR_SYSCALL: int
PERF_BR_SYSRET: int
PERF_BR_COND_CALL: int
PERF_BR_COND_RET: int
PERF_BR_ERET: int
PERF_BR_IRQ: int
PERF_BR_SERROR: int
PERF_BR_NO_TX: int
PERF_BR_EXTEND_ABI: int
PERF_BR_MAX: int
PERF_BR_SPEC_NA: int
PERF_BR_SPEC_WRONG_PATH: int
PERF_BR_NON_SPEC_CORRECT_PATH: int
PERF_BR_SPEC_CORRECT_PATH: int
PERF_BR_SPEC_MAX: int
PERF_BR_NEW_FAULT_ALGN: int
PERF_BR_NEW_FAULT_DATA: int
PERF_BR_NEW_FAULT_INST: int
PERF_BR_NEW_ARCH_1: int
PERF_BR_NEW_ARCH_2: int
PERF_BR_NEW_ARCH_3: int
PERF_BR_NEW_ARCH_4: int
PERF_BR_NEW_ARCH_5: int
PERF_BR_NEW_MAX: int
PERF_BR_PRIV_UNKNOWN: int
PERF_BR_PRIV_USER: int
PERF_BR_PRIV_KERNEL: int
PERF_BR_PRIV_HV: int
PERF_BR_ARM64_FIQ: int
PERF_BR_ARM64_DEBUG_HALT: int
PERF_BR_ARM64_DEBUG_EXIT: int
PERF_BR_ARM64_DEBUG_INST: int
PERF_BR_ARM64_DEBUG_DATA: int
PERF_SAMPLE_BRANCH_PLM_ALL: int
PERF_SAMPLE_REGS_ABI_NONE: int
PERF_SAMPLE_REGS_ABI_32: int
PERF_SAMPLE_REGS_ABI_64: int
PERF_TXN_ELISION: int
PERF_TXN_TRANSACTION: int
PERF_TXN_SYNC: int
PERF_TXN_ASYNC: int
PERF_TXN_RETRY: int
PERF_TXN_CONFLICT: int
PERF_TXN_CAPACITY_WRITE: int
PERF_TXN_CAPACITY_READ: int
PERF_TXN_MAX: int
PERF_TXN_ABORT_MASK: int
PERF_TXN_ABORT_SHIFT: int
PERF_FORMAT_TOTAL_TIME_ENABLED: int
PERF_FORMAT_TOTAL_TIME_RUNNING: int
PERF_FORMAT_ID: int
PERF_FORMAT_GROUP: int
PERF_FORMAT_LOST: int
PERF_FORMAT_MAX: int
PERF_ATTR_SIZE_VER0: int
PERF_ATTR_SIZE_VER1: int
PERF_ATTR_SIZE_VER2: int
PERF_ATTR_SIZE_VER3: int
PERF_ATTR_SIZE_VER4: int
PERF_ATTR_SIZE_VER5: int
PERF_ATTR_SIZE_VER6: int
PERF_ATTR_SIZE_VER7: int
PERF_ATTR_SIZE_VER8: int
PERF_ATTR_SIZE_VER9: int
PERF_EVENT_IOC_ENABLE: int
PERF_EVENT_IOC_DISABLE: int
PERF_EVENT_IOC_REFRESH: int
PERF_EVENT_IOC_RESET: int
PERF_EVENT_IOC_PERIOD: int
PERF_EVENT_IOC_SET_OUTPUT: int
PERF_EVENT_IOC_SET_FILTER: int
PERF_EVENT_IOC_ID: int
PERF_EVENT_IOC_SET_BPF: int
PERF_EVENT_IOC_PAUSE_OUTPUT: int
PERF_EVENT_IOC_QUERY_BPF: int
PERF_EVENT_IOC_MODIFY_ATTRIBUTES: int
PERF_IOC_FLAG_GROUP: int
PERF_RECORD_MISC_CPUMODE_MASK: int
PERF_RECORD_MISC_CPUMODE_UNKNOWN: int
PERF_RECORD_MISC_KERNEL: int
PERF_RECORD_MISC_USER: int
PERF_RECORD_MISC_HYPERVISOR: int
PERF_RECORD_MISC_GUEST_KERNEL: int
PERF_RECORD_MISC_GUEST_USER: int
PERF_RECORD_MISC_PROC_MAP_PARSE_TIMEOUT: int
PERF_RECORD_MISC_MMAP_DATA: int
PERF_RECORD_MISC_COMM_EXEC: int
PERF_RECORD_MISC_FORK_EXEC: int
PERF_RECORD_MISC_SWITCH_OUT: int
PERF_RECORD_MISC_EXACT_IP: int
PERF_RECORD_MISC_SWITCH_OUT_PREEMPT: int
PERF_RECORD_MISC_MMAP_BUILD_ID: int
PERF_RECORD_MISC_EXT_RESERVED: int
PERF_RECORD_MMAP: int
PERF_RECORD_LOST: int
PERF_RECORD_COMM: int
PERF_RECORD_EXIT: int
PERF_RECORD_THROTTLE: int
PERF_RECORD_UNTHROTTLE: int
PERF_RECORD_FORK: int
PERF_RECORD_READ: int
PERF_RECORD_SAMPLE: int
PERF_RECORD_MMAP2: int
PERF_RECORD_AUX: int
PERF_RECORD_ITRACE_START: int
PERF_RECORD_LOST_SAMPLES: int
PERF_RECORD_SWITCH: int
PERF_RECORD_SWITCH_CPU_WIDE: int
PERF_RECORD_NAMESPACES: int
PERF_RECORD_KSYMBOL: int
PERF_RECORD_BPF_EVENT: int
PERF_RECORD_CGROUP: int
PERF_RECORD_TEXT_POKE: int
PERF_RECORD_AUX_OUTPUT_HW_ID: int
PERF_RECORD_CALLCHAIN_DEFERRED: int
PERF_RECORD_MAX: int
PERF_RECORD_KSYMBOL_TYPE_UNKNOWN: int
PERF_RECORD_KSYMBOL_TYPE_BPF: int
PERF_RECORD_KSYMBOL_TYPE_OOL: int
PERF_RECORD_KSYMBOL_TYPE_MAX: int
PERF_RECORD_KSYMBOL_FLAGS_UNREGISTER: int
PERF_BPF_EVENT_UNKNOWN: int
PERF_BPF_EVENT_PROG_LOAD: int
PERF_BPF_EVENT_PROG_UNLOAD: int
PERF_BPF_EVENT_MAX: int
PERF_MAX_STACK_DEPTH: int
PERF_MAX_CONTEXTS_PER_STACK: int
PERF_CONTEXT_HV: int
PERF_CONTEXT_KERNEL: int
PERF_CONTEXT_USER: int
PERF_CONTEXT_USER_DEFERRED: int
PERF_CONTEXT_GUEST: int
PERF_CONTEXT_GUEST_KERNEL: int
PERF_CONTEXT_GUEST_USER: int
PERF_CONTEXT_MAX: int
PERF_AUX_FLAG_TRUNCATED: int
PERF_AUX_FLAG_OVERWRITE: int
PERF_AUX_FLAG_PARTIAL: int
PERF_AUX_FLAG_COLLISION: int
PERF_AUX_FLAG_PMU_FORMAT_TYPE_MASK: int
PERF_AUX_FLAG_CORESIGHT_FORMAT_CORESIGHT: int
PERF_AUX_FLAG_CORESIGHT_FORMAT_RAW: int
PERF_FLAG_FD_NO_GROUP: int
PERF_FLAG_FD_OUTPUT: int
PERF_FLAG_PID_CGROUP: int
PERF_FLAG_FD_CLOEXEC: int
PERF_MEM_OP_NA: int
PERF_MEM_OP_LOAD: int
PERF_MEM_OP_STORE: int
PERF_MEM_OP_PFETCH: int
PERF_MEM_OP_EXEC: int
PERF_MEM_OP_SHIFT: int
PERF_MEM_LVL_NA: int
PERF_MEM_LVL_HIT: int
PERF_MEM_LVL_MISS: int
PERF_MEM_LVL_L1: int
PERF_MEM_LVL_LFB: int
PERF_MEM_LVL_L2: int
PERF_MEM_LVL_L3: int
PERF_MEM_LVL_LOC_RAM: int
PERF_MEM_LVL_REM_RAM1: int
PERF_MEM_LVL_REM_RAM2: int
PERF_MEM_LVL_REM_CCE1: int
PERF_MEM_LVL_REM_CCE2: int
PERF_MEM_LVL_IO: int
PERF_MEM_LVL_UNC: int
PERF_MEM_LVL_SHIFT: int
PERF_MEM_REMOTE_REMOTE: int
PERF_MEM_REMOTE_SHIFT: int
PERF_MEM_LVLNUM_L1: int
PERF_MEM_LVLNUM_L2: int
PERF_MEM_LVLNUM_L3: int
PERF_MEM_LVLNUM_L4: int
PERF_MEM_LVLNUM_L2_MHB: int
PERF_MEM_LVLNUM_MSC: int
PERF_MEM_LVLNUM_L0: int
PERF_MEM_LVLNUM_UNC: int
PERF_MEM_LVLNUM_CXL: int
PERF_MEM_LVLNUM_IO: int
PERF_MEM_LVLNUM_ANY_CACHE: int
PERF_MEM_LVLNUM_LFB: int
PERF_MEM_LVLNUM_RAM: int
PERF_MEM_LVLNUM_PMEM: int
PERF_MEM_LVLNUM_NA: int
PERF_MEM_LVLNUM_SHIFT: int
PERF_MEM_SNOOP_NA: int
PERF_MEM_SNOOP_NONE: int
PERF_MEM_SNOOP_HIT: int
PERF_MEM_SNOOP_MISS: int
PERF_MEM_SNOOP_HITM: int
PERF_MEM_SNOOP_SHIFT: int
PERF_MEM_SNOOPX_FWD: int
PERF_MEM_SNOOPX_PEER: int
PERF_MEM_SNOOPX_SHIFT: int
PERF_MEM_LOCK_NA: int
PERF_MEM_LOCK_LOCKED: int
PERF_MEM_LOCK_SHIFT: int
PERF_MEM_TLB_NA: int
PERF_MEM_TLB_HIT: int
PERF_MEM_TLB_MISS: int
PERF_MEM_TLB_L1: int
PERF_MEM_TLB_L2: int
PERF_MEM_TLB_WK: int
PERF_MEM_TLB_OS: int
PERF_MEM_TLB_SHIFT: int
PERF_MEM_BLK_NA: int
PERF_MEM_BLK_DATA: int
PERF_MEM_BLK_ADDR: int
PERF_MEM_BLK_SHIFT: int
PERF_MEM_HOPS_0: int
PERF_MEM_HOPS_1: int
PERF_MEM_HOPS_2: int
PERF_MEM_HOPS_3: int
PERF_MEM_HOPS_SHIFT: int
PERF_BRANCH_ENTRY_INFO_BITS_MAX: int
PR_TASK_PERF_EVENTS_DISABLE: int
PR_TASK_PERF_EVENTS_ENABLE: int
HW_BREAKPOINT_EMPTY: int
HW_BREAKPOINT_R: int
HW_BREAKPOINT_W: int
HW_BREAKPOINT_RW: int
HW_BREAKPOINT_X: int
HW_BREAKPOINT_LEN_1: int
HW_BREAKPOINT_LEN_2: int
HW_BREAKPOINT_LEN_4: int
HW_BREAKPOINT_LEN_8: int
