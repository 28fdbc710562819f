package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"gopkg.in/yaml.v3"

	"bordereau/sandbox/lease"
)

// config is everything that 'serve' can be told, with its defaults for one machine.
type config struct {
	Role       string           `yaml:"role"`   // all, agent, governance
	Data       string           `yaml:"data"`   // the folder of everything that is kept
	Listen     string           `yaml:"listen"` // for people: the pages and the HTTP API
	Governance governanceConfig `yaml:"governance"`
	Journal    string           `yaml:"journal"` // postgres://… or "": SQLite in the data folder
	Events     string           `yaml:"events"`  // redis://… or "": in this process
	Sandbox    sandboxConfig    `yaml:"sandbox"`
	Models     modelsConfig     `yaml:"models"`
	Turns      turnsConfig      `yaml:"turns"`
	Budgets    budgetsConfig    `yaml:"budgets"`
	Agent      agentConfig      `yaml:"agent"`
	PerMinute  int              `yaml:"changes_per_minute"` // of one person
	Traces     string           `yaml:"traces"`             // an OpenTelemetry collector's address (OTLP over HTTP), or "": none
	Sessions   sessionsConfig   `yaml:"sessions"`
	OIDC       []oidcConfig     `yaml:"oidc"`
	Mail       mailConfig       `yaml:"mail"`
	Webhooks   webhooksConfig   `yaml:"webhooks"`
	Schedules  schedulesConfig  `yaml:"schedules"`
	// PublicURL is where people's browsers find the program; "": at Listen.
	PublicURL string `yaml:"public_url"`
	// BehindProxy says that a proxy in front ends TLS; without it only loopback addresses are listened on.
	BehindProxy bool `yaml:"behind_tls_proxy"`
}

type governanceConfig struct {
	Listen   string `yaml:"listen"`   // for the agent and the doors
	URL      string `yaml:"url"`      // role agent: where governance listens, such as http://governance:8701
	Database string `yaml:"database"` // postgres://… or "": SQLite in the data folder
	Policy   string `yaml:"policy"`   // a policy file, "" for the built-in one
	Workers  int    `yaml:"workers"`  // warm query workers at most
	// Bucket is what replicas share datasets and exports in, file:///… or s3://…; "": this machine's data folder.
	Bucket string `yaml:"bucket"`
	// Generations are how many of an organisation's stay to be asked again; what is read or leased stays anyway.
	Generations int `yaml:"generations"`
	// PublicURL is the https address of the endpoint for sandboxes that have no door; "": there are none.
	PublicURL string `yaml:"public_url"`
}

type modelsConfig struct {
	Default   string          `yaml:"default"`
	Anthropic anthropicConfig `yaml:"anthropic"` // key in ANTHROPIC_API_KEY
	OpenAI    openaiConfig    `yaml:"openai"`    // key in OPENAI_API_KEY
}

type anthropicConfig struct {
	Model   string `yaml:"model"`
	BaseURL string `yaml:"base_url"`
	key     string
}

type openaiConfig struct {
	Model   string `yaml:"model"`
	BaseURL string `yaml:"base_url"`
	key     string
}

type turnsConfig struct {
	Runners    int           `yaml:"runners"`     // turns at once
	Deadline   time.Duration `yaml:"deadline"`    // of one turn
	Steps      int           `yaml:"steps"`       // of one turn
	Tokens     int64         `yaml:"tokens"`      // of one turn
	CostMicros int64         `yaml:"cost_micros"` // of one turn, millionths of a US dollar
}

type sessionsConfig struct {
	Idle time.Duration `yaml:"idle"` // a session that isn't used for so long ends
	Life time.Duration `yaml:"life"` // a session ends after so long
}

// oidcConfig is an organisation's identity provider. Its secret is in BORDEREAU_OIDC_SECRET_ORG, with the organisation's id in
// capitals and _ for -.
type oidcConfig struct {
	Organisation string   `yaml:"organisation"`
	Issuer       string   `yaml:"issuer"`
	ClientID     string   `yaml:"client_id"`
	Domains      []string `yaml:"domains"`      // e-mail domains whose people sign in there
	DefaultRole  string   `yaml:"default_role"` // of people of those domains who are new; "": they are invited
	secret       string
}

func defaults() config {
	return config{
		Role: roleAll, PerMinute: 300, Data: "data", Listen: "127.0.0.1:8700",
		Agent: agentConfig{Listen: "127.0.0.1:8702"}, Budgets: budgetsConfig{Window: 24 * time.Hour},
		Governance: governanceConfig{Listen: "127.0.0.1:8701", Workers: 32, Generations: 50},
		Sandbox:    sandboxConfig{Driver: "auto", MemoryMiB: 1024, DiskMiB: 2048, IdleStop: 10 * time.Minute, Warm: lease.Warm{Min: 1, Max: 8}},
		Models:     modelsConfig{Default: "playbook"},
		Sessions:   sessionsConfig{Idle: 8 * time.Hour, Life: 7 * 24 * time.Hour},
		Turns:      turnsConfig{Runners: 8, Deadline: 45 * time.Minute, Steps: 60, Tokens: 3_000_000, CostMicros: 5_000_000},
	}
}

