// SPDX-License-Identifier: MIT OR GPL-2.0-only
// A scheduler for CPUs of several kinds that decides nothing about kinds: each thread has a kind, which the agent in user
// space writes, and each kind has a queue in order of vruntime. A CPU takes from its kind's queue, and from another one
// only when its own is empty and more than one thread waits there. A thread without a wish stays with the kind that it
// is on.
#include "schedext/maps.bpf.h"

static const u64 kSliceNs = 4000000;

// The vruntime that each kind's queue has come to. Racy updates may set it back by a slice, which costs nobody more.
static u64 queue_clock_ns[kMaxKinds];

static const struct MachineEntry *the_machine(void) {
    u32 first = 0;
    return bpf_map_lookup_elem(&machine, &first);
}

static struct AccountEntry *account_of(struct task_struct *p) {
    u32 thread = p->pid;
    return bpf_map_lookup_elem(&threads, &thread);
}

static u32 kind_of_cpu(const struct MachineEntry *m, s32 cpu) {
    return m->kind_of_cpu[(u32)cpu % kMaxCpus] % kMaxKinds;
}

// The kernel's threads, and those whose affinity somebody has narrowed, are nobody else's to steer.
static bool steerable(const struct MachineEntry *m, const struct task_struct *p) {
    return !(p->flags & PF_KTHREAD) && p->nr_cpus_allowed >= m->cpus;
}

static const struct WishEntry *wish_of(const struct MachineEntry *m, struct task_struct *p) {
    u32 thread = p->pid;
    const struct WishEntry *wish = bpf_map_lookup_elem(&wishes, &thread);
    if (!wish || wish->started_ns != p->start_boottime || wish->kind >= m->kinds || !steerable(m, p))
        return 0;
    return wish;
}

static u32 kind_wanted(const struct MachineEntry *m, struct task_struct *p) {
    const struct WishEntry *wish = wish_of(m, p);
    return wish ? wish->kind % kMaxKinds : kind_of_cpu(m, scx_bpf_task_cpu(p));
}

static const u32 kAnyKind = kMaxKinds;

// An idle CPU of a kind, no longer marked as idle, or -1.
static s32 claim_idle(const struct MachineEntry *m, u32 kind) {
    s32 cpu;
    bpf_for(cpu, 0, m->cpus) {
        if ((kind == kAnyKind || kind_of_cpu(m, cpu) == kind) && scx_bpf_test_and_clear_cpu_idle(cpu))
            return cpu;
    }
    return -1;
}

// Of a kind, and where the thread was if that will do: without an idle one, the thread waits in the kind's queue, whose
// CPUs look there at the end of a slice.
static s32 select_of_kind(const struct MachineEntry *m, u32 kind, s32 previous, bool *idle) {
    if (kind_of_cpu(m, previous) == kind && scx_bpf_test_and_clear_cpu_idle(previous)) {
        *idle = true;
        return previous;
    }
    s32 cpu = claim_idle(m, kind);
    *idle = cpu >= 0;
    if (cpu >= 0)
        return cpu;
    return kind_of_cpu(m, previous) == kind ? previous : m->first_cpu_of[kind % kMaxKinds];
}

// Comes into a kind's queue where that stands; one that slept there has at most a slice of credit.
static void join(struct AccountEntry *account, u32 kind) {
    const u64 clock_ns = queue_clock_ns[kind % kMaxKinds];
    if (account->kind != kind)
        account->vruntime_ns = clock_ns;
    else if (account->vruntime_ns + kSliceNs < clock_ns)
        account->vruntime_ns = clock_ns - kSliceNs;
    account->kind = kind;
}

SEC("struct_ops/select_cpu")
s32 BPF_PROG(kinds_select_cpu, struct task_struct *p, s32 previous, u64 flags) {
    const struct MachineEntry *m = the_machine();
    bool idle = false;
    if (!m)
        return previous;
    const struct WishEntry *wish = wish_of(m, p);
    const s32 cpu = wish ? select_of_kind(m, wish->kind, previous, &idle)
                         : scx_bpf_select_cpu_dfl(p, previous, flags, &idle);
    struct AccountEntry *account = account_of(p);
    if (idle && account) {
        join(account, kind_of_cpu(m, cpu));
        scx_bpf_dsq_insert(p, SCX_DSQ_LOCAL, kSliceNs, 0);
    }
    return cpu;
}

