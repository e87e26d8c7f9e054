// SPDX-License-Identifier: MIT OR GPL-2.0-only
// A scheduler that forgets every thread that is not the kernel's: the kernel's watchdog must notice, and the agent say it.
#include "schedext/maps.bpf.h"

enum { kForgotten = 99 };

SEC("struct_ops.s/init")
s32 BPF_PROG(stalls_init) {
    return scx_bpf_create_dsq(kForgotten, -1);
}

SEC("struct_ops/enqueue")
void BPF_PROG(stalls_enqueue, struct task_struct *p, u64 flags) {
    scx_bpf_dsq_insert(p, p->flags & PF_KTHREAD ? SCX_DSQ_LOCAL : kForgotten, 5000000, flags);
}

SEC(".struct_ops.link")
struct sched_ext_ops tidemill_stalls = {
    .init = (void *)stalls_init,
    .enqueue = (void *)stalls_enqueue,
    .exit = (void *)tell_why_it_ended,
    .timeout_ms = 5000,
    .name = "tidemill_stalls",
};
