package main

import (
	"bytes"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// secretBytes is the length of every secret, which is also that of an Ed25519 seed.
const secretBytes = ed25519.SeedSize

// secret reads a random secret from the data folder, or makes it on first use.
func secret(file string) ([]byte, error) {
	raw, err := os.ReadFile(file)
	switch {
	case err == nil && len(raw) == secretBytes:
		return raw, nil
	case err == nil:
		return nil, fmt.Errorf("secret %s holds %d bytes instead of %d: restore it from a backup, or remove it and restart", file, len(raw), secretBytes)
	case !errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("reading a secret: %w", err)
	}
	raw = make([]byte, secretBytes)
	if _, err := rand.Read(raw); err != nil {
		return nil, fmt.Errorf("making a secret: %w", err)
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return nil, fmt.Errorf("making a folder for secrets: %w", err)
	}
	// A link into place, so that two programs that start at once agree on one secret.
	draft, err := os.CreateTemp(filepath.Dir(file), ".secret-*")
	if err != nil {
		return nil, fmt.Errorf("keeping a secret: %w", err)
	}
	_, err = draft.Write(raw)
	err = errors.Join(err, draft.Sync(), draft.Close())
	if err == nil {
		err = os.Link(draft.Name(), file)
	}
	err = errors.Join(ignore(err, fs.ErrExist), os.Remove(draft.Name()))
	if err != nil {
		return nil, fmt.Errorf("keeping a secret: %w", err)
	}
	return os.ReadFile(file)
}

// signingKey is the key that turn tokens are signed with.
func signingKey(file string) (ed25519.PrivateKey, error) {
	seed, err := secret(file)
	if err != nil {
		return nil, err
	}
	return ed25519.NewKeyFromSeed(seed), nil
}

func ignore(err, expected error) error {
	if errors.Is(err, expected) {
		return nil
	}
	return err
}

// keepPublicKey writes the public half of the signing key as PEM, unless it is there already.
func keepPublicKey(file string, key ed25519.PublicKey) error {
	der, err := x509.MarshalPKIXPublicKey(key)
	if err != nil {
		return fmt.Errorf("writing the public key: %w", err)
	}
	text := pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})
	if was, err := os.ReadFile(file); err == nil && bytes.Equal(was, text) {
		return nil
	}
	if err := os.WriteFile(file, text, 0o600); err != nil {
		return fmt.Errorf("writing the public key: %w", err)
	}
	return nil
}

// shareHint says how a governance on another machine gets what it shares with its agent.
const shareHint = "copy keys/turn-token.pub and keys/stamp from the agent's data folder into this one's"

// publicKey reads the key that turn tokens are checked with.
func publicKey(file string) (ed25519.PublicKey, error) {
	raw, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("reading the agent's public key: %w: %s", err, shareHint)
	}
	block, _ := pem.Decode(raw)
	if block == nil {
		return nil, fmt.Errorf("%s is no PEM file: %s", file, shareHint)
	}
	parsed, err := x509.ParsePKIXPublicKey(block.Bytes)
	key, ok := parsed.(ed25519.PublicKey)
	if err != nil || !ok {
		return nil, fmt.Errorf("%s holds no Ed25519 public key: %s", file, shareHint)
	}
	return key, nil
}

// sharedSecret reads a secret that another machine made; one made here would fit nobody's.
func sharedSecret(file string) ([]byte, error) {
	if _, err := os.Stat(file); err != nil {
		return nil, fmt.Errorf("reading a shared secret: %w: %s", err, shareHint)
	}
	return secret(file)
}