static void kick_if_claimed(s32 cpu) {
    if (cpu >= 0)
        scx_bpf_kick_cpu(cpu, SCX_KICK_IDLE);
}

// Somebody must look into the queue that has grown: the CPU where the thread is, or one of its kind; an idle one of the
// kind; and where two wait, an idle one that may steal. A CPU that has just looked may not be idle yet: one that comes
// by of itself need not be told, the others must.
static void tell_cpus(const struct MachineEntry *m, s32 here, u32 kind, u64 flags) {
    const bool is_here = kind_of_cpu(m, here) == kind;
    const bool comes_by = is_here && !(flags & SCX_ENQ_LAST);
    scx_bpf_kick_cpu(is_here ? here : m->first_cpu_of[kind % kMaxKinds], comes_by ? SCX_KICK_IDLE : 0);
    kick_if_claimed(claim_idle(m, kind));
    if (scx_bpf_dsq_nr_queued(kind) > 1)
        kick_if_claimed(claim_idle(m, kAnyKind));
}

SEC("struct_ops/enqueue")
void BPF_PROG(kinds_enqueue, struct task_struct *p, u64 flags) {
    const struct MachineEntry *m = the_machine();
    struct AccountEntry *account = account_of(p);
    if (!m || !account || ((p->flags & PF_KTHREAD) && p->nr_cpus_allowed == 1)) {
        scx_bpf_dsq_insert(p, SCX_DSQ_LOCAL, kSliceNs, flags);
        return;
    }
    const u32 kind = kind_wanted(m, p);
    join(account, kind);
    scx_bpf_dsq_insert_vtime(p, kind, kSliceNs, account->vruntime_ns, flags);
    tell_cpus(m, scx_bpf_task_cpu(p), kind, flags);
}

// What a thread wanted up to now, and from when on it wants more; 0: it sleeps.
static void count_wanted(struct AccountEntry *account, u64 now_ns, u64 since_ns) {
    if (account->wants_since_ns)
        account->wanted_ns += now_ns - account->wants_since_ns;
    account->wants_since_ns = since_ns;
}

static void charge(struct task_struct *p) {
    const struct MachineEntry *m = the_machine();
    struct AccountEntry *account = account_of(p);
    if (!m || !account)
        return;
    const u64 now_ns = bpf_ktime_get_ns();
    const u64 ran_ns = p->se.sum_exec_runtime - account->seen_runtime_ns;
    account->weight = p->scx.weight ? p->scx.weight : 1;
    account->seen_runtime_ns = p->se.sum_exec_runtime;
    account->on_kind_ns[kind_of_cpu(m, scx_bpf_task_cpu(p))] += ran_ns;
    account->vruntime_ns += ran_ns * 100 / account->weight;
    account->steerable = steerable(m, p);
    bpf_probe_read_kernel_str(account->process, kNameBytes, p->group_leader->comm);
    bpf_probe_read_kernel_str(account->thread, kNameBytes, p->comm);
    count_wanted(account, now_ns, now_ns);
}

static bool is_before_all_in(u32 kind, const struct AccountEntry *account) {
    struct task_struct *first;
    bpf_for_each(scx_dsq, first, kind, 0) {
        return account->vruntime_ns < first->scx.dsq_vtime;
    }
    return true;
}

// Whether the thread that has the CPU of that kind is to keep it for another slice.
static bool goes_on(const struct MachineEntry *m, struct task_struct *p, u32 kind) {
    if (!p || !(p->scx.flags & SCX_TASK_QUEUED) || kind_wanted(m, p) != kind)
        return false;
    charge(p);
    const struct AccountEntry *account = account_of(p);
    return account && is_before_all_in(kind, account);
}

