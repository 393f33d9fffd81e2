//! The DHCP server of the gateway: assigns a fixed address to the only guest (RFC 2131).

use smoltcp::socket::udp;
use smoltcp::wire::{
    DhcpMessageType, DhcpPacket, DhcpRepr, IpAddress, IpEndpoint, Ipv4Address, Ipv4Cidr, DHCP_CLIENT_PORT,
    DHCP_SERVER_PORT,
};

/// Network parameters handed to the guest.
pub struct Network {
    /// The guest's address.
    pub guest: Ipv4Address,
    /// Address of the server and router.
    pub gateway: Ipv4Address,
    /// Prefix length of the network.
    pub prefix: u8,
}

/// Lease time in seconds.
const LEASE: u32 = 86_400;

/// Creates the socket for requests.
pub fn socket() -> udp::Socket<'static> {
    let buffer = || udp::PacketBuffer::new(vec![udp::PacketMetadata::EMPTY; 4], vec![0; 4096]);
    let mut socket = udp::Socket::new(buffer(), buffer());
    // Cannot fail: the port is not zero and the socket is new.
    let _ = socket.bind(DHCP_SERVER_PORT);
    socket
}

/// Answers the received requests. Returns whether there were any.
pub fn serve(socket: &mut udp::Socket, network: &Network) -> bool {
    let mut served = false;
    while let Ok((data, _)) = socket.recv() {
        served = true;
        let Some(reply) = DhcpPacket::new_checked(data)
            .ok()
            .and_then(|packet| answer(&packet, network))
        else {
            continue;
        };
        // The client has no address yet.
        let client = IpEndpoint::new(IpAddress::Ipv4(Ipv4Address::BROADCAST), DHCP_CLIENT_PORT);
        if let Err(e) = socket.send_slice(&reply, client) {
            log::warn!("network: DHCP reply lost: {e}");
        }
    }
    served
}

/// The reply to a request, or `None` if it needs none.
fn answer(packet: &DhcpPacket<&[u8]>, network: &Network) -> Option<Vec<u8>> {
    let request = DhcpRepr::parse(packet).ok()?;
    let message_type = match request.message_type {
        DhcpMessageType::Discover => DhcpMessageType::Offer,
        DhcpMessageType::Request => {
            let asked = request.requested_ip.unwrap_or(request.client_ip);
            if asked == network.guest {
                DhcpMessageType::Ack
            } else {
                DhcpMessageType::Nak
            }
        }
        _ => return None,
    };
    let granted = message_type != DhcpMessageType::Nak;
    let reply = DhcpRepr {
        message_type,
        your_ip: if granted {
            network.guest
        } else {
            Ipv4Address::UNSPECIFIED
        },
        server_ip: network.gateway,
        router: granted.then_some(network.gateway),
        subnet_mask: granted.then_some(Ipv4Cidr::new(network.guest, network.prefix).netmask()),
        server_identifier: Some(network.gateway),
        lease_duration: granted.then_some(LEASE),
        requested_ip: None,
        client_identifier: None,
        parameter_request_list: None,
        dns_servers: None,
        max_size: None,
        broadcast: true,
        relay_agent_ip: Ipv4Address::UNSPECIFIED,
        ..request
    };
    let mut bytes = vec![0; reply.buffer_len()];
    reply.emit(&mut DhcpPacket::new_unchecked(&mut bytes[..])).ok()?;
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use smoltcp::wire::EthernetAddress;

    const GUEST: Ipv4Address = Ipv4Address::new(10, 0, 2, 15);
    const NETWORK: Network = Network {
        guest: GUEST,
        gateway: Ipv4Address::new(10, 0, 2, 2),
        prefix: 24,
    };

    fn ask(message_type: DhcpMessageType, requested_ip: Option<Ipv4Address>) -> Option<Vec<u8>> {
        let request = DhcpRepr {
            message_type,
            transaction_id: 0x1234_5678,
            secs: 0,
            client_hardware_address: EthernetAddress([2, 0, 0, 0, 0, 1]),
            client_ip: Ipv4Address::UNSPECIFIED,
            your_ip: Ipv4Address::UNSPECIFIED,
            server_ip: Ipv4Address::UNSPECIFIED,
            router: None,
            subnet_mask: None,
            relay_agent_ip: Ipv4Address::UNSPECIFIED,
            broadcast: false,
            requested_ip,
            client_identifier: None,
            server_identifier: None,
            parameter_request_list: None,
            dns_servers: None,
            max_size: None,
            lease_duration: None,
            renew_duration: None,
            rebind_duration: None,
            additional_options: &[],
        };
        let mut bytes = vec![0; request.buffer_len()];
        request.emit(&mut DhcpPacket::new_unchecked(&mut bytes[..])).unwrap();
        answer(&DhcpPacket::new_checked(&bytes[..]).unwrap(), &NETWORK)
    }

    /// Type, assigned address and transaction of a reply.
    fn said(reply: Option<Vec<u8>>) -> Option<(DhcpMessageType, Ipv4Address, u32)> {
        let bytes = reply?;
        let packet = DhcpPacket::new_checked(&bytes[..]).unwrap();
        let reply = DhcpRepr::parse(&packet).unwrap();
        Some((reply.message_type, reply.your_ip, reply.transaction_id))
    }

    #[test]
    fn server_assigns_its_one_address_only() {
        let transaction = 0x1234_5678;
        let offer = said(ask(DhcpMessageType::Discover, None));
        assert_eq!(offer, Some((DhcpMessageType::Offer, GUEST, transaction)));
        let ack = said(ask(DhcpMessageType::Request, Some(GUEST)));
        assert_eq!(ack, Some((DhcpMessageType::Ack, GUEST, transaction)));
        let nak = said(ask(DhcpMessageType::Request, Some(Ipv4Address::new(192, 168, 1, 1))));
        assert_eq!(nak, Some((DhcpMessageType::Nak, Ipv4Address::UNSPECIFIED, transaction)));
        assert_eq!(said(ask(DhcpMessageType::Release, None)), None);
    }
}
