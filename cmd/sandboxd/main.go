// Command sandboxd lends this machine's sandboxes to backends elsewhere, over HTTP/2 with client certificates or a pre-shared key.
package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"bordereau/governance/turntoken"
	"bordereau/sandbox/door"
	"bordereau/sandbox/home"
	"bordereau/sandbox/host"
	"bordereau/sandbox/local"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Stderr, nil)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "sandboxd:", err)
		os.Exit(1)
	}
}

// config is what sandboxd is told.
type config struct {
	listen, folder, driver, runsc, guest, gov, image string
	cert, key, clients, psk, upstream, stamp         string
}

func parse(args []string, out io.Writer) (config, error) {
	var c config
	f := flag.NewFlagSet("sandboxd", flag.ContinueOnError)
	f.SetOutput(out)
	f.StringVar(&c.listen, "listen", ":8443", "address to listen on")
	f.StringVar(&c.folder, "data", "/var/lib/bordereau-sandboxd", "state folder")
	f.StringVar(&c.driver, "driver", "", "gvisor or bubblewrap; empty: the strongest that works here")
	f.StringVar(&c.runsc, "runsc", "build/bin/runsc", "gVisor's runtime")
	f.StringVar(&c.guest, "guest", "build/bin/guest", "the first process of gVisor sandboxes")
	f.StringVar(&c.gov, "gov", "build/bin/gov", "the client for code inside; empty leaves it out")
	f.StringVar(&c.image, "image", "", "a Debian root by make sandbox-image; empty: this host's /usr")
	f.StringVar(&c.cert, "cert", "", "this host's certificate, PEM")
	f.StringVar(&c.key, "key", "", "its private key, PEM")
	f.StringVar(&c.clients, "client-ca", "", "authorities of client certificates, PEM")
	f.StringVar(&c.psk, "psk-file", "", "file with a pre-shared key of at least 32 bytes")
	f.StringVar(&c.upstream, "upstream", "", "governance's MCP endpoint; empty: sandboxes reach nothing")
	f.StringVar(&c.stamp, "stamp-file", "", "file with the secret of the door's stamps: keys/stamp of the backend's data folder")
	if err := f.Parse(args); err != nil {
		return c, err
	}
	switch {
	case c.cert == "" || c.key == "":
		return c, errors.New("-cert and -key are required: nothing goes over the network in the clear")
	case c.clients == "" && c.psk == "":
		return c, errors.New("-client-ca or -psk-file is required: this machine runs what it is sent")
	case (c.upstream == "") != (c.stamp == ""):
		return c, errors.New("-upstream and -stamp-file go together")
	}
	return c, nil
}

// secret reads a file's only line.
func secret(file string) (string, error) {
	b, err := os.ReadFile(file) // #nosec G304 -- from configuration
	if err != nil {
		return "", err
	}
	s := strings.TrimSpace(string(b))
	if len(s) < 32 {
		return "", fmt.Errorf("%s holds fewer than 32 bytes", file)
	}
	return s, nil
}

// run serves until ctx ends. SIGUSR1 drains this host: it takes no new sandboxes, and those it has go on; SIGUSR2 ends that. ready, when not nil, is told the address.
func run(ctx context.Context, args []string, out io.Writer, ready func(net.Addr)) error {
	c, err := parse(args, out)
	if err != nil {
		return err
	}
	log := slog.New(slog.NewTextHandler(out, nil))
	cert, err := tls.LoadX509KeyPair(c.cert, c.key)
	if err != nil {
		return fmt.Errorf("load the certificate: %w", err)
	}
	settings := &tls.Config{Certificates: []tls.Certificate{cert}, MinVersion: tls.VersionTLS13, NextProtos: []string{"h2"}}
	if c.clients != "" {
		pem, err := os.ReadFile(c.clients)
		if err != nil {
			return err
		}
		settings.ClientCAs, settings.ClientAuth = x509.NewCertPool(), tls.RequireAndVerifyClientCert
		if !settings.ClientCAs.AppendCertsFromPEM(pem) {
			return fmt.Errorf("%s holds no certificate", c.clients)
		}
	}
	var psk string
	if c.psk != "" {
		if psk, err = secret(c.psk); err != nil {
			return err
		}
	}
	var doors home.Doors
	if c.upstream != "" {
		// The agent's own file, whose bytes are random: any of them may look like white space.
		shared, err := os.ReadFile(c.stamp)
		if err != nil {
			return err
		}
		stamper := turntoken.Stamper{Secret: shared}
		if err := stamper.Check(); err != nil {
			return err
		}
		d, err := door.New(door.Config{Upstream: c.upstream, Log: log, Stamp: func(id, token string) (string, string) {
			return turntoken.StampHeader, stamper.Stamp(id, token)
		}})
		if err != nil {
			return err
		}
		defer d.Stop()
		doors = d
	}
	driver, err := local.New(ctx, local.Config{
		Driver: c.driver, Folder: c.folder, Runsc: c.runsc, Guest: c.guest, Gov: c.gov, Image: c.image, Doors: doors, Log: log,
	})
	if err != nil {
		return err
	}
	defer driver.Close()
	server, err := host.New(host.Config{Driver: driver, Name: local.NameOf(driver), Key: psk, MTLS: c.clients != "", Log: log})
	if err != nil {
		return err
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", c.listen)
	if err != nil {
		return err
	}
	web := &http.Server{
		Handler: server, TLSConfig: settings, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 5 * time.Minute,
		ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelDebug),
		HTTP2:    &http.HTTP2Config{MaxConcurrentStreams: 1000, SendPingTimeout: 30 * time.Second},
	}
	failed := make(chan error, 1)
	go func() { failed <- web.ServeTLS(listener, "", "") }()
	log.InfoContext(ctx, "sandboxes are lent", slog.String("address", listener.Addr().String()), slog.String("image", driver.Image()))
	if ready != nil {
		ready(listener.Addr())
	}
	drain := make(chan os.Signal, 1)
	signal.Notify(drain, syscall.SIGUSR1, syscall.SIGUSR2)
	defer signal.Stop(drain)
	for ctx.Err() == nil {
		select {
		case err := <-failed:
			return err
		case s := <-drain:
			server.Drain(s == syscall.SIGUSR1)
			log.InfoContext(ctx, "draining", slog.Bool("takes_new_sandboxes", s != syscall.SIGUSR1))
		case <-ctx.Done():
		}
	}
	// Commands get a little time to end; the sandboxes themselves stay.
	ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	if err := web.Shutdown(ending); err != nil {
		_ = web.Close()
	}
	return nil
}
