package main

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"bordereau/sandbox"
	"bordereau/sandbox/remote"
	"bordereau/sandbox/sandboxtest"
)

// pair makes a certificate that is its own authority.
func pair(t *testing.T, dir, name string) (certFile, keyFile string, pool *x509.CertPool) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
		KeyUsage:    x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	certFile, keyFile = filepath.Join(dir, name+".pem"), filepath.Join(dir, name+".key")
	for file, block := range map[string]*pem.Block{certFile: {Type: "CERTIFICATE", Bytes: der}, keyFile: {Type: "EC PRIVATE KEY", Bytes: secret}} {
		if err := os.WriteFile(file, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	pool = x509.NewCertPool()
	pool.AddCert(cert)
	return certFile, keyFile, pool
}

func TestMutualTLS(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	cert, key, roots := pair(t, dir, "host")
	clientCert, clientKey, _ := pair(t, dir, "client")
	ctx, stop := context.WithCancel(t.Context())
	addresses, ended := make(chan net.Addr, 1), make(chan error, 1)
	go func() {
		ended <- run(ctx, []string{
			"-listen", "127.0.0.1:0", "-data", sandboxtest.Folder(t), "-driver", "bubblewrap", "-gov", "", "-cert", cert, "-key", key, "-client-ca", clientCert,
		}, t.Output(), func(a net.Addr) { addresses <- a })
	}()
	var address string
	select {
	case a := <-addresses:
		address = "https://" + a.String()
	case err := <-ended:
		t.Fatal(err)
	}
	mine, err := tls.LoadX509KeyPair(clientCert, clientKey)
	if err != nil {
		t.Fatal(err)
	}
	d, err := remote.New(remote.Config{Hosts: []string{address}, Log: sandboxtest.Log(t), TLS: &tls.Config{RootCAs: roots, Certificates: []tls.Certificate{mine}, MinVersion: tls.VersionTLS13}})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if _, err := d.Create(t.Context(), sandbox.Spec{ID: "a", Org: "acme"}); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	r, err := d.Exec(t.Context(), "a", sandbox.Command{Args: []string{"cat"}, Stdin: strings.NewReader("through"), Stdout: &out})
	if err != nil || r.ExitCode != 0 || out.String() != "through" {
		t.Fatalf("%+v %v %q", r, err, out.String())
	}
	stranger, err := remote.New(remote.Config{Hosts: []string{address}, Log: sandboxtest.Log(t), Key: strings.Repeat("k", 32), TLS: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS13}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := stranger.Find(t.Context(), "a"); err == nil {
		t.Fatal("a stranger got in")
	}
	if err := d.Delete(t.Context(), "a"); err != nil {
		t.Fatal(err)
	}
	stop()
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
}

func TestInsecureConfigurationsAreRefused(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{}, {"-cert", "a", "-key", "b"}, {"-cert", "a", "-key", "b", "-psk-file", "c", "-upstream", "http://x/mcp"}} {
		if _, err := parse(args, t.Output()); err == nil {
			t.Fatalf("%q was taken", args)
		}
	}
}
