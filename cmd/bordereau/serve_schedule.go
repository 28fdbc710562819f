package main

import (
	"context"
	"crypto/x509"
	"fmt"
	"net/netip"
	"os"
	"strings"
	"time"
	_ "time/tzdata" // schedules have time zones, and a machine may have none of its own

	"github.com/google/uuid"

	"bordereau/agent/artifact"
	"bordereau/agent/schedule"
	"bordereau/agent/schedule/email"
	"bordereau/agent/schedule/folder"
	"bordereau/agent/schedule/webhook"
)

// mailConfig is the server that e-mail goes by; its password is in BORDEREAU_SMTP_PASSWORD.
type mailConfig struct {
	Host      string        `yaml:"host"` // "": no e-mail
	Port      int           `yaml:"port"` // 0: 587 for starttls, 465 for tls, 25 for plain
	From      string        `yaml:"from"` // Bordereau <reports@example.com>
	User      string        `yaml:"user"`
	Security  string        `yaml:"security"`   // starttls, tls, or plain for a relay on this machine
	CA        string        `yaml:"ca"`         // a file of certificates to trust beside the system's
	AttachMiB int64         `yaml:"attach_mib"` // most of files in one message; beyond it they are links
	Timeout   time.Duration `yaml:"timeout"`    // of each command
	Domains   []string      `yaml:"domains"`    // where mail may go beside the organisation's own people; "*": anywhere
	password  string
}

// webhooksConfig says which inside addresses webhooks may reach.
type webhooksConfig struct {
	Allow []string `yaml:"allow"` // networks such as 10.1.2.0/24
}

// schedulesConfig is the rest of what schedules need.
type schedulesConfig struct {
	Outbox string `yaml:"outbox"` // where deliveries to folders go; "": outbox in the data folder
}

// startSchedules starts to look at the clock and returns where people make schedules.
func startSchedules(ctx context.Context, c config, p agentParts, files *artifact.Store, models *models, wake func(), open *closers) (*schedule.Desk, error) {
	store, err := schedule.NewStore(schedule.StoreConfig{DB: p.journal.DB(), NewID: uuid.NewString})
	if err != nil {
		return nil, err
	}
	hooks, err := newWebhooks(c)
	if err != nil {
		return nil, err
	}
	outbox, err := folder.Open(or(c.Schedules.Outbox, c.path("outbox")))
	if err != nil {
		return nil, err
	}
	deliverers := map[schedule.Kind]schedule.Deliverer{schedule.Webhook: hooks, schedule.Folder: outbox}
	if c.Mail.Host != "" {
		sender, err := newMail(c.Mail)
		if err != nil {
			return nil, err
		}
		deliverers[schedule.Email] = sender
	}
	at := strings.TrimSuffix(or(c.PublicURL, "http://"+c.Listen), "/")
	scheduler, err := schedule.New(schedule.Config{
		Store: store, Journal: p.journal, People: p.directory, Files: files, Deliverers: deliverers, Wake: wake, NewID: uuid.NewString, Log: p.log,
		Link: func(path string) string { return at + path }, Metrics: p.metrics,
	})
	if err != nil {
		return nil, err
	}
	desk, err := schedule.NewDesk(schedule.DeskConfig{
		Store: store, Scheduler: scheduler, Models: models, People: p.directory, Domains: c.Mail.Domains, Secrets: hooks, NewID: uuid.NewString,
	})
	if err != nil {
		return nil, err
	}
	scheduler.Start(ctx)
	open.add(func() error { scheduler.Stop(); return nil })
	return desk, nil
}

func newMail(c mailConfig) (*email.Sender, error) {
	var roots *x509.CertPool
	if c.CA != "" {
		raw, err := os.ReadFile(c.CA)
		if err != nil {
			return nil, fmt.Errorf("configuration: mail.ca: %w", err)
		}
		if roots, err = x509.SystemCertPool(); err != nil {
			roots = x509.NewCertPool()
		}
		if !roots.AppendCertsFromPEM(raw) {
			return nil, fmt.Errorf("configuration: mail.ca: %s holds no certificate in PEM", c.CA)
		}
	}
	sender, err := email.New(email.Config{
		Host: c.Host, Port: c.Port, From: c.From, User: c.User, Password: c.password, Security: c.Security, Roots: roots, Attach: c.AttachMiB << 20, Timeout: c.Timeout,
	})
	if err != nil {
		return nil, fmt.Errorf("configuration: mail (password in BORDEREAU_SMTP_PASSWORD): %w", err)
	}
	return sender, nil
}

func newWebhooks(c config) (*webhook.Sender, error) {
	key, err := secret(c.path("keys", "webhooks"))
	if err != nil {
		return nil, err
	}
	var allow []netip.Prefix
	for _, text := range c.Webhooks.Allow {
		p, err := netip.ParsePrefix(text)
		if err != nil {
			return nil, fmt.Errorf("configuration: webhooks.allow: %q is no network such as 10.1.2.0/24", text)
		}
		allow = append(allow, p)
	}
	return webhook.New(webhook.Config{Key: key, Allow: allow})
}
