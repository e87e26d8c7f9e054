// SPDX-License-Identifier: MIT OR GPL-2.0-only
// A scheduler that forgets the threads called chase…: the kernel's watchdog must notice, and the agent say it. All others
// run on, since the kernel waits for whoever attaches a scheduler.
#include "schedext/maps.bpf.h"

enum { kForgotten = 99 };

SEC("struct_ops.s/init")
s32 BPF_PROG(stalls_init) {
    return scx_bpf_create_dsq(kForgotten, -1);
}

SEC("struct_ops/enqueue")
void BPF_PROG(stalls_enqueue, struct task_struct *p, u64 flags) {
    const bool is_chase = p->comm[0] == 'c' && p->comm[1] == 'h';
    scx_bpf_dsq_insert(p, is_chase ? kForgotten : SCX_DSQ_LOCAL, 5000000, flags);
}

SEC(".struct_ops.link")
struct sched_ext_ops tidemill_stalls = {
    .init = (void *)stalls_init,
    .enqueue = (void *)stalls_enqueue,
    .exit = (void *)tell_why_it_ended,
    .timeout_ms = 5000,
    .name = "tidemill_stalls",
};
