//! Metrics that come from the plan and from experiments, not from a read.

use super::row::metrics;

metrics! {
    declared = Declared {
        CORES_MILLI "cores_milli" Gauge Millicores "Cores";
        LINK_OUT_BITS_PER_SEC "link_out_bits_per_sec" Gauge BitsPerSec "Speed of the link out of the host";
        LINK_IN_BITS_PER_SEC "link_in_bits_per_sec" Gauge BitsPerSec "Speed of the link into the host";
        PACKETS_PER_SEC "packets_per_sec" Gauge PacketsPerSec "Packets, each way";
        MEMORY_BYTES "memory_bytes" Gauge Bytes "Memory";
        DISK_BYTES_PER_SEC "disk_bytes_per_sec" Gauge BytesPerSec "Reads of the disk, and as many writes";
    }

    intervention = Intervention {
        BEFORE_CORES_MILLI "before_cores_milli" Gauge Millicores "Cores before";
        AFTER_CORES_MILLI "after_cores_milli" Gauge Millicores "Cores afterwards";
        BEFORE_BITS_PER_SEC "before_bits_per_sec" Gauge BitsPerSec "Speed of the link before";
        AFTER_BITS_PER_SEC "after_bits_per_sec" Gauge BitsPerSec "Speed of the link afterwards";
        BEFORE_PACKETS_PER_SEC "before_packets_per_sec" Gauge PacketsPerSec "Packets before";
        AFTER_PACKETS_PER_SEC "after_packets_per_sec" Gauge PacketsPerSec "Packets afterwards";
        BEFORE_BYTES "before_bytes" Gauge Bytes "Memory before";
        AFTER_BYTES "after_bytes" Gauge Bytes "Memory afterwards";
        BEFORE_BYTES_PER_SEC "before_bytes_per_sec" Gauge BytesPerSec "Speed of the disk before";
        AFTER_BYTES_PER_SEC "after_bytes_per_sec" Gauge BytesPerSec "Speed of the disk afterwards";
    }
}
