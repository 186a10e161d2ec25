// A peer that knows members by go-spiffe, the SPIFFE project's own library.
//
// usage: spiffe_peer dial|listen ADDRESS CERT KEY BUNDLE ID
//
// It shows CERT, believes the authorities of BUNDLE for the trust domain of ID, and welcomes ID alone.
// A dialler sends what it reads from its input, and waits for the other side to end the connection.
// For each connection a line says what came of the handshake: "met ID", or "failed: why".
package main

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"os"

	"github.com/spiffe/go-spiffe/v2/bundle/x509bundle"
	"github.com/spiffe/go-spiffe/v2/spiffeid"
	"github.com/spiffe/go-spiffe/v2/spiffetls/tlsconfig"
	"github.com/spiffe/go-spiffe/v2/svid/x509svid"
)

func must[T any](value T, err error) T {
	if err != nil {
		fmt.Println("failed:", err)
		os.Exit(1)
	}
	return value
}

// The peer's id after the handshake, which for a dialler ends with the first byte that is read.
func met(connection *tls.Conn) string {
	if err := connection.Handshake(); err != nil {
		return fmt.Sprint("failed: ", err)
	}
	id, err := x509svid.IDFromCert(connection.ConnectionState().PeerCertificates[0])
	if err != nil {
		return fmt.Sprint("failed: ", err)
	}
	return fmt.Sprint("met ", id)
}

func dial(address string, config *tls.Config) {
	connection := must(tls.Dial("tcp", address, config))
	line := met(connection)
	must(io.Copy(connection, os.Stdin))
	_, err := io.Copy(io.Discard, connection)
	if alert := (*net.OpError)(nil); errors.As(err, &alert) && alert.Op == "remote error" {
		line = fmt.Sprint("failed: ", err)
	}
	fmt.Println(line)
}

func listen(address string, config *tls.Config) {
	listener := must(tls.Listen("tcp", address, config))
	fmt.Println("listens")
	for {
		connection := must(listener.Accept()).(*tls.Conn)
		go func() {
			fmt.Println(met(connection))
			io.Copy(io.Discard, connection)
			connection.Close()
		}()
	}
}

func main() {
	way, address, cert, key, bundle, id :=
		os.Args[1], os.Args[2], os.Args[3], os.Args[4], os.Args[5], spiffeid.RequireFromString(os.Args[6])
	svid := must(x509svid.Load(cert, key))
	believed := must(x509bundle.Load(id.TrustDomain(), bundle))
	welcome := tlsconfig.AuthorizeID(id)
	if way == "dial" {
		config := tlsconfig.MTLSClientConfig(svid, believed, welcome)
		config.NextProtos = []string{"bellwether/1"}
		dial(address, config)
		return
	}
	config := tlsconfig.MTLSServerConfig(svid, believed, welcome)
	config.NextProtos = []string{"bellwether/1"}
	listen(address, config)
}
