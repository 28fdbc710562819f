package main

import (
	"crypto/ed25519"
	"crypto/rand"
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
