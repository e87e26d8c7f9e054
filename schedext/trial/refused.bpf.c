// SPDX-License-Identifier: MIT OR GPL-2.0-only
// A scheduler that the kernel's verifier must refuse, since it uses an entry that may not be there.
#include "schedext/maps.bpf.h"

SEC("struct_ops/enqueue")
void BPF_PROG(refused_enqueue, struct task_struct *p, u64 flags) {
    u32 thread = p->pid;
    struct AccountEntry *account = bpf_map_lookup_elem(&threads, &thread);
    account->wanted_ns = 0;
}

SEC(".struct_ops.link")
struct sched_ext_ops tidemill_refused = {
    .enqueue = (void *)refused_enqueue,
    .exit = (void *)tell_why_it_ended,
    .name = "tidemill_refused",
};
