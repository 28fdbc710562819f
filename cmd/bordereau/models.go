package main

import (
	"fmt"

	"bordereau/agent/model"
	"bordereau/agent/model/anthropic"
	"bordereau/agent/model/openai"
	"bordereau/agent/model/playbook"
	"bordereau/agent/turn"
)

// models are the adapters that this process has, by name; the default comes first.
type models struct {
	names []string
	all   map[string]model.Model
}

var _ turn.Models = (*models)(nil)

func newModels(c modelsConfig) (*models, error) {
	m := &models{all: map[string]model.Model{playbook.Name: playbook.New()}, names: []string{playbook.Name}}
	add := func(name string, adapter model.Model) {
		m.all[name] = adapter
		m.names = append(m.names, name)
	}
	if c.Anthropic.Model != "" && c.Anthropic.key != "" {
		claude, err := anthropic.New(anthropic.Config{Model: c.Anthropic.Model, Key: c.Anthropic.key, URL: c.Anthropic.BaseURL})
		if err != nil {
			return nil, err
		}
		add("anthropic", claude)
	}
	if c.OpenAI.Model != "" {
		chat, err := openai.New(openai.Config{Model: c.OpenAI.Model, Key: c.OpenAI.key, URL: c.OpenAI.BaseURL})
		if err != nil {
			return nil, err
		}
		add("openai", chat)
	}
	if m.all[c.Default] == nil {
		return nil, fmt.Errorf("configuration: models.default: there is no %q; there are %v", c.Default, m.names)
	}
	for i, name := range m.names {
		if name == c.Default {
			m.names[0], m.names[i] = m.names[i], m.names[0]
		}
	}
	return m, nil
}

// Names lists the models, the default first.
func (m *models) Names() []string { return m.names }

// Model finds one.
func (m *models) Model(name string) (model.Model, error) {
	if name == "" {
		name = m.names[0]
	}
	if found := m.all[name]; found != nil {
		return found, nil
	}
	return nil, fmt.Errorf("there is no model %q; there are %v", name, m.names)
}
