/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* What the scheduler uses of the kernel's types and functions. The loader finds every member by its name in the running
 * kernel's own type information, so these structures name no more than is read, in any order. */
#pragma once

#include <linux/bpf.h>
#include <stdbool.h>

#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

typedef __u8 u8;
typedef __u32 u32;
typedef __s32 s32;
typedef __u64 u64;
typedef __s64 s64;

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct sched_entity {
    u64 sum_exec_runtime;
};

struct sched_ext_entity {
    u32 flags;
    u32 weight;
    u64 dsq_vtime;
};

struct cpumask;

struct task_struct {
    int pid;
    unsigned int flags;
    int nr_cpus_allowed;
    u64 start_boottime;
    struct sched_entity se;
    struct sched_ext_entity scx;
    struct task_struct *group_leader;
    char comm[16];
};

struct scx_init_task_args;
struct scx_exit_task_args;

enum scx_exit_kind { SCX_EXIT_NONE };

struct scx_exit_info {
    enum scx_exit_kind kind;
    s64 exit_code;
    const char *reason;
    char *msg;
};

#pragma clang attribute pop

struct sched_ext_ops {
    s32 (*select_cpu)(struct task_struct *, s32, u64);
    void (*enqueue)(struct task_struct *, u64);
    void (*dispatch)(s32, struct task_struct *);
    void (*runnable)(struct task_struct *, u64);
    void (*quiescent)(struct task_struct *, u64);
    void (*tick)(struct task_struct *);
    void (*running)(struct task_struct *);
    void (*stopping)(struct task_struct *, bool);
    s32 (*init_task)(struct task_struct *, struct scx_init_task_args *);
    void (*exit_task)(struct task_struct *, struct scx_exit_task_args *);
    s32 (*init)(void);
    void (*exit)(struct scx_exit_info *);
    u64 flags;
    u32 timeout_ms;
    char name[128];
};

/* An iterator over numbers, as bpf_for() makes it. */
struct bpf_iter_num {
    u64 opaque[1];
} __attribute__((aligned(8)));

/* And one over the threads that wait in a queue. */
struct bpf_iter_scx_dsq {
    u64 opaque[6];
} __attribute__((aligned(8)));

enum {
    PF_KTHREAD = 0x00200000,
    SCX_TASK_QUEUED = 1,
    SCX_KICK_IDLE = 1,
    SCX_OPS_ENQ_LAST = 2,
};
#define SCX_ENQ_LAST (1ULL << 41)
#define SCX_DSQ_LOCAL 0x8000000000000002ULL

extern s32 scx_bpf_create_dsq(u64 queue, s32 node) __ksym;
extern s32 scx_bpf_dsq_nr_queued(u64 queue) __ksym;
extern bool scx_bpf_dsq_move_to_local(u64 queue) __ksym;
extern void scx_bpf_dsq_insert(struct task_struct *p, u64 queue, u64 slice_ns, u64 flags) __ksym;
extern void scx_bpf_dsq_insert_vtime(struct task_struct *p, u64 queue, u64 slice_ns, u64 vruntime_ns, u64 flags) __ksym;
extern s32 scx_bpf_select_cpu_dfl(struct task_struct *p, s32 previous, u64 flags, bool *is_idle) __ksym;
extern int bpf_iter_scx_dsq_new(struct bpf_iter_scx_dsq *iterator, u64 queue, u64 flags) __ksym;
extern struct task_struct *bpf_iter_scx_dsq_next(struct bpf_iter_scx_dsq *iterator) __ksym;
extern void bpf_iter_scx_dsq_destroy(struct bpf_iter_scx_dsq *iterator) __ksym;
extern bool scx_bpf_task_set_slice(struct task_struct *p, u64 slice_ns) __ksym;
extern bool scx_bpf_test_and_clear_cpu_idle(s32 cpu) __ksym;
extern void scx_bpf_kick_cpu(s32 cpu, u64 flags) __ksym;
extern s32 scx_bpf_task_cpu(const struct task_struct *p) __ksym;
