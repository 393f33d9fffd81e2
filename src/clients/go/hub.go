// Package hub is a client of a Kairos hub: the registers of a laboratory's core devices, over gRPC.
//
//	lab, err := hub.Connect("localhost:1390", hub.Options{})
//	values, err := lab.Registers.Read(ctx, &hubv1.ReadRequest{Device: "zc706", Registers: []string{"rtio/async_error"}})
//
// What a hub offers stands in docs/hub-api.md; package hubv1 is made from it.
package hub

import (
	"context"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"

	"kairos/hub/hubv1"
)

// Options say who this is, and whether the hub has TLS.
type Options struct {
	// Token of this client, for a hub that asks. Empty: none.
	Token string
	// Certificate is a PEM file with the certificate of a hub that has TLS, or of the authority that
	// vouches for it. Empty: no TLS.
	Certificate string
}

// Lab is a connection to a hub: its services.
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

// Connect makes a connection to the hub at a host and port, or at the Unix socket that a plugin
// finds in KAIROS_HUB. Whether one answers there is known from the first call.
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

// token is shown with every call.
type token string

func (t token) GetRequestMetadata(context.Context, ...string) (map[string]string, error) {
	return map[string]string{"authorization": "Bearer " + string(t)}, nil
}

// RequireTransportSecurity says that a hub on the same machine may do without TLS.
func (t token) RequireTransportSecurity() bool {
	return false
}
