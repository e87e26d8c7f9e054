/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* What the scheduler in the kernel and the agent tell each other through maps. Included by C for BPF and by C++. */
#pragma once

#include <linux/types.h>

enum {
    kMaxKinds = 8,
    kMaxCpus = 256,
    kMaxThreads = 65536,
    kNameBytes = 16,     /* of a thread, as the kernel cuts it */
    kReasonBytes = 1024, /* of why the scheduler ended */
};

/* Map `machine`, one entry, written before the scheduler is attached: what its CPUs are. */
struct Machine {
    __u32 cpus;                   /* possible ones */
    __u32 kinds;                  /* at most kMaxKinds */
    __u8 kind_of_cpu[kMaxCpus];   /* below `kinds` */
    __u32 first_cpu_of[kMaxKinds]; /* one that is online */
};

/* Map `wishes`, thread id -> where the agent wants the thread. Of another thread that had the same id it is ignored. */
struct Wish {
    __u64 started_ns; /* the thread's start, as in ThreadAccount */
    __u32 kind;
};

/* Map `threads`, thread id -> what the thread took; written by the scheduler alone. */
struct ThreadAccount {
    __u64 started_ns;            /* after boot */
    __u64 on_kind_ns[kMaxKinds]; /* processor time */
    __u64 vruntime_ns;           /* by weight; counts within its kind's queue */
    __u64 seen_runtime_ns;       /* the kernel's count up to which the above is right */
    __u32 process;               /* 0: the kernel's */
    __u32 kind;                  /* whose queue it is in */
    char name[kNameBytes];
};

/* Map `ended`, one entry: why the kernel let the scheduler go. */
struct Ended {
    __u64 code;
    __u32 kind; /* 0: it has not */
    char reason[kReasonBytes];
    char message[kReasonBytes];
};
