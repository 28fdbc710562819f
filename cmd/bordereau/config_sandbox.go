package main

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	"bordereau/sandbox/bubblewrap"
	"bordereau/sandbox/daytona"
	"bordereau/sandbox/e2b"
	"bordereau/sandbox/gvisor"
	"bordereau/sandbox/lease"
)

// The drivers that are no constants of their package.
const (
	driverAuto   = "auto"   // the strongest that works on this machine
	driverRemote = "remote" // hosts that run sandboxd
)

// sandboxConfig is everything about sandboxes, whatever drives them.
type sandboxConfig struct {
	Driver    string        `yaml:"driver"` // auto, gvisor, bubblewrap, remote, e2b, daytona
	MemoryMiB int64         `yaml:"memory_mib"`
	DiskMiB   int64         `yaml:"disk_mib"`
	IdleStop  time.Duration `yaml:"idle_stop"`
	Warm      lease.Warm    `yaml:"warm"`      // how many wait ready: min always, max on demand
	Exclusive bool          `yaml:"exclusive"` // remote, e2b, daytona: nobody else's sandboxes are there, so those of nobody are deleted

	// On this machine.
	Image string `yaml:"image"` // a Debian root made by make sandbox-image; "": this machine's /usr
	Runsc string `yaml:"runsc"`
	Guest string `yaml:"guest"`
	Gov   string `yaml:"gov"` // the client for code inside; e2b and daytona upload it

	Remote  remoteConfig  `yaml:"remote"`
	E2B     e2bConfig     `yaml:"e2b"`     // key in E2B_API_KEY
	Daytona daytonaConfig `yaml:"daytona"` // key in DAYTONA_API_KEY
	// Networks of governance.public_url: all that sandboxes at e2b and daytona can reach.
	Networks []netip.Prefix `yaml:"networks"`
}

// remoteConfig names hosts that run sandboxd. Both sides prove themselves: the hosts by certificates of authorities, we by a
// certificate or a pre-shared key.
type remoteConfig struct {
	Hosts       []string `yaml:"hosts"` // https://host:8443
	Authorities string   `yaml:"ca"`    // PEM file; "": the system's
	Certificate string   `yaml:"cert"`  // PEM file
	Key         string   `yaml:"key"`   // its private key, PEM file
	Shared      string   `yaml:"psk_file"`
}

type e2bConfig struct {
	Template string `yaml:"template"`
	Domain   string `yaml:"domain"`
	API      string `yaml:"api"`  // "": of the domain
	Envd     string `yaml:"envd"` // "": of the domain
	key      string
}

type daytonaConfig struct {
	Snapshot     string `yaml:"snapshot"`
	API          string `yaml:"api"`
	Organization string `yaml:"organization"`
	key          string
}

// local tells whether sandboxes are on this machine.
func (s sandboxConfig) local() bool {
	return s.Driver == driverAuto || s.Driver == gvisor.Name || s.Driver == bubblewrap.Name
}

// hosted tells whether they are another company's: then there is no door.
func (s sandboxConfig) hosted() bool { return s.Driver == e2b.Name || s.Driver == daytona.Name }

// checkSandbox refuses what can't work or would not be isolated. What only a try can show is tried when the driver is opened.
func (c *config) checkSandbox() error {
	s := c.Sandbox
	drivers := []string{driverAuto, gvisor.Name, bubblewrap.Name, driverRemote, e2b.Name, daytona.Name}
	fail := func(format string, args ...any) error { return fmt.Errorf("configuration: sandbox: "+format, args...) }
	switch {
	case !slices.Contains(drivers, s.Driver):
		return fail("driver is %q: it is one of %s", s.Driver, strings.Join(drivers, ", "))
	case s.MemoryMiB < 64 || s.DiskMiB < 16:
		return fail("memory_mib is at least 64, disk_mib at least 16")
	case s.IdleStop < time.Second:
		return fail("idle_stop is at least 1s")
	case s.Warm.Min < 0 || s.Warm.Max < s.Warm.Min || s.Warm.Max > 1000:
		return fail("warm: max is at least min, at most 1000")
	case s.Driver == driverRemote:
		return s.Remote.check()
	case s.Driver == e2b.Name && s.E2B.key == "":
		return fail("driver is e2b: set the environment's E2B_API_KEY")
	case s.Driver == daytona.Name && s.Daytona.key == "":
		return fail("driver is daytona: set the environment's DAYTONA_API_KEY")
	case c.Governance.PublicURL != "" && !strings.HasPrefix(c.Governance.PublicURL, "https://"):
		return errors.New("configuration: governance.public_url is https: data doesn't go over a network in the clear")
	case s.hosted() && (c.Governance.PublicURL == "") != (len(s.Networks) == 0):
		return fail("governance.public_url and sandbox.networks go together: with them code inside reaches governed data, without them it does not")
	}
	return nil
}

func (r remoteConfig) check() error {
	fail := func(text string) error { return errors.New("configuration: sandbox.remote: " + text) }
	switch {
	case len(r.Hosts) == 0:
		return fail("hosts is empty: name the machines that run sandboxd, as https://host:8443")
	case (r.Certificate == "") != (r.Key == ""):
		return fail("cert and key go together")
	case r.Certificate == "" && r.Shared == "":
		return fail("cert and key, or psk_file, are required: the hosts must know who sends them code")
	}
	for _, h := range r.Hosts {
		if !strings.HasPrefix(h, "https://") {
			return fail(fmt.Sprintf("%q is not https: nothing goes over the network in the clear", h))
		}
	}
	return nil
}
