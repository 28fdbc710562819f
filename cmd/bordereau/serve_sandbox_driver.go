package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"

	"bordereau/sandbox"
	"bordereau/sandbox/bubblewrap"
	"bordereau/sandbox/daytona"
	"bordereau/sandbox/door"
	"bordereau/sandbox/e2b"
	"bordereau/sandbox/hosted"
	"bordereau/sandbox/local"
	"bordereau/sandbox/remote"
)

// openDriver opens what the configuration names, and tries whether it can be used: a wrong key or a host that isn't there is an error
// now, not in the middle of somebody's question. name says what isolates, and how strongly where that is weaker.
func openDriver(ctx context.Context, c config, doors *door.Doors, log *slog.Logger, open *closers) (driver sandbox.Driver, name string, err error) {
	switch s := c.Sandbox; s.Driver {
	case driverRemote:
		return openRemote(ctx, s.Remote, log, open)
	case e2b.Name:
		driver, err = e2b.New(e2b.Config{
			Key: s.E2B.key, Domain: s.E2B.Domain, API: s.E2B.API, Envd: s.E2B.Envd, Template: s.E2B.Template, Log: log, Governance: c.governanceOutside(),
		})
		name = e2b.Name
	case daytona.Name:
		driver, err = daytona.New(daytona.Config{
			Key: s.Daytona.key, API: s.Daytona.API, Organization: s.Daytona.Organization, Snapshot: s.Daytona.Snapshot, Log: log, Governance: c.governanceOutside(),
		})
		name = daytona.Name
	default:
		return openLocal(ctx, c, doors, log, open)
	}
	if err == nil {
		_, err = driver.List(ctx)
	}
	if err != nil {
		return nil, "", fmt.Errorf("sandboxes at %s: %w", name, err)
	}
	if c.Governance.PublicURL == "" {
		log.WarnContext(ctx, "code in sandboxes reaches no governed data: governance.public_url is not set", slog.String("driver", name))
	}
	return driver, name + " (hosted by others)", nil
}

func openLocal(ctx context.Context, c config, doors *door.Doors, log *slog.Logger, open *closers) (sandbox.Driver, string, error) {
	driver, err := local.New(ctx, localConfig(c, log, doors))
	if err != nil {
		return nil, "", err
	}
	open.add(func() error { driver.Close(); return nil })
	name := local.NameOf(driver)
	if name == bubblewrap.Name {
		name += " (weaker than gVisor: it shares this host's kernel)"
	}
	return driver, name, nil
}

// localConfig is what picking a driver of this machine needs.
func localConfig(c config, log *slog.Logger, doors *door.Doors) local.Config {
	l := local.Config{
		Driver: strings.TrimPrefix(c.Sandbox.Driver, driverAuto), Folder: c.path("sandboxes"), Log: log, Image: c.Sandbox.Image,
		Runsc: beside(c.Sandbox.Runsc, "runsc"), Guest: beside(c.Sandbox.Guest, "guest"), Gov: beside(c.Sandbox.Gov, "gov"),
	}
	if doors != nil {
		l.Doors = doors
	}
	return l
}

// governanceOutside is how code in a hosted sandbox reaches governed data.
func (c *config) governanceOutside() hosted.Governance {
	if c.Governance.PublicURL == "" {
		return hosted.Governance{}
	}
	return hosted.Governance{Endpoint: c.Governance.PublicURL, Networks: c.Sandbox.Networks, Client: beside(c.Sandbox.Gov, "gov")}
}

// openRemote wants an answer of at least one host; the others may come later.
func openRemote(ctx context.Context, r remoteConfig, log *slog.Logger, open *closers) (sandbox.Driver, string, error) {
	settings, key, err := r.secrets()
	if err != nil {
		return nil, "", fmt.Errorf("configuration: sandbox.remote: %w", err)
	}
	driver, err := remote.New(remote.Config{Hosts: r.Hosts, TLS: settings, Key: key, Log: log})
	if err != nil {
		return nil, "", err
	}
	open.add(func() error { driver.Close(); return nil })
	hosts := driver.Status(ctx)
	if len(hosts) == 0 {
		return nil, "", &sandbox.Fault{
			Kind: sandbox.ErrUnavailable, Text: "no sandbox host answers: " + strings.Join(r.Hosts, ", "),
			Hint: "is sandboxd running there, with this certificate's authority and the same key?",
		}
	}
	kinds := map[string]bool{}
	for _, h := range hosts {
		kinds[h.Driver] = true
	}
	name := fmt.Sprintf("remote (%d of %d hosts)", len(hosts), len(r.Hosts))
	if kinds[bubblewrap.Name] {
		name += ", weaker than gVisor where a host has bubblewrap only: it shares that host's kernel"
	}
	return driver, name, nil
}

// secrets reads the files that both sides prove themselves with.
func (r remoteConfig) secrets() (*tls.Config, string, error) {
	settings := &tls.Config{MinVersion: tls.VersionTLS13}
	if r.Authorities != "" {
		pem, err := os.ReadFile(r.Authorities)
		if err != nil {
			return nil, "", err
		}
		settings.RootCAs = x509.NewCertPool()
		if !settings.RootCAs.AppendCertsFromPEM(pem) {
			return nil, "", fmt.Errorf("%s holds no certificate", r.Authorities)
		}
	}
	if r.Certificate != "" {
		pair, err := tls.LoadX509KeyPair(r.Certificate, r.Key)
		if err != nil {
			return nil, "", err
		}
		settings.Certificates = []tls.Certificate{pair}
	}
	if r.Shared == "" {
		return settings, "", nil
	}
	text, err := os.ReadFile(r.Shared)
	if err != nil {
		return nil, "", err
	}
	key := strings.TrimSpace(string(text))
	if len(key) < 32 {
		return nil, "", errors.New("psk_file holds fewer than 32 bytes")
	}
	return settings, key, nil
}
