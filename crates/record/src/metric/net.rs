//! Metrics of a host's network.

use super::row::metrics;

metrics! {
    interface = Interface {
        RECEIVED_BYTES "received_bytes" Counter Bytes "Received";
        RECEIVED_PACKETS "received_packets" Counter Count "Packets received";
        RECEIVED_DROPPED "received_dropped" Counter Count "Received packets that were dropped";
        SENT_BYTES "sent_bytes" Counter Bytes "Sent";
        SENT_PACKETS "sent_packets" Counter Count "Packets sent";
        SENT_DROPPED "sent_dropped" Counter Count "Packets to send that were dropped";
        SPEED_BITS_PER_SEC "speed_bits_per_sec" Gauge BitsPerSec "Speed of the link, of hardware only";
    }

    tcp = Tcp {
        SEGMENTS_SENT "segments_sent" Counter Count "Segments sent, without retransmitted ones";
        SEGMENTS_RECEIVED "segments_received" Counter Count "Segments received";
        SEGMENTS_RETRANSMITTED "segments_retransmitted" Counter Count "Segments retransmitted, SYNs included";
        SYN_RETRANSMITTED "syn_retransmitted" Counter Count "SYN and SYN-ACK segments retransmitted";
        TIMEOUTS "timeouts" Counter Count "Retransmission timeouts";
        LISTEN_OVERFLOWS "listen_overflows" Counter Count "Connections that found an accept queue full";
        LISTEN_DROPS "listen_drops" Counter Count "SYNs dropped at a listener, for a full queue or otherwise";
        ACTIVE_OPENS "active_opens" Counter Count "Connections opened from here";
        PASSIVE_OPENS "passive_opens" Counter Count "Connections opened to here";
        ATTEMPT_FAILS "attempt_fails" Counter Count "Connections that failed to open";
        RESETS_SENT "resets_sent" Counter Count "Segments sent with RST";
        ESTABLISHED "established" Gauge Count "Connections that are established";
    }

    sockets = Sockets {
        IN_USE "in_use" Gauge Count "Open TCP sockets over IPv4 and IPv6";
        TIME_WAIT "time_wait" Gauge Count "Sockets in TIME-WAIT";
        ORPHANS "orphans" Gauge Count "Sockets that no process holds any more";
    }

    conntrack = Conntrack {
        ENTRIES "entries" Gauge Count "Connections in the table";
        LIMIT "limit" Gauge Count "Connections that fit into the table";
    }

    ports = Ports {
        SOCKETS_OPEN "sockets_open" Gauge Count "Open TCP sockets: an upper bound of the ports in use";
        SOCKETS_TIME_WAIT "sockets_time_wait" Gauge Count "Sockets in TIME-WAIT, which hold a port too";
        PORTS_IN_RANGE "ports_in_range" Gauge Count "Local ports from one source address to one target address";
    }
}