// loadConfig reads flags over the file over the defaults, and the secrets from the environment.
func loadConfig(flags *flag.FlagSet, args []string, std stdio) (config, error) {
	c := defaults()
	file := flags.String("config", std.Env("BORDEREAU_CONFIG"), "configuration `FILE` (YAML)")
	data := flags.String("data", std.Env("BORDEREAU_DATA"), "data `FOLDER` (default "+c.Data+")")
	listen := flags.String("listen", "", "`ADDRESS` for people (default "+c.Listen+")")
	role := new(string)
	if flags.Lookup("role") == nil { // else it is a person's
		flags.StringVar(role, "role", "", "`ROLE` to serve: all, agent or governance (default "+c.Role+")")
	}
	driver := flags.String("sandbox", "", "sandbox `DRIVER`: auto, gvisor, bubblewrap, remote, e2b or daytona")
	flags.SetOutput(std.Err)
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return c, usageError{}
		}
		return c, usageError{}
	}
	if *file != "" {
		raw, err := os.ReadFile(*file)
		if err != nil {
			return c, fmt.Errorf("reading the configuration: %w", err)
		}
		d := yaml.NewDecoder(bytes.NewReader(raw))
		d.KnownFields(true)
		if err := d.Decode(&c); err != nil && !errors.Is(err, io.EOF) {
			return c, fmt.Errorf("configuration %s: %w", *file, err)
		}
	}
	for _, override := range []struct {
		to   *string
		from string
	}{{&c.Data, *data}, {&c.Listen, *listen}, {&c.Sandbox.Driver, *driver}, {&c.Role, *role}} {
		if override.from != "" {
			*override.to = override.from
		}
	}
	c.Models.Anthropic.key, c.Models.OpenAI.key = std.Env("ANTHROPIC_API_KEY"), std.Env("OPENAI_API_KEY")
	c.Sandbox.E2B.key, c.Sandbox.Daytona.key = std.Env("E2B_API_KEY"), std.Env("DAYTONA_API_KEY")
	c.Mail.password = std.Env("BORDEREAU_SMTP_PASSWORD")
	c.Traces = or(c.Traces, std.Env("OTEL_EXPORTER_OTLP_ENDPOINT"))
	for i, p := range c.OIDC {
		c.OIDC[i].secret = std.Env("BORDEREAU_OIDC_SECRET_" + strings.ToUpper(strings.ReplaceAll(p.Organisation, "-", "_")))
	}
	var err error
	if c.Data, err = filepath.Abs(c.Data); err != nil {
		return c, fmt.Errorf("data folder: %w", err)
	}
	return c, c.check()
}

// check refuses what is incomplete or insecure; a warning would be overlooked.
func (c *config) check() error {
	for name, address := range map[string]string{"listen": c.Listen, "governance.listen": c.Governance.Listen, "agent.listen": c.Agent.Listen} {
		host, _, err := net.SplitHostPort(address)
		if err != nil {
			return fmt.Errorf("configuration: %s: %q is not host:port", name, address)
		}
		loopback := host == "localhost" || net.ParseIP(host).IsLoopback()
		if !loopback && !c.BehindProxy {
			return fmt.Errorf("configuration: %s is %s, which others can reach without TLS: listen on loopback, or set behind_tls_proxy: true where a proxy in front ends TLS", name, address)
		}
	}
	if c.Models.Default == "anthropic" && (c.Models.Anthropic.key == "" || c.Models.Anthropic.Model == "") {
		return errors.New("configuration: models.default is anthropic: set models.anthropic.model and the environment's ANTHROPIC_API_KEY")
	}
	if c.Models.Default == "openai" && (c.Models.OpenAI.Model == "" || c.Models.OpenAI.BaseURL == "") {
		return errors.New("configuration: models.default is openai: set models.openai.model and models.openai.base_url (and OPENAI_API_KEY where the server wants one)")
	}
	if c.Turns.Runners < 1 || c.Turns.Steps < 1 || c.Turns.Deadline < time.Minute {
		return errors.New("configuration: turns: runners and steps are at least 1, deadline at least 1m")
	}
	if c.Governance.Generations < 1 {
		return errors.New("configuration: governance.generations is at least 1")
	}
	if b := c.Governance.Bucket; b != "" && !strings.HasPrefix(b, "file:///") && !strings.HasPrefix(b, "s3://") {
		return fmt.Errorf("configuration: governance.bucket: %q begins with neither file:/// nor s3://", b)
	}
	if err := c.checkRoles(); err != nil {
		return err
	}
	if err := c.checkSandbox(); err != nil {
		return err
	}
	if c.Sessions.Idle < time.Minute || c.Sessions.Life < c.Sessions.Idle {
		return errors.New("configuration: sessions: idle is at least 1m, life at least idle")
	}
	if c.PublicURL == "" {
		if len(c.OIDC) > 0 {
			return errors.New("configuration: oidc: set public_url, where identity providers send browsers back to")
		}
		return nil
	}
	u, err := url.Parse(c.PublicURL)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || u.Path != "" && u.Path != "/" || u.RawQuery != "" || u.User != nil {
		return fmt.Errorf("configuration: public_url: %q is no address such as https://bordereau.example", c.PublicURL)
	}
	c.PublicURL = u.Scheme + "://" + u.Host
	if c.BehindProxy && u.Scheme != "https" {
		return fmt.Errorf("configuration: public_url: %q is not https, though behind_tls_proxy is set", c.PublicURL)
	}
	return nil
}

// origin is where people's browsers find the program.
func (c *config) origin() string {
	if c.PublicURL != "" {
		return c.PublicURL
	}
	return "http://" + c.Listen
}

// secure tells whether browsers come by TLS.
func (c *config) secure() bool { return c.BehindProxy || strings.HasPrefix(c.PublicURL, "https://") }

// path is a place in the data folder.
func (c *config) path(parts ...string) string {
	return filepath.Join(append([]string{c.Data}, parts...)...)
}

// beside finds a program that was built beside this one, unless the configuration names it.
func beside(configured, name string) string {
	if configured != "" {
		return configured
	}
	self, err := os.Executable()
	if err != nil {
		return name
	}
	return filepath.Join(filepath.Dir(self), name)
}
