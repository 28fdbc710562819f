package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"bordereau/migrations"
	"bordereau/tools/vin"
	"bordereau/tools/vin/online"
)

// enrich asks NHTSA's service for what the offline data lacks, and says on standard error what couldn't be had.
func enrich(ctx context.Context, folder string, results []*vin.Result, std stdio) error {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return fmt.Errorf("making the data folder: %w", err)
	}
	db, _, err := migrations.Open(ctx, filepath.Join(folder, "governance.db"), migrations.Governance)
	if err != nil {
		return err
	}
	defer db.Close()
	cache, err := online.NewSQLCache(db)
	if err != nil {
		return err
	}
	base := std.Env("BORDEREAU_VPIC_URL")
	if base == "" {
		base = online.BaseURL
	}
	client, err := online.New(online.Config{
		HTTP: &http.Client{Timeout: online.DefaultTimeout}, BaseURL: base, Cache: cache, Now: time.Now,
		Interval: online.DefaultInterval, Timeout: online.DefaultTimeout, Cooldown: online.DefaultCooldown, MaxAge: online.DefaultMaxAge,
	})
	if err != nil {
		return err
	}
	for _, note := range client.Enrich(ctx, results) {
		fmt.Fprintf(std.Err, "note: %s: %s %d answers are from the offline data alone.\n", note.Kind, note.Message, note.Missing)
	}
	return nil
}
