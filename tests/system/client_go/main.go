// A client of a Lease by client-go, the Kubernetes project's own library.
//
// usage: client_go SERVER CA TOKEN NAMESPACE LEASE IDENTITY LEASE_S [release]
//
// Its deadline for a renewal and its pauses are the parts of the lease that they are by default: 10
// and 2 of 15 seconds.  With `release` the Lease is given back at SIGTERM.  A line says when it leads,
// and when it leads no longer.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"strconv"
	"syscall"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
)

func main() {
	words := os.Args[1:]
	if len(words) < 7 || len(words) > 8 {
		fmt.Println("usage: client_go SERVER CA TOKEN NAMESPACE LEASE IDENTITY LEASE_S [release]")
		os.Exit(2)
	}
	seconds, err := strconv.Atoi(words[6])
	if err != nil {
		fmt.Println("not seconds:", words[6])
		os.Exit(2)
	}
	length := time.Duration(seconds) * time.Second
	client := kubernetes.NewForConfigOrDie(&rest.Config{
		Host: words[0], BearerToken: words[2], TLSClientConfig: rest.TLSClientConfig{CAFile: words[1]}})
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	for ctx.Err() == nil { // it returns when it has lost the Lease
		leaderelection.RunOrDie(ctx, leaderelection.LeaderElectionConfig{
			Lock: &resourcelock.LeaseLock{
				LeaseMeta:  metav1.ObjectMeta{Namespace: words[3], Name: words[4]},
				Client:     client.CoordinationV1(),
				LockConfig: resourcelock.ResourceLockConfig{Identity: words[5]},
			},
			LeaseDuration: length, RenewDeadline: length * 10 / 15, RetryPeriod: length * 2 / 15,
			ReleaseOnCancel: len(words) == 8,
			Callbacks: leaderelection.LeaderCallbacks{
				OnStartedLeading: func(context.Context) { fmt.Println("leads") },
				OnStoppedLeading: func() { fmt.Println("leads no longer") },
			},
		})
	}
}