// A thread that was stolen goes back unless its kind has too many again.
SEC("struct_ops/dispatch")
void BPF_PROG(kinds_dispatch, s32 cpu, struct task_struct *previous) {
    const struct MachineEntry *m = the_machine();
    u32 other;
    if (!m)
        return;
    const u32 kind = kind_of_cpu(m, cpu);
    if (goes_on(m, previous, kind)) {
        scx_bpf_task_set_slice(previous, kSliceNs);
        return;
    }
    if (scx_bpf_dsq_move_to_local(kind))
        return;
    bpf_for(other, 0, m->kinds) {
        if (other != kind && scx_bpf_dsq_nr_queued(other) > 1 && scx_bpf_dsq_move_to_local(other))
            return;
    }
}

SEC("struct_ops/running")
void BPF_PROG(kinds_running, struct task_struct *p) {
    struct AccountEntry *account = account_of(p);
    if (!account)
        return;
    u64 *clock_ns = &queue_clock_ns[account->kind % kMaxKinds];
    account->started_ns = p->start_boottime; // not known yet when the account is made
    account->seen_runtime_ns = p->se.sum_exec_runtime;
    if (*clock_ns < account->vruntime_ns)
        *clock_ns = account->vruntime_ns;
}

SEC("struct_ops/runnable")
void BPF_PROG(kinds_runnable, struct task_struct *p, u64 flags) {
    struct AccountEntry *account = account_of(p);
    if (account)
        count_wanted(account, bpf_ktime_get_ns(), bpf_ktime_get_ns());
}

SEC("struct_ops/quiescent")
void BPF_PROG(kinds_quiescent, struct task_struct *p, u64 flags) {
    struct AccountEntry *account = account_of(p);
    if (account)
        count_wanted(account, bpf_ktime_get_ns(), 0);
}

// A thread that has its CPU alone stops for nobody; its time is to be known all the same.
SEC("struct_ops/tick")
void BPF_PROG(kinds_tick, struct task_struct *p) {
    charge(p);
}

SEC("struct_ops/stopping")
void BPF_PROG(kinds_stopping, struct task_struct *p, bool runnable) {
    charge(p);
}

// Without room for an account the thread runs all the same, where it is, and nobody steers it.
SEC("struct_ops/init_task")
s32 BPF_PROG(kinds_init_task, struct task_struct *p, struct scx_init_task_args *args) {
    u32 thread = p->pid;
    struct AccountEntry account = {.kind = kMaxKinds};
    bpf_map_update_elem(&threads, &thread, &account, BPF_ANY);
    return 0;
}

SEC("struct_ops/exit_task")
void BPF_PROG(kinds_exit_task, struct task_struct *p, struct scx_exit_task_args *args) {
    u32 thread = p->pid;
    bpf_map_delete_elem(&threads, &thread);
    bpf_map_delete_elem(&wishes, &thread);
}

SEC("struct_ops.s/init")
s32 BPF_PROG(kinds_init) {
    const struct MachineEntry *m = the_machine();
    u32 kind;
    if (!m)
        return -1;
    bpf_for(kind, 0, m->kinds) {
        const s32 refused = scx_bpf_create_dsq(kind, -1);
        if (refused)
            return refused;
    }
    return 0;
}

SEC(".struct_ops.link")
struct sched_ext_ops tidemill_kinds = {
    .select_cpu = (void *)kinds_select_cpu,
    .enqueue = (void *)kinds_enqueue,
    .dispatch = (void *)kinds_dispatch,
    .runnable = (void *)kinds_runnable,
    .quiescent = (void *)kinds_quiescent,
    .tick = (void *)kinds_tick,
    .running = (void *)kinds_running,
    .stopping = (void *)kinds_stopping,
    .init_task = (void *)kinds_init_task,
    .exit_task = (void *)kinds_exit_task,
    .init = (void *)kinds_init,
    .exit = (void *)tell_why_it_ended,
    // A thread that nobody waits behind may be on the wrong kind: it is to come by, too.
    .flags = SCX_OPS_ENQ_LAST,
    .timeout_ms = 10000,
    .name = "tidemill_kinds",
};
