// Package hub is a client of a Kairos hub: the registers of a laboratory's core devices, over gRPC.
//
//	lab, err := hub.Connect("localhost:1390", hub.Options{})
//	values, err := lab.Registers.Read(ctx, &hubv1.ReadRequest{Device: "zc706", Registers: []string{"rtio/async_error"}})
//
// docs/hub-api.md describes the services; package hubv1 is generated from the same protocol.
package hub

import (
	"context"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"

	"kairos/hub/hubv1"
)

// Options contain the credentials of the client, and TLS.
type Options struct {
	// Token of this client, if the hub requires one. Empty: none.
	Token string
	// Certificate is a PEM file with the certificate of a hub that uses TLS, or of its certificate
	// authority. Empty: no TLS.
	Certificate string
}

// Lab is a connection to a hub, with its services.
type Lab struct {
	Devices   hubv1.DevicesClient
	Registers hubv1.RegistersClient
	Channels  hubv1.ChannelsClient
	Monitor   hubv1.MonitorClient
	Plugins   hubv1.PluginsClient
	Buses     hubv1.BusesClient
	Clocks    hubv1.ClocksClient
	Waveforms hubv1.WaveformsClient
	Memory    hubv1.MemoryClient

	connection *grpc.ClientConn
}

// Connect connects to the hub at a host and port, or at the Unix socket given to plugins in
// KAIROS_HUB. Connection errors are reported by the first call.
func Connect(address string, options Options) (*Lab, error) {
	transport := insecure.NewCredentials()
	if options.Certificate != "" {
		var err error
		if transport, err = credentials.NewClientTLSFromFile(options.Certificate, ""); err != nil {
			return nil, err
		}
	}
	dial := []grpc.DialOption{grpc.WithTransportCredentials(transport)}
	if options.Token != "" {
		dial = append(dial, grpc.WithPerRPCCredentials(token(options.Token)))
	}
	connection, err := grpc.NewClient(address, dial...)
	if err != nil {
		return nil, err
	}
	return &Lab{
		Devices:    hubv1.NewDevicesClient(connection),
		Registers:  hubv1.NewRegistersClient(connection),
		Channels:   hubv1.NewChannelsClient(connection),
		Monitor:    hubv1.NewMonitorClient(connection),
		Plugins:    hubv1.NewPluginsClient(connection),
		Buses:      hubv1.NewBusesClient(connection),
		Clocks:     hubv1.NewClocksClient(connection),
		Waveforms:  hubv1.NewWaveformsClient(connection),
		Memory:     hubv1.NewMemoryClient(connection),
		connection: connection,
	}, nil
}

// Close ends the connection.
func (lab *Lab) Close() error {
	return lab.connection.Close()
}

// token is sent with every call.
type token string

func (t token) GetRequestMetadata(context.Context, ...string) (map[string]string, error) {
	return map[string]string{"authorization": "Bearer " + string(t)}, nil
}

// RequireTransportSecurity returns false, since a hub on the same machine may be used without TLS.
func (t token) RequireTransportSecurity() bool {
	return false
}
