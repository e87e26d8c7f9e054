/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* What the scheduler in the kernel and the agent tell each other through maps. For C, as BPF has it, and for C++. */
#pragma once

#include <linux/types.h>

enum {
    kMaxKinds = 8,
    kMaxCpus = 256,
    kMaxThreads = 65536,
    kNameBytes = 16,     /* of a thread, as the kernel cuts it */
    kReasonBytes = 1024, /* of why the scheduler ended */
};

/* Map `machine`, one entry, written before the scheduler is attached. */
struct MachineEntry {
    __u32 cpus;                    /* possible ones */
    __u32 kinds;                   /* at most kMaxKinds */
    __u8 kind_of_cpu[kMaxCpus];    /* below `kinds` */
    __u32 first_cpu_of[kMaxKinds]; /* that is online */
};

/* Map `wishes`, thread id -> the kind that the thread is to be on. Of another thread of that id it is ignored. */
struct WishEntry {
    __u64 started_ns; /* as in AccountEntry */
    __u32 kind;
};

/* Map `threads`, thread id -> what it took since the scheduler took over; written by the scheduler alone. */
struct AccountEntry {
    __u64 started_ns;            /* after boot */
    __u64 on_kind_ns[kMaxKinds]; /* processor time */
    __u64 wanted_ns;             /* in which it ran or waited for a CPU */
    __u64 wants_since_ns;        /* what of that is not counted yet; 0: it sleeps */
    __u64 vruntime_ns;           /* by weight; counts within its kind's queue */
    __u64 seen_runtime_ns;       /* the kernel's count up to which on_kind_ns is right */
    __u32 weight;                /* 100 at nice 0 */
    __u32 kind;                  /* whose queue it is in */
    __u32 steerable;
    char process[kNameBytes];
    char thread[kNameBytes];
};

/* Map `ended`, one entry: why the kernel let the scheduler go. */
struct EndEntry {
    __u64 code;
    __u32 kind; /* 0: it has not */
    char reason[kReasonBytes];
    char message[kReasonBytes];
};
