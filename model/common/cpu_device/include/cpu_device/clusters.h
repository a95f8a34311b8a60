// What `cooperative_groups::cluster_group` is made of. Programs never name anything of cpu_device here.
#pragma once

#include "cpu_device/execution.h"

namespace cpu_device {

/// Blocks of the running block's cluster; a block that was launched without a cluster is alone in one.
dim3 cluster_shape();
/// Where the running block is in its cluster.
dim3 block_index_in_cluster();
unsigned block_rank_in_cluster();

void arrive_at_cluster(Site site);
void wait_for_cluster(Site site);

/// The same place in the shared memory of the block of this rank. Ends the kernel if the cluster has none, and if the
/// address is not in shared memory of the cluster.
void* map_shared_rank(const void* address, int rank, Site site);
/// The rank of the block to whose shared memory the address belongs.
unsigned query_shared_rank(const void* address, Site site);

}  // namespace cpu_device
