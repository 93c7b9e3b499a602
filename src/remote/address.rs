//! Addresses that a redirect must not lead to: those of this machine and of private networks.

use std::error::Error;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use reqwest::Url;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};

use super::Failure;
use super::uri::is_loopback;

/// Returns true for an address that is not public.
pub fn is_private(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_private_v4(address),
        IpAddr::V6(address) => match address.to_ipv4_mapped() {
            Some(address) => is_private_v4(address),
            None => is_private_v6(address),
        },
    }
}

fn is_private_v4(address: Ipv4Addr) -> bool {
    let [first, second, ..] = address.octets();
    // 100.64.0.0/10 are addresses behind a carrier's NAT, 192.0.0.0/24 and 198.18.0.0/15 are internal.
    let is_shared = first == 100 && (64..128).contains(&second);
    let is_internal = address.octets()[..3] == [192, 0, 0] || first == 198 && (18..20).contains(&second);
    address.is_private()
        || address.is_loopback()
        || address.is_link_local()
        || address.is_multicast()
        || first == 0
        || first >= 240
        || is_shared
        || is_internal
}

fn is_private_v6(address: Ipv6Addr) -> bool {
    let [first, second, .., high, low] = address.segments();
    // The prefix 64:ff9b::/32 marks a translated IPv4 address.
    let is_translated = first == 0x64 && second == 0xff9b;
    let [a, b, c, d] = [(high >> 8) as u8, high as u8, (low >> 8) as u8, low as u8];
    address.is_loopback()
        || address.is_unspecified()
        || address.is_multicast()
        || address.is_unique_local()
        || address.is_unicast_link_local()
        || is_translated && is_private_v4(Ipv4Addr::new(a, b, c, d))
}

/// Returns whether the host of a URL is private, by its text or by its addresses.
pub async fn leads_to_private(url: &Url) -> bool {
    let Some(host) = url.host_str() else { return true };
    match literal(host) {
        Some(is_private) => is_private,
        None => tokio::net::lookup_host((host, 0))
            .await
            .is_ok_and(|mut found| found.any(|address| is_private(address.ip()))),
    }
}

/// Returns whether an address or `localhost` is private, or `None` for any host name but `localhost`.
fn literal(host: &str) -> Option<bool> {
    let address = host.trim_start_matches('[').trim_end_matches(']').parse().ok();
    address.map(is_private).or_else(|| is_loopback(host).then_some(true))
}

/// Returns true if the text of a URL's host is a private address.
pub fn is_private_literal(url: &Url) -> bool {
    url.host_str().is_none_or(|host| literal(host) == Some(true))
}

/// A resolver that refuses names with private addresses.
///
/// The check belongs to the resolution itself: a second resolution could have another result.
#[derive(Debug)]
pub struct PublicOnly;

impl Resolve for PublicOnly {
    fn resolve(&self, name: Name) -> Resolving {
        Box::pin(async move {
            let found: Vec<SocketAddr> = tokio::net::lookup_host((name.as_str(), 0)).await?.collect();
            if found.iter().any(|address| is_private(address.ip())) {
                let why = Failure::Redirect("a private address".to_owned());
                return Err(Box::new(why) as Box<dyn Error + Send + Sync>);
            }
            Ok(Box::new(found.into_iter()) as Addrs)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_public_addresses_are_public() {
        let private = [
            "127.0.0.1",
            "10.1.2.3",
            "172.16.0.1",
            "192.168.1.1",
            "169.254.169.254",
            "100.64.0.1",
            "0.0.0.0",
            "255.255.255.255",
            "224.0.0.1",
            "::1",
            "::",
            "fc00::1",
            "fe80::1",
            "::ffff:127.0.0.1",
            "64:ff9b::7f00:1",
        ];
        for text in private {
            assert!(is_private(text.parse().expect("an address")), "{text}");
        }
        for text in ["1.1.1.1", "172.32.0.1", "100.128.0.1", "2606:4700::1111", "64:ff9b::101:101"] {
            assert!(!is_private(text.parse().expect("an address")), "{text}");
        }
    }
}
