/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The maps of a scheduler that the agent loads, and how it says why it ended. */
#pragma once

#include "schedext/exchange.h"
#include "schedext/kernel.bpf.h"

// The kernel lets programs under the GPL, or under this pair of licences, be its scheduler.
char licence[] SEC("license") = "Dual MIT/GPL";

struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, 1);
    __type(key, u32);
    __type(value, struct MachineEntry);
} machine SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, kMaxThreads);
    __uint(map_flags, BPF_F_NO_PREALLOC);
    __type(key, u32);
    __type(value, struct WishEntry);
} wishes SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, kMaxThreads);
    __uint(map_flags, BPF_F_NO_PREALLOC);
    __type(key, u32);
    __type(value, struct AccountEntry);
} threads SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, 1);
    __type(key, u32);
    __type(value, struct EndEntry);
} ended SEC(".maps");

SEC("struct_ops/exit")
void BPF_PROG(tell_why_it_ended, struct scx_exit_info *info) {
    u32 first = 0;
    struct EndEntry *why = bpf_map_lookup_elem(&ended, &first);
    if (!why)
        return;
    bpf_probe_read_kernel_str(why->reason, sizeof why->reason, info->reason);
    bpf_probe_read_kernel_str(why->message, sizeof why->message, info->msg);
    why->code = info->exit_code;
    why->kind = info->kind;
}
