package webhook

import (
	"context"
	"fmt"
	"net/netip"
	"syscall"
)

// plainHTTP marks a request's context as one without TLS.
type plainHTTP struct{}

// refusedAddressError is an address that a webhook may not reach.
type refusedAddressError struct {
	addr netip.Addr
	what string
	hint string
}

func (e *refusedAddressError) Error() string {
	return fmt.Sprintf("a webhook may not go to %s: %s", e.addr, e.what)
}

// guard keeps webhooks out of the operator's network: what a person types must not make this program speak to machines that
// only it can reach.
type guard struct{ allow []netip.Prefix }

func (g guard) control(ctx context.Context, _, address string, _ syscall.RawConn) error {
	target, err := netip.ParseAddrPort(address)
	if err != nil {
		return err
	}
	addr := target.Addr().Unmap().WithZone("")
	for _, p := range g.allow {
		if p.Contains(addr) {
			return nil
		}
	}
	const hint = "an administrator allows addresses in the configuration, under webhooks.allow"
	if what := private(addr); what != "" {
		return &refusedAddressError{addr, what, hint}
	}
	if ctx.Value(plainHTTP{}) != nil {
		return &refusedAddressError{addr, "it would be without TLS", "use https"}
	}
	return nil
}

// reserved are networks that net/netip has no word for. Some of them carry an IPv4 address inside, which leads back in.
func reserved() map[string]string {
	return map[string]string{
		"0.0.0.0/8": "it is this network's own", "100.64.0.0/10": "it is shared by a provider's customers", "192.0.0.0/24": "it is reserved",
		"192.0.2.0/24": "it is for documentation", "192.88.99.0/24": "it is a relay's", "198.18.0.0/15": "it is for benchmarks", "198.51.100.0/24": "it is for documentation",
		"203.0.113.0/24": "it is for documentation", "240.0.0.0/4": "it is reserved",
		"64:ff9b::/96": "it is an IPv4 address in disguise", "64:ff9b:1::/48": "it is an IPv4 address in disguise", "2002::/16": "it is an IPv4 address in disguise",
		"2001::/23": "it is reserved", "2001:db8::/32": "it is for documentation", "fec0::/10": "it is private", "100::/64": "it is reserved", "::/96": "it is an IPv4 address in disguise",
	}
}

// private says why an address is not a public one; "" if it is.
func private(a netip.Addr) string {
	switch {
	case a.IsLoopback():
		return "it is this machine"
	case a.IsPrivate():
		return "it is private"
	case a.IsLinkLocalUnicast(), a.IsLinkLocalMulticast(), a.IsInterfaceLocalMulticast():
		return "it is of the local link"
	case a.IsMulticast():
		return "it is a group's"
	case a.IsUnspecified():
		return "it is no address"
	}
	for prefix, what := range reserved() {
		if netip.MustParsePrefix(prefix).Contains(a) {
			return what
		}
	}
	return ""
}
